//! Why an endpoint cannot be created, changed or used.

use thiserror::Error;

/// A field of an endpoint or of a request about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointField {
    Url,
    Events,
    Description,
    Format,
    Bearer,
    Status,
    Since,
}

/// An invalid field, and what to send instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    pub field: EndpointField,
    pub detail: String,
}

/// Why an endpoint was not created, changed or used.
#[derive(Debug, Error)]
pub enum EndpointError {
    /// The account has no such endpoint, or no such delivery.
    #[error("there is no such webhook endpoint")]
    NotFound,
    /// Every invalid field.
    #[error("some fields are invalid")]
    Invalid(Vec<InvalidField>),
    #[error(transparent)]
    Store(#[from] sqlx::Error),
}

impl EndpointError {
    pub(super) fn invalid(field: EndpointField, detail: impl Into<String>) -> EndpointError {
        EndpointError::Invalid(vec![InvalidField {
            field,
            detail: detail.into(),
        }])
    }
}

pub(super) type Result<T> = std::result::Result<T, EndpointError>;
