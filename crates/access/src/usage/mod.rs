//! Counts the calls of each key by class and hour.
//!
//! Calls are counted in memory when they are answered, and added to the database every ten seconds, so that the counts
//! of several servers add up. A crash loses the last ten seconds. `calls` are all rate-limited calls, `refused` those that
//! were refused with 429, and `errors` those with any other status of 400 and above.

pub mod saver;
pub mod store;

use crate::limits::Class;
use crate::limits::sharded_map::ShardedMap;
use platform::ids::KeyId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use uuid::Uuid;

/// An hour in milliseconds.
pub const HOUR_MILLIS: i64 = 3_600_000;

/// How long the counts are stored: 90 days.
pub const RETENTION_MILLIS: i64 = 90 * 24 * HOUR_MILLIS;

/// A number of calls, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub calls: u64,
    pub refused: u64,
    pub errors: u64,
}

impl Counts {
    fn add(&mut self, more: Counts) {
        self.calls += more.calls;
        self.refused += more.refused;
        self.errors += more.errors;
    }
}

/// Key, start of the hour in milliseconds since the Unix epoch, class.
type Slot = (KeyId, i64, Class);

/// Counts that are not in the database yet, with the time of the last call. They are sorted, so that two servers lock rows
/// in the same order.
pub type UnsavedCounts = BTreeMap<(KeyId, i64, &'static str), (Counts, i64)>;

/// Counts calls until they are saved to the database.
#[derive(Debug, Default)]
pub struct Usage {
    slots: ShardedMap<Slot, Counter>,
}

#[derive(Debug, Default)]
struct Counter {
    calls: AtomicU64,
    refused: AtomicU64,
    errors: AtomicU64,
    last_at: AtomicI64,
}

impl Counter {
    fn add(&self, counts: Counts, at: i64) {
        for (count, more) in [
            (&self.calls, counts.calls),
            (&self.refused, counts.refused),
            (&self.errors, counts.errors),
        ] {
            if more > 0 {
                count.fetch_add(more, Relaxed);
            }
        }
        self.last_at.fetch_max(at, Relaxed);
    }

    fn take(&self) -> Counts {
        Counts {
            calls: self.calls.swap(0, Relaxed),
            refused: self.refused.swap(0, Relaxed),
            errors: self.errors.swap(0, Relaxed),
        }
    }

    fn is_empty(&self) -> bool {
        let counts = [&self.calls, &self.refused, &self.errors];
        counts.iter().all(|count| count.load(Relaxed) == 0)
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    /// Any status of 400 and above, except 429.
    Error,
    /// 429
    RateLimited,
}

impl Outcome {
    /// Returns the outcome of a call with an HTTP status.
    pub const fn of_status(status: u16) -> Outcome {
        match status {
            429 => Outcome::RateLimited,
            400.. => Outcome::Error,
            _ => Outcome::Success,
        }
    }
}

impl Usage {
    /// Counts a call of a key that was answered at `now`.
    #[inline]
    pub fn count(&self, key: KeyId, class: Class, outcome: Outcome, now: i64) {
        let counts = Counts {
            calls: 1,
            refused: u64::from(outcome == Outcome::RateLimited),
            errors: u64::from(outcome == Outcome::Error),
        };
        self.slots.get((key, hour_of(now), class)).add(counts, now);
    }

    /// Moves the counts since the last time to `unsaved`, and drops past hours.
    pub fn take_unsaved(&self, now: i64, unsaved: &mut UnsavedCounts) {
        self.slots.for_each(|(key, hour, class), counter| {
            let counts = counter.take();
            if counts != Counts::default() {
                let (sum, last_at) = unsaved.entry((key, hour, class.name())).or_default();
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

/// The counts of one key and class in one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hour {
    pub key: Uuid,
    /// The start of the hour, in milliseconds since the Unix epoch.
    pub hour: i64,
    pub class: String,
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
    fn calls_are_counted_by_outcome() {
        let usage = Usage::default();
        for status in [200, 304, 404, 429, 503] {
            usage.count(KEY, Class::Search, Outcome::of_status(status), NOW + 5);
        }
        let counts = Counts {
            calls: 5,
            refused: 1,
            errors: 2,
        };
        assert_eq!(unsaved(&usage, NOW)[&(KEY, NOW, "search")], (counts, NOW + 5));
        assert!(unsaved(&usage, NOW).is_empty());
    }

    #[test]
    fn hours_and_classes_are_counted_separately_and_past_hours_are_dropped() {
        let usage = Usage::default();
        for (class, at) in [
            (Class::Search, NOW),
            (Class::Details, NOW),
            (Class::Search, NOW + HOUR_MILLIS),
        ] {
            usage.count(KEY, class, Outcome::Success, at);
        }
        assert_eq!(unsaved(&usage, NOW + HOUR_MILLIS).len(), 3);
        assert_eq!(usage.slots.len(), 1);
    }

    #[test]
    fn unsaved_counts_add_up() {
        let usage = Usage::default();
        let mut pending = UnsavedCounts::new();
        for (status, at) in [(200, NOW + 9), (404, NOW + 3)] {
            usage.count(KEY, Class::Browse, Outcome::of_status(status), at);
            usage.take_unsaved(NOW, &mut pending);
        }
        let (counts, last_at) = pending[&(KEY, NOW, "browse")];
        assert_eq!((counts.calls, counts.errors, last_at), (2, 1, NOW + 9));
    }
}
