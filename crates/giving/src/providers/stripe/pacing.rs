//! Limits how often this server calls each operation of Stripe.
//!
//! Stripe allows 25 calls a second for each operation, and 25 in total in a sandbox. Over any second we send at most 20 of
//! one operation. Less urgent work may use only a part of them, so donors do not wait for it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const WINDOW: Duration = Duration::from_secs(1);

/// How urgent a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// Somebody waits for the answer.
    Donor,
    /// Open donations are checked.
    Sweep,
    /// Transactions are compared with the ledger.
    Reconciliation,
}

impl Urgency {
    /// Calls of one operation within a second, above which a call of this urgency waits.
    const fn limit(self) -> usize {
        match self {
            Urgency::Donor => 20,
            Urgency::Sweep => 14,
            Urgency::Reconciliation => 8,
        }
    }
}

/// The calls of the last second, by operation.
#[derive(Debug)]
pub(crate) struct Pacer {
    calls: Mutex<HashMap<&'static str, VecDeque<Instant>>>,
    limit: fn(Urgency) -> usize,
}

impl Default for Pacer {
    fn default() -> Pacer {
        Pacer {
            calls: Mutex::default(),
            limit: Urgency::limit,
        }
    }
}

impl Pacer {
    /// Lets every call be sent at once, to a simulator that refuses none.
    #[cfg(test)]
    pub(crate) fn unlimited() -> Pacer {
        Pacer {
            limit: |_| usize::MAX,
            ..Pacer::default()
        }
    }

    /// Waits until a call of this operation may be sent, and counts it.
    pub(crate) async fn admit(&self, operation: &'static str, urgency: Urgency) {
        while let Some(wait) = self.try_admit(operation, urgency, Instant::now()) {
            sleep(wait).await;
        }
    }

    /// Counts a call that may be sent now. Otherwise, returns how long to wait before trying again.
    fn try_admit(&self, operation: &'static str, urgency: Urgency, now: Instant) -> Option<Duration> {
        let mut operations = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = operations.entry(operation).or_default();
        while calls
            .front()
            .is_some_and(|&call| now.duration_since(call) >= WINDOW)
        {
            calls.pop_front();
        }
        let limit = (self.limit)(urgency);
        if calls.len() < limit {
            calls.push_back(now);
            return None;
        }
        // It may be sent when so many have left the window that fewer than `limit` remain.
        let leaves = calls[calls.len() - limit];
        Some(WINDOW.saturating_sub(now.duration_since(leaves)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_second_has_more_than_twenty_calls_of_an_operation() {
        let pacer = Pacer::default();
        let mut calls = Vec::new();
        for _ in 0..100 {
            pacer.admit("create session", Urgency::Donor).await;
            calls.push(Instant::now());
        }
        for calls in calls.windows(21) {
            assert!(calls[20] - calls[0] >= WINDOW);
        }
        assert_eq!(
            calls[99] - calls[0],
            WINDOW * 4,
            "nobody waits longer than needed"
        );
        let start = Instant::now();
        pacer.admit("create refund", Urgency::Donor).await;
        assert_eq!(
            start.elapsed(),
            Duration::ZERO,
            "operations do not wait for each other"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn less_urgent_work_leaves_room_for_donors() {
        let pacer = Pacer::default();
        for _ in 0..Urgency::Reconciliation.limit() {
            pacer.admit("list", Urgency::Reconciliation).await;
        }
        let now = Instant::now();
        assert_eq!(
            pacer.try_admit("list", Urgency::Reconciliation, now),
            Some(WINDOW)
        );
        for _ in Urgency::Reconciliation.limit()..Urgency::Sweep.limit() {
            assert_eq!(pacer.try_admit("list", Urgency::Sweep, now), None);
        }
        assert_eq!(pacer.try_admit("list", Urgency::Sweep, now), Some(WINDOW));
        for _ in Urgency::Sweep.limit()..Urgency::Donor.limit() {
            assert_eq!(pacer.try_admit("list", Urgency::Donor, now), None);
        }
        assert_eq!(pacer.try_admit("list", Urgency::Donor, now), Some(WINDOW));
    }
}
