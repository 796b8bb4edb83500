//! Ordinary calls through the balancer, and how many of them failed.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::fleet::Keys;
use super::http;
use crate::format::with_commas;

/// The pause between two calls of one client, which leaves time for everything else on a small machine.
const PAUSE: Duration = Duration::from_millis(10);

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Details,
    Search,
    Raised,
    Page,
    Create,
}

impl Kind {
    const ALL: [Kind; 5] = [
        Kind::Details,
        Kind::Search,
        Kind::Raised,
        Kind::Page,
        Kind::Create,
    ];

    const fn name(self) -> &'static str {
        match self {
            Kind::Details => "details",
            Kind::Search => "search",
            Kind::Raised => "raised",
            Kind::Page => "page",
            Kind::Create => "create",
        }
    }

    pub(super) const fn is_read(self) -> bool {
        !matches!(self, Kind::Create)
    }
}

/// What the calls are about: a nonprofit that can receive donations, and its fundraiser.
pub(super) struct Target {
    pub nonprofit: String,
    pub ein: String,
    pub slug: String,
    pub fundraiser: String,
}

pub(super) struct Traffic<'a> {
    pub balancer: SocketAddr,
    pub keys: &'a Keys,
    pub target: &'a Target,
}

struct Call {
    kind: Kind,
    finished: Instant,
    /// The reason if it failed: a status or an error of the connection.
    failure: Option<String>,
}

/// The calls of a period.
pub(super) struct Report {
    calls: Vec<Call>,
}

impl Traffic<'_> {
    /// Calls the servers, one client for each kind of call, until `work` is done.
    pub(super) fn during<T>(&self, work: impl FnOnce(&Progress) -> Result<T>) -> Result<(T, Report)> {
        let progress = Progress::default();
        let result = thread::scope(|scope| {
            for kind in Kind::ALL {
                let progress = &progress;
                scope.spawn(move || self.call_until_over(kind, progress));
            }
            let result = work(&progress);
            progress.is_over.store(true, Ordering::Relaxed);
            result
        })?;
        let calls = progress.calls.into_inner().unwrap_or_default();
        Ok((result, Report { calls }))
    }

    fn call_until_over(&self, kind: Kind, progress: &Progress) {
        for number in 0.. {
            if progress.is_over.load(Ordering::Relaxed) {
                return;
            }
            let outcome = self.call(kind, progress.created.fetch_add(1, Ordering::Relaxed));
            let failure = match outcome {
                Ok(200) => None,
                Ok(status) => Some(status.to_string()),
                Err(error) => Some(error.kind().to_string()),
            };
            let call = Call {
                kind,
                finished: Instant::now(),
                failure,
            };
            if let Ok(mut calls) = progress.calls.lock() {
                calls.push(call);
            }
            if number > 0 {
                thread::sleep(PAUSE);
            }
        }
    }

    fn call(&self, kind: Kind, number: usize) -> std::io::Result<u16> {
        let Target {
            nonprofit,
            ein,
            slug,
            fundraiser,
        } = self.target;
        let path = match kind {
            Kind::Details => self.keys.path(&format!("nonprofit/{ein}")),
            Kind::Search => self.keys.search_path("food"),
            Kind::Raised => self
                .keys
                .path(&format!("nonprofit/{nonprofit}/fundraiser/{fundraiser}/raised")),
            Kind::Page => format!("/{slug}"),
            Kind::Create => return self.create(number),
        };
        http::get(self.balancer, &path).map(|response| response.status)
    }

    fn create(&self, number: usize) -> std::io::Result<u16> {
        let body = create_body(&self.target.nonprofit, number);
        let headers = format!("{}Content-Type: application/json\r\n", self.keys.authorization);
        http::send(self.balancer, "POST", "/v0.2/fundraiser", &headers, &body).map(|response| response.status)
    }
}

