//! The rate limiter: one window for each key and class of calls, each with its own lock.
//!
//! `sweep` drops idle windows. The admitted calls are saved to the database every second ([`recent`](super::recent))
//! and restored when a server starts, so that a restart does not reset the limits.

use super::sharded_map::ShardedMap;
use super::shares::Visitor;
use crate::limits::WINDOW_MICROS;
use crate::limits::window::{Verdict, Window};
use std::collections::BTreeMap;
use std::hash::{Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of admitted calls by ID of the key or account, class, and second since the Unix epoch.
///
/// The second is rounded up: a restored call counts as slightly more recent than it was, so it never leaves the window
/// early.
pub type CallsPerSecond = BTreeMap<(u128, u32, i64), u32>;

/// The rate limiter of one server process.
#[derive(Debug)]
pub struct Limiter {
    epoch: Instant,
    windows: ShardedMap<(u128, u32), Mutex<Window>>,
    secret: RandomState,
}

impl Limiter {
    /// Creates a limiter. All later times must not be before `epoch`.
    pub fn new(epoch: Instant) -> Self {
        Self {
            epoch,
            windows: ShardedMap::default(),
            secret: RandomState::new(),
        }
    }

    /// Admits or refuses a call of `key` (its ID as a number) in `class` at `now`; see [`Window::admit`].
    pub fn admit(&self, key: u128, class: u32, now: Instant, per_minute: u32, visitor: Visitor) -> Verdict {
        let now = self.micros(now);
        lock(&self.windows.get((key, class))).admit(now, per_minute, visitor)
    }

    /// Returns the visitor with an IP address.
    pub fn visitor(&self, address: &impl Hash) -> Visitor {
        Visitor::of(address, &self.secret)
    }

    /// Drops the windows that are idle at `now`.
    pub fn sweep(&self, now: Instant) {
        let now = self.micros(now);
        self.windows.retain(|_, window| !lock(window).is_idle(now));
    }

    /// Adds the calls admitted since the last time to `seconds`. `millis` is the wall time at `now`.
    pub fn take_unsaved(&self, now: Instant, millis: i64, seconds: &mut CallsPerSecond) {
        let now = self.micros(now);
        self.windows.for_each(|(key, class), window| {
            for admitted_at in lock(window).take_unsaved() {
                let wall_time = millis - (now.saturating_sub(admitted_at) / 1_000) as i64;
                let second = wall_time.div_euclid(1_000) + 1;
                *seconds.entry((key, class, second)).or_default() += 1;
            }
        });
    }

    /// Restores calls that were admitted before this process started. `millis` is the wall time at `now`.
    ///
    /// A second in the future counts as now. This happens after the system clock was set back.
    pub fn restore(&self, seconds: &CallsPerSecond, now: Instant, millis: i64) {
        let now = self.micros(now);
        for ((key, class, second), calls) in seconds {
            let age = u64::try_from(millis - second * 1_000).unwrap_or(0) * 1_000;
            if age < WINDOW_MICROS {
                lock(&self.windows.get((*key, *class))).restore(now - age, *calls as usize);
            }
        }
    }

    /// Returns the number of windows.
    pub fn len(&self) -> usize {
        self.windows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// Converts a time to microseconds since one window before the epoch, so that restored calls have a positive time.
    fn micros(&self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.epoch);
        (since + Duration::from_micros(WINDOW_MICROS)).as_micros() as u64
    }
}

/// Locks a window. A poisoned lock is safe to use, because a window is never left in an inconsistent state.
fn lock(window: &Mutex<Window>) -> MutexGuard<'_, Window> {
    window.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use platform::clock::Clock;
    use std::sync::atomic::{AtomicU32, Ordering};

    const ANN: Visitor = Visitor(1);
    const MILLIS: i64 = 1_800_000_000_500;

    #[test]
    fn keys_and_classes_are_limited_separately() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        assert!(limiter.admit(1, 0, epoch, 1, ANN).admitted);
        assert!(!limiter.admit(1, 0, epoch, 1, ANN).admitted);
        assert!(limiter.admit(1, 1, epoch, 1, ANN).admitted);
        assert!(limiter.admit(2, 0, epoch, 1, ANN).admitted);
        assert!(limiter.admit(1 << 64, 0, epoch, 1, ANN).admitted);
    }

    #[test]
    fn a_sweep_drops_only_idle_windows() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        let later = epoch + Duration::from_secs(30);
        limiter.admit(1, 0, epoch, 1, ANN);
        limiter.admit(2, 0, later, 1, ANN);
        limiter.sweep(epoch + Duration::from_mins(1));
        assert_eq!(limiter.len(), 1);
        assert!(
            !limiter
                .admit(2, 0, later + Duration::from_secs(59), 1, ANN)
                .admitted
        );
        limiter.sweep(later + Duration::from_mins(4));
        assert!(limiter.is_empty());
    }

    #[test]
    fn concurrent_calls_are_admitted_exactly_up_to_the_limit() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        let admitted = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let verdict = limiter.admit(7, 3, epoch, 500, ANN);
                        admitted.fetch_add(u32::from(verdict.admitted), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(admitted.into_inner(), 500);
    }

    #[test]
    fn admitted_calls_are_saved_once_and_count_after_a_restart() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        for second in 0..3 {
            limiter.admit(7, 1, epoch + Duration::from_secs(second), 3, ANN);
        }
        let stop = epoch + Duration::from_secs(3);
        let unsaved = |limiter: &Limiter| {
            let mut seconds = CallsPerSecond::new();
            limiter.take_unsaved(stop, MILLIS + 3_000, &mut seconds);
            seconds
        };
        let seconds = unsaved(&limiter);
        assert_eq!(
            seconds
                .keys()
                .map(|(_, _, second)| second - 1_800_000_000)
                .collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert!(unsaved(&limiter).is_empty());

        let next = Limiter::new(stop);
        next.restore(&seconds, stop, MILLIS + 3_000);
        assert!(unsaved(&next).is_empty());
        let at = |second: f64| epoch + Duration::from_secs_f64(second);
        assert!(!next.admit(7, 1, stop, 3, ANN).admitted);
        assert!(
            !next.admit(7, 1, at(60.0), 3, ANN).admitted,
            "left the window early"
        );
        assert!(
            next.admit(7, 1, at(60.6), 3, ANN).admitted,
            "left the window a second late"
        );
    }

    #[test]
    fn after_the_clock_was_set_back_a_key_waits_at_most_a_minute() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        limiter.restore(&CallsPerSecond::from([((7, 1, 1_800_003_600), 3)]), epoch, MILLIS);
        assert!(
            !limiter
                .admit(7, 1, epoch + Duration::from_secs(59), 3, ANN)
                .admitted
        );
        assert!(
            limiter
                .admit(7, 1, epoch + Duration::from_mins(1), 3, ANN)
                .admitted
        );
    }
}
