//! The checkout: donations are started by a form, paid with a provider, and recorded in the ledger.

pub mod donor_id;
pub mod partner;
pub mod receipt;
pub mod settle;
pub mod start;
pub mod store;

use crate::ledger::entry::Mode;
use partner::Partner;
use platform::email_address::EmailAddress;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use serde::Deserialize;
use uuid::Uuid;

/// How often the checkout can be used.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CheckoutSettings {
    /// Donations that one network may start per minute.
    pub starts_per_minute: u32,
    /// Receipts that are emailed to one address per hour.
    pub receipts_per_hour: u32,
}

/// The state of a donation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The form was sent; nothing is paid.
    Started,
    /// Paid, but not in the ledger yet.
    Pending,
    /// In the ledger.
    Completed,
    /// The provider declined; the donor can try again.
    Failed,
    /// Fully refunded.
    Refunded,
}

impl State {
    const ALL: [State; 5] = [
        State::Started,
        State::Pending,
        State::Completed,
        State::Failed,
        State::Refunded,
    ];

    /// The name that is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Started => "started",
            State::Pending => "pending",
            State::Completed => "completed",
            State::Failed => "failed",
            State::Refunded => "refunded",
        }
    }

    /// Returns the state with this name.
    pub fn find(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// A donation that was started at the checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Donation {
    /// The ID that the ledger, its exports and partners have. It does not open the receipt.
    pub id: Uuid,
    /// The ID in the URL of the payment page and the receipt, which only the donor gets.
    pub receipt_id: Uuid,
    pub state: State,
    /// Whether the provider that it is paid with charges real money.
    pub mode: Mode,
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    pub amount: Cents,
    pub name: Option<String>,
    pub is_public: bool,
    pub email: Option<EmailAddress>,
    pub message: Option<String>,
    /// What the donation is for, if the partner's link says so.
    pub designation: Option<String>,
    /// What the partner's link passed on.
    pub partner: Partner,
    /// Its sequence number in the ledger.
    pub entry: Option<i64>,
    pub started_at: i64,
}

impl Donation {
    /// Returns whether it can still be paid.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Started | State::Failed)
    }
}
