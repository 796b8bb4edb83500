//! Records when something outside the process last responded, such as the store.

use crate::clock::Clock;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// When something last responded. Reading it costs one atomic load while all is well.
///
/// Only failures count: what nobody asks for is not lost.
#[derive(Debug)]
pub struct LastSeen {
    clock: Clock,
    /// When this was created. Times are relative to it.
    epoch: Instant,
    /// Whether the last attempt failed.
    is_lost: AtomicBool,
    /// The last response on the monotonic clock, in microseconds since `epoch`.
    seen_micros: AtomicI64,
    /// The last response on the wall clock, in milliseconds since the Unix epoch.
    seen_at: AtomicI64,
}

impl LastSeen {
    /// Something that responds now.
    pub fn now(clock: &Clock) -> LastSeen {
        LastSeen {
            epoch: clock.instant(),
            is_lost: AtomicBool::new(false),
            seen_micros: AtomicI64::new(0),
            seen_at: AtomicI64::new(clock.millis()),
            clock: clock.clone(),
        }
    }

    /// Something that does not respond now and last responded at `seen_at`, in milliseconds since the Unix epoch.
    pub fn lost_at(clock: &Clock, seen_at: i64) -> LastSeen {
        let age_millis = clock.millis().saturating_sub(seen_at).max(0);
        LastSeen {
            is_lost: AtomicBool::new(true),
            seen_micros: AtomicI64::new(age_millis.saturating_mul(-1_000)),
            seen_at: AtomicI64::new(seen_at),
            ..LastSeen::now(clock)
        }
    }

    /// Records whether an attempt got a response.
    pub fn record(&self, responds: bool) {
        if responds {
            self.seen_micros.store(self.micros(), Ordering::Relaxed);
            self.seen_at.store(self.clock.millis(), Ordering::Relaxed);
        }
        self.is_lost.store(!responds, Ordering::Release);
    }

    /// Returns the time since the last response, or `None` if the last attempt got one.
    #[inline]
    pub fn lost_for(&self) -> Option<Duration> {
        if !self.is_lost.load(Ordering::Acquire) {
            return None;
        }
        let elapsed = self.micros() - self.seen_micros.load(Ordering::Relaxed);
        Some(Duration::from_micros(u64::try_from(elapsed).unwrap_or(0)))
    }

    /// Returns when the last response came, in milliseconds since the Unix epoch.
    pub fn seen_at(&self) -> i64 {
        self.seen_at.load(Ordering::Relaxed)
    }

    fn micros(&self) -> i64 {
        let since_epoch = self.clock.instant().saturating_duration_since(self.epoch);
        i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_time_since_the_last_response_counts_and_only_after_a_failure() {
        let clock = Clock::default();
        clock.stop();
        let seen = LastSeen::now(&clock);
        clock.advance(Duration::from_secs(10));
        assert_eq!(seen.lost_for(), None, "nobody asked");
        seen.record(true);
        let seen_at = clock.millis();
        clock.advance(Duration::from_secs(3));
        seen.record(false);
        assert_eq!(seen.lost_for(), Some(Duration::from_secs(3)));
        clock.advance(Duration::from_secs(4));
        seen.record(false);
        assert_eq!(seen.lost_for(), Some(Duration::from_secs(7)));
        assert_eq!(seen.seen_at(), seen_at);
        seen.record(true);
        assert_eq!(seen.lost_for(), None);
    }

    #[test]
    fn a_loss_from_before_the_start_counts_in_full() {
        let clock = Clock::default();
        clock.stop();
        let seen = LastSeen::lost_at(&clock, clock.millis() - 60_000);
        assert_eq!(seen.lost_for(), Some(Duration::from_mins(1)));
        clock.advance(Duration::from_secs(1));
        assert_eq!(seen.lost_for(), Some(Duration::from_secs(61)));
        // The wall clock was set back since.
        let seen = LastSeen::lost_at(&clock, clock.millis() + 60_000);
        assert_eq!(seen.lost_for(), Some(Duration::ZERO));
    }
}
