//! The word that the server stops.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Said once and heard by every connection: a flag to look at, and a wake-up for those that rest.
#[derive(Debug, Default)]
pub(super) struct Stop {
    begun: AtomicBool,
    word: Notify,
}

impl Stop {
    pub(super) fn begin(&self) {
        self.begun.store(true, Ordering::Release);
        self.word.notify_waiters();
    }

    #[inline]
    pub(super) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    #[inline]
    pub(super) fn begun(&self) -> Notified<'_> {
        self.word.notified()
    }
}
