//! Donations on our own pages: started by a form, paid with a provider, and completed in the ledger.

pub mod amount;
pub mod partner;
pub mod provider;
pub mod receipt;
pub mod settle;
pub mod store;

use crate::ledger::entry::Mode;
use partner::Partner;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use uuid::Uuid;

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

    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Started => "started",
            State::Pending => "pending",
            State::Completed => "completed",
            State::Failed => "failed",
            State::Refunded => "refunded",
        }
    }

    /// The state of a name.
    pub fn find(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// A stored donation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Donation {
    /// Made with the form, so that a form sent twice is one gift.
    pub id: Uuid,
    pub state: State,
    /// Whether the provider that it is paid with charges real money.
    pub mode: Mode,
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    pub amount: Cents,
    pub name: Option<String>,
    pub is_public: bool,
    pub email: Option<String>,
    pub message: Option<String>,
    /// What it is meant for.
    pub designation: Option<String>,
    /// What the partner's link passed on.
    pub partner: Partner,
    /// Its sequence number in the ledger.
    pub entry: Option<i64>,
    pub started_at: i64,
}

impl Donation {
    /// Can it still be paid?
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Started | State::Failed)
    }
}
