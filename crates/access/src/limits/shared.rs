//! The rate limiter of several servers that share Redis: exact over all of them together.
//!
//! Redis decides ([`script`](super::script)). A refusal is remembered until the time that Redis named, so a flood is
//! refused here and does not reach Redis. If Redis is away, the local limiter decides. It counts every call that this
//! server admits, and allows this server its share of what is left of the limit, divided by the number of servers that were
//! last seen, so that all of them together admit no more than the limit. If Redis has lost calls, each server sends its own
//! again; see [`own_calls`](super::own_calls). Until every server has done so, or its calls have left the window, Redis may
//! admit too many: for this time, the [`DOUBT`], a call needs room both in Redis and in the share of its server.

use super::call::{AddressId, Call, Decision, WindowId};
use super::limiter::Limiter;
use super::own_calls::OwnCalls;
use super::script::{Answer, OwnQuery, ServerNumber, SharedWindows, WindowQuery, WindowState};
use super::sharded_map::ShardedMap;
use super::window::Verdict;
use super::{SECOND_MICROS, WINDOW_MICROS};
use metrics::Counter;
use platform::redis::{Away, MAX_LAG};
use platform::text::hex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long Redis may lack calls of other servers after it was away or lost some: until those that they admitted before they
/// noticed its return have left the window.
const DOUBT: Duration = MAX_LAG.saturating_add(Duration::from_micros(WINDOW_MICROS));

/// A rate limiter that shares its windows with other servers.
#[derive(Debug)]
pub struct SharedLimiter {
    /// The name of the limits, such as `calls`. It separates IDs of different kinds.
    name: &'static str,
    windows: SharedWindows,
    number: ServerNumber,
    local: Limiter,
    mirrors: ShardedMap<WindowId, Mutex<Mirror>>,
    /// Counts the calls about which Redis could not be asked.
    local_decisions: Counter,
    /// The number of servers that were last seen, including this one.
    servers: AtomicU32,
    /// Until when Redis may lack calls because it lost some, in microseconds.
    doubtful_until: AtomicU64,
}

/// What this server knows about a window in Redis.
#[derive(Debug, Default)]
struct Mirror {
    own: OwnCalls,
    /// The calls from the share of this server that are being decided.
    reserved: u32,
    /// The limit and the last answer of Redis, with the time at which it was asked.
    last: Option<(u64, u32, WindowState)>,
}

/// A call from the share of this server that is being decided, in each of its windows.
#[derive(Default)]
struct Reservation(Vec<Arc<Mutex<Mirror>>>);

impl Drop for Reservation {
    fn drop(&mut self) {
        for mirror in &self.0 {
            lock(mirror).reserved -= 1;
        }
    }
}

impl SharedLimiter {
    pub fn new(name: &'static str, windows: SharedWindows, local: Limiter, local_decisions: Counter) -> Self {
        Self {
            name,
            windows,
            // The last bits of a UUID are random.
            number: (Uuid::now_v7().as_u128() as ServerNumber).max(1),
            local,
            mirrors: ShardedMap::default(),
            local_decisions,
            servers: AtomicU32::new(1),
            doubtful_until: AtomicU64::new(0),
        }
    }

    /// Sets how many servers share the limits, including this one.
    pub fn set_servers(&self, servers: u32) {
        self.servers.store(servers.max(1), Ordering::Relaxed);
    }

    /// Returns the limiter that decides while Redis is away.
    pub fn local(&self) -> &Limiter {
        &self.local
    }

    /// Admits or refuses a call; see [`Limiter::admit`].
    pub async fn admit(&self, call: &Call, now: Instant) -> Decision {
        // A limit of zero needs no count.
        if call.per_minute == 0 || call.address.is_some_and(|address| address.per_minute == 0) {
            return self.local.admit(call, now);
        }
        let micros = self.local.micros(now);
        let mut limited = vec![(WindowId::Class(call.owner, call.class), call.per_minute)];
        limited.extend(call.address.map(|address| {
            let window = self.local.address_window(call.owner, address.network);
            (window, address.per_minute)
        }));
        if let Some(refused) = self.remembered_refusal(&limited, micros) {
            return refused;
        }
        let mut reservation = None;
        if self.is_in_doubt(micros) {
            reservation = self.reserve(&limited, micros);
            if reservation.is_none() {
                return self.refuse_alone(call, &limited, now);
            }
        }
        let Ok(states) = self.ask(call, &limited, micros).await else {
            drop(reservation);
            self.local_decisions.increment(1);
            return self.admit_alone(call, &limited, now);
        };
        let is_in_doubt = self.is_in_doubt(micros);
        let decision = Decision {
            owner: verdict(call.per_minute, &states[0], 0),
            address: limited.get(1).map(|(_, limit)| verdict(*limit, &states[1], 0)),
        };
        let is_admitted = decision.is_admitted();
        for ((window, limit), state) in limited.iter().zip(&states) {
            let mirror = self.mirrors.get(*window);
            let mut mirror = lock(&mirror);
            mirror.record(micros, *limit, *state);
            if is_in_doubt {
                mirror.own.record_doubtful_answer(micros, state, is_admitted);
            } else {
                mirror.own.record_answer(micros, state, is_admitted);
            }
            drop(mirror);
            if is_admitted {
                self.local.count(*window, now);
            }
        }
        decision
    }

