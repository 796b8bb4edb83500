//! The rate limiter: one window for each key and class of calls, and one for each address of a key whose owner limits
//! addresses, each with its own lock.
//!
//! `sweep` drops idle windows. The admitted calls are saved to the database every second ([`recent`](super::recent))
//! and restored when a server starts, so that a restart does not reset the limits.
//!
//! A window exists only for calls that were admitted, so memory is bounded by the limits of the keys: a flood from
//! many addresses is refused by the window of the key and adds no windows of addresses.

use super::Class;
use super::sharded_map::ShardedMap;
use crate::limits::WINDOW_MICROS;
use crate::limits::window::{Verdict, Window};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of admitted calls by ID of the key, account or address, class, and second since the Unix epoch.
///
/// The second is rounded up: a restored call counts as slightly more recent than it was, so it never leaves the window
/// early.
pub type CallsPerSecond = BTreeMap<(u128, u32, i64), u32>;

/// The class number for the calls of an address, which count in one window regardless of their class.
pub const ADDRESS_CLASS: u32 = Class::ALL.len() as u32;

/// The limit of one address for its calls with one key.
#[derive(Clone, Copy, Debug)]
pub struct AddressLimit {
    /// The IPv4 address, or the first address of the IPv6 /64.
    pub network: IpAddr,
    pub per_minute: u32,
}

/// The decision about a call, with the verdict of each window that it was subject to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The verdict of the key, or of the account for creating fundraisers.
    pub key: Verdict,
    /// The verdict of the address, if the key limits addresses.
    pub address: Option<Verdict>,
}

impl Decision {
    /// Returns whether every window admitted the call.
    pub fn is_admitted(&self) -> bool {
        self.key.admitted && self.address.is_none_or(|address| address.admitted)
    }

    /// Returns the number of seconds, rounded up, until every window admits a call: 0 if the call was admitted.
    pub fn retry_after(&self) -> u32 {
        let address = self.address.map_or(0, |address| address.retry_after);
        self.key.retry_after.max(address)
    }
}

/// The rate limiter of one server process.
#[derive(Debug)]
pub struct Limiter {
    epoch: Instant,
    windows: ShardedMap<(u128, u32), Mutex<Window>>,
    /// The secret from which the IDs of addresses are derived.
    address_secret: [u8; 32],
}

impl Limiter {
    /// Creates a limiter. All later times must not be before `epoch`.
    pub fn new(epoch: Instant) -> Self {
        Self {
            epoch,
            windows: ShardedMap::default(),
            address_secret: [0; 32],
        }
    }

    /// Sets the secret that hides addresses in what is saved. All servers of a database must have the same one.
    #[must_use]
    pub fn with_address_secret(self, address_secret: [u8; 32]) -> Self {
        Self {
            address_secret,
            ..self
        }
    }

    /// Admits or refuses a call of `key` (its ID as a number) in `class` at `now`; see [`Window::admit`].
    pub fn admit(&self, key: u128, class: u32, now: Instant, per_minute: u32) -> Verdict {
        let now = self.micros(now);
        lock(&self.windows.get((key, class))).admit(now, per_minute)
    }

    /// Admits or refuses a call that is also subject to the limit of its address; see [`Window::admit_in_both`].
    pub fn admit_from(
        &self,
        key: u128,
        class: u32,
        now: Instant,
        per_minute: u32,
        address: AddressLimit,
    ) -> Decision {
        let now = self.micros(now);
        let of_key = self.windows.get((key, class));
        let address_id = self.address_window(key, address.network);
        // A call that the key refuses anyway must not create a window for its address.
        let by_key = lock(&of_key).peek(now, per_minute);
        if !by_key.admitted && !self.windows.contains(address_id) {
            let by_address = Window::default().peek(now, address.per_minute);
            return Decision {
                key: by_key,
                address: Some(by_address),
            };
        }
        let of_address = self.windows.get(address_id);
        // Always in this order, so that two calls never wait for each other.
        let (mut of_address, mut of_key) = (lock(&of_address), lock(&of_key));
        let windows = ((&mut *of_key, per_minute), (&mut *of_address, address.per_minute));
        let (key, address) = Window::admit_in_both(windows.0, windows.1, now);
        Decision {
            key,
            address: Some(address),
        }
    }

    /// Admits or refuses a call that may also be subject to the limit of its address.
    pub fn admit_in(
        &self,
        key: u128,
        class: u32,
        now: Instant,
        per_minute: u32,
        address: Option<AddressLimit>,
    ) -> Decision {
        match address {
            Some(address) => self.admit_from(key, class, now, per_minute, address),
            None => Decision {
                key: self.admit(key, class, now, per_minute),
                address: None,
            },
        }
    }

    /// Counts a call that was admitted elsewhere.
    pub fn count(&self, window: (u128, u32), now: Instant) {
        let now = self.micros(now);
        lock(&self.windows.get(window)).count(now);
    }

    /// Returns what a window would decide about a call, without counting it. `now` is in [`micros`](Self::micros).
    pub fn peek(&self, window: (u128, u32), now: u64, per_minute: u32) -> Verdict {
        if self.windows.contains(window) {
            lock(&self.windows.get(window)).peek(now, per_minute)
        } else {
            Window::default().peek(now, per_minute)
        }
    }