/// Returns the body of a request that creates a fundraiser.
pub(super) fn create_body(nonprofit: &str, number: usize) -> String {
    format!(r#"{{"nonprofitId":"{nonprofit}","title":"Run {number}","raisedOffline":100}}"#)
}

/// The calls so far.
#[derive(Default)]
pub(super) struct Progress {
    is_over: AtomicBool,
    created: AtomicUsize,
    calls: Mutex<Vec<Call>>,
}

impl Progress {
    /// Describes the last call of each kind that failed, for messages.
    pub(super) fn describe_failures(&self) -> String {
        let Ok(calls) = self.calls.lock() else {
            return String::new();
        };
        let last = Kind::ALL.iter().filter_map(|kind| {
            let call = calls.iter().rev().find(|call| call.kind == *kind)?;
            Some(format!("{} {}", kind.name(), call.failure.as_ref()?))
        });
        last.collect::<Vec<_>>().join(", ")
    }

    /// Waits until every kind of call has succeeded `count` times since `moment`, with no failure after the first of
    /// these. Returns false if that does not happen in time.
    pub(super) fn wait_for_successes(&self, moment: Instant, count: usize, timeout: Duration) -> bool {
        let started = Instant::now();
        loop {
            let is_calm = self.calls.lock().is_ok_and(|calls| {
                Kind::ALL.iter().all(|kind| {
                    let recent = calls.iter().rev().filter(|call| call.kind == *kind);
                    recent
                        .take_while(|call| call.failure.is_none() && call.finished > moment)
                        .count()
                        >= count
                })
            });
            if is_calm {
                return true;
            }
            if started.elapsed() > timeout {
                return false;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Report {
    pub(super) fn calls(&self) -> usize {
        self.calls.len()
    }

    fn failures(&self) -> impl Iterator<Item = (&Call, &String)> {
        self.calls
            .iter()
            .filter_map(|call| Some((call, call.failure.as_ref()?)))
    }

    pub(super) fn failed(&self) -> usize {
        self.failures().count()
    }

    /// Returns the number of failed calls of the kinds that are answered from the snapshot.
    pub(super) fn failed_without_rows(&self) -> usize {
        let needs_no_row = |kind| matches!(kind, Kind::Details | Kind::Search | Kind::Page);
        self.failures()
            .filter(|(call, _)| needs_no_row(call.kind))
            .count()
    }

    /// Returns the fraction of reads that succeeded.
    pub(super) fn reads_answered(&self) -> f64 {
        let reads = || self.calls.iter().filter(|call| call.kind.is_read());
        let succeeded = reads().filter(|call| call.failure.is_none()).count();
        succeeded as f64 / reads().count().max(1) as f64
    }

    /// Returns the time from `moment` to the last failure after it.
    pub(super) fn recovery(&self, moment: Instant) -> Duration {
        self.failures()
            .map(|(call, _)| call.finished.saturating_duration_since(moment))
            .max()
            .unwrap_or_default()
    }

    /// Returns the number of calls, and of those that failed, by kind and reason.
    pub(super) fn describe(&self) -> String {
        let mut reasons: BTreeMap<(Kind, &str), usize> = BTreeMap::new();
        for (call, reason) in self.failures() {
            *reasons.entry((call.kind, reason)).or_default() += 1;
        }
        let calls = with_commas(self.calls() as u64);
        if reasons.is_empty() {
            return format!("{calls} calls, 0 failed");
        }
        let reasons: Vec<String> = reasons
            .iter()
            .map(|((kind, reason), count)| format!("{} {reason}: {count}", kind.name()))
            .collect();
        format!("{calls} calls, {} failed ({})", self.failed(), reasons.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(kind: Kind, finished: Instant, failure: Option<&str>) -> Call {
        Call {
            kind,
            finished,
            failure: failure.map(str::to_owned),
        }
    }

    #[test]
    fn a_report_counts_failures_by_kind_and_reason() {
        let start = Instant::now();
        let later = start + Duration::from_secs(2);
        let report = Report {
            calls: vec![
                call(Kind::Details, start, None),
                call(Kind::Details, start, None),
                call(Kind::Details, later, Some("503")),
                call(Kind::Create, start, Some("503")),
                call(Kind::Search, later, None),
            ],
        };
        assert_eq!(
            report.describe(),
            "5 calls, 2 failed (details 503: 1, create 503: 1)"
        );
        assert_eq!(report.recovery(start), Duration::from_secs(2));
        assert!((report.reads_answered() - 0.75).abs() < f64::EPSILON);
    }

    #[test]
    fn calls_are_calm_after_enough_successes_of_every_kind() {
        let start = Instant::now();
        let later = start + Duration::from_millis(1);
        let progress = Progress::default();
        for kind in Kind::ALL {
            progress.calls.lock().unwrap().push(call(kind, later, None));
        }
        let is_calm = || progress.wait_for_successes(start, 1, Duration::ZERO);
        assert!(is_calm());
        progress
            .calls
            .lock()
            .unwrap()
            .push(call(Kind::Page, later, Some("502")));
        assert!(!is_calm());
        progress.calls.lock().unwrap().push(call(Kind::Page, later, None));
        assert!(is_calm());
        assert!(!progress.wait_for_successes(later, 1, Duration::ZERO));
    }
}
