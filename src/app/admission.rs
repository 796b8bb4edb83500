//! Admission control: what a request may cost is checked before it costs anything.
//!
//! Each route declares its worst [`Cost`]. A request of a route that costs nothing special is not counted, so lookups and
//! searches share no lock. Others are counted for the whole server, for the network of the client, and for the key or
//! account, once it is known.
//!
//! - **Bytes** of request bodies count as they arrive, because a client may declare more than it sends. When the sum or a
//!   share of it is full, the body that is furthest behind is cut, so that clients that stall make way for others.
//! - **Heavy work** takes one of a number of places, when the body of the request is complete. A network, key or account
//!   may take as many places as are left. So one client may take half of them, and fifty clients leave some for the next
//!   one.

use crate::config::AdmissionSettings;
use ipnet::IpNet;
use platform::clock::Clock;
use platform::ids::{AccountId, KeyId};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// A body that brings fewer bytes per second falls behind.
const MIN_BYTES_PER_SECOND: u64 = 64 * 1024;
/// How far a body can be ahead: it falls behind if nothing arrives for as long. New bodies begin here.
const MAX_LEAD: Duration = Duration::from_secs(1);

/// The worst cost of a request, declared by its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The maximum number of bytes of its body. `serve.max_body` is a limit too.
    pub body: usize,
    pub work: Work,
}

/// How much work a request is for the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A lookup, a search, or a page from memory or from a few indexed queries.
    Light,
    /// Decoding or drawing a picture, matching or sorting a list, an export.
    Heavy,
}

impl Cost {
    /// No body and light work. It needs no admission.
    pub const LIGHT: Cost = Cost::new(0, Work::Light);
    /// No body and heavy work.
    pub const HEAVY: Cost = Cost::new(0, Work::Heavy);
    /// A form without a file. Ten thousand characters of any script fit.
    pub const FORM: Cost = Cost::new(256 * 1024, Work::Light);
    /// A message of the Model Context Protocol.
    pub const MESSAGE: Cost = Cost::new(1 << 20, Work::Light);
    /// A batch of queries to match.
    pub const BATCH: Cost = Cost::new(1 << 20, Work::Heavy);
    /// A body of any size with a picture to decode, or a list to match.
    pub const LARGE: Cost = Cost::new(usize::MAX, Work::Heavy);

    const fn new(body: usize, work: Work) -> Cost {
        Cost { body, work }
    }

    /// Returns whether requests of this cost are counted.
    pub fn needs_admission(self) -> bool {
        self != Cost::LIGHT
    }
}

/// Why a request is not admitted, or is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overload {
    /// The client, its key or its account has too much in progress.
    Client,
    /// The server has too much in progress.
    Server,
}

/// Who the cost of a request is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Payer {
    Server,
    Network(IpNet),
    Key(KeyId),
    Account(AccountId),
}

/// Counts what the requests in progress cost. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AdmissionControl(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: AdmissionSettings,
    /// The size of the largest body, which always fits.
    max_body: usize,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last_id: u64,
    requests: HashMap<u64, Charged>,
    usage: HashMap<Payer, Usage>,
}

/// What a payer has in progress.
#[derive(Debug, Default)]
struct Usage {
    requests: usize,
    heavy: usize,
    bytes: usize,
    /// The bodies that have not arrived completely: until when each is not behind, and the number of its request.
    arriving: BTreeSet<(Instant, u64)>,
}

/// A request in progress.
#[derive(Debug)]
struct Charged {
    payers: Vec<Payer>,
    is_heavy: bool,
    /// The places for heavy work that it has taken: 0 or 1.
    places: usize,
    bytes: usize,
    /// Until when its body is not behind, if more of it is expected.
    due: Option<Instant>,
    cut: Arc<Cut>,
}

/// Tells a request that its body was cut.
#[derive(Debug, Default)]
struct Cut {
    reason: OnceLock<Overload>,
    notify: Notify,
}

/// An admitted request. What it holds is given back when this is dropped.
#[derive(Debug)]
pub struct Admission {
    shared: Arc<Shared>,
    id: u64,
    max_body: usize,
    started: Instant,
    cut: Arc<Cut>,
}

