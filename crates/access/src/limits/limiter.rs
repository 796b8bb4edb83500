//! The rate limiter: one window for each owner and class of calls, and one for each address of a key whose owner limits
//! addresses, each with its own lock.
//!
//! `sweep` drops idle windows. The admitted calls are saved to the database every second ([`store`](super::store))
//! and restored when a server starts, so that a restart does not reset the limits.
//!
//! A window exists only for calls that were admitted, so memory is bounded by the limits of the keys: a flood from
//! many addresses is refused by the window of the key and adds no windows of addresses.

use super::WINDOW_MICROS;
use super::call::{AddressId, AddressLimit, Call, Decision, Owner, WindowId};
use super::sharded_map::ShardedMap;
use super::window::{Verdict, Window};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of admitted calls by window and second since the Unix epoch.
///
/// The second is rounded up: a restored call counts as slightly more recent than it was, so it never leaves the window
/// early.
pub type CallsPerSecond = BTreeMap<(WindowId, i64), u32>;

/// The rate limiter of one server process.
#[derive(Debug)]
pub struct Limiter {
    epoch: Instant,
    windows: ShardedMap<WindowId, Mutex<Window>>,
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

    /// Admits or refuses a call at `now`. A call that is also subject to the limit of its address counts in both windows
    /// or in neither; see [`Window::admit`] and [`Window::admit_in_both`].
    pub fn admit(&self, call: &Call, now: Instant) -> Decision {
        let micros = self.micros(now);
        let window = self.windows.get(WindowId::Class(call.owner, call.class));
        match call.address {
            None => Decision {
                owner: lock(&window).admit(micros, call.per_minute),
                address: None,
            },
            Some(address) => self.admit_in_both(call, &window, address, micros),
        }
    }

    fn admit_in_both(
        &self,
        call: &Call,
        of_owner: &Mutex<Window>,
        address: AddressLimit,
        now: u64,
    ) -> Decision {
        let address_window = self.address_window(call.owner, address.network);
        // A call that the owner's window refuses anyway must not create a window for its address.
        let by_owner = lock(of_owner).peek(now, call.per_minute);
        if !by_owner.admitted && !self.windows.contains(address_window) {
            let by_address = Window::default().peek(now, address.per_minute);
            return Decision {
                owner: by_owner,
                address: Some(by_address),
            };
        }
        let of_address = self.windows.get(address_window);
        // Always in this order, so that two calls never wait for each other.
        let (mut of_address, mut of_owner) = (lock(&of_address), lock(of_owner));
        let windows = (
            (&mut *of_owner, call.per_minute),
            (&mut *of_address, address.per_minute),
        );
        let (owner, address) = Window::admit_in_both(windows.0, windows.1, now);
        Decision {
            owner,
            address: Some(address),
        }
    }

    /// Counts a call that was admitted elsewhere.
    pub fn count(&self, window: WindowId, now: Instant) {
        let now = self.micros(now);
        lock(&self.windows.get(window)).count(now);
    }

    /// Returns what a window would decide about a call, without counting it. `now` is in [`micros`](Self::micros).
    pub fn peek(&self, window: WindowId, now: u64, per_minute: u32) -> Verdict {
        if self.windows.contains(window) {
            lock(&self.windows.get(window)).peek(now, per_minute)
        } else {
            Window::default().peek(now, per_minute)
        }
    }

    /// Returns the window of an address that calls with a key.
    pub(crate) fn address_window(&self, key: Owner, network: IpAddr) -> WindowId {
        let hash = Sha256::new()
            .chain_update(self.address_secret)
            .chain_update(key.to_bytes());
        let hash = match network {
            IpAddr::V4(address) => hash.chain_update(address.octets()),
            IpAddr::V6(address) => hash.chain_update(address.octets()),
        };
        let mut id = [0; 16];
        id.copy_from_slice(&hash.finalize()[..16]);
        WindowId::Address(AddressId(id))
    }

    /// Drops the windows that are idle at `now`.
    pub fn sweep(&self, now: Instant) {
        let now = self.micros(now);
        self.windows.retain(|_, window| !lock(window).is_idle(now));
    }

    /// Adds the calls admitted since the last time to `seconds`. `millis` is the wall time at `now`.
    pub(crate) fn take_unsaved(&self, now: Instant, millis: i64, seconds: &mut CallsPerSecond) {
        let now = self.micros(now);
        self.windows.for_each(|id, window| {
            for admitted_at in lock(window).take_unsaved() {
                let wall_time = millis - (now.saturating_sub(admitted_at) / 1_000) as i64;
                let second = wall_time.div_euclid(1_000) + 1;
                *seconds.entry((id, second)).or_default() += 1;
            }
        });
    }

