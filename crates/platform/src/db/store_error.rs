//! The error of a write to the database.

use std::fmt;

/// The reason a write did not happen.
#[derive(Debug)]
pub enum StoreError<R> {
    /// A rule rejected the write.
    Refused(R),
    /// The database failed.
    Store(sqlx::Error),
}

impl<R> StoreError<R> {
    /// Converts the refusal to another type.
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
