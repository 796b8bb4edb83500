//! Search terms designed to be slow or to break something.
//!
//! Each must be answered within the bounds of any other search, or be rejected with a problem that says why.
//! The server runs without an answer cache, so that every request runs a search.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;

use crate::connection::Connection;
use crate::format::{latency, ratio};
use crate::histogram::Histogram;
use crate::relevance::TAKE;
use crate::requests::{encode_segment, get_request};
use crate::sample::ApiClient;
use crate::table::Verdict;

/// Number of passes over all terms, so that a short disturbance of the machine affects one pass only.
const ROUNDS: usize = 3;
const REQUESTS_PER_ROUND: usize = 200;

/// The responses to one term.
pub(crate) struct Outcome {
    pub name: &'static str,
    status: u16,
    /// Whether the last response was a problem with a code and a detail.
    is_explained: bool,
    failed_requests: usize,
    /// One histogram per round.
    latencies: Vec<Histogram>,
}

/// The latency bounds of a search, derived from `/healthz` in the same run.
pub(crate) struct Bounds {
    pub p99: Duration,
    pub max: Duration,
}

impl Outcome {
    fn new(name: &'static str) -> Outcome {
        Outcome {
            name,
            status: 0,
            is_explained: false,
            failed_requests: 0,
            latencies: Vec::with_capacity(ROUNDS),
        }
    }

    /// Sends the term [`REQUESTS_PER_ROUND`] times.
    fn measure_round(&mut self, api: &ApiClient, segment: &str) -> Result<()> {
        let path = api.path(&format!("search/{segment}"), &format!("&take={TAKE}"));
        let request = get_request(api.address, &path);
        let mut connection = Connection::open(api.address)?;
        let mut round = Histogram::new();
        for _ in 0..REQUESTS_PER_ROUND {
            let started = Instant::now();
            let Ok(response) = connection.request(request.as_bytes()) else {
                self.failed_requests += 1;
                connection = Connection::open(api.address)?;
                continue;
            };
            round.record(started.elapsed());
            self.status = self.status.max(response.status);
            self.is_explained = is_problem(response.body);
        }
        self.latencies.push(round);
        Ok(())
    }

    pub(crate) fn verdict(&self, bounds: &Bounds) -> Verdict {
        let is_in_time = self.p99() <= bounds.p99 && self.max() <= bounds.max;
        Verdict::of(match self.status {
            _ if self.failed_requests > 0 => false,
            200 => is_in_time,
            400..500 => self.is_explained && is_in_time,
            _ => false,
        })
    }

    /// Returns the median of the rounds.
    fn p99(&self) -> Duration {
        let mut rounds: Vec<_> = self
            .latencies
            .iter()
            .map(|round| round.percentile(0.99))
            .collect();
        rounds.sort_unstable();
        rounds[rounds.len() / 2]
    }

    fn max(&self) -> Duration {
        let max = self.latencies.iter().map(Histogram::max).max();
        max.unwrap_or_default()
    }

    /// Returns the status and the latencies as one table cell.
    pub(crate) fn summary(&self) -> String {
        if self.failed_requests > 0 {
            return format!("{} requests got no response", self.failed_requests);
        }
        let (p99, max) = (latency(self.p99()), latency(self.max()));
        format!("{}, p99 {p99}, max {max}", self.status)
    }

    pub(crate) fn ratio_to(&self, healthz_p99: Duration) -> String {
        ratio(self.p99().as_secs_f64() / healthz_p99.as_secs_f64())
    }
}

pub(crate) fn measure_all(api: &ApiClient) -> Result<Vec<Outcome>> {
    let terms = terms();
    let mut outcomes: Vec<Outcome> = terms.iter().map(|(name, _)| Outcome::new(name)).collect();
    for _ in 0..ROUNDS {
        for (outcome, (_, segment)) in outcomes.iter_mut().zip(&terms) {
            outcome.measure_round(api, segment)?;
        }
    }
    Ok(outcomes)
}

fn is_problem(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body)
        .is_ok_and(|body| body["code"].is_string() && body["detail"].is_string())
}

