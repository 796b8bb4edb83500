//! The memory that large bodies share. Room is taken as bytes arrive, so a body that only says that it is large holds
//! nothing, and no account or address can take all of it.
//!
//! Bodies that each wait for the room of another would wait for ever. So room is given only where all who hold some
//! could still have all that they may ask for, one after the other.

use ipnet::IpNet;
use platform::ids::AccountId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Room is counted in these. The first is free: every body without a picture fits.
pub const STEP: usize = 256 * 1024;
/// Steps of all bodies together: 128 MiB.
const ROOM: usize = 512;

/// Whose body it is.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    pub account: Option<AccountId>,
    pub network: IpNet,
}

/// The room of a server.
#[derive(Clone, Debug)]
pub struct BodyBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: Shares,
    holders: Mutex<Vec<Holder>>,
    entered: AtomicU64,
    given_back: Notify,
}

/// The steps that may be held at once.
#[derive(Clone, Copy, Debug)]
struct Shares {
    all: usize,
    network: usize,
    account: usize,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    number: u64,
    owner: Owner,
    held: usize,
    /// All that it may ask for.
    most: usize,
}

/// The room of one body, given back when it is dropped.
#[derive(Debug)]
pub struct Reservation {
    room: Arc<Shared>,
    number: u64,
}

impl BodyBudget {
    /// Room for bodies of at most `max_body` bytes, each of which fits into the share of one account.
    pub fn new(max_body: usize) -> BodyBudget {
        let account = (ROOM / 4).max(steps(max_body));
        let network = (ROOM / 2).max(account);
        BodyBudget(Arc::new(Shared {
            most: Shares {
                all: ROOM.max(network),
                network,
                account,
            },
            holders: Mutex::default(),
            entered: AtomicU64::new(0),
            given_back: Notify::new(),
        }))
    }

    /// Begins a body of at most `longest` bytes. It holds nothing yet.
    pub fn enter(&self, owner: Owner, longest: usize) -> Reservation {
        let number = self.0.entered.fetch_add(1, Ordering::Relaxed);
        self.0.holders().push(Holder {
            number,
            owner,
            held: 0,
            most: steps(longest),
        });
        Reservation {
            room: Arc::clone(&self.0),
            number,
        }
    }
}

impl Reservation {
    /// Takes room until there is enough for so many bytes; waits where there is none.
    pub async fn grow_to(&self, length: usize) {
        loop {
            // Asked for before the look, so that nothing that is given back in between is missed.
            let given_back = self.room.given_back.notified();
            if self.room.grow(self.number, steps(length)) {
                return;
            }
            given_back.await;
        }
    }

    /// Says that no more is to come.
    pub fn finish(&self) {
        if let Some(holder) = self
            .room
            .holders()
            .iter_mut()
            .find(|holder| holder.number == self.number)
        {
            holder.most = holder.held;
        }
        self.room.given_back.notify_waiters();
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.room.holders().retain(|holder| holder.number != self.number);
        self.room.given_back.notify_waiters();
    }
}

impl Shared {
    fn holders(&self) -> MutexGuard<'_, Vec<Holder>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn grow(&self, number: u64, wanted: usize) -> bool {
        let mut holders = self.holders();
        let Some(place) = holders.iter().position(|holder| holder.number == number) else {
            return false;
        };
        let before = holders[place].held;
        if wanted <= before {
            return true;
        }
        holders[place].held = wanted;
        let is_safe = self.most.let_all_finish(&holders);
        if !is_safe {
            holders[place].held = before;
        }
        is_safe
    }
}

impl Shares {
    /// Could all have all that they may ask for, one after the other? Where more is held than may be, nobody could.
    fn let_all_finish(&self, holders: &[Holder]) -> bool {
        let mut left: Vec<&Holder> = holders.iter().filter(|holder| holder.held > 0).collect();
        let mut all = 0;
        let mut networks: HashMap<IpNet, usize> = HashMap::new();
        let mut accounts: HashMap<Option<AccountId>, usize> = HashMap::new();
        for holder in &left {
            all += holder.held;
            *networks.entry(holder.owner.network).or_default() += holder.held;
            *accounts.entry(holder.owner.account).or_default() += holder.held;
        }
        loop {
            let before = left.len();
            left.retain(|holder| {
                let Owner { account, network } = holder.owner;
                let missing = holder.most.saturating_sub(holder.held);
                let fits = all + missing <= self.all
                    && networks[&network] + missing <= self.network
                    && (account.is_none() || accounts[&account] + missing <= self.account);
                if fits {
                    all -= holder.held;
                    networks.entry(network).and_modify(|held| *held -= holder.held);
                    accounts.entry(account).and_modify(|held| *held -= holder.held);
                }
                !fits
            });
            if left.is_empty() || left.len() == before {
                return left.is_empty();
            }
        }
    }
}