    /// Returns whether Redis may lack calls that other servers have admitted.
    fn is_in_doubt(&self, now: u64) -> bool {
        now < self.doubtful_until.load(Ordering::Relaxed) || self.windows.redis.has_returned_within(DOUBT)
    }

    /// Reserves a call in the share of this server in all of these windows, or returns `None` if one has nothing left.
    fn reserve(&self, limited: &[(WindowId, u32)], now: u64) -> Option<Reservation> {
        let servers = self.servers.load(Ordering::Relaxed);
        let mut reservation = Reservation::default();
        for (window, limit) in limited {
            // A refused call creates no entry for its address.
            if !self.mirrors.contains(*window) && OwnCalls::default().share_left(now, *limit, servers) == 0 {
                return None;
            }
            let mirror = self.mirrors.get(*window);
            {
                let mut mirror = lock(&mirror);
                if mirror.own.share_left(now, *limit, servers) <= mirror.reserved {
                    return None;
                }
                mirror.reserved += 1;
            }
            reservation.0.push(mirror);
        }
        Some(reservation)
    }

    /// Decides about a call without Redis.
    fn admit_alone(&self, call: &Call, limited: &[(WindowId, u32)], now: Instant) -> Decision {
        let micros = self.local.micros(now);
        let Some(reservation) = self.reserve(limited, micros) else {
            return self.refuse_alone(call, limited, now);
        };
        let mut decision = self.local.admit(call, now);
        if decision.is_admitted() {
            let servers = self.servers.load(Ordering::Relaxed);
            let verdicts = std::iter::once(&mut decision.owner).chain(&mut decision.address);
            for ((mirror, (_, limit)), verdict) in reservation.0.iter().zip(limited).zip(verdicts) {
                let own = &mut lock(mirror).own;
                own.count_alone(micros);
                verdict.remaining = own.share_left(micros, *limit, servers);
            }
        }
        decision
    }

    /// Refuses a call because this server has nothing left of its share. The local limiter knows when a call will have room.
    fn refuse_alone(&self, call: &Call, limited: &[(WindowId, u32)], now: Instant) -> Decision {
        let micros = self.local.micros(now);
        let counted = |(window, limit): &(WindowId, u32)| {
            let counted = u32::MAX - self.local.peek(*window, micros, u32::MAX).remaining;
            counted.min(*limit)
        };
        let mut full = *call;
        full.per_minute = counted(&limited[0]);
        if let (Some(address), Some(limited)) = (&mut full.address, limited.get(1)) {
            address.per_minute = counted(limited);
        }
        let mut decision = self.local.admit(&full, now);
        // The limit that clients know is that of all servers together.
        decision.owner.per_minute = call.per_minute;
        for (verdict, limit) in decision.address.iter_mut().zip(call.address) {
            verdict.per_minute = limit.per_minute;
        }
        decision
    }

    /// Drops what is no longer needed at `now`.
    pub fn sweep(&self, now: Instant) {
        self.local.sweep(now);
        let now = self.local.micros(now);
        self.mirrors.retain(|_, mirror| !lock(mirror).is_idle(now));
    }

    /// Returns the decision about a call if a window is known to be full.
    ///
    /// The other window of the call is described by the last answer of Redis. If there is none, because the address has
    /// called only other servers, by the calls that were counted here.
    fn remembered_refusal(&self, limited: &[(WindowId, u32)], now: u64) -> Option<Decision> {
        let mut verdicts = [None; 2];
        let mut is_refused = false;
        for (index, (window, limit)) in limited.iter().enumerate() {
            // A refused call creates no entry for its address.
            if self.mirrors.contains(*window) {
                let verdict = lock(&self.mirrors.get(*window)).verdict(now, *limit);
                is_refused |= verdict.is_some_and(|verdict| !verdict.admitted);
                verdicts[index] = verdict;
            }
        }
        if !is_refused {
            return None;
        }
        for (verdict, (window, limit)) in verdicts.iter_mut().zip(limited) {
            verdict.get_or_insert_with(|| self.local.peek(*window, now, *limit));
        }
        let [Some(owner), address] = verdicts else {
            return None;
        };
        Some(Decision { owner, address })
    }

