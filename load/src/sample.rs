//! Selects the nonprofits to request: a few thousand from the whole directory, each with its slug, EIN and
//! ID.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::client::require_success;
use crate::connection::Connection;
use crate::input::open;
use crate::requests::{encode_segment, get_request};

pub(crate) struct Identifiers {
    pub slug: String,
    pub ein: String,
    pub id: String,
}

/// Returns `count` random EINs of an EO BMF file.
pub(crate) fn sample_eins_from_file(file: &Path, count: usize) -> Result<Vec<String>> {
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
    Ok(sample(eins, count)
        .into_iter()
        .map(|ein| format!("{ein:09}"))
        .collect())
}

/// Returns `count` random EINs from the browse pages of all causes.
pub(crate) fn sample_eins_from_api(
    connection: &mut Connection,
    api: &ApiClient,
    count: usize,
) -> Result<Vec<String>> {
    const TAKE: u64 = 100;
    const HINT: &str = "the server does not list its nonprofits: pass the imported file with --file";
    let causes = api.json(connection, "causes", "").context(HINT)?;
    let causes = causes["causes"].as_array().cloned().unwrap_or_default();
    let per_cause = (count / causes.len().max(1)).max(TAKE as usize) as u64;
    let mut eins = BTreeSet::new();
    for cause in &causes {
        let (Some(name), Some(count)) = (cause["tagName"].as_str(), cause["nonprofits"].as_u64()) else {
            continue;
        };
        let pages = count.div_ceil(TAKE);
        let step = (pages / per_cause.div_ceil(TAKE)).max(1);
        for page in (1..=pages).step_by(step as usize) {
            let path = format!("browse/{}", encode_segment(name));
            let page = api
                .json(connection, &path, &format!("&take={TAKE}&page={page}"))
                .context(HINT)?;
            let nonprofits = page["nonprofits"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            eins.extend(
                nonprofits
                    .iter()
                    .filter_map(|nonprofit| nonprofit["ein"].as_str().map(String::from)),
            );
        }
    }
    ensure!(!eins.is_empty(), "{HINT}");
    Ok(sample(eins.into_iter().collect(), count))
}

/// Requests each EIN to find its slug and ID. EINs that are not in the directory are skipped.
pub(crate) fn look_up_identifiers(
    connection: &mut Connection,
    api: &ApiClient,
    eins: Vec<String>,
) -> Result<Vec<Identifiers>> {
    let mut found = Vec::with_capacity(eins.len());
    for ein in eins {
        let response = connection.request(api.request(&format!("nonprofit/{ein}"), "").as_bytes())?;
        if response.status == 404 {
            continue;
        }
        require_success(&response)?;
        let body: Value = serde_json::from_slice(response.body).context("the details are not JSON")?;
        let nonprofit = &body["data"]["nonprofit"];
        let text = |name: &str| nonprofit[name].as_str().map(String::from);
        let (slug, id) = text("primarySlug")
            .zip(text("id"))
            .context("the details have no primarySlug or id")?;
        found.push(Identifiers { slug, ein, id });
    }
    ensure!(
        !found.is_empty(),
        "none of the sampled nonprofits are in the directory"
    );
    Ok(found)
}

/// Builds requests to the API with a key.
pub(crate) struct ApiClient {
    pub address: std::net::SocketAddr,
    pub key: String,
}

impl ApiClient {
    /// Returns the path of a request. `query` is empty or starts with `&`.
    pub(crate) fn path(&self, rest: &str, query: &str) -> String {
        format!("/v0.2/{rest}?apiKey={}{query}", self.key)
    }

    pub(crate) fn request(&self, rest: &str, query: &str) -> String {
        get_request(self.address, &self.path(rest, query))
    }

    pub(crate) fn json(&self, connection: &mut Connection, rest: &str, query: &str) -> Result<Value> {
        let response = connection.request(self.request(rest, query).as_bytes())?;
        require_success(&response)?;
        Ok(serde_json::from_slice(response.body)?)
    }
}

/// Returns `count` random items in random order, the same on every run.
fn sample<T>(mut items: Vec<T>, count: usize) -> Vec<T> {
    let count = count.min(items.len());
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for index in 0..count {
        // xorshift64*: a simple uniform generator is good enough here.
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
    use crate::cleanup::ScratchDir;

    #[test]
    fn a_sample_is_distinct_spread_over_the_range_and_reproducible() {
        let sampled = sample((0..10_000).collect(), 1_000);
        let distinct: BTreeSet<i32> = sampled.iter().copied().collect();
        assert_eq!(distinct.len(), 1_000);
        assert!(sampled.iter().filter(|item| **item >= 5_000).count() > 400);
        assert_eq!(sampled, sample((0..10_000).collect(), 1_000));
        assert_eq!(sample(vec![1, 2], 5).len(), 2);
    }

    #[test]
    fn leading_zeros_of_an_ein_are_restored() {
        let scratch = ScratchDir::new(None).unwrap();
        let file = scratch.path("bmf.csv");
        std::fs::write(
            &file,
            "EIN,NAME\r\n20240383,A\r\n131788491,\"B, C\"\r\n\r\nNA,D\r\n",
        )
        .unwrap();
        let mut eins = sample_eins_from_file(&file, 10).unwrap();
        eins.sort();
        assert_eq!(eins, ["020240383", "131788491"]);
    }

    #[test]
    fn a_file_in_another_format_is_rejected() {
        let scratch = ScratchDir::new(None).unwrap();
        let file = scratch.path("other.csv");
        std::fs::write(&file, "NAME,EIN\nA,1\n").unwrap();
        assert!(sample_eins_from_file(&file, 10).is_err());
    }
}
