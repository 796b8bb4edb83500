//! The signal that tells all connections that the server stops.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// A signal that is set once: a flag that is cheap to check, and a notification for connections that wait.
#[derive(Debug, Default)]
pub(crate) struct StopSignal {
    is_set: AtomicBool,
    notify: Notify,
}

impl StopSignal {
    pub(crate) fn set(&self) {
        self.is_set.store(true, Ordering::Release);
        self.notify.notify_waiters();
    }

    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    pub(crate) fn notified(&self) -> Notified<'_> {
        self.notify.notified()
    }
}
