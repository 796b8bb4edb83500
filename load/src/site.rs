//! Measures the rate of profile pages, compared with `/healthz`, and the search on the home page, compared
//! with the API.
//!
//! Each keystroke on the home page must return the same results as the API.

use anyhow::{Result, ensure};
use clap::Args;

use crate::cleanup::ScratchDir;
use crate::client::{SingleClient, require_success, saturate};
use crate::connection::Connection;
use crate::format::{latency, median, rate, ratio, with_commas};
use crate::histogram::Histogram;
use crate::interference::{self, CpuMonitor};
use crate::options::{Options, ServerOptions};
use crate::requests::{Requests, encode_segment, get_request};
use crate::sample::{
    ApiClient, Identifiers, look_up_identifiers, sample_eins_from_api, sample_eins_from_file,
};
use crate::table::{Table, Verdict};

const MIN_RATIO_TO_HEALTHZ: f64 = 1.0 / 3.0;
/// Upper bound for the median latency of the home page, relative to the API.
const MAX_RATIO_TO_API: f64 = 1.5;
/// Each keystroke is sent twice, and the home page accepts 1,200 requests per minute from one visitor.
const KEYSTROKE_COUNT: usize = 500;
const TAKE: &str = "&take=8";

#[derive(Args)]
pub(crate) struct Site {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: ServerOptions,
    /// Number of nonprofits whose pages are requested
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
}

/// The requests to one kind of page, and the rate of each round.
struct Workload {
    name: &'static str,
    requests: Requests,
    rates: Vec<f64>,
}

/// The same keystrokes, sent to the home page and to the API.
struct KeystrokeComparison {
    home: Histogram,
    api: Histogram,
    count: usize,
    differing: usize,
}

impl Site {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let prepared = self.serving.prepare(&self.options.causeway, scratch)?;
        let (causeway, cores) = (&prepared.causeway, self.serving.cores);
        let key = causeway.create_public_key(self.serving.directory.limit)?;
        cores.pin_client(scratch)?;
        let server = causeway.serve(cores)?;
        let api = ApiClient {
            address: server.address,
            key: key.value.clone(),
        };
        let mut connection = Connection::open(server.address)?;
        let eins = match &prepared.file {
            Some(file) => sample_eins_from_file(file, self.sample as usize)?,
            None => sample_eins_from_api(&mut connection, &api, self.sample as usize)?,
        };
        let sample = look_up_identifiers(&mut connection, &api, eins)?;
        let mut workloads = workloads(&api, &sample);
        let monitors = CpuMonitor::for_cores(cores, &[server.process_id()]);
        let duration = self.options.round_duration()?;
        for round in 1..=self.options.rounds {
            for workload in &mut workloads {
                let measured = saturate(&workload.requests, self.serving.connections.into(), duration)?;
                workload.rates.push(measured.rate());
                eprintln!("round {round}: {} {}", workload.name, rate(measured.rate()));
            }
        }
        let keystrokes = compare_keystrokes(&api, &sample)?;
        let mut table = self.table(sample.len(), &workloads, &keystrokes);
        table.add_note(interference::note(&monitors));
        server.stop(scratch)?;
        Ok(table)
    }

    fn table(&self, sample: usize, workloads: &[Workload], keystrokes: &KeystrokeComparison) -> Table {
        let title = format!(
            "Pages of {} nonprofits, {} connections, median of {}",
            with_commas(sample as u64),
            self.serving.connections,
            self.options.rounds
        );
        let mut table = Table::new(title, &["measurement", "value", "ratio", "relative to", "bound"]);
        let healthz = &workloads[0].rates;
        for Workload { name, rates, .. } in workloads {
            let value = rate(median(rates.iter().copied()));
            let relative = median(rates.iter().zip(healthz).map(|(rate, healthz)| rate / healthz));
            let (bound, verdict) = match *name {
                "profiles" => (
                    format!(">= {}", ratio(MIN_RATIO_TO_HEALTHZ)),
                    Verdict::of(relative >= MIN_RATIO_TO_HEALTHZ),
                ),
                _ => (String::new(), Verdict::Unbounded),
            };
            table.add_row(&[name, &value, &ratio(relative), "/healthz", &bound], verdict);
        }
        keystrokes.add_rows(&mut table);
        table
    }
}