impl AdmissionControl {
    pub fn new(settings: AdmissionSettings, max_body: usize, clock: Clock) -> AdmissionControl {
        AdmissionControl(Arc::new(Shared {
            settings,
            max_body,
            clock,
            state: Mutex::default(),
        }))
    }

    /// Admits a request of a client in a network, or refuses it at once.
    pub fn admit(&self, network: IpNet, cost: Cost) -> Result<Arc<Admission>, Overload> {
        let shared = Arc::clone(&self.0);
        let started = shared.clock.instant();
        let cut = Arc::<Cut>::default();
        let mut state = shared.lock();
        state.last_id += 1;
        let id = state.last_id;
        let charged = Charged {
            payers: Vec::with_capacity(3),
            is_heavy: cost.work == Work::Heavy,
            places: 0,
            bytes: 0,
            due: None,
            cut: Arc::clone(&cut),
        };
        state.requests.insert(id, charged);
        let mut admitted = [Payer::Server, Payer::Network(network)]
            .into_iter()
            .try_for_each(|payer| state.charge(id, payer, &shared.settings));
        if cost.body == 0 {
            admitted = admitted.and_then(|()| state.take_place(id, &shared.settings));
        }
        if let Err(overload) = admitted {
            state.remove(id);
            return Err(overload);
        }
        drop(state);
        Ok(Arc::new(Admission {
            max_body: cost.body.min(shared.max_body),
            shared,
            id,
            started,
            cut,
        }))
    }

    /// Returns the bytes of request bodies in memory.
    pub fn body_bytes(&self) -> usize {
        let state = self.0.lock();
        state.usage.get(&Payer::Server).map_or(0, |usage| usage.bytes)
    }
}

impl Admission {
    /// Charges the request to its key or account too.
    pub fn charge(&self, payer: Payer) -> Result<(), Overload> {
        let mut state = self.shared.lock();
        state.charge(self.id, payer, &self.shared.settings)
    }

    /// Returns the maximum number of bytes of the body.
    pub fn max_body(&self) -> usize {
        self.max_body
    }

    /// Counts a part of the body before it is copied to a buffer of `capacity` bytes.
    pub fn receive(&self, part: usize, capacity: usize) -> Result<(), Overload> {
        let now = self.shared.clock.instant();
        let mut state = self.shared.lock();
        if let Some(reason) = self.cut.reason.get() {
            return Err(*reason);
        }
        let due = state.requests[&self.id].due.unwrap_or(self.started + MAX_LEAD);
        let due = (due + time_for(part)).min(now + MAX_LEAD);
        state.update(self.id, capacity, Some(due));
        state.cut_until_all_fit(self.id, &self.shared);
        drop(state);
        self.cut.reason.get().map_or(Ok(()), |reason| Err(*reason))
    }

    /// Waits until the body is cut.
    pub async fn cut(&self) -> Overload {
        loop {
            if let Some(reason) = self.cut.reason.get() {
                return *reason;
            }
            self.cut.notify.notified().await;
        }
    }

    /// Records that the whole body has arrived: it is not cut any more, and the work begins.
    pub fn complete_body(&self) -> Result<(), Overload> {
        let mut state = self.shared.lock();
        if let Some(reason) = self.cut.reason.get() {
            return Err(*reason);
        }
        let bytes = state.requests[&self.id].bytes;
        state.update(self.id, bytes, None);
        state.take_place(self.id, &self.shared.settings)
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.shared.lock().remove(self.id);
    }
}

/// Returns the time in which a body that is not behind brings this number of bytes.
fn time_for(bytes: usize) -> Duration {
    Duration::from_micros(bytes as u64 * 1_000_000 / MIN_BYTES_PER_SECOND)
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the share of a payer. It is at least one body.
    fn max_bytes(&self, payer: Payer) -> usize {
        let total = self.settings.max_body_memory;
        let share = match payer {
            Payer::Server => total,
            Payer::Network(_) => total / 2,
            Payer::Key(_) | Payer::Account(_) => total / 4,
        };
        share.max(self.max_body)
    }
}

