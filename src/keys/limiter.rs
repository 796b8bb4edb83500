//! The windows of all keys: one exact window for each key and class of calls.
//!
//! Windows lie in many small shards, each with a lock of its own that is held for a few dozen nanoseconds, so a
//! key that is called without pause does not slow the others. A window that counts nothing any more is dropped
//! by `sweep`, which the caller runs about once a minute.

use super::limit::{Verdict, Window};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const SHARDS: usize = 256;
const SHARD_BITS: u32 = SHARDS.ilog2();

type Shard = HashMap<(u128, u32), Window>;

/// The windows of one server process.
#[derive(Debug)]
pub struct Limiter {
    epoch: Instant,
    shards: Box<[Mutex<Shard>]>,
}

impl Limiter {
    /// A limiter that has seen no call. No call may be judged at a moment before `epoch`.
    pub fn new(epoch: Instant) -> Self {
        Self {
            epoch,
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    /// Judges a call of `key` (the number of its id) in `class` at `now`; see [`Window::admit`].
    pub fn admit(&self, key: u128, class: u32, now: Instant, per_minute: u32) -> Verdict {
        let now = self.micros(now);
        lock(self.shard(key, class))
            .entry((key, class))
            .or_default()
            .admit(now, per_minute)
    }

    /// Drops the windows that count nothing any more at `now`.
    pub fn sweep(&self, now: Instant) {
        let now = self.micros(now);
        for shard in &self.shards {
            let mut windows = lock(shard);
            windows.retain(|_, window| !window.is_idle(now));
            if windows.capacity() > 4 * windows.len() {
                windows.shrink_to_fit();
            }
        }
    }

    /// How many windows are held.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn micros(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.epoch).as_micros() as u64
    }

    /// Ids are given out by us, so a plain mix is enough to spread them.
    fn shard(&self, key: u128, class: u32) -> &Mutex<Shard> {
        let folded = (key as u64) ^ ((key >> 64) as u64).rotate_left(32) ^ u64::from(class).rotate_left(17);
        &self.shards[(folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SHARD_BITS)) as usize]
    }
}

/// A panic elsewhere leaves a window whole: each call pushes at most one moment as its last step.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    #[test]
    fn keys_and_classes_have_windows_of_their_own() {
        let epoch = Instant::now();
        let limiter = Limiter::new(epoch);
        assert!(limiter.admit(1, 0, epoch, 1).admitted);
        assert!(!limiter.admit(1, 0, epoch, 1).admitted);
        assert!(limiter.admit(1, 1, epoch, 1).admitted);
        assert!(limiter.admit(2, 0, epoch, 1).admitted);
        assert!(limiter.admit(1 << 64, 0, epoch, 1).admitted);
    }

    #[test]
    fn a_sweep_drops_what_is_idle_and_frees_nobody_early() {
        let epoch = Instant::now();
        let limiter = Limiter::new(epoch);
        let later = epoch + Duration::from_secs(30);
        limiter.admit(1, 0, epoch, 1);
        limiter.admit(2, 0, later, 1);
        limiter.sweep(epoch + Duration::from_mins(1));
        assert_eq!(limiter.len(), 1);
        assert!(!limiter.admit(2, 0, later + Duration::from_secs(59), 1).admitted);
        limiter.sweep(later + Duration::from_mins(1));
        assert!(limiter.is_empty());
    }

    #[test]
    fn calls_at_once_from_many_threads_pass_exactly_to_the_limit() {
        let epoch = Instant::now();
        let limiter = Limiter::new(epoch);
        let passed = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let verdict = limiter.admit(7, 3, epoch, 500);
                        passed.fetch_add(u32::from(verdict.admitted), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(passed.into_inner(), 500);
    }

    #[test]
    fn ids_in_a_row_spread_over_the_shards() {
        let limiter = Limiter::new(Instant::now());
        for key in 0..10_000 {
            limiter.admit(key, 0, limiter.epoch, 1);
        }
        let fullest = limiter
            .shards
            .iter()
            .map(|shard| lock(shard).len())
            .max()
            .unwrap();
        assert!(fullest < 100, "{fullest} of 10,000 windows share a lock");
    }
}
