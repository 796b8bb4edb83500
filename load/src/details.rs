//! Measures startup time, memory and the rate of nonprofit details by slug, EIN and ID, and of browse pages.
//!
//! Rates are compared with `/healthz`, which has the same HTTP overhead and looks up nothing.

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use crate::cleanup::ScratchDir;
use crate::client::{SingleClient, saturate};
use crate::connection::Connection;
use crate::format::{MEBIBYTE, latency, mebibytes, median, rate, ratio, seconds, with_commas};
use crate::histogram::Histogram;
use crate::interference::{self, CpuMonitor};
use crate::options::{Options, ServerOptions};
use crate::requests::{Requests, encode_segment};
use crate::sample::{
    ApiClient, Identifiers, look_up_identifiers, sample_eins_from_api, sample_eins_from_file,
};
use crate::table::{Table, Verdict};

const MIN_RATIO_TO_HEALTHZ: f64 = 0.5;
const MIN_RATIO_OF_BROWSE: f64 = 0.33;
/// Number of pages of each cause to request.
const BROWSE_PAGES: u32 = 3;
const MAX_STARTUP_TIME: Duration = Duration::from_secs(2);
const MAX_RESIDENT_MEMORY: u64 = 700 * MEBIBYTE;
/// Number of requests that the single client sends to one endpoint before it moves on to the next.
const BATCH_SIZE: usize = 500;

#[derive(Args)]
pub(crate) struct Details {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: ServerOptions,
    /// Number of nonprofits to request
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
}

/// The requests to one endpoint, and their measurements.
struct Workload {
    name: &'static str,
    /// The bound of the rate as a ratio to `/healthz`.
    min_ratio: Option<f64>,
    requests: Requests,
    rates: Vec<f64>,
    latencies: Histogram,
}

/// Startup times with and without the files in the page cache, and resident memory.
struct Startup {
    cold: Duration,
    warm: Duration,
    memory_at_start: u64,
    memory_after_load: u64,
}

impl Details {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let prepared = self.serving.prepare(&self.options.causeway, scratch)?;
        let (causeway, cores) = (&prepared.causeway, self.serving.cores);
        let key = causeway.create_public_key(self.serving.directory.limit)?;
        cores.pin_client(scratch)?;

        eprintln!("starting the server without its files in the page cache");
        causeway.drop_page_cache()?;
        let server = causeway.serve(cores)?;
        let cold = server.startup_time;
        server.stop(scratch)?;
        let server = causeway.serve(cores)?;
        let memory_at_start = server.resident_memory()?;

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
        workloads.push(browse_pages(&mut connection, &api)?);
        let monitors = CpuMonitor::for_cores(cores, &[server.process_id()]);
        self.measure_rates(&mut workloads)?;
        self.measure_latencies(&mut workloads, sample.len())?;
        let startup = Startup {
            cold,
            warm: server.startup_time,
            memory_at_start,
            memory_after_load: server.resident_memory()?,
        };
        let mut table = self.table(sample.len(), &startup, &workloads);
        table.add_note(interference::note(&monitors));
        server.stop(scratch)?;
        Ok(table)
    }

    fn measure_rates(&self, workloads: &mut [Workload]) -> Result<()> {
        let time = self.options.round_duration()?;
        for round in 1..=self.options.rounds {
            for workload in &mut *workloads {
                let measured = saturate(&workload.requests, self.serving.connections.into(), time)?;
                workload.rates.push(measured.rate());
                eprintln!("round {round}: {} {}", workload.name, rate(measured.rate()));
            }
        }
        Ok(())
    }

    fn measure_latencies(&self, workloads: &mut [Workload], count: usize) -> Result<()> {
        eprintln!("a single client");
        let mut client = SingleClient::new(workloads[0].requests.address())?;
        for _ in 0..self.options.rounds {
            for start in (0..count).step_by(BATCH_SIZE) {
                for Workload {
                    requests, latencies, ..
                } in &mut *workloads
                {
                    client.send_all(requests, start..count.min(start + BATCH_SIZE), |_, latency| {
                        latencies.record(latency);
                    })?;
                }
            }
        }
        Ok(())
    }

    fn table(&self, sample: usize, startup: &Startup, workloads: &[Workload]) -> Table {
        let title = format!(
            "Details of {} nonprofits, {} connections, median of {}",
            with_commas(sample as u64),
            self.serving.connections,
            self.options.rounds
        );
        let columns = [
            "measurement",
            "value",
            "ratio",
            "relative to",
            "p50, single client",
            "p99, single client",
            "bound",
        ];
        let mut table = Table::new(title, &columns);
        for (name, time) in [
            ("startup, files not cached", startup.cold),
            ("startup, files cached", startup.warm),
        ] {
            let relative = ratio(time.as_secs_f64() / MAX_STARTUP_TIME.as_secs_f64());
            let bound = format!("<= {}", seconds(MAX_STARTUP_TIME));
            let cells = [name, &seconds(time), &relative, "the bound", "", "", &bound];
            table.add_row(&cells, Verdict::of(time <= MAX_STARTUP_TIME));
        }
        let memory = [
            ("resident memory at start", startup.memory_at_start),
            ("resident memory after the load", startup.memory_after_load),
        ];
        for (name, bytes) in memory {
            let relative = ratio(bytes as f64 / MAX_RESIDENT_MEMORY as f64);
            let bound = format!("< {}", mebibytes(MAX_RESIDENT_MEMORY));
            let cells = [name, &mebibytes(bytes), &relative, "the bound", "", "", &bound];
            table.add_row(&cells, Verdict::of(bytes < MAX_RESIDENT_MEMORY));
        }
        add_rate_rows(&mut table, workloads);
        table
    }
}

