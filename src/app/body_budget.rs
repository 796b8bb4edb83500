//! A memory budget that large request bodies share.
//!
//! Memory is reserved as bytes arrive, so a body that only declares a large size reserves nothing, and no account or
//! network can use up the whole budget.
//!
//! Bodies that wait for memory of each other would deadlock. As in the banker's algorithm, memory is only granted if all
//! bodies that hold some could still reach their maximum size one after the other.

use ipnet::IpNet;
use platform::ids::AccountId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The bytes of one block, the unit of the budget. The first block of a body is free: bodies without a picture fit in it.
pub const BLOCK_BYTES: usize = 256 * 1024;
/// The blocks of all bodies together: 128 MiB.
const TOTAL_BLOCKS: usize = 512;

/// The account and the network that a body is charged to.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    pub account: Option<AccountId>,
    pub network: IpNet,
}

/// The budget of a server.
#[derive(Clone, Debug)]
pub struct BodyBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    limits: Limits,
    holders: Mutex<Vec<Holder>>,
    next_id: AtomicU64,
    released: Notify,
}

/// The maximum numbers of blocks that are held at the same time.
#[derive(Clone, Copy, Debug)]
struct Limits {
    total: usize,
    network: usize,
    account: usize,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    id: u64,
    owner: Owner,
    held: usize,
    /// The blocks of the body at its maximum size.
    max: usize,
}

/// The memory of one body, released when this is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Shared>,
    id: u64,
}

impl BodyBudget {
    /// Creates a budget for bodies of at most `max_body` bytes. The limit of one account is at least one such body.
    pub fn new(max_body: usize) -> BodyBudget {
        let account = (TOTAL_BLOCKS / 4).max(blocks(max_body));
        let network = (TOTAL_BLOCKS / 2).max(account);
        BodyBudget(Arc::new(Shared {
            limits: Limits {
                total: TOTAL_BLOCKS.max(network),
                network,
                account,
            },
            holders: Mutex::default(),
            next_id: AtomicU64::new(0),
            released: Notify::new(),
        }))
    }

    /// Creates a reservation, at first empty, for a body of at most `max_length` bytes.
    pub fn reserve(&self, owner: Owner, max_length: usize) -> Reservation {
        let id = self.0.next_id.fetch_add(1, Ordering::Relaxed);
        self.0.holders().push(Holder {
            id,
            owner,
            held: 0,
            max: blocks(max_length),
        });
        Reservation {
            budget: Arc::clone(&self.0),
            id,
        }
    }
}

impl Reservation {
    /// Grows the reservation to `length` bytes, and waits until that many are available.
    pub async fn grow_to(&self, length: usize) {
        loop {
            // Created before the attempt, so that a release in between is not missed.
            let released = self.budget.released.notified();
            if self.budget.grow(self.id, blocks(length)) {
                return;
            }
            released.await;
        }
    }

    /// Declares that the body is complete and will not grow.
    pub fn finish(&self) {
        if let Some(holder) = self
            .budget
            .holders()
            .iter_mut()
            .find(|holder| holder.id == self.id)
        {
            holder.max = holder.held;
        }
        self.budget.released.notify_waiters();
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.holders().retain(|holder| holder.id != self.id);
        self.budget.released.notify_waiters();
    }
}

impl Shared {
    fn holders(&self) -> MutexGuard<'_, Vec<Holder>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grows a reservation to `blocks` if that is safe. Returns whether it has as many.
    fn grow(&self, id: u64, blocks: usize) -> bool {
        let mut holders = self.holders();
        let Some(index) = holders.iter().position(|holder| holder.id == id) else {
            return false;
        };
        let before = holders[index].held;
        if blocks <= before {
            return true;
        }
        holders[index].held = blocks;
        let is_safe = self.limits.can_all_finish(&holders);
        if !is_safe {
            holders[index].held = before;
        }
        is_safe
    }
}

impl Limits {
    /// Returns whether all holders could reach their maximum one after the other. False if a limit is exceeded.
    fn can_all_finish(&self, holders: &[Holder]) -> bool {
        let mut unfinished: Vec<&Holder> = holders.iter().filter(|holder| holder.held > 0).collect();
        let mut total = 0;
        let mut networks: HashMap<IpNet, usize> = HashMap::new();
        let mut accounts: HashMap<Option<AccountId>, usize> = HashMap::new();
        for holder in &unfinished {
            total += holder.held;
            *networks.entry(holder.owner.network).or_default() += holder.held;
            *accounts.entry(holder.owner.account).or_default() += holder.held;
        }
        loop {
            let before = unfinished.len();
            unfinished.retain(|holder| {
                let Owner { account, network } = holder.owner;
                let missing = holder.max.saturating_sub(holder.held);
                let fits = total + missing <= self.total
                    && networks[&network] + missing <= self.network
                    && (account.is_none() || accounts[&account] + missing <= self.account);
                if fits {
                    total -= holder.held;
                    networks.entry(network).and_modify(|held| *held -= holder.held);
                    accounts.entry(account).and_modify(|held| *held -= holder.held);
                }
                !fits
            });
            if unfinished.is_empty() || unfinished.len() == before {
                return unfinished.is_empty();
            }
        }
    }
}

