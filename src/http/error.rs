//! What goes wrong, and how it is told: one enum, one match to status and code, problem details on the wire
//! (RFC 9457).
//!
//! An error becomes an answer that carries a [`Problem`]; the outermost layer writes its body, since only that
//! knows the id of the request.

use crate::http::request_id::RequestId;
use access::keys::{Class, mask};
use access::limits::window::Verdict;
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use directory::ResolveError;
use directory::nonprofits::ein::Ein;
use giving;
use giving::donations::Refused;
use platform::field_error::FieldError;
use serde::Serialize;
use std::borrow::Cow;
use thiserror::Error;
use utoipa::ToSchema;

/// The result of a handler.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that a request can run into.
#[derive(Debug, Error)]
pub enum Error {
    #[error("add your public key as ?apiKey=")]
    MissingKey,
    #[error("this apiKey is not known; copy it again from where it was made, or make a new one")]
    InvalidKey,
    #[error(
        "a private key was sent where anybody can read it; revoke it, and send a public key (cwpk_) as apiKey"
    )]
    PrivateKeyExposed,
    #[error(
        "sign in with HTTP Basic authentication: a public key as the name, a private key as the password"
    )]
    MissingCredentials,
    #[error(
        "these credentials are not known; send a public key as the name and a private key of the same account as the password"
    )]
    InvalidCredentials,
    #[error("this key is blocked by the operator; write to them")]
    BlockedKey,
    #[error("{0}")]
    InvalidParameter(Cow<'static, str>),
    #[error("there is no nonprofit {0:?}; send its slug, its EIN as nine digits, or its ID")]
    NonprofitNotFound(String),
    #[error("an EIN is sent as nine digits, with no dash and no prefix: {0}")]
    FormattedEin(Ein),
    #[error("there is no cause {0:?}; /v0.2/causes lists them")]
    UnknownCause(String),
    #[error("there is nothing at this address; /v0.2/openapi.json lists what there is")]
    NotFound,
    #[error("this nonprofit has no fundraiser {0:?}; send its slug or its ID, and the nonprofit it is for")]
    FundraiserNotFound(String),
    #[error("this account has no fundraiser {0:?}; send its ID: a UUID, as `id` in /v0.2/fundraisers")]
    OwnFundraiserNotFound(String),
    #[error("this address does not take this method; the header Allow names those it takes")]
    MethodNotAllowed,
    #[error("this was sent from a page that is not ours; open the form here and send it again")]
    CrossSiteForm,
    #[error("this page is for operators; sign in with an operator's account")]
    NotOperator,
    #[error("this is no form; open the page and send the form from there")]
    NotAForm,
    #[error("the body is no JSON: {0}; send one JSON object")]
    InvalidJson(String),
    #[error("the body did not come in full within the time for a request; send all of it, or less")]
    BodyTimeout,
    #[error("send the body as JSON, with Content-Type: application/json")]
    UnsupportedMediaType,
    #[error("{}", join_errors(.0))]
    InvalidBody(Vec<FieldError>),
    #[error("this Idempotency-Key was used with another body; send a new key for a new fundraiser")]
    IdempotencyMismatch,
    #[error("the first request with this Idempotency-Key is still under way; ask again in a moment")]
    IdempotencyInProgress,
    #[error("the body is larger than {0} bytes; send less")]
    TooLarge(usize),
    #[error("over {per_minute} {} calls a minute; wait {} seconds", class.name(), verdict.retry_after)]
    RateLimited {
        class: Class,
        per_minute: u32,
        verdict: Verdict,
    },
    #[error("the request took too long; try again")]
    Timeout,
    #[error("the store cannot be reached right now; try again")]
    Unavailable,
    #[error("something went wrong on our side; the request id names it in the log")]
    Internal,
}

/// What is wrong with one field of a body.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = FieldFault)]
pub struct FieldErrorBody {
    #[schema(example = "goal")]
    field: String,
    /// What to send instead.
    detail: String,
}

/// Masks anything in a field error that looks like an API key.
fn masked(error: &FieldError) -> FieldErrorBody {
    FieldErrorBody {
        field: mask(&error.field).into_owned(),
        detail: mask(&error.detail).into_owned(),
    }
}

