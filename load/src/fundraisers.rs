//! How many gifts a second are acknowledged, beside the single-row commits that `sqlite3` makes on the same disk, and how
//! the rate of `raised` stands to that of `/healthz`, which costs the same HTTP and finds nothing.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::cleanup::Workplace;
use crate::connection::Connection;
use crate::disturbance::{self, Watch};
use crate::drive::saturate;
use crate::figures::{grouped, median, rate, ratio};
use crate::options::{Options, Serving};
use crate::process::{run, tool};
use crate::requests::{Requests, get};
use crate::sample::{Asking, eins_of_file};
use crate::table::{Table, Verdict};

/// Who gives and who makes fundraisers at the same time.
const WRITERS: u16 = 8;
const SHARE_OF_COMMITS: f64 = 1.0;
const SHARE_OF_HEALTHZ: f64 = 1.0 / 3.0;
/// Titles of new fundraisers; each is used again with another slug.
const TITLES: usize = 500;

#[derive(Args)]
pub struct Fundraisers {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: Serving,
    /// Gifts of a round, and single-row commits
    #[arg(long, value_name = "N", default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(100..))]
    gifts: u32,
}

#[derive(Default)]
struct Rates {
    commits: Vec<f64>,
    gifts: Vec<f64>,
    creates: Vec<f64>,
    healthz: Vec<f64>,
    raised: Vec<f64>,
}

/// A fundraiser that gifts go to.
struct Target {
    nonprofit: String,
    fundraiser: String,
}

impl Fundraisers {
    pub fn measure(&self, workplace: &Workplace) -> Result<Table> {
        let prepared = self.serving.prepare(&self.options.causeway, workplace)?;
        let (causeway, cores) = (&prepared.causeway, self.serving.cores);
        let key = causeway.key(self.serving.limit)?;
        let private = causeway.private_key()?;
        let basic = format!(
            "Authorization: Basic {}\r\n",
            base64(format!("{}:{private}", key.text).as_bytes())
        );
        let server = causeway.serve(cores)?;
        let ask = Asking {
            address: server.address,
            key: key.text.clone(),
        };
        let file = prepared
            .file
            .as_deref()
            .context("give --file or --generate: the gifts need nonprofits of it")?;
        let target = find_target(&ask, &basic, eins_of_file(file, 500)?)?;
        let creates = creates(server.address, &basic, &target.nonprofit);
        let healthz = Requests::of_path(server.address, "/healthz");
        let path = format!(
            "nonprofit/{}/fundraiser/{}/raised",
            target.nonprofit, target.fundraiser
        );
        let raised = Requests::of_path(server.address, &ask.path(&path, ""));
        let time = self.options.round_time()?;
        let mut rates = Rates::default();
        // Before this program is pinned: what it starts may use every core.
        for round in 1..=self.options.rounds {
            rates.commits.push(single_commits(workplace, self.gifts)?);
            let gifts = self.write_gifts(workplace, round, &target)?;
            rates.gifts.push(causeway.import_gifts(&gifts, WRITERS)?);
            rates
                .creates
                .push(saturate(&creates, WRITERS.into(), time)?.rate());
        }
        cores.pin_this_program(workplace)?;
        let watches = Watch::both_cores(cores, &[server.process()]);
        for _ in 0..self.options.rounds {
            let connections = self.serving.connections.into();
            rates.healthz.push(saturate(&healthz, connections, time)?.rate());
            rates.raised.push(saturate(&raised, connections, time)?.rate());
        }
        let mut table = self.table(&rates);
        table.note(disturbance::note(&watches));
        server.stop(workplace)?;
        Ok(table)
    }

    /// A file of gifts that were not recorded before.
    fn write_gifts(&self, workplace: &Workplace, round: u32, target: &Target) -> Result<PathBuf> {
        let path = workplace.path("gifts.jsonl");
        let mut file = BufWriter::new(File::create(&path)?);
        for number in 0..self.gifts {
            writeln!(
                file,
                r#"{{"nonprofit":"{}","fundraiser":"{}","amount":2500,"donor":"d-{}","externalId":"{round}-{number}","source":"load"}}"#,
                target.nonprofit,
                target.fundraiser,
                number % 997
            )?;
        }
        file.flush()?;
        Ok(path)
    }

