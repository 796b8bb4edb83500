//! The checkout: donations are started by a form, paid with a provider, and recorded in the ledger.

pub mod amounts;
pub mod dedication;
pub mod donor_id;
pub mod fee;
mod notice;
pub mod partner;
pub mod receipt;
pub mod screening;
pub mod settle;
pub mod start;
pub(crate) mod state;
pub mod store;

use crate::ledger::entry::Mode;
use dedication::Dedication;
use partner::Partner;
use platform::email_address::EmailAddress;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use screening::Screening;
use serde::Deserialize;
use uuid::Uuid;

pub use state::State;

/// How often the checkout can be used.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CheckoutSettings {
    /// Donations that one network may start per minute.
    pub starts_per_minute: u32,
    /// Receipts that are emailed to one address per hour.
    pub receipts_per_hour: u32,
    /// Notices of dedications that are emailed to one address per day.
    pub notices_per_day: u32,
}

/// A donation that was started at the checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Donation {
    /// The ID that the ledger, its exports and partners have. It does not open the receipt.
    pub id: Uuid,
    /// The ID in the URL of the payment page and the receipt, which only the donor gets.
    pub receipt_id: Uuid,
    pub state: State,
    /// Whether real money is charged. Decided when it is started: it is never paid in another mode.
    pub mode: Mode,
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    /// What is charged.
    pub amount: Cents,
    /// The part of it that covers the fee of the provider.
    pub covered: Cents,
    pub name: Option<String>,
    pub is_public: bool,
    pub email: Option<EmailAddress>,
    /// Whether the nonprofit may learn the name and the email address.
    pub shares_contact: bool,
    pub message: Option<String>,
    /// What the donation is for, if the partner's link says so.
    pub designation: Option<String>,
    pub dedication: Option<Dedication>,
    /// What the partner's link passed on.
    pub partner: Partner,
    /// The monthly gift that it belongs to. The donation that starts one has the same ID.
    pub monthly_gift: Option<Uuid>,
    /// Its sequence number in the ledger.
    pub entry: Option<i64>,
    /// The name of the provider that it was started with.
    pub provider: String,
    pub payment: Payment,
    /// The nonprofit's own account at Stripe, if that is charged instead of the operator's.
    pub account: Option<String>,
    pub screening: Screening,
    pub started_at: i64,
}

/// What is known about the payment of a donation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payment {
    /// The session of Stripe on whose page it is paid. A donation never has two that are open.
    pub session: Option<String>,
    /// How many sessions could not be created. It is a part of the idempotency key of the next one.
    pub attempt: i64,
    /// The provider's ID of the charge that paid it.
    pub charge: Option<String>,
    /// When that charge was made.
    pub paid_at: Option<i64>,
    /// How often the provider was asked what became of the payment.
    pub checks: i64,
    /// When the donor last began to pay, after a payment that the bank refused.
    pub attempted_at: Option<i64>,
}

impl Donation {
    /// Returns whether it can still be paid.
    pub fn is_open(&self) -> bool {
        self.state.is_open()
    }

    /// Returns when the donor last began to pay.
    pub(crate) fn attempted_at(&self) -> i64 {
        self.payment.attempted_at.unwrap_or(self.started_at)
    }

    /// Returns whether it starts a monthly gift.
    pub fn starts_monthly_gift(&self) -> bool {
        self.monthly_gift == Some(self.id)
    }
}