fn add_rate_rows(table: &mut Table, workloads: &[Workload]) {
    let healthz = &workloads[0].rates;
    for workload in workloads {
        let relative = median(
            workload
                .rates
                .iter()
                .zip(healthz)
                .map(|(rate, healthz)| rate / healthz),
        );
        let (to, bound, verdict) = match workload.min_ratio {
            None => ("", String::new(), Verdict::Unbounded),
            Some(min) => {
                let bound = format!(">= {}", ratio(min));
                ("/healthz", bound, Verdict::of(relative >= min))
            }
        };
        let cells = [
            workload.name,
            &rate(median(workload.rates.iter().copied())),
            &ratio(relative),
            to,
            &latency(workload.latencies.percentile(0.5)),
            &latency(workload.latencies.percentile(0.99)),
            &bound,
        ];
        table.add_row(&cells, verdict);
    }
}

fn workloads(api: &ApiClient, sample: &[Identifiers]) -> Vec<Workload> {
    let by = |name, identifier: &dyn Fn(&Identifiers) -> &str| {
        let mut requests = Requests::new(api.address);
        for nonprofit in sample {
            requests.push(&api.path(
                &format!("nonprofit/{}", encode_segment(identifier(nonprofit))),
                "",
            ));
        }
        workload(name, Some(MIN_RATIO_TO_HEALTHZ), requests)
    };
    vec![
        workload("/healthz", None, Requests::of_path(api.address, "/healthz")),
        by("details by slug", &|nonprofit| &nonprofit.slug),
        by("details by EIN", &|nonprofit| &nonprofit.ein),
        by("details by ID", &|nonprofit| &nonprofit.id),
    ]
}

/// The first pages of all causes.
fn browse_pages(connection: &mut Connection, api: &ApiClient) -> Result<Workload> {
    let causes = api.json(connection, "causes", "")?;
    let causes = causes["causes"]
        .as_array()
        .context("the response has no causes")?;
    let mut requests = Requests::new(api.address);
    for page in 1..=BROWSE_PAGES {
        for cause in causes.iter().filter_map(|cause| cause["tagName"].as_str()) {
            let path = format!("browse/{}", encode_segment(cause));
            requests.push(&api.path(&path, &format!("&page={page}")));
        }
    }
    Ok(workload("browse", Some(MIN_RATIO_OF_BROWSE), requests))
}

fn workload(name: &'static str, min_ratio: Option<f64>, requests: Requests) -> Workload {
    Workload {
        name,
        min_ratio,
        requests,
        rates: Vec::new(),
        latencies: Histogram::new(),
    }
}
