//! Settings that a test can change while the simulator runs.

use serde::{Deserialize, Serialize};

/// What happens after the last failed attempt to collect a renewal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DunningEnd {
    #[default]
    Canceled,
    Unpaid,
    Paused,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tuning {
    /// How long the balance transaction of a charge is unknown, in milliseconds. At zero it is known at once.
    pub(crate) transaction_delay: i64,
    /// How long a bank debit takes, in seconds.
    pub(crate) debit_delay: i64,
    /// How long a payout takes to arrive, in seconds.
    pub(crate) payout_delay: i64,
    /// How long a draft invoice of a renewal waits before it is charged, in seconds.
    pub(crate) invoice_delay: i64,
    /// Seconds between the attempts to collect a renewal.
    pub(crate) dunning: Vec<i64>,
    pub(crate) dunning_end: DunningEnd,
    /// Milliseconds between the attempts to deliver an event. The last one repeats.
    pub(crate) retries: Vec<i64>,
    /// How many times an event is sent at most.
    pub(crate) max_attempts: u32,
    /// How long an attempt waits for a response, in milliseconds.
    pub(crate) delivery_timeout: u64,
    /// Requests a second for each operation, or zero for no limit. Stripe allows 25.
    pub(crate) rate_limit: u32,
    /// Requests a second for all operations together, or zero for no limit. Stripe allows 100, and 25 in a sandbox.
    pub(crate) total_rate_limit: u32,
    /// Whether a bank takes the disputed amount and its fee as soon as a dispute opens.
    pub(crate) withdraw_on_dispute: bool,
    /// Whether a new card from the portal also becomes the default of subscriptions that have one of their own.
    pub(crate) portal_updates_subscriptions: bool,
    /// Whether the dispute fee comes back with a dispute that was won.
    pub(crate) return_dispute_fee: bool,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            transaction_delay: 300,
            debit_delay: 4 * 86_400,
            payout_delay: 2 * 86_400,
            invoice_delay: 3_600,
            dunning: vec![3 * 86_400, 5 * 86_400, 7 * 86_400],
            dunning_end: DunningEnd::Canceled,
            retries: vec![200, 500, 1_000, 2_000, 5_000, 10_000],
            max_attempts: 1_000,
            delivery_timeout: 10_000,
            rate_limit: 0,
            total_rate_limit: 0,
            withdraw_on_dispute: true,
            portal_updates_subscriptions: false,
            return_dispute_fee: false,
        }
    }
}