/// Returns the name and the encoded path segment of each term.
fn terms() -> Vec<(&'static str, String)> {
    let encoded = [
        ("one letter", "a".to_owned()),
        ("one digit", "1".to_owned()),
        ("one emoji", "\u{1F431}".to_owned()),
        ("a space", " ".to_owned()),
        ("256 letters", "a".repeat(256)),
        ("257 letters", "a".repeat(257)),
        ("256 four-byte characters", "\u{1F431}".repeat(256)),
        ("50 words", ["food"; 50].join(" ")),
        (
            "50 different words",
            (10..60)
                .map(|number| format!("w{number}"))
                .collect::<Vec<_>>()
                .join(" "),
        ),
        ("128 single letters", ["a"; 128].join(" ")),
        ("a a a a", "a a a a".to_owned()),
        ("only punctuation", "!?.,;:-_()'\"&%$".to_owned()),
        ("only stop words", "the of and for in".to_owned()),
        ("frequent words", "foundation of the church inc".to_owned()),
        (
            "frequent words, rare last word",
            "foundation of the united states zz".to_owned(),
        ),
        (
            "many frequent words, one letter",
            "new york city of the united states of america z".to_owned(),
        ),
        ("frequent words, one letter", "national trust for p".to_owned()),
        (
            "right to left",
            "\u{5D0}\u{5E8}\u{5D2}\u{5D5}\u{5DF} \u{635}\u{62F}\u{642}\u{629}".to_owned(),
        ),
        ("combining marks", format!("e{}", "\u{301}".repeat(255))),
        ("misspelled long words", "internatoinal assocaition".to_owned()),
        ("eight misspelled words", ["internationxl"; 8].join(" ")),
        ("typos in frequent words", "fuondation chruch natoinal".to_owned()),
        ("unknown word", "qzxjkvwq".to_owned()),
        ("wrong first letters", "xoundation xhurch xational".to_owned()),
        ("a wrong first letter of a prefix", "xhildren xomm".to_owned()),
        (
            "frequent words of missions",
            "provide services community support pro".to_owned(),
        ),
        (
            "frequent words of missions, all complete",
            "provide services support community programs ".to_owned(),
        ),
        ("single letters of an acronym", "z q x j k v w".to_owned()),
        ("shorthand", "a 4 b 2 c n d r e u f".to_owned()),
        ("a zero byte", "red\0cross".to_owned()),
        ("a slash", "red/cross".to_owned()),
        ("only dots", "..".to_owned()),
        (
            "64 unknown words",
            (100..164)
                .map(|number| format!("q{number}"))
                .collect::<Vec<_>>()
                .join(" "),
        ),
        ("only prepositions", ["in"; 85].join(" ")),
        (
            "a sentence of frequent words",
            "where can i give money to help poor old people and children in new york city".to_owned(),
        ),
        (
            "compounds of word pieces",
            ["xqzunderwaterbasketweaving"; 9].join(" "),
        ),
        ("private-use characters", "\u{E000}\u{F8FF}".to_owned()),
    ];
    let mut terms: Vec<_> = encoded
        .into_iter()
        .map(|(name, term)| (name, encode_segment(&term)))
        .collect();
    terms.extend([
        ("broken percent-encoding", "red%2".to_owned()),
        ("percent-encoding without digits", "%zz".to_owned()),
        ("invalid UTF-8", "%FF%FE".to_owned()),
        ("an overlong slash", "%C0%AF".to_owned()),
    ]);
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: u16, is_explained: bool, micros: u64) -> Outcome {
        let mut latency = Histogram::new();
        latency.record(Duration::from_micros(micros));
        Outcome {
            name: "",
            status,
            is_explained,
            failed_requests: 0,
            latencies: vec![latency],
        }
    }

    #[test]
    fn a_fast_response_or_an_explained_rejection_meets_the_bound() {
        let bounds = Bounds {
            p99: Duration::from_micros(100),
            max: Duration::from_millis(1),
        };
        for (status, is_explained, micros, verdict) in [
            (200, false, 50, Verdict::Met),
            (200, false, 500, Verdict::Missed),
            (400, true, 50, Verdict::Met),
            (400, false, 50, Verdict::Missed),
            (500, true, 50, Verdict::Missed),
        ] {
            assert_eq!(
                outcome(status, is_explained, micros).verdict(&bounds),
                verdict,
                "{status} {is_explained} {micros}"
            );
        }
    }

    #[test]
    fn a_problem_has_a_code_and_a_detail() {
        assert!(is_problem(
            br#"{"code":"invalid_parameter","detail":"Send at most 256 characters."}"#
        ));
        assert!(!is_problem(b"Bad Request"));
        assert!(!is_problem(br#"{"code":1}"#));
    }

    #[test]
    fn every_term_is_a_single_path_segment() {
        for (name, segment) in terms() {
            assert!(
                !segment.is_empty() && !segment.contains(['/', '?', '#', ' ', '\r', '\n']),
                "{name}"
            );
        }
    }
}
