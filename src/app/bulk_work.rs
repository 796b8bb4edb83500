//! Runs work that keeps a core busy, such as matching a list, finding all results of a search, or drawing a picture.
//!
//! It runs outside the async workers, and on half of the cores at most: short requests have the others. Work runs in
//! slices of a few milliseconds. After each slice it goes to the end of the queue, in which every owner has at most one
//! place, so an owner waits for one slice of each other owner, however much the others ask for. A request that ends, because
//! its client has gone or its time is over, takes its place in the queue with it, and its work stops after the slice.

use access::limits::call::Owner;
use futures_util::poll;
use platform::clock::Stopwatch;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Poll;
use std::thread::available_parallelism;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a slice should take.
const SLICE: Duration = Duration::from_millis(10);
/// The number of requests of one owner that run or wait at the same time. More are refused at once.
pub const MAX_PENDING: usize = 16;

/// Runs work that keeps a core busy. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BulkWork {
    /// One permit for each slice that may run at the same time.
    slices: Arc<Semaphore>,
    /// The owners that have work now.
    owners: Arc<Mutex<HashMap<Owner, Weak<Share>>>>,
}

/// What one owner may have at the same time.
#[derive(Debug)]
struct Share {
    pending: Semaphore,
    running: Semaphore,
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BulkWorkError {
    #[error("the owner has too much work already")]
    TooManyPending,
    #[error("the work panicked")]
    Panicked,
}

/// The time that a call of some work has.
#[derive(Debug)]
pub struct Slice(Stopwatch);

impl Slice {
    /// Returns whether the work should return now, to be continued in another slice.
    pub fn is_over(&self) -> bool {
        self.0.elapsed() >= SLICE
    }
}

impl Default for BulkWork {
    fn default() -> BulkWork {
        let cores = available_parallelism().map_or(1, usize::from);
        BulkWork::new((cores / 2).max(1))
    }
}

impl BulkWork {
    fn new(slices: usize) -> BulkWork {
        BulkWork {
            slices: Arc::new(Semaphore::new(slices)),
            owners: Arc::default(),
        }
    }

    /// Calls `work` until it returns a result, once per slice.
    pub async fn run<T: Send + 'static>(
        &self,
        owner: Owner,
        work: impl FnMut(&Slice) -> Option<T> + Send + 'static,
    ) -> Result<T, BulkWorkError> {
        let share = self.share(owner);
        let _pending = share
            .pending
            .try_acquire()
            .map_err(|_| BulkWorkError::TooManyPending)?;
        self.run_in(&share, work).await
    }

    /// Calls `work` once, for the next piece of a response that has begun and cannot be refused any more.
    pub async fn run_piece<T: Send + 'static>(
        &self,
        owner: Owner,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, BulkWorkError> {
        let mut work = Some(work);
        self.run_in(&self.share(owner), move |_| work.take().map(|work| work()))
            .await
    }

