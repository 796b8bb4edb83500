//! Measures the rate of donations, new fundraisers and `raised`.
//!
//! Donations and fundraisers are compared with single-row commits by `sqlite3` on the same disk, and `raised`
//! with `/healthz`, which has the same HTTP overhead and looks up nothing.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::base64::base64;
use crate::cleanup::ScratchDir;
use crate::client::saturate;
use crate::connection::Connection;
use crate::format::{median, rate, ratio, with_commas};
use crate::interference::{self, CpuMonitor};
use crate::options::{Options, ServerOptions};
use crate::process::{run, tool};
use crate::requests::{Requests, get_request};
use crate::sample::{ApiClient, sample_eins_from_file};
use crate::table::{Table, Verdict};

/// Number of donations, or of fundraisers, that are written concurrently.
const WRITERS: u16 = 8;
const MIN_RATIO_TO_COMMITS: f64 = 1.0;
const MIN_RATIO_TO_HEALTHZ: f64 = 1.0 / 3.0;
/// Number of distinct titles of new fundraisers.
const TITLE_COUNT: usize = 500;

#[derive(Args)]
pub(crate) struct Fundraisers {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: ServerOptions,
    /// Number of donations, and of single-row commits, per round
    #[arg(long, value_name = "N", default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(100..))]
    donations: u32,
}

#[derive(Default)]
struct Rates {
    commits: Vec<f64>,
    donations: Vec<f64>,
    creates: Vec<f64>,
    healthz: Vec<f64>,
    raised: Vec<f64>,
}

/// The fundraiser that receives the donations.
pub(crate) struct Target {
    pub nonprofit: String,
    fundraiser: String,
}

impl Target {
    /// Writes a file of donations. Their IDs are different for each `file`.
    pub(crate) fn write_donations(&self, path: &Path, file: u32, count: u32) -> Result<()> {
        let mut donations = BufWriter::new(File::create(path)?);
        for number in 0..count {
            writeln!(
                donations,
                r#"{{"nonprofit":"{}","fundraiser":"{}","amount":2500,"donor":"d-{}","externalId":"{file}-{number}","source":"load"}}"#,
                self.nonprofit,
                self.fundraiser,
                number % 997
            )?;
        }
        donations.flush()?;
        Ok(())
    }
}

impl Fundraisers {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let prepared = self.serving.prepare(&self.options.causeway, scratch)?;
        let (causeway, cores) = (&prepared.causeway, self.serving.cores);
        let key = causeway.create_public_key(self.serving.directory.limit)?;
        let private_key = causeway.create_private_key()?;
        let authorization = format!(
            "Authorization: Basic {}\r\n",
            base64(format!("{}:{private_key}", key.value).as_bytes())
        );
        let server = causeway.serve(cores)?;
        let api = ApiClient {
            address: server.address,
            key: key.value.clone(),
        };
        let file = prepared
            .file
            .as_deref()
            .context("pass --file or --generate: the donations need its nonprofits")?;
        let target = create_target(&api, &authorization, sample_eins_from_file(file, 500)?)?;
        let creates = create_requests(server.address, &authorization, &target.nonprofit);
        let healthz = Requests::of_path(server.address, "/healthz");
        let path = format!(
            "nonprofit/{}/fundraiser/{}/raised",
            target.nonprofit, target.fundraiser
        );
        let raised = Requests::of_path(server.address, &api.path(&path, ""));
        let duration = self.options.round_duration()?;
        let mut rates = Rates::default();
        // This runs before the program is pinned, so that the commands it starts may use every core.
        for round in 1..=self.options.rounds {
            rates.commits.push(single_row_commits(scratch, self.donations)?);
            let donations = scratch.path("donations.jsonl");
            target.write_donations(&donations, round, self.donations)?;
            rates
                .donations
                .push(causeway.import_donations(&donations, WRITERS)?);
            rates
                .creates
                .push(saturate(&creates, WRITERS.into(), duration)?.rate());
        }
        cores.pin_client(scratch)?;
        let monitors = CpuMonitor::for_cores(cores, &[server.process_id()]);
        for _ in 0..self.options.rounds {
            let connections = self.serving.connections.into();
            rates
                .healthz
                .push(saturate(&healthz, connections, duration)?.rate());
            rates
                .raised
                .push(saturate(&raised, connections, duration)?.rate());
        }
        let mut table = self.table(&rates);
        table.add_note(interference::note(&monitors));
        server.stop(scratch)?;
        Ok(table)
    }

    fn table(&self, rates: &Rates) -> Table {
        let title = format!(
            "{} donations and new fundraisers, {WRITERS} concurrently; raised over {} connections; median of {}",
            with_commas(self.donations.into()),
            self.serving.connections,
            self.options.rounds
        );
        let mut table = Table::new(title, &["measurement", "value", "ratio", "relative to", "bound"]);
        let commits = "single-row commits";
        let row =
            |table: &mut Table, name: &str, rates: &[f64], baseline: Option<(&str, &[f64], Option<f64>)>| {
                let value = rate(median(rates.iter().copied()));
                let Some((baseline_name, baseline, bound)) = baseline else {
                    table.add_row(&[name, &value, "", "", ""], Verdict::Unbounded);
                    return;
                };
                let relative = median(rates.iter().zip(baseline).map(|(rate, baseline)| rate / baseline));
                let bound_text = bound.map_or(String::new(), |bound| format!(">= {}", ratio(bound)));
                let verdict = bound.map_or(Verdict::Unbounded, |bound| Verdict::of(relative >= bound));
                table.add_row(
                    &[name, &value, &ratio(relative), baseline_name, &bound_text],
                    verdict,
                );
            };
        row(&mut table, "single-row commits by sqlite3", &rates.commits, None);
        let to_commits = |bound| Some((commits, rates.commits.as_slice(), bound));
        row(
            &mut table,
            "donations acknowledged",
            &rates.donations,
            to_commits(Some(MIN_RATIO_TO_COMMITS)),
        );
        row(
            &mut table,
            "fundraisers created over HTTP",
            &rates.creates,
            to_commits(None),
        );
        row(&mut table, "/healthz", &rates.healthz, None);
        row(
            &mut table,
            "raised",
            &rates.raised,
            Some(("/healthz", &rates.healthz, Some(MIN_RATIO_TO_HEALTHZ))),
        );
        table
    }
}