impl State {
    /// Charges a request to a payer, unless it has too much heavy work in progress.
    fn charge(&mut self, id: u64, payer: Payer, settings: &AdmissionSettings) -> Result<(), Overload> {
        let request = &self.requests[&id];
        if request.payers.contains(&payer) {
            return Ok(());
        }
        if request.is_heavy {
            self.check_places(payer, request.places, settings)?;
        }
        let request = self.requests.get_mut(&id).expect("the request is in progress");
        let usage = self.usage.entry(payer).or_default();
        usage.requests += 1;
        usage.heavy += request.places;
        usage.bytes += request.bytes;
        usage.arriving.extend(request.due.map(|due| (due, id)));
        request.payers.push(payer);
        Ok(())
    }

    /// Checks that a request which has taken `taken` places may have one.
    fn check_places(&self, payer: Payer, taken: usize, settings: &AdmissionSettings) -> Result<(), Overload> {
        let heavy = |payer| self.usage.get(&payer).map_or(0, |usage| usage.heavy);
        let left = (settings.max_heavy_requests + taken).saturating_sub(heavy(Payer::Server));
        match payer {
            Payer::Server if left == 0 => Err(Overload::Server),
            Payer::Server => Ok(()),
            _ if heavy(payer) >= left => Err(Overload::Client),
            _ => Ok(()),
        }
    }

    /// Takes a place for heavy work, if the request has any.
    fn take_place(&mut self, id: u64, settings: &AdmissionSettings) -> Result<(), Overload> {
        let request = &self.requests[&id];
        if !request.is_heavy || request.places > 0 {
            return Ok(());
        }
        for payer in &request.payers {
            self.check_places(*payer, 0, settings)?;
        }
        let request = self.requests.get_mut(&id).expect("the request is in progress");
        request.places = 1;
        for payer in &request.payers {
            self.usage.get_mut(payer).expect("a payer with a request").heavy += 1;
        }
        Ok(())
    }

    /// Sets the bytes that a request holds, and until when its body is not behind, if more of it is expected.
    fn update(&mut self, id: u64, bytes: usize, due: Option<Instant>) {
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        for payer in &request.payers {
            let usage = self.usage.get_mut(payer).expect("a payer with a request");
            usage.bytes = usage.bytes - request.bytes + bytes;
            if let Some(due) = request.due {
                usage.arriving.remove(&(due, id));
            }
            usage.arriving.extend(due.map(|due| (due, id)));
        }
        request.bytes = bytes;
        request.due = due;
    }

    /// Cuts bodies of the payers of a request, which may be its own, until none of them holds too much.
    fn cut_until_all_fit(&mut self, id: u64, shared: &Shared) {
        for index in (0..self.requests[&id].payers.len()).rev() {
            let payer = self.requests[&id].payers[index];
            let overload = match payer {
                Payer::Server => Overload::Server,
                _ => Overload::Client,
            };
            while self.usage[&payer].bytes > shared.max_bytes(payer) {
                let Some(&(_, furthest_behind)) = self.usage[&payer].arriving.first() else {
                    break;
                };
                self.update(furthest_behind, 0, None);
                let cut = &self.requests[&furthest_behind].cut;
                let _ = cut.reason.set(overload);
                cut.notify.notify_one();
            }
        }
    }

