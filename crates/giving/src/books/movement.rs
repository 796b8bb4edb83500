//! What happens to money, as a caller reports it.

use crate::donations::Label;
use crate::ledger::entry::{Entry, Mode};
use crate::ledger::writer::WriteError;
use platform::ids::NonprofitId;
use platform::money::{AmountOverflow, Cents};
use thiserror::Error;

/// The source of entries that balance transactions of Stripe cause.
pub(crate) const STRIPE: &str = "stripe";
/// The source of entries that payments of the operator cause.
pub(crate) const DISBURSEMENT: &str = "disbursement";

/// The source and the external ID of an entry, which are unique together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryName {
    pub source: Label,
    pub external_id: Label,
}

/// Who pays the fee of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeesPaidBy {
    /// Each nonprofit receives its share less its part of the fee.
    Nonprofit,
    /// Nonprofits receive the whole amount.
    Operator,
}

/// A balance transaction of Stripe, or a payment of the operator.
#[derive(Clone, Debug)]
pub enum Movement {
    /// The balance transaction of a recorded donation, refund or dispute, or of one that came back.
    Settlement {
        transaction: Label,
        settles: EntryName,
        /// Before fees. Below zero if money left the balance.
        amount: Cents,
        fee: Cents,
        /// Matters only for a charge. Fees of refunds and disputes are the operator's.
        fees_paid_by: FeesPaidBy,
    },
    /// A balance transaction that belongs to no donation, such as a monthly fee of Stripe.
    OtherSettlement {
        transaction: Label,
        mode: Mode,
        /// What the balance changed by.
        net: Cents,
    },
    /// A payout to the operator's bank account, or the failure of one.
    Payout {
        transaction: Label,
        mode: Mode,
        /// What the bank account received. Below zero if the payout failed.
        amount: Cents,
        fee: Cents,
    },
    /// A payment of the operator to a nonprofit.
    Disbursement {
        id: Label,
        mode: Mode,
        nonprofit: NonprofitId,
        /// Greater than zero.
        amount: Cents,
    },
    /// A payment to a nonprofit that came back.
    DisbursementReturned {
        /// The ID of the disbursement.
        id: Label,
    },
    /// The operator owes an amount to another nonprofit from now on.
    Reassignment {
        id: Label,
        mode: Mode,
        from: NonprofitId,
        to: NonprofitId,
        /// Greater than zero.
        amount: Cents,
        reason: Label,
    },
}

/// Why a movement is not entered.
#[derive(Debug, Error)]
pub enum BooksError {
    #[error(
        "{external_id} is already entered with other content (entry {sequence}, a {kind}); compare both with the provider"
    )]
    Conflict {
        external_id: String,
        sequence: i64,
        kind: String,
    },
    #[error("there is no entry {external_id} from {source_name}; record it first")]
    NoSuchEntry {
        source_name: String,
        external_id: String,
    },
    #[error("entry {sequence} is a {kind}, which no such movement follows from; check the ID")]
    WrongKind { sequence: i64, kind: String },
    #[error(
        "entry {sequence} is about {expected}, but the transaction is about {found}; compare both with the provider"
    )]
    AmountDiffers {
        sequence: i64,
        expected: Cents,
        found: Cents,
    },
    #[error("entry {sequence} was already settled by {external_id}; compare both with the provider")]
    AlreadySettled { sequence: i64, external_id: String },
    #[error("only {owed} is owed to the nonprofit; choose at most that amount")]
    MoreThanOwed { owed: Cents },
    #[error("an amount must be greater than zero, and a reassignment needs two nonprofits; check both")]
    Invalid,
    #[error("{0}; check the amount")]
    Overflow(#[from] AmountOverflow),
    #[error(transparent)]
    Store(#[from] WriteError),
}

impl From<sqlx::Error> for BooksError {
    fn from(error: sqlx::Error) -> BooksError {
        BooksError::Store(error.into())
    }
}

impl BooksError {
    /// The error for an external ID that an entry with other content already has.
    pub(crate) fn conflict(known: &Entry) -> BooksError {
        BooksError::Conflict {
            external_id: known.draft.external_id.clone(),
            sequence: known.sequence,
            kind: known.draft.kind.title(),
        }
    }
}
