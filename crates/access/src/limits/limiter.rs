//! The windows of all keys: one exact window for each key and class of calls, each with a lock of its own.
//!
//! A window that counts nothing any more is dropped by `sweep`. What the windows let through is handed out second by
//! second for the store ([`recent`](super::recent)), and taken back in when a server starts, so that starting anew
//! is no way to a second quota.

use super::sharded_map::ShardedMap;
use super::shares::Visitor;
use crate::limits::WINDOW_MICROS;
use crate::limits::window::{Verdict, Window};
use std::collections::BTreeMap;
use std::hash::{Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Calls let through, by the number of the key's or account's id, the class, and the second since 1970 that had
/// begun when they were over: a call counts as a little younger than it is, so it is never freed early.
pub type CallsPerSecond = BTreeMap<(u128, u32, i64), u32>;

/// The windows of one server process.
#[derive(Debug)]
pub struct Limiter {
    epoch: Instant,
    windows: ShardedMap<(u128, u32), Mutex<Window>>,
    secret: RandomState,
}

impl Limiter {
    /// A limiter that has seen no call. No call may be judged at a moment before `epoch`.
    pub fn new(epoch: Instant) -> Self {
        Self {
            epoch,
            windows: ShardedMap::default(),
            secret: RandomState::new(),
        }
    }

    /// Judges a call of `key` (the number of its id) in `class` at `now`; see [`Window::admit`].
    pub fn admit(&self, key: u128, class: u32, now: Instant, per_minute: u32, visitor: Visitor) -> Verdict {
        let now = self.micros(now);
        lock(&self.windows.get((key, class))).admit(now, per_minute, visitor)
    }

    /// The visitor behind an address.
    pub fn visitor(&self, address: &impl Hash) -> Visitor {
        Visitor::of(address, &self.secret)
    }

    /// Drops the windows that count nothing any more at `now`.
    pub fn sweep(&self, now: Instant) {
        let now = self.micros(now);
        self.windows.retain(|_, window| !lock(window).is_idle(now));
    }

    /// Adds what was let through since this was last asked; `millis` is the wall time at `now`.
    pub fn take_unsaved(&self, now: Instant, millis: i64, seconds: &mut CallsPerSecond) {
        let now = self.micros(now);
        self.windows.each(|(key, class), window| {
            for moment in lock(window).take_unsaved() {
                let at = millis - (now.saturating_sub(moment) / 1_000) as i64;
                let second = at.div_euclid(1_000) + 1;
                *seconds.entry((key, class, second)).or_default() += 1;
            }
        });
    }

    /// Counts what was let through before this process began, at `millis` of wall time.
    ///
    /// A second that is still to come, as after the clock was set back, counts as now.
    pub fn restore(&self, seconds: &CallsPerSecond, now: Instant, millis: i64) {
        let now = self.micros(now);
        for ((key, class, second), calls) in seconds {
            let age = u64::try_from(millis - second * 1_000).unwrap_or(0) * 1_000;
            if age < WINDOW_MICROS {
                lock(&self.windows.get((*key, *class))).restore(now - age, *calls as usize);
            }
        }
    }

    /// How many windows are held.
    pub fn len(&self) -> usize {
        self.windows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// Moments begin one window before the epoch, so that calls of the minute before it have one.
    fn micros(&self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.epoch);
        (since + Duration::from_micros(WINDOW_MICROS)).as_micros() as u64
    }
}

/// A panic elsewhere leaves a window whole: each call pushes at most one moment as its last step.
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
    fn keys_and_classes_have_windows_of_their_own() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        assert!(limiter.admit(1, 0, epoch, 1, ANN).admitted);
        assert!(!limiter.admit(1, 0, epoch, 1, ANN).admitted);
        assert!(limiter.admit(1, 1, epoch, 1, ANN).admitted);
        assert!(limiter.admit(2, 0, epoch, 1, ANN).admitted);
        assert!(limiter.admit(1 << 64, 0, epoch, 1, ANN).admitted);
    }

    #[test]
    fn a_sweep_drops_what_is_idle_and_frees_nobody_early() {
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
    fn calls_at_once_from_many_threads_pass_exactly_to_the_limit() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        let passed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let verdict = limiter.admit(7, 3, epoch, 500, ANN);
                        passed.fetch_add(u32::from(verdict.admitted), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(passed.into_inner(), 500);
    }

    #[test]
    fn what_was_let_through_is_handed_out_once_and_counts_in_the_next_process() {
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
        assert!(!next.admit(7, 1, at(60.0), 3, ANN).admitted, "freed early");
        assert!(next.admit(7, 1, at(60.6), 3, ANN).admitted, "freed a second late");
    }

    #[test]
    fn a_clock_that_was_set_back_locks_nobody_out_for_longer_than_a_minute() {
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