/// Measures plain SQLite with one row per commit, each on disk before the next, in commits per second.
pub(crate) fn single_row_commits(scratch: &ScratchDir, count: u32) -> Result<f64> {
    let folder = scratch.create_empty_dir("single")?;
    let mut script = BufWriter::new(File::create(folder.join("script.sql"))?);
    writeln!(script, "pragma journal_mode = wal;\npragma synchronous = full;")?;
    writeln!(
        script,
        "create table donations (id integer primary key, donor text, external_id text, amount integer);"
    )?;
    for number in 0..count {
        writeln!(
            script,
            "insert into donations (donor, external_id, amount) values ('d-{number}', '1-{number}', 2500);"
        )?;
    }
    script.flush()?;
    let completed = run(
        tool("sqlite3", "sqlite3")?
            .current_dir(&folder)
            .args(["-bail", "single.db", ".read script.sql"]),
        scratch,
    )?;
    let per_second = f64::from(count) / completed.elapsed.max(Duration::from_millis(1)).as_secs_f64();
    std::fs::remove_dir_all(folder)?;
    Ok(per_second)
}

/// Creates a fundraiser for the first nonprofit that can receive donations.
pub(crate) fn create_target(api: &ApiClient, authorization: &str, eins: Vec<String>) -> Result<Target> {
    let mut connection = Connection::open(api.address)?;
    for ein in eins {
        let request = get_request(api.address, &api.path(&format!("nonprofit/{ein}"), ""));
        let response = connection.request(request.as_bytes())?;
        let body: Value = serde_json::from_slice(response.body)?;
        let nonprofit = &body["data"]["nonprofit"];
        let (Some(id), Some(true)) = (nonprofit["id"].as_str(), nonprofit["isDisbursable"].as_bool()) else {
            continue;
        };
        return Ok(Target {
            nonprofit: id.to_owned(),
            fundraiser: create_fundraiser(&mut connection, api.address, authorization, id, 0)?,
        });
    }
    bail!("no nonprofit in the file can receive donations")
}

/// Creates a fundraiser with one of the titles, and returns its ID.
pub(crate) fn create_fundraiser(
    connection: &mut Connection,
    address: SocketAddr,
    authorization: &str,
    nonprofit: &str,
    title: usize,
) -> Result<String> {
    let requests = create_requests(address, authorization, nonprofit);
    let response = connection.request(requests.get(title % TITLE_COUNT))?;
    let body: Value = serde_json::from_slice(response.body)?;
    let id = body["data"]["fundraiser"]["id"].as_str();
    let id = id.with_context(|| format!("the fundraiser was not created: {body}"))?;
    Ok(id.to_owned())
}

/// Returns requests that each create a fundraiser.
fn create_requests(address: SocketAddr, authorization: &str, nonprofit: &str) -> Requests {
    let mut requests = Requests::new(address);
    for number in 0..TITLE_COUNT {
        let body = format!(r#"{{"nonprofitId":"{nonprofit}","title":"Run {number}","raisedOffline":100}}"#);
        requests.push_post("/v0.2/fundraiser", authorization, &body);
    }
    requests
}
