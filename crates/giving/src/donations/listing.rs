//! Donations in lists: with everything for operators, and with what donors made public for owners of fundraisers and for
//! visitors.

use crate::ledger::entry::Mode;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use uuid::Uuid;

/// The donations that are listed. An empty filter lists all.
#[derive(Clone, Debug, Default)]
pub struct DonationFilter {
    pub nonprofit: Option<NonprofitId>,
    pub fundraiser: Option<FundraiserId>,
    pub source: Option<String>,
    /// Recorded at this time or later.
    pub from: Option<i64>,
    /// Recorded before this time.
    pub until: Option<i64>,
}

/// A donation in the ledger, with what is stored next to it, as operators see it.
#[derive(Clone, Debug)]
pub struct RecordedDonation {
    pub sequence: i64,
    pub mode: Mode,
    pub recorded_at: i64,
    pub amount: Cents,
    /// How much of it was refunded.
    pub refunded: Cents,
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    pub source: String,
    pub external_id: String,
    pub donor: Option<String>,
    pub name: Option<String>,
    pub is_public: bool,
    /// Its ID at our own checkout.
    pub checkout_id: Option<Uuid>,
    pub email: Option<String>,
    pub message: Option<String>,
    pub designation: Option<String>,
    pub partner_id: Option<String>,
}

impl RecordedDonation {
    pub fn state(&self) -> &'static str {
        if self.refunded == Cents::ZERO {
            "completed"
        } else if self.refunded == self.amount {
            "refunded"
        } else {
            "partly refunded"
        }
    }
}

/// A donation to a fundraiser, as the owner of the fundraiser sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedDonation {
    pub sequence: i64,
    pub recorded_at: i64,
    pub fundraiser: FundraiserId,
    pub title: String,
    pub amount: Cents,
    /// How much of it was refunded.
    pub refunded: Cents,
    /// `None` unless the donor made it public.
    pub name: Option<String>,
    /// `None` unless the donor made it public.
    pub message: Option<String>,
    pub mode: Mode,
}

/// A donation, as the nonprofit that receives it sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedDonation {
    pub sequence: i64,
    pub recorded_at: i64,
    /// The title of the fundraiser.
    pub title: Option<String>,
    pub amount: Cents,
    pub refunded: Cents,
    /// The fee, and what is owed to the nonprofit. `None` unless the books have it.
    pub fee_and_net: Option<(Cents, Cents)>,
    /// The name and the email address of a donor who shares the contact.
    pub name: Option<String>,
    pub email: Option<String>,
}

/// A donation to a fundraiser, as visitors see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supporter {
    /// `None` unless the donor made it public.
    pub name: Option<String>,
    /// `None` unless the donor made it public.
    pub message: Option<String>,
    pub amount: Cents,
    pub mode: Mode,
    pub at: i64,
}

impl Supporter {
    pub fn is_test(&self) -> bool {
        self.mode == Mode::Test
    }
}