    async fn run_in<T: Send + 'static>(
        &self,
        share: &Share,
        mut work: impl FnMut(&Slice) -> Option<T> + Send + 'static,
    ) -> Result<T, BulkWorkError> {
        let _running = share.running.acquire().await;
        let mut permit = self.next_slice(None).await;
        loop {
            let slice = tokio::task::spawn_blocking(move || {
                let result = work(&Slice(Stopwatch::start()));
                (work, permit, result)
            });
            let (same, used, result) = slice
                .await
                .inspect_err(|error| tracing::error!(%error, "bulk work failed"))
                .map_err(|_| BulkWorkError::Panicked)?;
            if let Some(result) = result {
                return Ok(result);
            }
            work = same;
            permit = self.next_slice(Some(used)).await;
        }
    }

    /// Waits for the next slice. The permit of the last one is released when this work is in the queue again.
    async fn next_slice(&self, used: Option<OwnedSemaphorePermit>) -> OwnedSemaphorePermit {
        let mut next = pin!(Arc::clone(&self.slices).acquire_owned());
        let polled = poll!(next.as_mut());
        drop(used);
        let permit = match polled {
            Poll::Ready(permit) => permit,
            Poll::Pending => next.await,
        };
        permit.expect("the semaphore is never closed")
    }

    /// Returns the share of an owner, which exists as long as it has work.
    fn share(&self, owner: Owner) -> Arc<Share> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = owners.get(&owner).and_then(Weak::upgrade) {
            return share;
        }
        owners.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Share {
            pending: Semaphore::new(MAX_PENDING),
            running: Semaphore::new(1),
        });
        owners.insert(owner, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use platform::ids::KeyId;
    use proptest::prelude::*;
    use std::sync::mpsc;
    use uuid::Uuid;

    fn key(number: u128) -> Owner {
        Owner::Key(KeyId(Uuid::from_u128(number)))
    }

    #[tokio::test]
    async fn an_owner_has_a_bounded_number_of_requests_and_others_are_admitted() {
        let bulk_work = BulkWork::new(1);
        let mut pending: Vec<_> = (0..MAX_PENDING)
            .map(|_| Box::pin(bulk_work.run(key(1), |_| None::<()>)))
            .collect();
        for work in &mut pending {
            assert!(work.now_or_never().is_none());
        }
        assert_eq!(
            bulk_work.run(key(1), |_| Some(())).await,
            Err(BulkWorkError::TooManyPending)
        );
        assert_eq!(bulk_work.run(key(2), |_| Some(2)).now_or_never(), None);
        let mut piece = Box::pin(bulk_work.run_piece(key(1), || 3));
        assert_eq!(poll!(&mut piece), Poll::Pending, "it waits instead");
        drop(pending);
        assert_eq!(piece.await, Ok(3));
        assert_eq!(bulk_work.run(key(1), |_| Some(1)).await, Ok(1));
    }

    #[tokio::test]
    async fn work_stops_when_nobody_waits_for_it() {
        let bulk_work = BulkWork::new(1);
        let (calls, called) = mpsc::channel();
        let (resume, resumed) = mpsc::channel();
        let work = move |_: &Slice| {
            calls.send(()).unwrap();
            resumed.recv().unwrap();
            None::<()>
        };
        let mut request = Box::pin(bulk_work.run(key(1), work));
        assert!(request.as_mut().now_or_never().is_none());
        called.recv().unwrap();
        drop(request);
        resume.send(()).unwrap();
        // Ends when the work is dropped, and has nothing if it was not called again.
        assert_eq!(called.recv(), Err(mpsc::RecvError));
        assert_eq!(bulk_work.run(key(1), |_| Some(1)).await, Ok(1));
    }

    #[tokio::test]
    async fn work_that_panics_leaves_its_slice_to_others() {
        let bulk_work = BulkWork::new(1);
        let failed = bulk_work.run(key(1), |_| -> Option<()> { panic!("a test") });
        assert_eq!(failed.await, Err(BulkWorkError::Panicked));
        assert_eq!(bulk_work.run(key(1), |_| Some(1)).await, Ok(1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// While an owner waits, no other owner has two slices, however many requests it has.
        #[test]
        fn owners_take_turns(
            slices in proptest::collection::vec(1..6_usize, 1..5),
            of_greedy in proptest::collection::vec(1..4_usize, 0..6),
        ) {
            const GREEDY: u128 = 0;
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let bulk_work = BulkWork::new(1);
            let log = Arc::new(Mutex::new(Vec::new()));
            // The first slice ends when all requests wait.
            let (all_wait, gate) = mpsc::channel::<()>();
            let gate = Arc::new(Mutex::new(Some(gate)));
            let greedy = of_greedy.iter().map(|slices| (GREEDY, *slices));
            let requests = greedy.chain((1..).zip(slices.iter().copied()));
            let requests = requests.map(|(owner, slices)| {
                let (log, gate, mut left) = (Arc::clone(&log), Arc::clone(&gate), slices);
                bulk_work.run(key(owner), move |_| {
                    let gate = gate.lock().unwrap().take();
                    gate.map(|gate| gate.recv());
                    log.lock().unwrap().push(owner);
                    left -= 1;
                    (left == 0).then_some(())
                })
            });
            let requests: Vec<_> = requests.collect();
            let results = runtime.block_on(async {
                let mut results = join_all(requests);
                assert!(poll!(&mut results).is_pending());
                drop(all_wait);
                results.await
            });
            prop_assert!(results.iter().all(Result::is_ok));
            let log = log.lock().unwrap();
            for waiting in 1..=slices.len() as u128 {
                // The request waits from the start, and again after each slice.
                let mut others = Vec::new();
                for owner in log.iter().take(log.iter().rposition(|owner| *owner == waiting).unwrap()) {
                    prop_assert!(!others.contains(owner), "{owner} passed {waiting}: {log:?}");
                    others.push(*owner);
                    if *owner == waiting {
                        others.clear();
                    }
                }
            }
            prop_assert_eq!(log.len(), slices.iter().chain(&of_greedy).sum::<usize>());
        }
    }
}
