//! Which nonprofits are asked for: a few thousand spread over the whole directory, each by slug, EIN and ID.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::connection::Connection;
use crate::drive::require_success;
use crate::input::open;
use crate::requests::{get, segment};

pub struct Identifiers {
    pub slug: String,
    pub ein: String,
    pub id: String,
}

/// EINs of a file in the EO BMF format, drawn evenly and in no order.
pub fn eins_of_file(file: &Path, count: usize) -> Result<Vec<String>> {
    let mut lines = BufReader::with_capacity(1 << 18, open(file)?).split(b'\n');
    let header = lines.next().transpose()?.unwrap_or_default();
    ensure!(
        header.starts_with(b"EIN,"),
        "{}: the first column is not EIN",
        file.display()
    );
    let mut eins = Vec::new();
    for line in lines {
        let line = line.with_context(|| format!("cannot read {}", file.display()))?;
        let field = line.split(|byte| *byte == b',').next().unwrap_or_default();
        let number = std::str::from_utf8(field)
            .ok()
            .and_then(|text| text.trim().parse::<u32>().ok());
        eins.extend(number);
    }
    ensure!(!eins.is_empty(), "{} has no rows", file.display());
    Ok(draw(eins, count)
        .into_iter()
        .map(|ein| format!("{ein:09}"))
        .collect())
}

/// EINs that the service itself lists under its causes, from pages spread over each list.
pub fn eins_of_service(connection: &mut Connection, ask: &Asking, count: usize) -> Result<Vec<String>> {
    const TAKE: u64 = 100;
    const HINT: &str = "the service does not list its nonprofits: give the imported file with --file";
    let causes = ask.json(connection, "causes", "").context(HINT)?;
    let causes = causes["causes"].as_array().cloned().unwrap_or_default();
    let wanted_of_each = (count / causes.len().max(1)).max(TAKE as usize) as u64;
    let mut eins = BTreeSet::new();
    for cause in &causes {
        let (Some(name), Some(nonprofits)) = (cause["tagName"].as_str(), cause["nonprofits"].as_u64()) else {
            continue;
        };
        let pages = nonprofits.div_ceil(TAKE);
        let step = (pages / wanted_of_each.div_ceil(TAKE)).max(1);
        for page in (1..=pages).step_by(step as usize) {
            let path = format!("browse/{}", segment(name));
            let found = ask
                .json(connection, &path, &format!("&take={TAKE}&page={page}"))
                .context(HINT)?;
            let found = found["nonprofits"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            eins.extend(
                found
                    .iter()
                    .filter_map(|nonprofit| nonprofit["ein"].as_str().map(String::from)),
            );
        }
    }
    ensure!(!eins.is_empty(), "{HINT}");
    Ok(draw(eins.into_iter().collect(), count))
}

/// Asks for each EIN once and learns the slug and the ID from the answer; EINs that were not imported are left out.
pub fn identifiers(connection: &mut Connection, ask: &Asking, eins: Vec<String>) -> Result<Vec<Identifiers>> {
    let mut learnt = Vec::with_capacity(eins.len());
    for ein in eins {
        let answer = connection.call(ask.request(&format!("nonprofit/{ein}"), "").as_bytes())?;
        if answer.status == 404 {
            continue;
        }
        require_success(&answer)?;
        let body: Value = serde_json::from_slice(answer.body).context("details are not JSON")?;
        let nonprofit = &body["data"]["nonprofit"];
        let text = |name: &str| nonprofit[name].as_str().map(String::from);
        let (slug, id) = text("primarySlug")
            .zip(text("id"))
            .context("details without primarySlug or id")?;
        learnt.push(Identifiers { slug, ein, id });
    }
    ensure!(
        !learnt.is_empty(),
        "none of the sampled nonprofits is in the directory"
    );
    Ok(learnt)
}

/// The parts that every call with a key shares.
pub struct Asking {
    pub address: std::net::SocketAddr,
    pub key: String,
}

impl Asking {
    /// The path of a call; `more` continues the query and begins with `&`, or is empty.
    pub fn path(&self, rest: &str, more: &str) -> String {
        format!("/v0.2/{rest}?apiKey={}{more}", self.key)
    }

    pub fn request(&self, rest: &str, more: &str) -> String {
        get(self.address, &self.path(rest, more))
    }

    fn json(&self, connection: &mut Connection, rest: &str, more: &str) -> Result<Value> {
        let answer = connection.call(self.request(rest, more).as_bytes())?;
        require_success(&answer)?;
        Ok(serde_json::from_slice(answer.body)?)
    }
}

/// `count` of the items, each equally likely, shuffled; the same ones on every run.
fn draw<T>(mut items: Vec<T>, count: usize) -> Vec<T> {
    let count = count.min(items.len());
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for index in 0..count {
        // xorshift64*: any even spread will do here.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let random = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        let rest = (items.len() - index) as u64;
        items.swap(index, index + (random % rest) as usize);
    }
    items.truncate(count);
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cleanup::Workplace;

    #[test]
    fn a_draw_holds_different_items_of_the_whole_range_and_is_the_same_each_time() {
        let drawn = draw((0..10_000).collect(), 1_000);
        let distinct: BTreeSet<i32> = drawn.iter().copied().collect();
        assert_eq!(distinct.len(), 1_000);
        assert!(drawn.iter().filter(|item| **item >= 5_000).count() > 400);
        assert_eq!(drawn, draw((0..10_000).collect(), 1_000));
        assert_eq!(draw(vec![1, 2], 5).len(), 2);
    }

    #[test]
    fn eins_of_a_file_have_nine_digits_again_when_zeros_were_dropped() {
        let workplace = Workplace::new(None).unwrap();
        let file = workplace.path("bmf.csv");
        std::fs::write(
            &file,
            "EIN,NAME\r\n20240383,A\r\n131788491,\"B, C\"\r\n\r\nNA,D\r\n",
        )
        .unwrap();
        let mut eins = eins_of_file(&file, 10).unwrap();
        eins.sort();
        assert_eq!(eins, ["020240383", "131788491"]);
    }

    #[test]
    fn a_file_of_another_kind_is_refused() {
        let workplace = Workplace::new(None).unwrap();
        let file = workplace.path("other.csv");
        std::fs::write(&file, "NAME,EIN\nA,1\n").unwrap();
        assert!(eins_of_file(&file, 10).is_err());
    }
}
