//! Counts the donations and refunds that a process records, for its metrics.

use super::outcome::RecordedEntry;
use crate::ledger::entry::Mode;
use metrics::Counter;

/// The counters of both modes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct DonationCounters {
    pub live: Counters,
    pub test: Counters,
}

/// The counters of one mode.
#[derive(Clone, Debug)]
pub struct Counters {
    pub donations: Counter,
    pub donated_cents: Counter,
    pub refunds: Counter,
    pub refunded_cents: Counter,
}

impl DonationCounters {
    /// Counts a donation, unless it was recorded before.
    pub(crate) fn count_donation(&self, recorded: &RecordedEntry) {
        if recorded.is_new {
            let counters = self.of_mode(recorded.mode);
            counters.donations.increment(1);
            counters
                .donated_cents
                .increment(recorded.amount.get().unsigned_abs());
        }
    }

    /// Counts a refund, unless it was recorded before.
    pub(crate) fn count_refund(&self, recorded: &RecordedEntry) {
        if recorded.is_new {
            let counters = self.of_mode(recorded.mode);
            counters.refunds.increment(1);
            counters
                .refunded_cents
                .increment(recorded.amount.get().unsigned_abs());
        }
    }

    fn of_mode(&self, mode: Mode) -> &Counters {
        match mode {
            Mode::Live => &self.live,
            Mode::Test => &self.test,
        }
    }
}