    fn table(&self, rates: &Rates) -> Table {
        let title = format!(
            "{} gifts and new fundraisers, {WRITERS} at a time; raised over {} connections; median of {}",
            grouped(self.gifts.into()),
            self.serving.connections,
            self.options.rounds
        );
        let mut table = Table::new(title, &["what", "measured", "ratio", "to", "bound"]);
        let commits = "single-row commits";
        let row = |table: &mut Table, name: &str, own: &[f64], to: Option<(&str, &[f64], Option<f64>)>| {
            let measured = rate(median(own.iter().copied()));
            let Some((to, others, bound)) = to else {
                table.row(&[name, &measured, "", "", ""], Verdict::Shown);
                return;
            };
            let times = median(own.iter().zip(others).map(|(own, other)| own / other));
            let told = bound.map_or(String::new(), |bound| format!(">= {}", ratio(bound)));
            let verdict = bound.map_or(Verdict::Shown, |bound| Verdict::of(times >= bound));
            table.row(&[name, &measured, &ratio(times), to, &told], verdict);
        };
        row(&mut table, "single-row commits of sqlite3", &rates.commits, None);
        let to = |bound| Some((commits, rates.commits.as_slice(), bound));
        row(
            &mut table,
            "gifts acknowledged",
            &rates.gifts,
            to(Some(SHARE_OF_COMMITS)),
        );
        row(&mut table, "fundraisers made over HTTP", &rates.creates, to(None));
        row(&mut table, "/healthz", &rates.healthz, None);
        row(
            &mut table,
            "raised",
            &rates.raised,
            Some(("/healthz", &rates.healthz, Some(SHARE_OF_HEALTHZ))),
        );
        table
    }
}

/// Plain SQLite: one row, one commit, on disk before the next; commits a second.
fn single_commits(workplace: &Workplace, count: u32) -> Result<f64> {
    let folder = workplace.fresh_folder("single")?;
    let mut script = BufWriter::new(File::create(folder.join("script.sql"))?);
    writeln!(script, "pragma journal_mode = wal;\npragma synchronous = full;")?;
    writeln!(
        script,
        "create table gifts (id integer primary key, donor text, external_id text, amount integer);"
    )?;
    for number in 0..count {
        writeln!(
            script,
            "insert into gifts (donor, external_id, amount) values ('d-{number}', '1-{number}', 2500);"
        )?;
    }
    script.flush()?;
    let finished = run(
        tool("sqlite3", "sqlite3")?
            .current_dir(&folder)
            .args(["-bail", "single.db", ".read script.sql"]),
        workplace,
    )?;
    let per_second = f64::from(count) / finished.elapsed.max(Duration::from_millis(1)).as_secs_f64();
    std::fs::remove_dir_all(folder)?;
    Ok(per_second)
}

/// A nonprofit that can be given to, and a fundraiser for it.
fn find_target(ask: &Asking, basic: &str, eins: Vec<String>) -> Result<Target> {
    let mut connection = Connection::open(ask.address)?;
    for ein in eins {
        let request = get(ask.address, &ask.path(&format!("nonprofit/{ein}"), ""));
        let answer = connection.call(request.as_bytes())?;
        let body: Value = serde_json::from_slice(answer.body)?;
        let nonprofit = &body["data"]["nonprofit"];
        let (Some(id), Some(true)) = (nonprofit["id"].as_str(), nonprofit["isDisbursable"].as_bool()) else {
            continue;
        };
        let made = creates(ask.address, basic, id);
        let answer = connection.call(made.get(0))?;
        let body: Value = serde_json::from_slice(answer.body)?;
        let fundraiser = body["data"]["fundraiser"]["id"]
            .as_str()
            .with_context(|| format!("no fundraiser was made: {body}"))?;
        return Ok(Target {
            nonprofit: id.to_owned(),
            fundraiser: fundraiser.to_owned(),
        });
    }
    bail!("no nonprofit of the file can be given to")
}

/// Requests that each make a fundraiser.
fn creates(address: SocketAddr, basic: &str, nonprofit: &str) -> Requests {
    let mut requests = Requests::new(address);
    for number in 0..TITLES {
        let body = format!(r#"{{"nonprofitId":"{nonprofit}","title":"Run {number}","raisedOffline":100}}"#);
        requests.push_post("/v0.2/fundraiser", basic, &body);
    }
    requests
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let number = chunk
            .iter()
            .fold(0u32, |number, byte| number << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            match place <= chunk.len() {
                true => text.push(char::from(LETTERS[(number >> (18 - 6 * place)) as usize & 63])),
                false => text.push('='),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_has_its_padding() {
        for (text, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(text.as_bytes()), coded);
        }
    }
}