/// Joins field errors into one sentence.
fn join_errors(errors: &[FieldError]) -> String {
    let each = errors
        .iter()
        .map(|error| format!("{}: {}", error.field, error.detail));
    each.collect::<Vec<_>>().join("; ")
}

/// What is told of an error.
#[derive(Clone, Debug)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    errors: Vec<FieldErrorBody>,
}

/// The body of an error, in the form of RFC 9457.
#[derive(Serialize, ToSchema)]
pub struct ProblemBody<'a> {
    /// Names the kind of error; the code is its last part.
    #[schema(example = "urn:causeway:error:nonprofit_not_found")]
    r#type: String,
    #[schema(example = "Not Found")]
    title: &'a str,
    #[schema(example = 404)]
    status: u16,
    /// What to send instead.
    detail: &'a str,
    /// Stable, for programs.
    #[schema(example = "nonprofit_not_found")]
    code: &'a str,
    /// The same as `detail`.
    message: &'a str,
    #[serde(rename = "requestId")]
    request_id: &'a str,
    /// What is wrong with a body, field by field; there only where a body is.
    #[serde(skip_serializing_if = "<[FieldErrorBody]>::is_empty")]
    errors: &'a [FieldErrorBody],
}

impl Error {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Error::MissingKey => (StatusCode::UNAUTHORIZED, "missing_key"),
            Error::InvalidKey => (StatusCode::UNAUTHORIZED, "invalid_key"),
            Error::PrivateKeyExposed => (StatusCode::UNAUTHORIZED, "private_key_exposed"),
            Error::MissingCredentials => (StatusCode::UNAUTHORIZED, "missing_credentials"),
            Error::InvalidCredentials => (StatusCode::UNAUTHORIZED, "invalid_credentials"),
            Error::BlockedKey => (StatusCode::FORBIDDEN, "blocked_key"),
            Error::InvalidParameter(_) => (StatusCode::BAD_REQUEST, "invalid_parameter"),
            Error::NonprofitNotFound(_) | Error::FormattedEin(_) => {
                (StatusCode::NOT_FOUND, "nonprofit_not_found")
            }
            Error::UnknownCause(_) => (StatusCode::NOT_FOUND, "unknown_cause"),
            Error::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Error::FundraiserNotFound(_) | Error::OwnFundraiserNotFound(_) => {
                (StatusCode::NOT_FOUND, "fundraiser_not_found")
            }
            Error::InvalidJson(_) | Error::BodyTimeout => (StatusCode::BAD_REQUEST, "invalid_json"),
            Error::InvalidBody(_) => (StatusCode::BAD_REQUEST, "invalid_body"),
            Error::IdempotencyMismatch => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_mismatch"),
            Error::IdempotencyInProgress => (StatusCode::CONFLICT, "idempotency_in_progress"),
            Error::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Error::CrossSiteForm => (StatusCode::FORBIDDEN, "foreign_form"),
            Error::NotOperator => (StatusCode::FORBIDDEN, "not_operator"),
            Error::UnsupportedMediaType | Error::NotAForm => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type")
            }
            Error::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            Error::RateLimited { .. } => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
            Error::Timeout | Error::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Error::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }

    fn retry_after(&self) -> Option<u32> {
        match self {
            Error::RateLimited { verdict, .. } => Some(verdict.retry_after),
            Error::Timeout | Error::Unavailable | Error::IdempotencyInProgress => Some(1),
            _ => None,
        }
    }

    /// That no nonprofit has this identifier; a long one is not repeated in full.
    pub fn nonprofit_not_found(identifier: &str) -> Error {
        Error::NonprofitNotFound(platform::text::cut(identifier, 100).to_owned())
    }

    /// The error for a text that names no nonprofit.
    pub fn from_resolve(error: ResolveError, identifier: &str) -> Error {
        match error {
            ResolveError::FormattedEin(ein) => Error::FormattedEin(ein),
            ResolveError::NotFound => Error::nonprofit_not_found(identifier),
            ResolveError::Store(error) => error.into(),
        }
    }

    /// That a nonprofit has no such fundraiser; a long name is not repeated in full.
    pub fn fundraiser_not_found(name: &str) -> Error {
        Error::FundraiserNotFound(platform::text::cut(name, 100).to_owned())
    }

    /// That an account has no such fundraiser; a long name is not repeated in full.
    pub fn own_fundraiser_not_found(id: &str) -> Error {
        Error::OwnFundraiserNotFound(platform::text::cut(id, 100).to_owned())
    }

    /// That no cause has this name; a long one is not repeated in full.
    pub fn unknown_cause(name: &str) -> Error {
        Error::UnknownCause(platform::text::cut(name, 100).to_owned())
    }
}