    /// Asks Redis to count a call. If Redis has lost calls of this server, asks again with their times.
    async fn ask(
        &self,
        call: &Call,
        limited: &[(WindowId, u32)],
        now: u64,
    ) -> Result<Vec<WindowState>, Away> {
        let group = self.windows.group(self.name, &call.owner.to_bytes());
        let queries = |sends_ages: bool| -> Vec<WindowQuery> {
            let query = |(window, limit): &(WindowId, u32)| WindowQuery {
                key: redis_key(&group, *window),
                limit: *limit,
                length_micros: WINDOW_MICROS,
                own: Some((self.number, self.own_calls(*window, now, sends_ages))),
            };
            limited.iter().map(query).collect()
        };
        let mut answer = self.windows.admit(&queries(false)).await?;
        if answer == Answer::Lost {
            if !self.is_in_doubt(now) {
                let until = now + DOUBT.as_micros() as u64;
                self.doubtful_until.store(until, Ordering::Relaxed);
            }
            answer = self.windows.admit(&queries(true)).await?;
        }
        match answer {
            Answer::States(states) if states.len() == limited.len() => Ok(states),
            _ => Err(Away),
        }
    }

    /// Returns what Redis is told about the calls of this server in a window.
    fn own_calls(&self, window: WindowId, now: u64, sends_ages: bool) -> OwnQuery {
        let age_limit = self.windows.age_limit(WINDOW_MICROS);
        if self.mirrors.contains(window) {
            lock(&self.mirrors.get(window))
                .own
                .query(now, age_limit, sends_ages)
        } else {
            OwnCalls::default().query(now, age_limit, sends_ages)
        }
    }
}

impl Mirror {
    /// Records an answer of Redis to a question at `asked_at`.
    ///
    /// Answers may arrive out of order. A window that is known to be full cannot have room for a call with the same limit,
    /// so an answer that says so is older.
    fn record(&mut self, asked_at: u64, limit: u32, state: WindowState) {
        let is_full = self.verdict(asked_at, limit).is_some_and(|known| !known.admitted);
        if !(is_full && state.has_room) {
            self.last = Some((asked_at, limit, state));
        }
    }

    /// Returns what Redis would say about a call at `now`, if that is known: until the oldest call has left the window.
    /// If the window had room, other servers may have used it since.
    fn verdict(&self, now: u64, limit: u32) -> Option<Verdict> {
        let (asked_at, asked_limit, state) = self.last.as_ref()?;
        let elapsed = now.saturating_sub(*asked_at);
        let is_known = *asked_limit == limit
            && elapsed < state.resets_in
            && (state.has_room || elapsed < state.retry_in);
        is_known.then(|| verdict(limit, state, elapsed))
    }

    fn is_idle(&self, now: u64) -> bool {
        let has_left = |time: u64| time + WINDOW_MICROS <= now;
        self.own.is_idle(now) && self.last.is_none_or(|(asked_at, ..)| has_left(asked_at))
    }
}

/// Returns the key of a window in Redis. Servers of different versions share it during an upgrade.
fn redis_key(group: &str, window: WindowId) -> String {
    match window {
        WindowId::Class(_, class) => format!("{group}:{}", class as u32),
        WindowId::Address(AddressId(id)) => format!("{group}:address:{}", hex(&id)),
    }
}

/// Converts the state of a window to a verdict about a call `elapsed` microseconds later.
fn verdict(per_minute: u32, state: &WindowState, elapsed: u64) -> Verdict {
    let seconds = |micros: u64| micros.saturating_sub(elapsed).div_ceil(SECOND_MICROS) as u32;
    Verdict {
        admitted: state.has_room,
        per_minute,
        remaining: u64::from(per_minute).saturating_sub(state.counted) as u32,
        resets_in: seconds(state.resets_in),
        retry_after: seconds(state.retry_in),
    }
}

/// Locks a mirror. A poisoned lock is safe to use, because a mirror is never left in an inconsistent state.
fn lock(mirror: &Mutex<Mirror>) -> MutexGuard<'_, Mirror> {
    mirror.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Class;
    use crate::limits::call::Owner;
    use platform::ids::{AccountId, KeyId};
    use uuid::Uuid;

    const ID: Uuid = Uuid::from_u128(0x019a_8f00_0000_7000_8000_0000_0000_0001);

    #[test]
    fn the_keys_in_redis_are_those_of_earlier_versions() {
        let network = |address: &str| Owner::Network(address.parse().unwrap());
        let bytes = |owner: Owner| u128::from_be_bytes(owner.to_bytes());
        assert_eq!(bytes(Owner::Account(AccountId(ID))), ID.as_u128());
        assert_eq!(bytes(Owner::Key(KeyId(ID))), ID.as_u128());
        assert_eq!(bytes(network("192.0.2.1")), 0xffff_c000_0201);
        assert_eq!(bytes(network("2001:db8::")), 0x2001_0db8 << 96);
        let search = WindowId::Class(Owner::Key(KeyId(ID)), Class::Search);
        assert_eq!(redis_key("causeway:calls:{5a}", search), "causeway:calls:{5a}:1");
        let address = WindowId::Address(AddressId([0xa1; 16]));
        assert_eq!(redis_key("g", address), format!("g:address:{}", "a1".repeat(16)));
    }
}
