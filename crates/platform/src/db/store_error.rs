//! What a write to the store can fail with.

use std::fmt;

/// A write that did not happen: it was refused by a rule, or the store failed.
#[derive(Debug)]
pub enum StoreError<R> {
    /// A rule refused it; the store works.
    Refused(R),
    /// The store failed.
    Store(sqlx::Error),
}

impl<R> StoreError<R> {
    /// Turns the refusal into another type.
    pub fn map_refused<S>(self, convert: impl FnOnce(R) -> S) -> StoreError<S> {
        match self {
            StoreError::Refused(refusal) => StoreError::Refused(convert(refusal)),
            StoreError::Store(error) => StoreError::Store(error),
        }
    }
}

impl<R> From<sqlx::Error> for StoreError<R> {
    fn from(error: sqlx::Error) -> StoreError<R> {
        StoreError::Store(error)
    }
}

impl<R: fmt::Display> fmt::Display for StoreError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Refused(refusal) => refusal.fmt(f),
            StoreError::Store(error) => error.fmt(f),
        }
    }
}

impl<R: fmt::Debug + fmt::Display> std::error::Error for StoreError<R> {}
