//! Measures search over HTTP with every keystroke of a typing log: rate and latency compared with `/healthz`
//! in the same run, memory, relevance, and the cost of hostile terms.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::causeway::{Causeway, Key, Server};
use crate::cleanup::ScratchDir;
use crate::client::{SingleClient, saturate};
use crate::everyday;
use crate::format::rate;
use crate::histogram::Histogram;
use crate::hostile_terms::{self, Outcome};
use crate::intent;
use crate::interference::{self, CpuMonitor};
use crate::options::{Options, ServerOptions};
use crate::relevance::{self, Keystroke, search_path};
use crate::requests::{Requests, encode_segment};
use crate::sample::ApiClient;
use crate::search_table::{Latencies, Memory, Rates, SearchResults};
use crate::table::Table;

/// Number of requests that the single client sends to one endpoint before it moves on to the next.
const BATCH_SIZE: usize = 500;

#[derive(Args)]
pub(crate) struct Search {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: ServerOptions,
    /// A typing log, .jsonl or .jsonl.gz
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// A second data folder, with a directory about ten times as large, to measure in the same rounds
    #[arg(long, value_name = "DIR", conflicts_with = "relevance_only")]
    large: Option<PathBuf>,
    /// The cause to filter by
    #[arg(long, value_name = "CAUSE", default_value = "animals")]
    cause: String,
    /// Measure only the relevance of the results
    #[arg(long)]
    relevance_only: bool,
    /// Everyday queries with their right answers, to score as well, .jsonl or .jsonl.gz
    #[arg(long, value_name = "FILE", requires = "relevance_only")]
    everyday: Option<PathBuf>,
    /// Intent queries with patterns of right answers, to score as well, .jsonl or .jsonl.gz
    #[arg(long, value_name = "FILE", requires = "relevance_only", requires = "facts")]
    intent: Option<PathBuf>,
    /// The EO BMF file that was imported, to judge the answers to intent queries, .csv or .csv.gz
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
}

/// A running server, and the requests of the log for it.
struct ServedDirectory {
    server: Server,
    api: ApiClient,
    memory_at_start: u64,
    log: Requests,
}