    fn remove(&mut self, id: u64) {
        self.update(id, 0, None);
        let Some(request) = self.requests.remove(&id) else {
            return;
        };
        for payer in request.payers {
            let usage = self.usage.get_mut(&payer).expect("a payer with a request");
            usage.requests -= 1;
            usage.heavy -= request.places;
            if usage.requests == 0 {
                self.usage.remove(&payer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use listener::client_network;
    use proptest::prelude::*;
    use uuid::Uuid;

    const KIB: usize = 1024;
    const SETTINGS: AdmissionSettings = AdmissionSettings {
        max_body_memory: 64 * KIB,
        max_heavy_requests: 8,
    };
    const BODY: Cost = Cost::new(16 * KIB, Work::Light);

    fn control() -> AdmissionControl {
        let clock = Clock::default();
        clock.stop();
        AdmissionControl::new(SETTINGS, 16 * KIB, clock)
    }

    fn network(number: u8) -> IpNet {
        client_network([192, 0, 2, number].into())
    }

    fn account(number: u8) -> Payer {
        Payer::Account(AccountId(Uuid::from_u128(number.into())))
    }

    /// Admits a body that has sent `bytes` and is not complete.
    fn stall(control: &AdmissionControl, address: u8, bytes: usize) -> Arc<Admission> {
        let admission = control.admit(network(address), BODY).unwrap();
        admission.receive(bytes, bytes).unwrap();
        admission
    }

    fn is_cut(admission: &Arc<Admission>) -> bool {
        admission.cut.reason.get().is_some()
    }

    #[test]
    fn a_new_body_gets_memory_from_the_one_that_is_furthest_behind() {
        let control = control();
        let steady = stall(&control, 1, 16 * KIB);
        let stalled = stall(&control, 2, 16 * KIB);
        control.0.clock.advance(MAX_LEAD);
        // A few bytes are no progress.
        stalled.receive(1, 16 * KIB).unwrap();
        steady.receive(16 * KIB, 16 * KIB).unwrap();
        let others: Vec<_> = (3..5).map(|address| stall(&control, address, 16 * KIB)).collect();
        assert!(!is_cut(&stalled) && control.body_bytes() == 64 * KIB);
        let honest = stall(&control, 5, KIB);
        assert!(is_cut(&stalled));
        assert!(!is_cut(&steady) && !is_cut(&honest) && !others.iter().any(is_cut));
        assert_eq!(stalled.receive(1, 16 * KIB), Err(Overload::Server));
        assert_eq!(control.body_bytes(), 49 * KIB);
    }

    #[test]
    fn a_body_that_is_behind_all_others_is_cut_itself() {
        let control = control();
        let stalled = stall(&control, 1, KIB);
        control.0.clock.advance(MAX_LEAD * 2);
        let _others: Vec<_> = (2..6).map(|address| stall(&control, address, 15 * KIB)).collect();
        assert_eq!(stalled.receive(1, 16 * KIB), Err(Overload::Server));
        assert_eq!(control.body_bytes(), 60 * KIB);
    }

    #[test]
    fn one_network_and_one_account_leave_memory_for_others() {
        let control = control();
        let other = stall(&control, 2, 16 * KIB);
        let greedy: Vec<_> = (0..10).map(|_| stall(&control, 1, 8 * KIB)).collect();
        assert_eq!(greedy.iter().filter(|body| !is_cut(body)).count(), 4);
        let of_account: Vec<_> = (3..6)
            .map(|address| {
                let admission = control.admit(network(address), BODY).unwrap();
                admission.charge(account(1)).unwrap();
                admission.receive(8 * KIB, 8 * KIB).unwrap();
                admission
            })
            .collect();
        assert_eq!(of_account.iter().filter(|body| !is_cut(body)).count(), 2);
        assert_eq!(of_account[0].receive(1, 8 * KIB), Err(Overload::Client));
        assert!(!is_cut(&other));
    }

    #[test]
    fn a_complete_body_is_not_cut() {
        let control = control();
        let complete: Vec<_> = (1..5).map(|address| stall(&control, address, 16 * KIB)).collect();
        for body in &complete {
            body.complete_body().unwrap();
        }
        let refused = control.admit(network(5), BODY).unwrap();
        assert_eq!(refused.receive(1, KIB), Err(Overload::Server));
        drop(complete);
        stall(&control, 5, KIB);
    }

    #[tokio::test]
    async fn a_cut_body_is_woken() {
        let control = control();
        let bodies: Vec<_> = (1..5).map(|address| stall(&control, address, 16 * KIB)).collect();
        let first = Arc::clone(&bodies[0]);
        let waiting = tokio::spawn(async move { first.cut().await });
        tokio::task::yield_now().await;
        control.0.clock.advance(Duration::from_millis(1));
        let _last = stall(&control, 5, KIB);
        assert_eq!(waiting.await.unwrap(), Overload::Server);
    }

    #[test]
    fn many_networks_leave_places_for_heavy_work_of_another_one() {
        let control = control();
        let flood = |address: u8| -> Vec<_> {
            std::iter::from_fn(|| control.admit(network(address), Cost::HEAVY).ok()).collect()
        };
        let one = flood(1);
        assert_eq!(one.len(), SETTINGS.max_heavy_requests / 2);
        let others: Vec<_> = (2..4).map(flood).collect();
        assert!(others.iter().all(|admitted| !admitted.is_empty()));
        assert_eq!(
            control.admit(network(1), Cost::HEAVY).unwrap_err(),
            Overload::Client
        );
        let newcomer = control.admit(network(9), Cost::HEAVY).unwrap();
        assert_eq!(
            control.admit(network(10), Cost::HEAVY).unwrap_err(),
            Overload::Server
        );
        control.admit(network(1), BODY).unwrap();
        drop((one, others, newcomer));
        assert!(control.0.lock().usage.is_empty());
    }

    #[test]
    fn heavy_work_of_one_account_is_limited_at_all_its_addresses() {
        let control = control();
        let admitted: Vec<_> = (1..=8)
            .filter_map(|address| {
                let admission = control.admit(network(address), Cost::HEAVY).ok()?;
                admission.charge(account(1)).ok()?;
                Some(admission)
            })
            .collect();
        assert_eq!(admitted.len(), SETTINGS.max_heavy_requests / 2);
    }

    proptest! {
        #[test]
        fn no_limit_is_exceeded_and_everything_is_given_back(
            steps in proptest::collection::vec((0..6_u8, 0..4_u8, 0..3_u8, 0..16 * KIB, 0..40_u64), 0..200),
        ) {
            let control = control();
            let mut open: Vec<(Arc<Admission>, u8, u8, usize)> = Vec::new();
            for (step, address, number, bytes, millis) in steps {
                control.0.clock.advance(Duration::from_millis(millis));
                let index = bytes % open.len().max(1);
                match step {
                    0 | 1 => {
                        let cost = if step == 0 { BODY } else { Cost::HEAVY };
                        if let Ok(admission) = control.admit(network(address), cost)
                            && admission.charge(account(number)).is_ok()
                        {
                            open.push((admission, address, number, 0));
                        }
                    }
                    2 | 3 if !open.is_empty() => {
                        let (admission, .., held) = &mut open[index];
                        *held = (*held).max(bytes);
                        // A refused body has been dropped by its reader.
                        if admission.receive(bytes, *held).is_err() {
                            open.swap_remove(index);
                        }
                    }
                    4 if !open.is_empty() && open[index].0.complete_body().is_err() => {
                        open.swap_remove(index);
                    }
                    5 if !open.is_empty() => {
                        open.swap_remove(index);
                    }
                    _ => {}
                }
                open.retain(|(admission, ..)| !is_cut(admission));
                let held = |is_counted: &dyn Fn(u8, u8) -> bool| -> usize {
                    let counted = open.iter().filter(|(_, address, number, _)| is_counted(*address, *number));
                    counted.map(|(.., held)| held).sum()
                };
                prop_assert_eq!(held(&|_, _| true), control.body_bytes());
                prop_assert!(control.body_bytes() <= SETTINGS.max_body_memory);
                for one in 0..4 {
                    prop_assert!(held(&|address, _| address == one) <= SETTINGS.max_body_memory / 2);
                    prop_assert!(held(&|_, number| number == one) <= SETTINGS.max_body_memory / 4);
                }
                let heavy = control.0.lock().usage.get(&Payer::Server).map_or(0, |usage| usage.heavy);
                prop_assert!(heavy <= SETTINGS.max_heavy_requests);
            }
            drop(open);
            let state = control.0.lock();
            prop_assert!(state.usage.is_empty() && state.requests.is_empty());
        }
    }
}