fn workloads(api: &ApiClient, sample: &[Identifiers]) -> Vec<Workload> {
    let mut profiles = Requests::new(api.address);
    for nonprofit in sample {
        profiles.push(&format!("/{}", encode_segment(&nonprofit.slug)));
    }
    let workload = |name, requests| Workload {
        name,
        requests,
        rates: Vec::new(),
    };
    vec![
        workload("/healthz", Requests::of_path(api.address, "/healthz")),
        workload("profiles", profiles),
        workload("home", Requests::of_path(api.address, "/")),
        workload("causes", Requests::of_path(api.address, "/causes")),
    ]
}

/// Sends the beginnings of names to the home page and to the API.
fn compare_keystrokes(api: &ApiClient, sample: &[Identifiers]) -> Result<KeystrokeComparison> {
    let mut queries: Vec<String> = sample
        .iter()
        .map(|nonprofit| beginning(&nonprofit.slug))
        .collect();
    queries.sort_unstable();
    queries.dedup();
    queries.truncate(KEYSTROKE_COUNT);
    let (mut home_requests, mut api_requests) = (Requests::new(api.address), Requests::new(api.address));
    let mut connection = Connection::open(api.address)?;
    let mut body = |request: &[u8]| -> Result<Vec<u8>> {
        let response = connection.request(request)?;
        require_success(&response)?;
        Ok(response.body.to_vec())
    };
    let mut differing = 0;
    for query in &queries {
        let home_path = format!("/search.json?q={}", encode_segment(query));
        let api_path = api.path(&format!("search/{}", encode_segment(query)), TAKE);
        let home_body = body(get_request(api.address, &home_path).as_bytes())?;
        let api_body = body(get_request(api.address, &api_path).as_bytes())?;
        differing += usize::from(home_body != api_body);
        home_requests.push(&home_path);
        api_requests.push(&api_path);
    }
    ensure!(!queries.is_empty(), "the sample has no names to search for");
    let mut keystrokes = KeystrokeComparison {
        home: Histogram::new(),
        api: Histogram::new(),
        count: queries.len(),
        differing,
    };
    let mut client = SingleClient::new(api.address)?;
    for index in 0..queries.len() {
        client.send_all(&home_requests, index..index + 1, |_, latency| {
            keystrokes.home.record(latency);
        })?;
        client.send_all(&api_requests, index..index + 1, |_, latency| {
            keystrokes.api.record(latency);
        })?;
    }
    Ok(keystrokes)
}

/// Returns the beginning of a name, about a word and a half.
fn beginning(slug: &str) -> String {
    let words: String = slug.replace('-', " ").chars().take(9).collect();
    words.trim().to_owned()
}

impl KeystrokeComparison {
    fn add_rows(&self, table: &mut Table) {
        let (home, api) = (self.home.percentile(0.5), self.api.percentile(0.5));
        let relative = home.as_secs_f64() / api.as_secs_f64().max(f64::EPSILON);
        let relative_to = format!("API, {}", latency(api));
        let bound = format!("<= {}", ratio(MAX_RATIO_TO_API));
        let cells = [
            "keystroke on the home page, p50",
            &latency(home),
            &ratio(relative),
            &relative_to,
            &bound,
        ];
        table.add_row(&cells, Verdict::of(relative <= MAX_RATIO_TO_API));
        let equal = format!("{} of {}", self.count - self.differing, self.count);
        let cells = ["same results as the API", &equal, "", "", "all"];
        table.add_row(&cells, Verdict::of(self.differing == 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_name_has_nine_characters() {
        assert_eq!(beginning("american-red-cross"), "american");
        assert_eq!(beginning("red-cross-of-x"), "red cross");
        assert_eq!(beginning("ymca"), "ymca");
    }
}
