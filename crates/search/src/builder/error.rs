//! The error of the builder.

use std::{fmt, io};

/// The error returned when a document cannot be added or a segment cannot be written.
#[derive(Debug)]
pub enum BuildError {
    /// The document is more prominent than the one before.
    WrongOrder,
    /// The registration number does not have nine digits.
    InvalidRegistrationNumber,
    /// There are more documents, words or bytes than a segment can hold.
    TooLarge,
    /// The output could not be written.
    Write(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongOrder => f.write_str("documents must be added in descending order of prominence"),
            Self::InvalidRegistrationNumber => f.write_str("a registration number must have nine digits"),
            Self::TooLarge => f.write_str("too many documents or words for one search segment"),
            Self::Write(error) => write!(f, "cannot write the search segment: {error}"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<io::Error> for BuildError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}
