//! Counts the rate-limited calls of each key by endpoint and status.
//!
//! Calls are counted in memory when they are answered, and added to the database every ten seconds, so that the counts
//! of several servers add up. A crash loses the last ten seconds. The database has a row for each hour, which is removed
//! after 90 days, and one for each day, which is removed after 13 months.

pub mod endpoint;
pub mod saver;
pub mod store;

use crate::limits::sharded_map::ShardedMap;
use endpoint::Endpoint;
use platform::ids::KeyId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use uuid::Uuid;

/// An hour in milliseconds.
pub const HOUR_MILLIS: i64 = 3_600_000;

/// A day in milliseconds.
pub const DAY_MILLIS: i64 = 24 * HOUR_MILLIS;

/// How long the counts of hours are stored: 90 days.
pub const RETENTION_MILLIS: i64 = 90 * DAY_MILLIS;

/// How long the counts of days are stored: 13 months, so that there are always 12 whole ones.
pub(crate) const DAY_RETENTION_MILLIS: i64 = 397 * DAY_MILLIS;

/// A number of calls, by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// 2xx, and 304, which says that the client has the response already.
    pub succeeded: u64,
    /// 4xx, except 429.
    pub client_errors: u64,
    /// 429: over the rate limit.
    pub refused: u64,
    /// 5xx
    pub server_errors: u64,
}

impl Counts {
    /// Returns one call with an HTTP status.
    pub(crate) fn of_status(status: u16) -> Counts {
        let mut counts = Counts::default();
        match status {
            429 => counts.refused = 1,
            500.. => counts.server_errors = 1,
            400.. => counts.client_errors = 1,
            _ => counts.succeeded = 1,
        }
        counts
    }

    /// Returns the number of all calls.
    pub fn calls(&self) -> u64 {
        self.succeeded + self.client_errors + self.refused + self.server_errors
    }

    /// Adds other calls.
    pub fn add(&mut self, more: Counts) {
        self.succeeded += more.succeeded;
        self.client_errors += more.client_errors;
        self.refused += more.refused;
        self.server_errors += more.server_errors;
    }
}

/// Key, start of the hour in milliseconds since the Unix epoch, endpoint.
type Slot = (KeyId, i64, Endpoint);

/// Counts that are not in the database yet, with the time of the last call. They are sorted, so that two servers lock rows
/// in the same order.
pub type UnsavedCounts = BTreeMap<(KeyId, i64, Endpoint), (Counts, i64)>;

/// Counts calls until they are saved to the database.
#[derive(Debug, Default)]
pub struct Usage {
    slots: ShardedMap<Slot, Counter>,
}

#[derive(Debug, Default)]
struct Counter {
    succeeded: AtomicU64,
    client_errors: AtomicU64,
    refused: AtomicU64,
    server_errors: AtomicU64,
    last_at: AtomicI64,
}

impl Counter {
    fn add(&self, counts: Counts, at: i64) {
        for (count, more) in [
            (&self.succeeded, counts.succeeded),
            (&self.client_errors, counts.client_errors),
            (&self.refused, counts.refused),
            (&self.server_errors, counts.server_errors),
        ] {
            if more > 0 {
                count.fetch_add(more, Relaxed);
            }
        }
        self.last_at.fetch_max(at, Relaxed);
    }

    fn take(&self) -> Counts {
        Counts {
            succeeded: self.succeeded.swap(0, Relaxed),
            client_errors: self.client_errors.swap(0, Relaxed),
            refused: self.refused.swap(0, Relaxed),
            server_errors: self.server_errors.swap(0, Relaxed),
        }
    }

    fn is_empty(&self) -> bool {
        let counts = [
            &self.succeeded,
            &self.client_errors,
            &self.refused,
            &self.server_errors,
        ];
        counts.iter().all(|count| count.load(Relaxed) == 0)
    }
}

impl Usage {
    /// Counts a call of a key that was answered at `now` with an HTTP status.
    #[inline]
    pub fn count(&self, key: KeyId, endpoint: Endpoint, status: u16, now: i64) {
        let counts = Counts::of_status(status);
        self.slots.get((key, hour_of(now), endpoint)).add(counts, now);
    }

    /// Moves the counts since the last time to `unsaved`, and drops past hours.
    pub(crate) fn take_unsaved(&self, now: i64, unsaved: &mut UnsavedCounts) {
        self.slots.for_each(|(key, hour, endpoint), counter| {
            let counts = counter.take();
            if counts != Counts::default() {
                let (sum, last_at) = unsaved.entry((key, hour, endpoint)).or_default();
                sum.add(counts);
                *last_at = counter.last_at.load(Relaxed).max(*last_at);
            }
        });
        let current = hour_of(now);
        self.slots
            .retain(|(_, hour, _), counter| hour >= current || !counter.is_empty());
    }
}

/// Returns the start of the hour that contains a time.
pub fn hour_of(millis: i64) -> i64 {
    millis - millis.rem_euclid(HOUR_MILLIS)
}

/// Returns the start of the day, in UTC, that contains a time.
pub fn day_of(millis: i64) -> i64 {
    millis - millis.rem_euclid(DAY_MILLIS)
}

/// The counts of one key and endpoint in one hour or day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    pub key: Uuid,
    /// The start of the hour or day, in milliseconds since the Unix epoch.
    pub start: i64,
    /// Such as `/v0.2/search/{searchTerm}`.
    pub endpoint: String,
    pub counts: Counts,
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: KeyId = KeyId(Uuid::from_u128(7));
    const NOW: i64 = 1_800_000_000_000;

    fn unsaved(usage: &Usage, now: i64) -> UnsavedCounts {
        let mut unsaved = UnsavedCounts::new();
        usage.take_unsaved(now, &mut unsaved);
        unsaved
    }

    #[test]
    fn calls_are_counted_by_status() {
        let (usage, search) = (Usage::default(), Endpoint::of_route("/search"));
        for status in [200, 304, 404, 429, 503] {
            usage.count(KEY, search, status, NOW + 5);
        }
        let counts = Counts {
            succeeded: 2,
            client_errors: 1,
            refused: 1,
            server_errors: 1,
        };
        assert_eq!(counts.calls(), 5);
        assert_eq!(unsaved(&usage, NOW)[&(KEY, NOW, search)], (counts, NOW + 5));
        assert!(unsaved(&usage, NOW).is_empty());
    }

    #[test]
    fn hours_and_endpoints_are_counted_separately_and_past_hours_are_dropped() {
        let usage = Usage::default();
        let [search, details] = ["/search", "/details"].map(Endpoint::of_route);
        for (endpoint, at) in [(search, NOW), (details, NOW), (search, NOW + HOUR_MILLIS)] {
            usage.count(KEY, endpoint, 200, at);
        }
        assert_eq!(unsaved(&usage, NOW + HOUR_MILLIS).len(), 3);
        assert_eq!(usage.slots.len(), 1);
    }

    #[test]
    fn unsaved_counts_add_up() {
        let (usage, browse) = (Usage::default(), Endpoint::of_route("/browse"));
        let mut pending = UnsavedCounts::new();
        for (status, at) in [(200, NOW + 9), (404, NOW + 3)] {
            usage.count(KEY, browse, status, at);
            usage.take_unsaved(NOW, &mut pending);
        }
        let (counts, last_at) = pending[&(KEY, NOW, browse)];
        assert_eq!((counts.calls(), counts.client_errors, last_at), (2, 1, NOW + 9));
    }
}
