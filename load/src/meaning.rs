//! Measures what word vectors cost: the same queries to a server that compares meanings and to one that does not, both
//! without an answer cache, on the same core, in turn.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::causeway::Server;
use crate::cleanup::ScratchDir;
use crate::client::SingleClient;
use crate::format::{latency, with_commas};
use crate::intent;
use crate::interference::{self, CpuMonitor};
use crate::options::{Options, ServerOptions};
use crate::relevance::{self, search_path};
use crate::requests::Requests;
use crate::sample::ApiClient;
use crate::table::{Table, Verdict};

/// How much longer a query that uses vectors may take.
const MAX_DIFFERENCE: Duration = Duration::from_micros(20);
/// Number of requests that are sent to one server before the other gets the same ones.
const BATCH_SIZE: usize = 500;

#[derive(Args)]
pub(crate) struct Meaning {
    #[command(flatten)]
    pub options: Options,
    #[command(flatten)]
    serving: ServerOptions,
    /// A typing log, .jsonl or .jsonl.gz
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// Queries that state an intent, .jsonl or .jsonl.gz
    #[arg(long, value_name = "FILE")]
    intent: PathBuf,
}

impl Meaning {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let log = relevance::read_log(&self.log)?;
        let log: Vec<String> = log.into_iter().map(|keystroke| keystroke.query).collect();
        let intents = intent::read_queries(&self.intent)?;
        let intents: Vec<String> = intents.into_iter().map(|query| query.text).collect();
        let keystrokes: Vec<String> = intents.iter().flat_map(|text| beginnings(text)).collect();
        let prepared = self.serving.prepare(&self.options.causeway, scratch)?;
        let causeway = &prepared.causeway;
        let key = causeway.create_public_key(self.serving.directory.limit)?;
        self.serving.cores.pin_client(scratch)?;
        let with = causeway.serve_without_cache(self.serving.cores)?;
        let without = causeway.serve_without_meaning(self.serving.cores)?;
        let servers = [with.process_id(), without.process_id()];
        let monitors = CpuMonitor::for_cores(self.serving.cores, &servers);
        let mut table = Table::new(
            format!(
                "Word vectors, mean of the fastest of {} responses",
                self.options.rounds
            ),
            &["queries", "with vectors", "without", "difference", "bound"],
        );
        for (name, queries, max) in [
            ("queries with an intent", &intents, Some(MAX_DIFFERENCE)),
            ("their keystrokes", &keystrokes, Some(MAX_DIFFERENCE)),
            ("the typing log", &log, None),
        ] {
            eprintln!("{name}");
            let [with, without] = self.compare([&with, &without], &key.value, queries)?;
            let difference = with.saturating_sub(without);
            let sign = if with < without { "-" } else { "+" };
            let name = format!("{name}, {}", with_commas(queries.len() as u64));
            let cells = [
                &*name,
                &latency(with),
                &latency(without),
                &format!("{sign}{}", latency(with.abs_diff(without))),
                &max.map_or_else(String::new, |max| format!("<= {}", latency(max))),
            ];
            table.add_row(
                &cells,
                max.map_or(Verdict::Unbounded, |max| Verdict::of(difference <= max)),
            );
        }
        table.add_note(interference::note(&monitors));
        with.stop(scratch)?;
        without.stop(scratch)?;
        Ok(table)
    }

    /// Returns the mean time of a response of each server. Of each query the fastest response counts.
    fn compare(&self, servers: [&Server; 2], key: &str, queries: &[String]) -> Result<[Duration; 2]> {
        let requests = servers.map(|server| {
            let api = ApiClient {
                address: server.address,
                key: key.to_owned(),
            };
            let mut requests = Requests::new(api.address);
            for query in queries {
                requests.push(&search_path(&api, query, ""));
            }
            requests
        });
        let mut fastest = [const { Vec::new() }; 2];
        for fastest in &mut fastest {
            fastest.resize(queries.len(), Duration::MAX);
        }
        for _ in 0..self.options.rounds {
            for start in (0..queries.len()).step_by(BATCH_SIZE) {
                let batch = start..queries.len().min(start + BATCH_SIZE);
                for (requests, fastest) in requests.iter().zip(&mut fastest) {
                    let mut client = SingleClient::new(requests.address())?;
                    client.send_all(requests, batch.clone(), |index, latency| {
                        fastest[index] = fastest[index].min(latency);
                    })?;
                }
            }
        }
        let count = queries.len().max(1) as u32;
        Ok(fastest.map(|fastest| fastest.into_iter().sum::<Duration>() / count))
    }
}

/// Returns a query after each keystroke, without a space at the end.
fn beginnings(text: &str) -> impl Iterator<Item = String> {
    let ends = text
        .char_indices()
        .map(|(at, character)| at + character.len_utf8());
    ends.map(|end| text[..end].to_owned())
        .filter(|beginning| !beginning.ends_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_typed_letter_by_letter() {
        let typed: Vec<String> = beginnings("a né").collect();
        assert_eq!(typed, ["a", "a n", "a né"]);
    }
}
