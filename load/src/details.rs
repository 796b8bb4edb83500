//! How fast a loaded directory is ready, how much memory it holds, and how the rate of details by slug, EIN and ID
//! stands to the rate of `/healthz`, which costs the same HTTP and finds nothing.

use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::cleanup::Workplace;
use crate::connection::Connection;
use crate::disturbance::{self, Watch};
use crate::drive::{Alone, saturate};
use crate::figures::{MEBIBYTE, grouped, latency, mebibytes, median, rate, ratio, seconds};
use crate::histogram::Histogram;
use crate::options::{Options, Serving};
use crate::requests::{Requests, segment};
use crate::sample::{Asking, Identifiers, eins_of_file, eins_of_service, identifiers};
use crate::table::{Table, Verdict};

const SHARE_OF_HEALTHZ: f64 = 0.5;
const READY: Duration = Duration::from_secs(2);
const RESIDENT: u64 = 700 * MEBIBYTE;
/// Calls that a single client makes of one kind before it turns to the next.
const TURN: usize = 500;

#[derive(Args)]
pub struct Details {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: Serving,
    /// Nonprofits asked for
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
}

/// One kind of call and what was measured of it.
struct Kind {
    name: &'static str,
    requests: Requests,
    rates: Vec<f64>,
    alone: Histogram,
}

struct Starts {
    cold: Duration,
    warm: Duration,
    resident: u64,
    resident_after_load: u64,
}

impl Details {
    pub fn measure(&self, workplace: &Workplace) -> Result<Table> {
        let prepared = self.serving.prepare(&self.options.causeway, workplace)?;
        let (causeway, cores) = (&prepared.causeway, self.serving.cores);
        let key = causeway.key(self.serving.limit)?;
        cores.pin_this_program(workplace)?;

        eprintln!("starting the server, its files not in the page cache");
        causeway.forget_cached_files()?;
        let server = causeway.serve(cores)?;
        let cold = server.ready;
        server.stop(workplace)?;
        let server = causeway.serve(cores)?;
        let resident = server.resident()?;

        let ask = Asking {
            address: server.address,
            key: key.text.clone(),
        };
        let mut connection = Connection::open(server.address)?;
        let eins = match &prepared.file {
            Some(file) => eins_of_file(file, self.sample as usize)?,
            None => eins_of_service(&mut connection, &ask, self.sample as usize)?,
        };
        let sample = identifiers(&mut connection, &ask, eins)?;
        let mut kinds = kinds(&ask, &sample);
        let watches = Watch::both_cores(cores, &[server.process()]);
        self.measure_rates(&mut kinds)?;
        self.measure_alone(&mut kinds, sample.len())?;
        let starts = Starts {
            cold,
            warm: server.ready,
            resident,
            resident_after_load: server.resident()?,
        };
        let mut table = self.table(sample.len(), &starts, &kinds);
        table.note(disturbance::note(&watches));
        server.stop(workplace)?;
        Ok(table)
    }

    fn measure_rates(&self, kinds: &mut [Kind]) -> Result<()> {
        let time = self.options.round_time()?;
        for round in 1..=self.options.rounds {
            for kind in &mut *kinds {
                let measured = saturate(&kind.requests, self.serving.connections.into(), time)?;
                kind.rates.push(measured.rate());
                eprintln!("round {round}: {} {}", kind.name, rate(measured.rate()));
            }
        }
        Ok(())
    }

    fn measure_alone(&self, kinds: &mut [Kind], calls: usize) -> Result<()> {
        eprintln!("a single client");
        let mut client = Alone::new(kinds[0].requests.address())?;
        for _ in 0..self.options.rounds {
            for start in (0..calls).step_by(TURN) {
                for Kind { requests, alone, .. } in &mut *kinds {
                    client.ask(requests, start..calls.min(start + TURN), |_, took| {
                        alone.record(took);
                    })?;
                }
            }
        }
        Ok(())
    }

    fn table(&self, sample: usize, starts: &Starts, kinds: &[Kind]) -> Table {
        let title = format!(
            "Details of {} nonprofits, {} connections, median of {}",
            grouped(sample as u64),
            self.serving.connections,
            self.options.rounds
        );
        let columns = [
            "what",
            "measured",
            "ratio",
            "to",
            "p50, one client",
            "p99, one client",
            "bound",
        ];
        let mut table = Table::new(title, &columns);
        for (name, ready) in [
            ("ready, files not cached", starts.cold),
            ("ready, files cached", starts.warm),
        ] {
            let times = ratio(ready.as_secs_f64() / READY.as_secs_f64());
            let bound = format!("<= {}", seconds(READY));
            let cells = [name, &seconds(ready), &times, "the bound", "", "", &bound];
            table.row(&cells, Verdict::of(ready <= READY));
        }
        let resident = [
            ("resident at start", starts.resident),
            ("resident after the load", starts.resident_after_load),
        ];
        for (name, bytes) in resident {
            let times = ratio(bytes as f64 / RESIDENT as f64);
            let bound = format!("< {}", mebibytes(RESIDENT));
            let cells = [name, &mebibytes(bytes), &times, "the bound", "", "", &bound];
            table.row(&cells, Verdict::of(bytes < RESIDENT));
        }
        rate_rows(&mut table, kinds);
        table
    }
}

fn rate_rows(table: &mut Table, kinds: &[Kind]) {
    let healthz = &kinds[0].rates;
    for (index, kind) in kinds.iter().enumerate() {
        let times = median(
            kind.rates
                .iter()
                .zip(healthz)
                .map(|(rate, healthz)| rate / healthz),
        );
        let (to, bound, verdict) = if index == 0 {
            ("", String::new(), Verdict::Shown)
        } else {
            let bound = format!(">= {}", ratio(SHARE_OF_HEALTHZ));
            ("/healthz", bound, Verdict::of(times >= SHARE_OF_HEALTHZ))
        };
        let cells = [
            kind.name,
            &rate(median(kind.rates.iter().copied())),
            &ratio(times),
            to,
            &latency(kind.alone.at(0.5)),
            &latency(kind.alone.at(0.99)),
            &bound,
        ];
        table.row(&cells, verdict);
    }
}

fn kinds(ask: &Asking, sample: &[Identifiers]) -> Vec<Kind> {
    let by = |name, identifier: &dyn Fn(&Identifiers) -> &str| {
        let mut requests = Requests::new(ask.address);
        for nonprofit in sample {
            requests.push(&ask.path(&format!("nonprofit/{}", segment(identifier(nonprofit))), ""));
        }
        kind(name, requests)
    };
    vec![
        kind("/healthz", Requests::of_path(ask.address, "/healthz")),
        by("details by slug", &|nonprofit| &nonprofit.slug),
        by("details by EIN", &|nonprofit| &nonprofit.ein),
        by("details by ID", &|nonprofit| &nonprofit.id),
    ]
}

fn kind(name: &'static str, requests: Requests) -> Kind {
    Kind {
        name,
        requests,
        rates: Vec::new(),
        alone: Histogram::new(),
    }
}
