//! Payments by Stripe: from the session on whose page a donor pays to the entries of the ledger, exactly once.
//!
//! Three things report what became of a payment: the events that Stripe sends (`events`), the donor who returns to our page,
//! and a sweep that asks about open donations (`sweep`). All of them end in the same functions, which take an object of
//! Stripe as it is now and enter what is missing. Each function can be repeated, so the outcome depends on what happened at
//! Stripe and not on the order or the number of reports.
//!
//! - `sessions`: creates the one session of a donation.
//! - `charges`: accepts the charge that paid a donation, and refunds a second one.
//! - `subscriptions`: monthly gifts, and `invoices`: their donations.
//! - [`refunds`] and `disputes`: what goes back to the donor.
//! - [`link`]: what the processor behind a payment link reports.
//! - [`reconcile`]: compares all balance transactions with the ledger.
//! - [`differences`]: what does not match, until an operator explains it (`listing`).

pub(crate) mod charges;
pub mod differences;
pub(crate) mod disputes;
pub mod error;
pub(crate) mod events;
pub(crate) mod invoices;
pub mod link;
pub(crate) mod listing;
pub(crate) mod objects;
pub mod reconcile;
pub mod refunds;
pub(crate) mod sessions;
pub mod store;
pub(crate) mod subscriptions;
pub(crate) mod sweep;

use crate::books::FeesPaidBy;
use crate::checkout::settle::Settlement;
use crate::guard::Guard;
use crate::ledger::entry::Mode;
use crate::providers::stripe::client::Client;
use uuid::Uuid;

/// The parts that payments by Stripe use.
#[derive(Clone, Copy, Debug)]
pub struct Payments<'a> {
    pub settlement: Settlement<'a>,
    pub stripe: &'a Client,
    /// The mode of the key. Objects of the other mode are none of ours.
    pub mode: Mode,
    /// The ID of the store. Several stores can share an account of Stripe, and tell their charges apart by it.
    pub store: Uuid,
    pub fees_paid_by: FeesPaidBy,
    pub guard: Guard<'a>,
}
