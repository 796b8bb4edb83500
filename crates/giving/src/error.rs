//! Why a fundraiser was not created or changed.

use crate::fundraisers::rules::InvalidField;
use crate::ledger::writer::WriteError;
use thiserror::Error;

/// The error of every write to fundraisers.
#[derive(Debug, Error)]
pub enum Error {
    /// There is no such fundraiser, or it belongs to another account.
    #[error("there is no such fundraiser")]
    NotFound,
    /// Some fields are invalid; all of them are named.
    #[error("some fields are invalid")]
    Invalid(Vec<InvalidField>),
    /// The idempotency key was used before with a different request.
    #[error("the idempotency key was used with a different request")]
    Mismatch,
    /// The first request with the idempotency key has not finished.
    #[error("the first request with this idempotency key is still in progress")]
    InProgress,
    /// An operator has suspended the account.
    #[error("the account is suspended")]
    Suspended,
    #[error(transparent)]
    Store(#[from] WriteError),
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Error {
        Error::Store(error.into())
    }
}
