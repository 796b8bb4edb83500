//! A memory budget that large request bodies share.
//!
//! A body that outgrows its first block waits until its whole length fits into the shares of its account, of its network
//! and of the server, and keeps that memory until it is dropped. It waits only once, and every body waits for the three
//! shares in the same order, so there is no deadlock.

use ipnet::IpNet;
use platform::ids::AccountId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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

/// The budget of a server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BodyBudget {
    total: Arc<Semaphore>,
    /// The shares of the accounts and networks that have large bodies now.
    shares: Arc<Mutex<HashMap<ShareOwner, Weak<Semaphore>>>>,
    account_blocks: usize,
    network_blocks: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ShareOwner {
    Account(AccountId),
    Network(IpNet),
}

/// The memory of one body, released when this is dropped.
#[derive(Debug, Default)]
pub struct Reservation {
    _permits: Vec<OwnedSemaphorePermit>,
}

impl BodyBudget {
    /// Creates a budget for bodies of at most `max_body` bytes. The share of one account is at least one such body.
    pub fn new(max_body: usize) -> BodyBudget {
        let account_blocks = (TOTAL_BLOCKS / 4).max(blocks(max_body));
        let network_blocks = (TOTAL_BLOCKS / 2).max(account_blocks);
        BodyBudget {
            total: Arc::new(Semaphore::new(TOTAL_BLOCKS.max(network_blocks))),
            shares: Arc::default(),
            account_blocks,
            network_blocks,
        }
    }

    /// Waits until a body of at most `length` bytes fits.
    pub async fn reserve(&self, owner: Owner, length: usize) -> Reservation {
        let account = owner
            .account
            .map(|account| self.share(ShareOwner::Account(account), self.account_blocks));
        let network = self.share(ShareOwner::Network(owner.network), self.network_blocks);
        let mut permits = Vec::with_capacity(3);
        for semaphore in account.into_iter().chain([network, Arc::clone(&self.total)]) {
            let permit = semaphore.acquire_many_owned(blocks(length) as u32).await;
            permits.push(permit.expect("the semaphore is never closed"));
        }
        Reservation { _permits: permits }
    }

    /// Returns the share of an owner, which exists as long as a body holds or awaits a part of it.
    fn share(&self, owner: ShareOwner, size: usize) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&owner).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(size));
        shares.insert(owner, Arc::downgrade(&share));
        share
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
    use std::task::{Context, Poll, Waker};
    use uuid::Uuid;

    const MAX_BODY: usize = 16 << 20;

    fn owner(account: u128, address: u8) -> Owner {
        Owner {
            account: Some(AccountId(Uuid::from_u128(account))),
            network: client_network([192, 0, 2, address].into()),
        }
    }

    fn try_reserve(budget: &BodyBudget, owner: Owner, length: usize) -> Option<Reservation> {
        budget.reserve(owner, length).now_or_never()
    }

    #[test]
    fn one_account_and_one_address_leave_memory_for_others() {
        let budget = BodyBudget::new(MAX_BODY);
        let of_account: Vec<_> = (0..8)
            .filter_map(|_| try_reserve(&budget, owner(1, 1), MAX_BODY))
            .collect();
        assert_eq!(of_account.len(), 2);
        let of_address: Vec<_> = (2..10)
            .filter_map(|account| try_reserve(&budget, owner(account, 1), MAX_BODY))
            .collect();
        assert_eq!(of_address.len(), 2);
        let of_others: Vec<_> = (20..30)
            .filter_map(|number| try_reserve(&budget, owner(number, number as u8), MAX_BODY))
            .collect();
        assert_eq!(of_others.len(), 4);
        assert!(try_reserve(&budget, owner(1, 1), BLOCK_BYTES).is_some());
    }

    #[tokio::test]
    async fn a_waiting_body_gets_memory_when_it_is_released() {
        let budget = BodyBudget::new(MAX_BODY);
        let first = budget.reserve(owner(1, 1), MAX_BODY).await;
        let second = budget.reserve(owner(1, 1), MAX_BODY).await;
        let clone = budget.clone();
        let waiting = tokio::spawn(async move { clone.reserve(owner(1, 1), MAX_BODY).await });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        drop(waiting.await.unwrap());
        drop(second);
        assert_eq!(budget.total.available_permits(), TOTAL_BLOCKS);
        let _other = budget.reserve(owner(2, 2), MAX_BODY).await;
        assert_eq!(budget.shares.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn the_largest_body_fits_whatever_its_size() {
        let max_body = 1 << 30;
        let budget = BodyBudget::new(max_body);
        budget.reserve(owner(1, 1), max_body).await;
    }

    proptest! {
        #[test]
        fn the_budget_is_never_exceeded_and_no_body_waits_forever(
            bodies in proptest::collection::vec((0..9_u128, 0..4_u8, 0..=MAX_BODY), 0..60),
            finish_first in any::<bool>(),
        ) {
            let budget = BodyBudget::new(MAX_BODY);
            let mut context = Context::from_waker(Waker::noop());
            let mut waiting: Vec<_> = bodies
                .iter()
                .map(|(account, address, length)| {
                    (*length, Box::pin(budget.reserve(owner(*account, *address), *length)))
                })
                .collect();
            let mut held: Vec<(usize, Reservation)> = Vec::new();
            while !waiting.is_empty() || !held.is_empty() {
                waiting.retain_mut(|(length, body)| match body.as_mut().poll(&mut context) {
                    Poll::Ready(reservation) => {
                        held.push((blocks(*length), reservation));
                        false
                    }
                    Poll::Pending => true,
                });
                prop_assert!(held.iter().map(|(blocks, _)| blocks).sum::<usize>() <= TOTAL_BLOCKS);
                prop_assert!(!held.is_empty(), "{} bodies wait for each other", waiting.len());
                held.remove(if finish_first { 0 } else { held.len() - 1 });
            }
        }
    }
}
