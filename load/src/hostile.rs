//! Search terms made to be slow or to break something. Each must be answered within the bounds of every other
//! search, or be refused with a problem that says why.

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

const CALLS: usize = 300;

pub struct Outcome {
    pub name: &'static str,
    status: u16,
    /// A refusal that carries a code and a detail.
    explained: bool,
    unanswered: usize,
    latency: Histogram,
}

/// What an honest search may cost, taken from `/healthz` in the same run.
pub struct Bounds {
    pub p99: Duration,
    pub worst: Duration,
}

impl Outcome {
    pub fn verdict(&self, bounds: &Bounds) -> Verdict {
        let in_time = self.latency.at(0.99) <= bounds.p99 && self.latency.worst() <= bounds.worst;
        Verdict::of(match self.status {
            _ if self.unanswered > 0 => false,
            200 => in_time,
            400..500 => self.explained && in_time,
            _ => false,
        })
    }

    /// Status and latencies as one cell.
    pub fn spoken(&self) -> String {
        if self.unanswered > 0 {
            return format!("{} of {CALLS} calls got no answer", self.unanswered);
        }
        format!(
            "{}, p99 {}, worst {}",
            self.status,
            latency(self.latency.at(0.99)),
            latency(self.latency.worst())
        )
    }

    pub fn times(&self, healthz_worst: Duration) -> String {
        ratio(self.latency.worst().as_secs_f64() / healthz_worst.as_secs_f64())
    }
}

pub fn ask_all(ask: &Asking) -> Result<Vec<Outcome>> {
    terms()
        .into_iter()
        .map(|(name, segment)| ask_one(ask, name, &segment))
        .collect()
}

fn ask_one(ask: &Asking, name: &'static str, segment: &str) -> Result<Outcome> {
    let request = get(
        ask.address,
        &ask.path(&format!("search/{segment}"), &format!("&take={TAKE}")),
    );
    let mut connection = Connection::open(ask.address)?;
    let mut outcome = Outcome {
        name,
        status: 0,
        explained: false,
        unanswered: 0,
        latency: Histogram::new(),
    };
    for _ in 0..CALLS {
        let started = Instant::now();
        let Ok(answer) = connection.call(request.as_bytes()) else {
            outcome.unanswered += 1;
            connection = Connection::open(ask.address)?;
            continue;
        };
        outcome.latency.record(started.elapsed());
        outcome.status = outcome.status.max(answer.status);
        outcome.explained = is_explained(answer.body);
    }
    Ok(outcome)
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
            latency,
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
