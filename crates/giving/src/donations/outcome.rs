//! What recording a donation or a refund returns.

use crate::ledger::entry::{Entry, Mode, Totals};
use crate::ledger::writer::WriteError;
use platform::money::{AmountOverflow, Cents};
use thiserror::Error;

/// A donation or refund in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedEntry {
    /// Its sequence number in the ledger.
    pub sequence: i64,
    pub mode: Mode,
    pub amount: Cents,
    /// `false` if it was recorded before.
    pub is_new: bool,
    /// The totals of the fundraiser in its mode, after it.
    pub totals: Option<Totals>,
}

/// Why a donation or refund is not recorded.
#[derive(Debug, Error)]
pub enum DonationError {
    #[error(
        "{source_name} {external_id} is already recorded with other content ({known}); \
         choose another external ID"
    )]
    Conflict {
        source_name: String,
        external_id: String,
        known: String,
    },
    #[error("there is no donation {external_id} from {source_name}; check --source and --external-id")]
    NoSuchDonation {
        source_name: String,
        external_id: String,
    },
    #[error("there is no refund or dispute {external_id} from {source_name}; check its source and its ID")]
    NoSuchRefund {
        source_name: String,
        external_id: String,
    },
    #[error(
        "part of this donation was already refunded with this ID, and {left} is left; \
         to refund that too, choose another ID with --refund-id"
    )]
    PartlyRefunded { left: Cents },
    #[error("the source {name} is reserved for {purpose}; choose another source")]
    ReservedSource {
        name: &'static str,
        purpose: &'static str,
    },
    #[error("only {left} of this donation is left; refund at most that much")]
    MoreThanLeft { left: Cents },
    #[error("{0}; check the amount")]
    Overflow(#[from] AmountOverflow),
    #[error("there is no nonprofit {0}; give its slug, its EIN as nine digits, or its ID")]
    NoSuchNonprofit(String),
    #[error("the nonprofit has no fundraiser {0}; give its slug or its ID, and the nonprofit that it is for")]
    NoSuchFundraiser(String),
    #[error(transparent)]
    Store(#[from] WriteError),
}

impl From<sqlx::Error> for DonationError {
    fn from(error: sqlx::Error) -> DonationError {
        DonationError::Store(error.into())
    }
}

impl RecordedEntry {
    /// The outcome of recording an entry.
    pub fn new(entry: &Entry, is_new: bool) -> RecordedEntry {
        RecordedEntry {
            sequence: entry.sequence,
            mode: entry.draft.mode,
            amount: entry.draft.amount,
            is_new,
            totals: entry.totals,
        }
    }
}

impl DonationError {
    /// The error for a source and external ID that an entry with other content already has.
    pub fn conflict(known: &Entry) -> DonationError {
        let draft = &known.draft;
        let amount = Cents::new(draft.amount.get().abs());
        let test = match draft.mode {
            Mode::Live => "",
            Mode::Test => "test ",
        };
        DonationError::Conflict {
            source_name: draft.source.clone(),
            external_id: draft.external_id.clone(),
            known: format!(
                "entry {}, a {test}{} of {amount}",
                known.sequence,
                draft.kind.title()
            ),
        }
    }
}