impl Search {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let log = relevance::read_log(&self.log)?;
        let prepared = self.serving.prepare(&self.options.causeway, scratch)?;
        let key = prepared
            .causeway
            .create_public_key(self.serving.directory.limit)?;
        if self.relevance_only {
            let server = prepared.causeway.serve(self.serving.cores)?;
            let api = ApiClient {
                address: server.address,
                key: key.value.clone(),
            };
            let table = self.measure_relevance(&api, &log)?;
            server.stop(scratch)?;
            return Ok(table);
        }
        let large = match &self.large {
            Some(data) => Some(Causeway::new(&self.options.causeway, data, scratch)?),
            None => None,
        };
        if let Some(large) = &large {
            large.write_sitemaps()?;
        }
        let large_key = large
            .as_ref()
            .map(|causeway| causeway.create_public_key(self.serving.directory.limit))
            .transpose()?;
        self.serving.cores.pin_client(scratch)?;
        let directory = self.serve(&prepared.causeway, &key, &log)?;
        let large = match (&large, &large_key) {
            (Some(causeway), Some(key)) => Some(self.serve(causeway, key, &log)?),
            _ => None,
        };
        let index_time = prepared.import.as_ref().and_then(|import| import.index_time);
        let servers: Vec<u32> = [Some(&directory), large.as_ref()]
            .into_iter()
            .flatten()
            .map(|directory| directory.server.process_id())
            .collect();
        let monitors = CpuMonitor::for_cores(self.serving.cores, &servers);
        let mut results = self.measure_directory(index_time, &directory, large.as_ref(), &log)?;
        results.hostile = self.measure_hostile(&prepared.causeway, &key, scratch)?;
        let mut table = results.table();
        table.add_note(interference::note(&monitors));
        for directory in [Some(directory), large].into_iter().flatten() {
            directory.server.stop(scratch)?;
        }
        Ok(table)
    }

    fn measure_relevance(&self, api: &ApiClient, log: &[Keystroke]) -> Result<Table> {
        let queries = match &self.everyday {
            Some(file) => everyday::read_queries(file)?,
            None => Vec::new(),
        };
        let ranks = relevance::ranks(api, log)?;
        let answers = everyday::answers(api, &queries)?;
        let mut rows = Vec::new();
        if let (Some(file), Some(facts)) = (&self.intent, &self.facts) {
            rows.extend(intent::score_rows(api, &intent::read_queries(file)?, facts)?);
        }
        if !queries.is_empty() {
            rows.extend(everyday::score_rows(&queries, &answers));
        }
        let mut table = relevance::table(log, &ranks, rows);
        if !queries.is_empty() {
            table.add_note(everyday::failing_queries(&queries, &answers));
        }
        Ok(table)
    }

    fn serve(&self, causeway: &Causeway<'_>, key: &Key<'_>, log: &[Keystroke]) -> Result<ServedDirectory> {
        let server = causeway.serve(self.serving.cores)?;
        let memory_at_start = server.resident_memory()?;
        let api = ApiClient {
            address: server.address,
            key: key.value.clone(),
        };
        let log = log_requests(&api, log, "");
        Ok(ServedDirectory {
            server,
            api,
            memory_at_start,
            log,
        })
    }

    fn measure_directory(
        &self,
        index_time: Option<Duration>,
        directory: &ServedDirectory,
        large: Option<&ServedDirectory>,
        log: &[Keystroke],
    ) -> Result<SearchResults> {
        let rates = self.measure_rates(directory, large, log)?;
        let latencies = self.measure_latencies(directory, log)?;
        eprintln!("relevance");
        let ranks = relevance::ranks(&directory.api, log)?;
        Ok(SearchResults {
            keystrokes: log.len(),
            rounds: self.options.rounds,
            cause: self.cause.clone(),
            index_time,
            memory: directory.memory()?,
            large_memory: large.map(ServedDirectory::memory).transpose()?,
            rates,
            latencies,
            relevance: relevance::score_rows(log, &ranks),
            hostile: Vec::new(),
        })
    }

    /// Sends hostile terms to a server without an answer cache.
    fn measure_hostile(
        &self,
        causeway: &Causeway<'_>,
        key: &Key<'_>,
        scratch: &ScratchDir,
    ) -> Result<Vec<Outcome>> {
        eprintln!("hostile terms");
        let server = causeway.serve_without_cache(self.serving.cores)?;
        let outcomes = hostile_terms::measure_all(&ApiClient {
            address: server.address,
            key: key.value.clone(),
        })?;
        server.stop(scratch)?;
        Ok(outcomes)
    }

    fn measure_rates(
        &self,
        directory: &ServedDirectory,
        large: Option<&ServedDirectory>,
        log: &[Keystroke],
    ) -> Result<Rates> {
        let healthz = Requests::of_path(directory.api.address, "/healthz");
        let filter = format!("&causes={}", encode_segment(&self.cause));
        let filtered = log_requests(&directory.api, log, &filter);
        let duration = self.options.round_duration()?;
        let mut rates = Rates::default();
        for round in 1..=self.options.rounds {
            let measure = |name: &str, requests: &Requests, rates: &mut Vec<f64>| {
                let measured = saturate(requests, self.serving.connections.into(), duration)?.rate();
                eprintln!("round {round}: {name} {}", rate(measured));
                rates.push(measured);
                Ok::<_, anyhow::Error>(())
            };
            measure("/healthz", &healthz, &mut rates.healthz)?;
            measure("the log", &directory.log, &mut rates.log)?;
            measure("the log with a cause", &filtered, &mut rates.filtered)?;
            if let Some(large) = large {
                measure("the log on the large directory", &large.log, &mut rates.large)?;
            }
        }
        Ok(rates)
    }

    /// Sends the log and as many `/healthz` requests from a single client, alternating, so that disturbances
    /// affect both.
    fn measure_latencies(&self, directory: &ServedDirectory, log: &[Keystroke]) -> Result<Latencies> {
        eprintln!("a single client");
        let healthz = Requests::of_path(directory.api.address, "/healthz");
        let mut client = SingleClient::new(directory.api.address)?;
        let mut latencies = Latencies {
            healthz: Histogram::new(),
            log: Histogram::new(),
            slowest: None,
        };
        let mut best = vec![Duration::MAX; log.len()];
        for _ in 0..self.options.rounds {
            for start in (0..log.len()).step_by(BATCH_SIZE) {
                let batch = start..log.len().min(start + BATCH_SIZE);
                client.send_all(&healthz, batch.clone(), |_, latency| {
                    latencies.healthz.record(latency);
                })?;
                client.send_all(&directory.log, batch, |index, latency| {
                    latencies.log.record(latency);
                    best[index] = best[index].min(latency);
                })?;
            }
        }
        let slowest = best.into_iter().zip(log).max_by_key(|(latency, _)| *latency);
        latencies.slowest = slowest.map(|(latency, keystroke)| (keystroke.query.clone(), latency));
        Ok(latencies)
    }
}

impl ServedDirectory {
    fn memory(&self) -> Result<Memory> {
        Ok(Memory {
            at_start: self.memory_at_start,
            after_load: self.server.resident_memory()?,
        })
    }
}

fn log_requests(api: &ApiClient, log: &[Keystroke], filter: &str) -> Requests {
    let mut requests = Requests::new(api.address);
    for keystroke in log {
        requests.push(&search_path(api, &keystroke.query, filter));
    }
    requests
}
