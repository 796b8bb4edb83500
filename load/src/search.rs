//! Search on every keystroke of a typing log, over HTTP with a key: how its rate and its latencies stand to those of
//! `/healthz` in the same run, what memory it holds, how good the answers are, and what hostile terms cost.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::causeway::{Causeway, Key, Server};
use crate::cleanup::Workplace;
use crate::disturbance::{self, Watch};
use crate::drive::{Alone, saturate};
use crate::figures::rate;
use crate::histogram::Histogram;
use crate::hostile::{self, Outcome};
use crate::options::{Options, Serving};
use crate::relevance::{self, Keystroke, search_path};
use crate::requests::{Requests, segment};
use crate::sample::Asking;
use crate::search_table::{Figures, Memory, OneClient, Rates};
use crate::table::Table;

/// Calls that a single client makes of one kind before it turns to the next.
const TURN: usize = 500;

#[derive(Args)]
pub struct Search {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: Serving,
    /// A typing log, .jsonl or .jsonl.gz
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// A second data folder with a directory about ten times as large, measured in the same rounds
    #[arg(long, value_name = "DIR", conflicts_with = "relevance_only")]
    large: Option<PathBuf>,
    /// The cause of the filtered search
    #[arg(long, value_name = "CAUSE", default_value = "animals")]
    cause: String,
    /// Measure and print the quality of the answers alone
    #[arg(long)]
    relevance_only: bool,
}

/// One served directory with the requests of the log made for it.
struct Directory {
    server: Server,
    ask: Asking,
    resident: u64,
    log: Requests,
}

impl Search {
    pub fn measure(&self, workplace: &Workplace) -> Result<Table> {
        let log = relevance::read_log(&self.log)?;
        let prepared = self.serving.prepare(&self.options.causeway, workplace)?;
        let key = prepared.causeway.key(self.serving.limit)?;
        if self.relevance_only {
            let server = prepared.causeway.serve(self.serving.cores)?;
            let ask = Asking {
                address: server.address,
                key: key.text.clone(),
            };
            let places = relevance::places(&ask, &log)?;
            server.stop(workplace)?;
            return Ok(relevance::table(&log, &places));
        }
        let large = match &self.large {
            Some(data) => Some(Causeway::new(&self.options.causeway, data, workplace)?),
            None => None,
        };
        let large_key = large
            .as_ref()
            .map(|causeway| causeway.key(self.serving.limit))
            .transpose()?;
        self.serving.cores.pin_this_program(workplace)?;
        let directory = self.serve(&prepared.causeway, &key, &log)?;
        let large = match (&large, &large_key) {
            (Some(causeway), Some(key)) => Some(self.serve(causeway, key, &log)?),
            _ => None,
        };
        let index = prepared.import.as_ref().and_then(|import| import.index);
        let servers: Vec<u32> = [Some(&directory), large.as_ref()]
            .into_iter()
            .flatten()
            .map(|site| site.server.process())
            .collect();
        let watches = Watch::both_cores(self.serving.cores, &servers);
        let mut figures = self.figures(index, &directory, large.as_ref(), &log)?;
        figures.hostile = self.hostile(&prepared.causeway, &key, workplace)?;
        let mut table = figures.table();
        table.note(disturbance::note(&watches));
        for directory in [Some(directory), large].into_iter().flatten() {
            directory.server.stop(workplace)?;
        }
        Ok(table)
    }

    fn serve(&self, causeway: &Causeway<'_>, key: &Key<'_>, log: &[Keystroke]) -> Result<Directory> {
        let server = causeway.serve(self.serving.cores)?;
        let resident = server.resident()?;
        let ask = Asking {
            address: server.address,
            key: key.text.clone(),
        };
        let log = requests(&ask, log, "");
        Ok(Directory {
            server,
            ask,
            resident,
            log,
        })
    }

    fn figures(
        &self,
        index: Option<Duration>,
        directory: &Directory,
        large: Option<&Directory>,
        log: &[Keystroke],
    ) -> Result<Figures> {
        let rates = self.rates(directory, large, log)?;
        let alone = self.alone(directory, log)?;
        eprintln!("the quality of the answers");
        let places = relevance::places(&directory.ask, log)?;
        Ok(Figures {
            keystrokes: log.len(),
            rounds: self.options.rounds,
            cause: self.cause.clone(),
            index,
            memory: directory.memory()?,
            large_memory: large.map(Directory::memory).transpose()?,
            rates,
            alone,
            quality: relevance::lines(log, &places),
            hostile: Vec::new(),
        })
    }

    /// Hostile terms, each asked of a server that keeps nothing.
    fn hostile(&self, causeway: &Causeway<'_>, key: &Key<'_>, workplace: &Workplace) -> Result<Vec<Outcome>> {
        eprintln!("hostile terms");
        let server = causeway.serve_keeping_nothing(self.serving.cores)?;
        let outcomes = hostile::ask_all(&Asking {
            address: server.address,
            key: key.text.clone(),
        })?;
        server.stop(workplace)?;
        Ok(outcomes)
    }

    fn rates(&self, directory: &Directory, large: Option<&Directory>, log: &[Keystroke]) -> Result<Rates> {
        let healthz = Requests::of_path(directory.ask.address, "/healthz");
        let filter = format!("&causes={}", segment(&self.cause));
        let filtered = requests(&directory.ask, log, &filter);
        let time = self.options.round_time()?;
        let mut rates = Rates::default();
        for round in 1..=self.options.rounds {
            let measure = |name: &str, requests: &Requests, rates: &mut Vec<f64>| {
                let measured = saturate(requests, self.serving.connections.into(), time)?.rate();
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

    /// A single client asks the log and as many times `/healthz`, in turns, so that both meet the same disturbances.
    fn alone(&self, directory: &Directory, log: &[Keystroke]) -> Result<OneClient> {
        eprintln!("a single client");
        let healthz = Requests::of_path(directory.ask.address, "/healthz");
        let mut client = Alone::new(directory.ask.address)?;
        let mut measured = OneClient {
            healthz: Histogram::new(),
            log: Histogram::new(),
            slowest: None,
        };
        let mut best = vec![Duration::MAX; log.len()];
        for _ in 0..self.options.rounds {
            for start in (0..log.len()).step_by(TURN) {
                let turn = start..log.len().min(start + TURN);
                client.ask(&healthz, turn.clone(), |_, took| measured.healthz.record(took))?;
                client.ask(&directory.log, turn, |index, took| {
                    measured.log.record(took);
                    best[index] = best[index].min(took);
                })?;
            }
        }
        let slowest = best.into_iter().zip(log).max_by_key(|(took, _)| *took);
        measured.slowest = slowest.map(|(took, keystroke)| (keystroke.query.clone(), took));
        Ok(measured)
    }
}

impl Directory {
    fn memory(&self) -> Result<Memory> {
        Ok(Memory {
            at_start: self.resident,
            after_load: self.server.resident()?,
        })
    }
}

fn requests(ask: &Asking, log: &[Keystroke], more: &str) -> Requests {
    let mut requests = Requests::new(ask.address);
    for keystroke in log {
        requests.push(&search_path(ask, &keystroke.query, more));
    }
    requests
}