    /// Returns the window of an address that calls with a key.
    pub fn address_window(&self, key: u128, network: IpAddr) -> (u128, u32) {
        (self.address_id(key, network), ADDRESS_CLASS)
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

    /// Returns the ID under which the calls of an address with a key are counted. It is the same on every server and after
    /// a restart, and does not reveal the address to someone who reads the database.
    fn address_id(&self, key: u128, network: IpAddr) -> u128 {
        let hash = Sha256::new()
            .chain_update(self.address_secret)
            .chain_update(key.to_be_bytes());
        let hash = match network {
            IpAddr::V4(address) => hash.chain_update(address.octets()),
            IpAddr::V6(address) => hash.chain_update(address.octets()),
        };
        let bytes = hash.finalize();
        bytes
            .iter()
            .take(16)
            .fold(0, |id, byte| id << 8 | u128::from(*byte))
    }

    /// Converts a time to microseconds since one window before the epoch, so that restored calls have a positive time.
    pub fn micros(&self, now: Instant) -> u64 {
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

    const MILLIS: i64 = 1_800_000_000_500;

    #[test]
    fn keys_and_classes_are_limited_separately() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        assert!(limiter.admit(1, 0, epoch, 1).admitted);
        assert!(!limiter.admit(1, 0, epoch, 1).admitted);
        assert!(limiter.admit(1, 1, epoch, 1).admitted);
        assert!(limiter.admit(2, 0, epoch, 1).admitted);
        assert!(limiter.admit(1 << 64, 0, epoch, 1).admitted);
    }

    #[test]
    fn a_sweep_drops_only_idle_windows() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        let later = epoch + Duration::from_secs(30);
        limiter.admit(1, 0, epoch, 1);
        limiter.admit(2, 0, later, 1);
        limiter.sweep(epoch + Duration::from_mins(1));
        assert_eq!(limiter.len(), 1);
        assert!(!limiter.admit(2, 0, later + Duration::from_secs(59), 1).admitted);
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
                        let verdict = limiter.admit(7, 3, epoch, 500);
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
            limiter.admit(7, 1, epoch + Duration::from_secs(second), 3);
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
        assert!(!next.admit(7, 1, stop, 3).admitted);
        assert!(!next.admit(7, 1, at(60.0), 3).admitted, "left the window early");
        assert!(
            next.admit(7, 1, at(60.6), 3).admitted,
            "left the window a second late"
        );
    }

    #[test]
    fn after_the_clock_was_set_back_a_key_waits_at_most_a_minute() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        limiter.restore(&CallsPerSecond::from([((7, 1, 1_800_003_600), 3)]), epoch, MILLIS);
        assert!(!limiter.admit(7, 1, epoch + Duration::from_secs(59), 3).admitted);
        assert!(limiter.admit(7, 1, epoch + Duration::from_mins(1), 3).admitted);
    }

    fn from_host(host: u32, per_minute: u32) -> AddressLimit {
        AddressLimit {
            network: IpAddr::V4(host.into()),
            per_minute,
        }
    }

    #[test]
    fn an_address_has_one_window_for_all_classes_of_a_key() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        let is_admitted = |key: u128, class: u32, host: u32| {
            limiter
                .admit_from(key, class, epoch, 10, from_host(host, 2))
                .is_admitted()
        };
        assert!(is_admitted(1, 0, 1));
        assert!(is_admitted(1, 1, 1));
        assert!(!is_admitted(1, 2, 1), "the third call of the address");
        assert!(is_admitted(1, 2, 2), "another address");
        assert!(is_admitted(2, 2, 1), "another key");
    }

    #[test]
    fn a_call_that_one_window_refuses_counts_in_neither() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        for _ in 0..3 {
            limiter.admit_from(1, 0, epoch, 5, from_host(1, 1));
        }
        let other = limiter.admit_from(1, 0, epoch, 5, from_host(2, 3));
        assert_eq!((other.key.remaining, other.address.unwrap().remaining), (3, 2));
        for _ in 0..9 {
            limiter.admit_from(1, 0, epoch, 2, from_host(2, 3));
        }
        let other = limiter.admit_from(1, 0, epoch, 3, from_host(2, 3));
        assert_eq!((other.key.remaining, other.address.unwrap().remaining), (0, 1));
    }

    #[test]
    fn a_flood_from_many_addresses_adds_no_more_windows_than_the_key_admits_calls() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        for host in 0..20_000 {
            limiter.admit_from(1, 0, epoch, 100, from_host(host, 60));
        }
        assert_eq!(limiter.len(), 1 + 100);
        limiter.sweep(epoch + Duration::from_mins(1));
        assert!(limiter.is_empty());
    }

    #[test]
    fn concurrent_calls_of_one_address_are_admitted_exactly_up_to_both_limits() {
        let epoch = Clock::default().instant();
        for (per_key, per_address, expected) in [(500, 300, 300), (300, 500, 300)] {
            let limiter = Limiter::new(epoch);
            let admitted = AtomicU32::new(0);
            std::thread::scope(|scope| {
                for class in 0..8 {
                    let (limiter, admitted) = (&limiter, &admitted);
                    scope.spawn(move || {
                        for _ in 0..200 {
                            // Two classes when the limit of the address is the lower one.
                            let class = if per_address < per_key { class % 2 } else { 0 };
                            let address = from_host(7, per_address);
                            let decision = limiter.admit_from(7, class, epoch, per_key, address);
                            admitted.fetch_add(u32::from(decision.is_admitted()), Ordering::Relaxed);
                        }
                    });
                }
            });
            assert_eq!(admitted.into_inner(), expected);
        }
    }
}
