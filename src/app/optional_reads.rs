//! Reads of the store that a page can do without.
//!
//! A database may accept connections and still not answer, for example while a table is locked. Home and profiles are in
//! memory, and only a part of them is read from the store: they wait for it for a second at most, and are shown without
//! it. Afterwards no page tries for two seconds, so that waiting queries do not occupy all connections.

use platform::clock::Clock;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long one page waits for all that it can do without.
const PAGE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long no page tries after one has waited in vain.
const PAUSE: Duration = Duration::from_secs(2);

/// Whether the store answers reads in time.
#[derive(Debug)]
pub struct OptionalReads {
    clock: Clock,
    paused_until: Mutex<Option<Instant>>,
}

/// The time that one page has left for what it can do without.
#[derive(Debug)]
pub struct ReadBudget<'a> {
    reads: &'a OptionalReads,
    deadline: Instant,
}

impl OptionalReads {
    pub fn new(clock: Clock) -> OptionalReads {
        OptionalReads {
            clock,
            paused_until: Mutex::default(),
        }
    }

    /// Begins a page.
    pub fn budget(&self) -> ReadBudget<'_> {
        ReadBudget {
            reads: self,
            deadline: self.clock.instant() + PAGE_TIMEOUT,
        }
    }

    fn is_paused(&self) -> bool {
        let until = self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| self.clock.instant() < until)
    }

    fn pause(&self) {
        let mut until = self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = Some(self.clock.instant() + PAUSE);
    }
}

impl ReadBudget<'_> {
    /// Reads something, if the store answers while time is left.
    pub async fn read<T, E: From<sqlx::Error>>(
        &self,
        read: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        if self.reads.is_paused() {
            return Err(sqlx::Error::PoolTimedOut.into());
        }
        let left = self
            .deadline
            .saturating_duration_since(self.reads.clock.instant());
        timeout(left, read).await.unwrap_or_else(|_| {
            tracing::warn!(
                "the database does not answer in time; pages are shown without what is read from it"
            );
            self.reads.pause();
            Err(sqlx::Error::PoolTimedOut.into())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    #[tokio::test(start_paused = true)]
    async fn after_one_page_has_waited_others_do_not_try_for_two_seconds() {
        let clock = Clock::default();
        clock.stop();
        let reads = OptionalReads::new(clock.clone());
        let answer = || ready(Ok::<_, sqlx::Error>(7));
        assert_eq!(reads.budget().read(answer()).await.unwrap(), 7);
        let waited = reads.budget().read(pending::<sqlx::Result<()>>()).await;
        assert!(waited.is_err());
        assert!(reads.budget().read(answer()).await.is_err());
        clock.advance(PAUSE);
        assert_eq!(reads.budget().read(answer()).await.unwrap(), 7);
    }
}