/// The steps for so many bytes, without the free one.
fn steps(bytes: usize) -> usize {
    bytes.div_ceil(STEP).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use listener::client_network;
    use proptest::prelude::*;
    use uuid::Uuid;

    const LONGEST: usize = 16 << 20;

    fn owner(account: u128, address: u8) -> Owner {
        Owner {
            account: Some(AccountId(Uuid::from_u128(account))),
            network: client_network([192, 0, 2, address].into()),
        }
    }

    fn has_room(held: &Reservation, length: usize) -> bool {
        held.grow_to(length).now_or_never().is_some()
    }

    fn total(room: &BodyBudget) -> usize {
        room.0.holders().iter().map(|holder| holder.held).sum()
    }

    #[test]
    fn a_body_holds_what_came_of_it_and_not_what_it_says() {
        let room = BodyBudget::new(LONGEST);
        let stalled: Vec<Reservation> = (0..100).map(|_| room.enter(owner(1, 1), LONGEST)).collect();
        assert!(stalled.iter().all(|held| has_room(held, STEP)));
        assert_eq!(total(&room), 0);
        assert!(stalled[..8].iter().all(|held| has_room(held, 2 * STEP)));
        assert_eq!(total(&room), 8);
        let honest: Vec<Reservation> = (2..8)
            .map(|number| room.enter(owner(number, number as u8), LONGEST))
            .collect();
        assert!(honest.iter().all(|held| has_room(held, LONGEST)));
    }

    #[test]
    fn one_account_and_one_address_leave_room_for_others() {
        let room = BodyBudget::new(LONGEST);
        let of_account: Vec<Reservation> = (0..8).map(|_| room.enter(owner(1, 1), LONGEST)).collect();
        let let_in = of_account.iter().filter(|held| has_room(held, LONGEST)).count();
        assert_eq!(let_in, 2);
        let of_address: Vec<Reservation> = (2..10)
            .map(|number| room.enter(owner(number, 1), LONGEST))
            .collect();
        let let_in = of_address.iter().filter(|held| has_room(held, LONGEST)).count();
        assert_eq!(let_in, 2);
        let other = room.enter(owner(20, 2), LONGEST);
        assert!(has_room(&other, LONGEST));
    }

    #[tokio::test]
    async fn who_finds_no_room_gets_it_when_it_is_given_back() {
        let room = BodyBudget::new(LONGEST);
        let [first, second, third] = [(); 3].map(|()| room.enter(owner(1, 1), LONGEST));
        assert!(has_room(&first, LONGEST) && has_room(&second, LONGEST));
        let waiting = tokio::spawn(async move {
            third.grow_to(LONGEST).await;
            third
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        waiting.await.unwrap();
        drop(second);
        assert_eq!(total(&room), 0);
    }

    proptest! {
        #[test]
        fn no_more_is_held_than_there_is_and_nobody_waits_for_ever(
            asked in proptest::collection::vec((0..40_usize, 0..=LONGEST), 0..400),
        ) {
            let room = BodyBudget::new(LONGEST);
            let mut bodies: Vec<Reservation> = (0..40)
                .map(|number| room.enter(owner(number % 9, (number % 4) as u8), LONGEST))
                .collect();
            for (body, length) in asked {
                has_room(&bodies[body], length);
                prop_assert!(total(&room) <= ROOM);
            }
            // All come to their end, whoever is served first.
            while !bodies.is_empty() {
                let before = bodies.len();
                bodies.retain(|body| !has_room(body, LONGEST));
                prop_assert!(bodies.len() < before, "{before} bodies wait for each other");
            }
        }
    }
}
