//! Search terms made to be slow or to break something. Each must be answered within the bounds of every other
//! search, or be refused with a problem that says why. The server that is asked keeps nothing, so that every call is
//! searched for.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;

use crate::connection::Connection;
use crate::figures::{latency, ratio};
use crate::histogram::Histogram;
use crate::relevance::TAKE;
use crate::requests::{get, segment};
use crate::sample::Asking;
use crate::table::Verdict;

/// Rounds over all terms, far apart, so that a disturbance of the machine meets one of them.
const ROUNDS: usize = 3;
const CALLS: usize = 200;

pub struct Outcome {
    pub name: &'static str,
    status: u16,
    /// A refusal that carries a code and a detail.
    explained: bool,
    unanswered: usize,
    /// One for each round.
    latencies: Vec<Histogram>,
}

/// What an honest search may cost, taken from `/healthz` in the same run.
pub struct Bounds {
    pub p99: Duration,
    pub worst: Duration,
}

impl Outcome {
    fn new(name: &'static str) -> Outcome {
        Outcome {
            name,
            status: 0,
            explained: false,
            unanswered: 0,
            latencies: Vec::with_capacity(ROUNDS),
        }
    }

    /// One round.
    fn ask(&mut self, ask: &Asking, segment: &str) -> Result<()> {
        let path = ask.path(&format!("search/{segment}"), &format!("&take={TAKE}"));
        let request = get(ask.address, &path);
        let mut connection = Connection::open(ask.address)?;
        let mut round = Histogram::new();
        for _ in 0..CALLS {
            let started = Instant::now();
            let Ok(answer) = connection.call(request.as_bytes()) else {
                self.unanswered += 1;
                connection = Connection::open(ask.address)?;
                continue;
            };
            round.record(started.elapsed());
            self.status = self.status.max(answer.status);
            self.explained = is_explained(answer.body);
        }
        self.latencies.push(round);
        Ok(())
    }

    pub fn verdict(&self, bounds: &Bounds) -> Verdict {
        let in_time = self.p99() <= bounds.p99 && self.worst() <= bounds.worst;
        Verdict::of(match self.status {
            _ if self.unanswered > 0 => false,
            200 => in_time,
            400..500 => self.explained && in_time,
            _ => false,
        })
    }

    /// That of the middle round.
    fn p99(&self) -> Duration {
        let mut rounds: Vec<_> = self.latencies.iter().map(|round| round.at(0.99)).collect();
        rounds.sort_unstable();
        rounds[rounds.len() / 2]
    }

    fn worst(&self) -> Duration {
        let worst = self.latencies.iter().map(Histogram::worst).max();
        worst.unwrap_or_default()
    }

    /// Status and latencies as one cell.
    pub fn spoken(&self) -> String {
        if self.unanswered > 0 {
            return format!("{} calls got no answer", self.unanswered);
        }
        let (p99, worst) = (latency(self.p99()), latency(self.worst()));
        format!("{}, p99 {p99}, worst {worst}", self.status)
    }

    pub fn times(&self, healthz_p99: Duration) -> String {
        ratio(self.p99().as_secs_f64() / healthz_p99.as_secs_f64())
    }
}

pub fn ask_all(ask: &Asking) -> Result<Vec<Outcome>> {
    let terms = terms();
    let mut outcomes: Vec<Outcome> = terms.iter().map(|(name, _)| Outcome::new(name)).collect();
    for _ in 0..ROUNDS {
        for (outcome, (_, segment)) in outcomes.iter_mut().zip(&terms) {
            outcome.ask(ask, segment)?;
        }
    }
    Ok(outcomes)
}

fn is_explained(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body)
        .is_ok_and(|body| body["code"].is_string() && body["detail"].is_string())
}

/// Names and ready path segments.
fn terms() -> Vec<(&'static str, String)> {
    let encoded = [
        ("one letter", "a".to_owned()),
        ("one digit", "1".to_owned()),
        ("one emoji", "\u{1F431}".to_owned()),
        ("a blank", " ".to_owned()),
        ("256 letters", "a".repeat(256)),
        ("257 letters", "a".repeat(257)),
        ("256 letters of four bytes", "\u{1F431}".repeat(256)),
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
        ("punctuation alone", "!?.,;:-_()'\"&%$".to_owned()),
        ("stop words alone", "the of and for in".to_owned()),
        ("frequent words", "foundation of the church inc".to_owned()),
        (
            "frequent words, rare end",
            "foundation of the united states zz".to_owned(),
        ),
        (
            "a dozen frequent words, one letter",
            "new york city of the united states of america z".to_owned(),
        ),
        ("frequent words, one letter", "national trust for p".to_owned()),
        (
            "right to left",
            "\u{5D0}\u{5E8}\u{5D2}\u{5D5}\u{5DF} \u{635}\u{62F}\u{642}\u{629}".to_owned(),
        ),
        ("combining marks", format!("e{}", "\u{301}".repeat(255))),
        ("near miss of a long word", "internatoinal assocaition".to_owned()),
        ("near misses, eight words", ["internationxl"; 8].join(" ")),
        ("typos in frequent words", "fuondation chruch natoinal".to_owned()),
        ("no such word", "qzxjkvwq".to_owned()),
        ("a zero byte", "red\0cross".to_owned()),
        ("a slash", "red/cross".to_owned()),
        ("dots alone", "..".to_owned()),
        ("a private use letter", "\u{E000}\u{F8FF}".to_owned()),
    ];
    let mut terms: Vec<_> = encoded
        .into_iter()
        .map(|(name, term)| (name, segment(&term)))
        .collect();
    terms.extend([
        ("broken percent-encoding", "red%2".to_owned()),
        ("percent-encoding of no digits", "%zz".to_owned()),
        ("bytes that are no UTF-8", "%FF%FE".to_owned()),
        ("an overlong slash", "%C0%AF".to_owned()),
    ]);
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: u16, explained: bool, micros: u64) -> Outcome {
        let mut latency = Histogram::new();
        latency.record(Duration::from_micros(micros));
        Outcome {
            name: "",
            status,
            explained,
            unanswered: 0,
            latencies: vec![latency],
        }
    }

    #[test]
    fn an_answer_in_time_or_an_explained_refusal_keeps_the_bound() {
        let bounds = Bounds {
            p99: Duration::from_micros(100),
            worst: Duration::from_millis(1),
        };
        for (status, explained, micros, verdict) in [
            (200, false, 50, Verdict::Kept),
            (200, false, 500, Verdict::Missed),
            (400, true, 50, Verdict::Kept),
            (400, false, 50, Verdict::Missed),
            (500, true, 50, Verdict::Missed),
        ] {
            assert_eq!(
                outcome(status, explained, micros).verdict(&bounds),
                verdict,
                "{status} {explained} {micros}"
            );
        }
    }

    #[test]
    fn a_problem_is_told_from_other_bodies() {
        assert!(is_explained(
            br#"{"code":"invalid_parameter","detail":"Send at most 256 characters."}"#
        ));
        assert!(!is_explained(b"Bad Request"));
        assert!(!is_explained(br#"{"code":1}"#));
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