impl From<sqlx::Error> for Error {
    fn from(fault: sqlx::Error) -> Error {
        Error::of_store(&fault)
    }
}

impl From<giving::Error> for Error {
    fn from(error: giving::Error) -> Error {
        match error {
            giving::Error::NotFound => Error::NotFound,
            giving::Error::Invalid(errors) => Error::InvalidBody(errors),
            giving::Error::Mismatch => Error::IdempotencyMismatch,
            giving::Error::InProgress => Error::IdempotencyInProgress,
            giving::Error::PictureUnavailable => Error::Unavailable,
            giving::Error::Store(error) => Error::of_store(&error.0),
        }
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        match refused {
            Refused::Store(error) => Error::of_store(&error.0),
            Refused::NoSuchNonprofit(_) | Refused::NoSuchFundraiser(_) => Error::NotFound,
            _ => Error::Internal,
        }
    }
}

impl Error {
    fn of_store(fault: &sqlx::Error) -> Error {
        let is_passing = match fault {
            // The last two: a proxy whose database is gone lets us connect and then says nothing, or nonsense.
            sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::Io(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::Tls(_) => true,
            sqlx::Error::Database(fault) => fault.code().is_some_and(|code| is_passing(&code)),
            _ => false,
        };
        tracing::error!(%fault, "the store did not answer as it should");
        if is_passing {
            Error::Unavailable
        } else {
            Error::Internal
        }
    }
}

/// Does a code of a database tell of what may be over at the next try? Those of PostgreSQL have five characters
/// (SQLSTATE), those of SQLite are numbers with fewer digits.
fn is_passing(code: &str) -> bool {
    if code.len() == 5 {
        // Connection lost, rolled back for another, out of room, stopped by somebody, idle for too long, locked.
        return matches!(code.get(..2), Some("08" | "40" | "53" | "57")) || matches!(code, "25P03" | "55P03");
    }
    // Busy, locked, read only, I/O error, disk full.
    let primary = code.parse::<u32>().map(|number| number & 0xFF);
    matches!(primary, Ok(5 | 6 | 8 | 10 | 13))
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, code) = self.status_and_code();
        let retry_after = self.retry_after();
        let problem = Problem {
            status,
            code,
            detail: mask(&self.to_string()).into_owned(),
            errors: match &self {
                Error::InvalidBody(errors) => errors.iter().map(masked).collect(),
                _ => Vec::new(),
            },
        };
        let mut response = status.into_response();
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        if matches!(self, Error::MethodNotAllowed) {
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"));
        }
        if matches!(self, Error::MissingCredentials | Error::InvalidCredentials) {
            response.headers_mut().insert(
                WWW_AUTHENTICATE,
                HeaderValue::from_static(r#"Basic realm="causeway""#),
            );
        }
        response.extensions_mut().insert(problem);
        response
    }
}

impl Problem {
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the sentence that says what went wrong and what to do.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Writes the body of the answer to a request.
    pub fn write(&self, response: &mut Response, request: &RequestId) {
        let body = ProblemBody {
            r#type: format!("urn:causeway:error:{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.detail,
            code: self.code,
            message: &self.detail,
            request_id: request.as_str(),
            errors: &self.errors,
        };
        let bytes = serde_json::to_vec(&body).expect("a problem is plain text");
        *response.body_mut() = bytes.into();
        let headers = response.headers_mut();
        headers.remove(axum::http::header::CONTENT_LENGTH);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    }
}

#[cfg(test)]
mod tests {
    use super::is_passing;

    #[test]
    fn codes_of_each_database_are_read_by_its_own_table() {
        for code in [
            "5", "261", "6", "8", "10", "778", "13", "08006", "40001", "40P01", "53300", "57P01", "25P03",
            "55P03",
        ] {
            assert!(is_passing(code), "{code}");
        }
        // Read as numbers of SQLite, the first two would be busy and disk full.
        for code in ["42501", "22021", "23505", "25P02", "1", "11", "19", "2067", ""] {
            assert!(!is_passing(code), "{code}");
        }
    }
}