    /// Restores calls that were admitted before this process started. `millis` is the wall time at `now`.
    ///
    /// A second in the future counts as now. This happens after the system clock was set back.
    pub fn restore(&self, seconds: &CallsPerSecond, now: Instant, millis: i64) {
        let now = self.micros(now);
        for ((id, second), calls) in seconds {
            let age = u64::try_from(millis - second * 1_000).unwrap_or(0) * 1_000;
            if age < WINDOW_MICROS {
                lock(&self.windows.get(*id)).restore(now - age, *calls as usize);
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
    use crate::limits::Class;
    use platform::clock::Clock;
    use platform::ids::{AccountId, KeyId};
    use std::sync::atomic::{AtomicU32, Ordering};
    use uuid::Uuid;

    const MILLIS: i64 = 1_800_000_000_500;

    /// A call with a key.
    fn call(key: u128, class: Class, per_minute: u32) -> Call {
        Call {
            owner: Owner::Key(KeyId(Uuid::from_u128(key))),
            class,
            per_minute,
            address: None,
        }
    }

    /// A call with a key from a host.
    fn call_from(host: u32, per_address: u32, call: Call) -> Call {
        let address = AddressLimit {
            network: IpAddr::V4(host.into()),
            per_minute: per_address,
        };
        Call {
            address: Some(address),
            ..call
        }
    }

    #[test]
    fn keys_and_classes_are_limited_separately() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        let is_admitted = |call: Call| limiter.admit(&call, epoch).is_admitted();
        assert!(is_admitted(call(1, Class::Details, 1)));
        assert!(!is_admitted(call(1, Class::Details, 1)));
        assert!(is_admitted(call(1, Class::Search, 1)));
        assert!(is_admitted(call(2, Class::Details, 1)));
        assert!(is_admitted(call(1 << 64, Class::Details, 1)));
    }

    #[test]
    fn an_account_a_key_and_a_network_with_the_same_bytes_are_limited_separately() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        let owners = [
            Owner::Account(AccountId(Uuid::from_u128(1))),
            Owner::Key(KeyId(Uuid::from_u128(1))),
            Owner::Network("::1".parse().unwrap()),
        ];
        for owner in owners {
            let call = Call {
                owner,
                ..call(1, Class::Details, 1)
            };
            assert!(limiter.admit(&call, epoch).is_admitted(), "{owner:?}");
            assert!(!limiter.admit(&call, epoch).is_admitted(), "{owner:?}");
        }
    }

    #[test]
    fn a_sweep_drops_only_idle_windows() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        let later = epoch + Duration::from_secs(30);
        limiter.admit(&call(1, Class::Details, 1), epoch);
        limiter.admit(&call(2, Class::Details, 1), later);
        limiter.sweep(epoch + Duration::from_mins(1));
        assert_eq!(limiter.len(), 1);
        assert!(
            !limiter
                .admit(&call(2, Class::Details, 1), later + Duration::from_secs(59))
                .is_admitted()
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
                        let decision = limiter.admit(&call(7, Class::Causes, 500), epoch);
                        admitted.fetch_add(u32::from(decision.is_admitted()), Ordering::Relaxed);
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
            limiter.admit(&call(7, Class::Search, 3), epoch + Duration::from_secs(second));
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
                .map(|(_, second)| second - 1_800_000_000)
                .collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert!(unsaved(&limiter).is_empty());

        let next = Limiter::new(stop);
        next.restore(&seconds, stop, MILLIS + 3_000);
        assert!(unsaved(&next).is_empty());
        let at = |second: f64| epoch + Duration::from_secs_f64(second);
        assert!(!next.admit(&call(7, Class::Search, 3), stop).is_admitted());
        assert!(
            !next.admit(&call(7, Class::Search, 3), at(60.0)).is_admitted(),
            "left the window early"
        );
        assert!(
            next.admit(&call(7, Class::Search, 3), at(60.6)).is_admitted(),
            "left the window a second late"
        );
    }

    #[test]
    fn after_the_clock_was_set_back_a_key_waits_at_most_a_minute() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        let call = call(7, Class::Search, 3);
        let window = WindowId::Class(call.owner, call.class);
        limiter.restore(
            &CallsPerSecond::from([((window, 1_800_003_600), 3)]),
            epoch,
            MILLIS,
        );
        assert!(
            !limiter
                .admit(&call, epoch + Duration::from_secs(59))
                .is_admitted()
        );
        assert!(limiter.admit(&call, epoch + Duration::from_mins(1)).is_admitted());
    }

    #[test]
    fn an_address_has_one_window_for_all_classes_of_a_key() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        let is_admitted = |key: u128, class: Class, host: u32| {
            limiter
                .admit(&call_from(host, 2, call(key, class, 10)), epoch)
                .is_admitted()
        };
        assert!(is_admitted(1, Class::Details, 1));
        assert!(is_admitted(1, Class::Search, 1));
        assert!(!is_admitted(1, Class::Browse, 1), "the third call of the address");
        assert!(is_admitted(1, Class::Browse, 2), "another address");
        assert!(is_admitted(2, Class::Browse, 1), "another key");
    }

    #[test]
    fn a_call_that_one_window_refuses_counts_in_neither() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        for _ in 0..3 {
            limiter.admit(&call_from(1, 1, call(1, Class::Details, 5)), epoch);
        }
        let other = limiter.admit(&call_from(2, 3, call(1, Class::Details, 5)), epoch);
        assert_eq!((other.owner.remaining, other.address.unwrap().remaining), (3, 2));
        for _ in 0..9 {
            limiter.admit(&call_from(2, 3, call(1, Class::Details, 2)), epoch);
        }
        let other = limiter.admit(&call_from(2, 3, call(1, Class::Details, 3)), epoch);
        assert_eq!((other.owner.remaining, other.address.unwrap().remaining), (0, 1));
    }

    #[test]
    fn a_flood_from_many_addresses_adds_no_more_windows_than_the_key_admits_calls() {
        let epoch = Clock::default().instant();
        let limiter = Limiter::new(epoch);
        for host in 0..20_000 {
            limiter.admit(&call_from(host, 60, call(1, Class::Details, 100)), epoch);
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
                for thread in 0..8 {
                    let (limiter, admitted) = (&limiter, &admitted);
                    scope.spawn(move || {
                        for _ in 0..200 {
                            // Two classes when the limit of the address is the lower one.
                            let class = if per_address < per_key && thread % 2 == 1 {
                                Class::Search
                            } else {
                                Class::Details
                            };
                            let call = call_from(7, per_address, call(7, class, per_key));
                            let decision = limiter.admit(&call, epoch);
                            admitted.fetch_add(u32::from(decision.is_admitted()), Ordering::Relaxed);
                        }
                    });
                }
            });
            assert_eq!(admitted.into_inner(), expected);
        }
    }
}