/// Returns the number of blocks for `bytes`, without the free one.
fn blocks(bytes: usize) -> usize {
    bytes.div_ceil(BLOCK_BYTES).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use listener::client_network;
    use proptest::prelude::*;
    use uuid::Uuid;

    const MAX_BODY: usize = 16 << 20;

    fn owner(account: u128, address: u8) -> Owner {
        Owner {
            account: Some(AccountId(Uuid::from_u128(account))),
            network: client_network([192, 0, 2, address].into()),
        }
    }

    fn try_grow(reservation: &Reservation, length: usize) -> bool {
        reservation.grow_to(length).now_or_never().is_some()
    }

    fn total(budget: &BodyBudget) -> usize {
        budget.0.holders().iter().map(|holder| holder.held).sum()
    }

    #[test]
    fn a_body_reserves_what_arrived_and_not_what_it_declares() {
        let budget = BodyBudget::new(MAX_BODY);
        let stalled: Vec<Reservation> = (0..100).map(|_| budget.reserve(owner(1, 1), MAX_BODY)).collect();
        assert!(
            stalled
                .iter()
                .all(|reservation| try_grow(reservation, BLOCK_BYTES))
        );
        assert_eq!(total(&budget), 0);
        assert!(
            stalled[..8]
                .iter()
                .all(|reservation| try_grow(reservation, 2 * BLOCK_BYTES))
        );
        assert_eq!(total(&budget), 8);
        let active: Vec<Reservation> = (2..8)
            .map(|number| budget.reserve(owner(number, number as u8), MAX_BODY))
            .collect();
        assert!(active.iter().all(|reservation| try_grow(reservation, MAX_BODY)));
    }

    #[test]
    fn one_account_and_one_address_leave_memory_for_others() {
        let budget = BodyBudget::new(MAX_BODY);
        let of_account: Vec<Reservation> = (0..8).map(|_| budget.reserve(owner(1, 1), MAX_BODY)).collect();
        let granted = of_account
            .iter()
            .filter(|reservation| try_grow(reservation, MAX_BODY))
            .count();
        assert_eq!(granted, 2);
        let of_address: Vec<Reservation> = (2..10)
            .map(|number| budget.reserve(owner(number, 1), MAX_BODY))
            .collect();
        let granted = of_address
            .iter()
            .filter(|reservation| try_grow(reservation, MAX_BODY))
            .count();
        assert_eq!(granted, 2);
        let other = budget.reserve(owner(20, 2), MAX_BODY);
        assert!(try_grow(&other, MAX_BODY));
    }

    #[tokio::test]
    async fn a_waiting_body_gets_memory_when_it_is_released() {
        let budget = BodyBudget::new(MAX_BODY);
        let [first, second, third] = [(); 3].map(|()| budget.reserve(owner(1, 1), MAX_BODY));
        assert!(try_grow(&first, MAX_BODY) && try_grow(&second, MAX_BODY));
        let waiting = tokio::spawn(async move {
            third.grow_to(MAX_BODY).await;
            third
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        waiting.await.unwrap();
        drop(second);
        assert_eq!(total(&budget), 0);
    }

    proptest! {
        #[test]
        fn the_budget_is_never_exceeded_and_no_body_waits_forever(
            requests in proptest::collection::vec((0..40_usize, 0..=MAX_BODY), 0..400),
        ) {
            let budget = BodyBudget::new(MAX_BODY);
            let mut bodies: Vec<Reservation> = (0..40)
                .map(|number| budget.reserve(owner(number % 9, (number % 4) as u8), MAX_BODY))
                .collect();
            for (body, length) in requests {
                try_grow(&bodies[body], length);
                prop_assert!(total(&budget) <= TOTAL_BLOCKS);
            }
            // All bodies finish, whichever is served first.
            while !bodies.is_empty() {
                let before = bodies.len();
                bodies.retain(|body| !try_grow(body, MAX_BODY));
                prop_assert!(bodies.len() < before, "{before} bodies wait for each other");
            }
        }
    }
}
