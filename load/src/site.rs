//! How the rate of profile pages stands to that of `/healthz`, and whether each keystroke on the home page gets what the
//! interface answers, as fast as there.

use anyhow::{Result, ensure};
use clap::Args;

use crate::cleanup::Workplace;
use crate::connection::Connection;
use crate::disturbance::{self, Watch};
use crate::drive::{Alone, require_success, saturate};
use crate::figures::{grouped, latency, median, rate, ratio};
use crate::histogram::Histogram;
use crate::options::{Options, Serving};
use crate::requests::{Requests, get, segment};
use crate::sample::{Asking, Identifiers, eins_of_file, eins_of_service, identifiers};
use crate::table::{Table, Verdict};

const SHARE_OF_HEALTHZ: f64 = 1.0 / 3.0;
/// What the median of the home page may be to that of the interface.
const TIMES_OF_SEARCH: f64 = 1.5;
/// An address may ask the home page so often in a minute, twice each; the interface is asked as often.
const KEYSTROKES: usize = 500;
const HITS: &str = "&take=8";

#[derive(Args)]
pub struct Site {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: Serving,
    /// Nonprofits whose pages are read
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
}

/// A kind of page, and its rate in each round.
struct Kind {
    name: &'static str,
    requests: Requests,
    rates: Vec<f64>,
}

/// The same keystrokes, asked of the home page and of the interface.
struct Keystrokes {
    home: Histogram,
    interface: Histogram,
    count: usize,
    differing: usize,
}

impl Site {
    pub fn measure(&self, workplace: &Workplace) -> Result<Table> {
        let prepared = self.serving.prepare(&self.options.causeway, workplace)?;
        let (causeway, cores) = (&prepared.causeway, self.serving.cores);
        let key = causeway.key(self.serving.limit)?;
        cores.pin_this_program(workplace)?;
        let server = causeway.serve(cores)?;
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
        let time = self.options.round_time()?;
        for round in 1..=self.options.rounds {
            for kind in &mut kinds {
                let measured = saturate(&kind.requests, self.serving.connections.into(), time)?;
                kind.rates.push(measured.rate());
                eprintln!("round {round}: {} {}", kind.name, rate(measured.rate()));
            }
        }
        let keystrokes = type_names(&ask, &sample)?;
        let mut table = self.table(sample.len(), &kinds, &keystrokes);
        table.note(disturbance::note(&watches));
        server.stop(workplace)?;
        Ok(table)
    }

    fn table(&self, sample: usize, kinds: &[Kind], keystrokes: &Keystrokes) -> Table {
        let title = format!(
            "Pages of {} nonprofits, {} connections, median of {}",
            grouped(sample as u64),
            self.serving.connections,
            self.options.rounds
        );
        let mut table = Table::new(title, &["what", "measured", "ratio", "to", "bound"]);
        let healthz = &kinds[0].rates;
        for Kind { name, rates, .. } in kinds {
            let measured = rate(median(rates.iter().copied()));
            let times = median(rates.iter().zip(healthz).map(|(own, other)| own / other));
            let (bound, verdict) = match *name {
                "profiles" => (
                    format!(">= {}", ratio(SHARE_OF_HEALTHZ)),
                    Verdict::of(times >= SHARE_OF_HEALTHZ),
                ),
                _ => (String::new(), Verdict::Shown),
            };
            table.row(&[name, &measured, &ratio(times), "/healthz", &bound], verdict);
        }
        keystrokes.add_to(&mut table);
        table
    }
}

fn kinds(ask: &Asking, sample: &[Identifiers]) -> Vec<Kind> {
    let mut profiles = Requests::new(ask.address);
    for nonprofit in sample {
        profiles.push(&format!("/{}", segment(&nonprofit.slug)));
    }
    let kind = |name, requests| Kind {
        name,
        requests,
        rates: Vec::new(),
    };
    vec![
        kind("/healthz", Requests::of_path(ask.address, "/healthz")),
        kind("profiles", profiles),
        kind("home", Requests::of_path(ask.address, "/")),
        kind("causes", Requests::of_path(ask.address, "/causes")),
    ]
}

/// Types the beginnings of names on the home page, and asks the interface the same.
fn type_names(ask: &Asking, sample: &[Identifiers]) -> Result<Keystrokes> {
    let mut typed: Vec<String> = sample
        .iter()
        .map(|nonprofit| beginning(&nonprofit.slug))
        .collect();
    typed.sort_unstable();
    typed.dedup();
    typed.truncate(KEYSTROKES);
    let (mut home, mut interface) = (Requests::new(ask.address), Requests::new(ask.address));
    let mut connection = Connection::open(ask.address)?;
    let mut body = |request: &[u8]| -> Result<Vec<u8>> {
        let answer = connection.call(request)?;
        require_success(&answer)?;
        Ok(answer.body.to_vec())
    };
    let mut differing = 0;
    for text in &typed {
        let typed_there = format!("/search.json?q={}", segment(text));
        let asked_there = ask.path(&format!("search/{}", segment(text)), HITS);
        let here = body(get(ask.address, &typed_there).as_bytes())?;
        differing += usize::from(here != body(get(ask.address, &asked_there).as_bytes())?);
        home.push(&typed_there);
        interface.push(&asked_there);
    }
    ensure!(!typed.is_empty(), "there is nothing to type");
    let mut keystrokes = Keystrokes {
        home: Histogram::new(),
        interface: Histogram::new(),
        count: typed.len(),
        differing,
    };
    let mut client = Alone::new(ask.address)?;
    for index in 0..typed.len() {
        client.ask(&home, index..index + 1, |_, took| keystrokes.home.record(took))?;
        client.ask(&interface, index..index + 1, |_, took| {
            keystrokes.interface.record(took);
        })?;
    }
    Ok(keystrokes)
}

/// What somebody has typed of a name after a word and a half.
fn beginning(slug: &str) -> String {
    let words: String = slug.replace('-', " ").chars().take(9).collect();
    words.trim().to_owned()
}

impl Keystrokes {
    fn add_to(&self, table: &mut Table) {
        let (home, interface) = (self.home.at(0.5), self.interface.at(0.5));
        let times = home.as_secs_f64() / interface.as_secs_f64().max(f64::EPSILON);
        let to = format!("interface, {}", latency(interface));
        let bound = format!("<= {}", ratio(TIMES_OF_SEARCH));
        let cells = [
            "a keystroke at home, p50",
            &latency(home),
            &ratio(times),
            &to,
            &bound,
        ];
        table.row(&cells, Verdict::of(times <= TIMES_OF_SEARCH));
        let same = format!("{} of {}", self.count - self.differing, self.count);
        let cells = ["answers that are those of the interface", &same, "", "", "all"];
        table.row(&cells, Verdict::of(self.differing == 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_name_ends_within_a_word() {
        assert_eq!(beginning("american-red-cross"), "american");
        assert_eq!(beginning("red-cross-of-x"), "red cross");
        assert_eq!(beginning("ymca"), "ymca");
    }
}
