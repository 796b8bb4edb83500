//! Why a step of disbursement was refused. Nothing was changed then.

use crate::books::BooksError;
use crate::ledger::writer::WriteError;
use platform::money::{AmountOverflow, Cents};
use thiserror::Error;

/// Problems that are listed, of all.
const MAX_LISTED: usize = 20;

/// Why a file was not imported. Each problem names its row and the remedy, and no number of a bank account.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", message(problems))]
pub struct PayeeFileError {
    pub problems: Vec<String>,
}

fn message(problems: &[String]) -> String {
    let first = problems.first().map_or("", String::as_str);
    match problems.len() {
        0 | 1 => first.to_owned(),
        count => {
            let more: Vec<&str> = problems
                .iter()
                .skip(1)
                .take(MAX_LISTED - 1)
                .map(String::as_str)
                .collect();
            format!(
                "{first} ({count} rows are wrong and nothing was imported: {})",
                more.join(" / ")
            )
        }
    }
}

/// Why a step was refused.
#[derive(Debug, Error)]
pub enum DisburseError {
    #[error("nothing can be paid now; causeway disburse list says what is held and why")]
    NothingToPay,
    #[error("there is no batch {batch}; causeway disburse batches lists them")]
    NoSuchBatch { batch: i64 },
    #[error("batch {batch} has no line {line}; causeway disburse show {batch} lists them")]
    NoSuchLine { batch: i64, line: i64 },
    #[error(
        "batch {batch} is {state}, and only a draft can be approved; causeway disburse show {batch} says when that was"
    )]
    NotDraft { batch: i64, state: &'static str },
    #[error(
        "batch {batch} was prepared by the same operator; another one has to approve it, on its page or with \
         --operator USERNAME, or set disburse.second_operator to false"
    )]
    SameOperator { batch: i64 },
    #[error("{username} is not an operator in good standing; name one, or leave --operator out")]
    NoOperator { username: String },
    #[error("batch {batch} is not approved; approve it first: causeway disburse approve {batch}")]
    NotApproved { batch: i64 },
    #[error(
        "batch {batch} has no line to export as {format}; causeway disburse show {batch} says how each is paid"
    )]
    NothingToExport { batch: i64, format: &'static str },
    #[error("{setting} is not set; your bank says what belongs there, see config.default.toml")]
    AchNotSet { setting: &'static str },
    #[error(
        "the payee of line {line} of batch {batch} was changed after the batch was prepared; mark the line void, and prepare \
         another batch when the hold is over"
    )]
    PayeeChanged { batch: i64, line: i64 },
    #[error(
        "line {line} of batch {batch} pays {amount}, but only {owed} is owed since a refund or dispute; mark the line void, and \
         prepare another batch"
    )]
    MoreThanOwed {
        batch: i64,
        line: i64,
        amount: Cents,
        owed: Cents,
    },
    #[error(
        "the bank details of line {line} of batch {batch} cannot be decrypted; restore the secret of this store, or import the \
         payee again"
    )]
    Unreadable { batch: i64, line: i64 },
    #[error("line {line} of batch {batch} is {state}, so it cannot be marked {mark}; {remedy}")]
    WrongState {
        batch: i64,
        line: i64,
        state: &'static str,
        mark: &'static str,
        remedy: &'static str,
    },
    #[error("a line that was {mark} needs the reference of the bank; add --reference")]
    NoReference { mark: &'static str },
    #[error(
        "the reference is longer than 100 characters or has control characters; write the one of the bank"
    )]
    InvalidReference,
    #[error("the reference {reference} is already that of line {line} of batch {batch}; check the number")]
    ReferenceUsed {
        reference: String,
        batch: i64,
        line: i64,
    },
    #[error(
        "only {free} is owed to that nonprofit and in no batch; reassign at most that amount, or void the line first"
    )]
    NotFree { free: Cents },
    #[error("a reassignment needs two nonprofits and a reason of 1 to 255 characters; check both")]
    InvalidReassignment,
    #[error("{name} cannot receive donations now; choose a nonprofit that can")]
    NotEligible { name: String },
    #[error("there is no nonprofit {text}; use its EIN, ID or slug")]
    NoSuchNonprofit { text: String },
    #[error("the file of batch {batch} was not written, because {problem}; report this as a bug")]
    InvalidFile { batch: i64, problem: String },
    #[error(transparent)]
    Payees(#[from] PayeeFileError),
    #[error("{0}; check the amounts")]
    Overflow(#[from] AmountOverflow),
    #[error(transparent)]
    Books(#[from] BooksError),
    #[error(transparent)]
    Store(#[from] WriteError),
}

impl From<sqlx::Error> for DisburseError {
    fn from(error: sqlx::Error) -> DisburseError {
        DisburseError::Store(error.into())
    }
}
