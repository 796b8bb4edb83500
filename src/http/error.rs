//! The errors of requests and their responses: problem details as in RFC 9457.
//!
//! An error becomes a response with a [`Problem`] among its extensions. The outermost layer writes the body, because
//! only that layer knows the request ID.

use crate::app::admission::Overload;
use crate::app::bulk_work::BulkWorkError;
use crate::http::request_id::RequestId;
use access::keys::{Class, mask};
use access::limits::window::Verdict;
use axum::http::header::{ALLOW, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use directory::ResolveError;
use directory::nonprofits::ein::Ein;
use directory::query::near::NearError;
use giving::books::BooksError;
use giving::disbursement::DisburseError;
use giving::donations::DonationError;
use giving::payments::error::PaymentError;
use giving::yearly::YearlyError;
use platform::field_error::FieldError;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use thiserror::Error;
use utoipa::ToSchema;

/// The page of this server that describes every code, with an anchor for each.
const DESCRIPTIONS: &str = "/developers/errors";

/// The result of a handler.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error that ends a request. Its message says what happened and what to send instead.
#[derive(Debug, Error)]
pub enum Error {
    #[error("Send your public key in the query of the URL: ?apiKey=YOUR_KEY")]
    MissingKey,
    #[error(
        "This API key does not exist or was revoked. Copy it again from the dashboard, or create a new one."
    )]
    InvalidKey,
    #[error(
        "You sent a private key in the URL, where proxies and logs can read it. Revoke it, and send a public key (cwpk_) as apiKey."
    )]
    PrivateKeyExposed,
    #[error(
        "Use HTTP Basic authentication, with a public key as the username and a private key of the same account as the password."
    )]
    MissingCredentials,
    #[error(
        "These credentials are not valid. Send a public key as the username and a private key of the same account as the password."
    )]
    InvalidCredentials,
    #[error("This key is blocked. Contact the operator of this server.")]
    BlockedKey,
    #[error("{0}")]
    InvalidParameter(Cow<'static, str>),
    #[error("There is no nonprofit {0:?}. Send its slug, its EIN as nine digits, or its ID.")]
    NonprofitNotFound(String),
    #[error("Send the EIN as nine digits, without a dash or prefix: {0}")]
    FormattedEin(Ein),
    #[error("There is no cause {0:?}. See /v0.2/causes for the list of causes.")]
    UnknownCause(String),
    #[error("There is nothing at this URL. See /v0.2/openapi.json for the list of endpoints.")]
    NotFound,
    #[error(
        "This nonprofit has no fundraiser {0:?}. Send the slug or ID of the fundraiser and of the nonprofit it supports."
    )]
    FundraiserNotFound(String),
    #[error(
        "Your account has no fundraiser {0:?}. Send its ID, a UUID. See /v0.2/fundraisers for your fundraisers."
    )]
    OwnFundraiserNotFound(String),
    #[error("Your account has no such webhook endpoint or delivery. See /v0.2/webhooks for your endpoints.")]
    WebhookNotFound,
    #[error(
        "Your account has no such donation. See /v0.2/donations for those to your fundraisers and by your links."
    )]
    DonationNotFound,
    #[error(
        "This cursor is not part of the history of your events: it is too old, or an older backup was restored. Start without after, or with after=latest."
    )]
    EventCursorLost,
    #[error("This URL does not support this method. See the Allow header for the methods it supports.")]
    MethodNotAllowed,
    #[error(
        "The directory changed since the first part of this export. Start the export again, without a cursor."
    )]
    ExportExpired,
    #[error(
        "This cursor is not part of the history of this server, which happens if an older backup was restored. Export the directory again."
    )]
    CursorLost,
    #[error("Too much changed since this cursor to list it. Export the directory again.")]
    ChangesNotRecorded,
    #[error("Pages of this origin cannot use /mcp. Use it from an application or a server.")]
    ForeignOrigin,
    #[error("This form was sent from another website. Open the page on this site and send the form again.")]
    CrossSiteForm,
    #[error("This page is for operators. Sign in with an operator account.")]
    NotOperator,
    #[error("This request is not a valid form. Open the page again and send its form.")]
    NotAForm,
    #[error("The body is not valid JSON: {0}. Send one JSON object.")]
    InvalidJson(String),
    #[error("The body did not arrive in time. Send all of it, or send a smaller body.")]
    BodyTimeout,
    #[error("Send the body as JSON, with the header Content-Type: application/json")]
    UnsupportedMediaType,
    #[error("{}", join_errors(.0))]
    InvalidBody(Vec<FieldError>),
    #[error("This Idempotency-Key was used with a different body. Send a new key for a new fundraiser.")]
    IdempotencyMismatch,
    #[error("The first request with this Idempotency-Key is still in progress. Try again in a moment.")]
    IdempotencyInProgress,
    #[error("The event is not signed as it should be: {0}. Check the secret and the clocks of both servers.")]
    InvalidSignature(String),
    #[error("We cannot reach the payment provider. You were not charged. Try again in a minute.")]
    ProviderUnavailable,
    #[error("The body is larger than {0} bytes. Send a smaller one.")]
    TooLarge(usize),
    #[error("The picture is larger than 10 MiB. Go back and choose a smaller one.")]
    PictureTooLarge,
    #[error(
        "Too many {} requests: the limit is {} per minute. Try again in {} seconds.",
        class.name(), verdict.per_minute, verdict.retry_after
    )]
    RateLimited { class: Class, verdict: Verdict },
    #[error(
        "Too many requests from your address with this key: the limit is {} per minute. Try again in {} seconds.",
        verdict.per_minute, verdict.retry_after
    )]
    AddressLimited { verdict: Verdict },
    #[error(
        "Too many donations were started from your network: the limit is {per_minute} per minute. \
         Nothing was charged. Try again in {retry_after} seconds."
    )]
    TooManyDonations { per_minute: u32, retry_after: u32 },
    #[error("The request took too long. Try again.")]
    Timeout,
    #[error("The service is temporarily unavailable. Try again in a moment.")]
    Unavailable,
    #[error("The server is too busy for this request. Try again in a moment.")]
    Overloaded,
    #[error(
        "Too many requests from your network, or with your key, are in progress. Wait for their responses, then try again."
    )]
    TooManyInProgress,
    #[error(
        "Something went wrong on the server. Try again, and report the request ID to the operator if it happens again."
    )]
    Internal,
}

/// An error in one field of the request body.
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

/// Joins field errors into one line.
fn join_errors(errors: &[FieldError]) -> String {
    let each = errors
        .iter()
        .map(|error| format!("{}: {}", error.field, error.detail));
    each.collect::<Vec<_>>().join("; ")
}

/// The client-visible part of an error.
#[derive(Clone, Debug)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    errors: Vec<FieldErrorBody>,
}

/// The body of an error response (RFC 9457).
#[derive(Serialize, ToSchema)]
pub struct ProblemBody<'a> {
    /// The URL of the description of this kind of error; ends with the code.
    #[schema(example = "https://causeway.example/developers/errors#nonprofit_not_found")]
    r#type: String,
    #[schema(example = "Not Found")]
    title: &'a str,
    #[schema(example = 404)]
    status: u16,
    /// What went wrong and what to send instead.
    detail: &'a str,
    /// Identifies the kind of error. Codes do not change; compare this field in programs.
    #[schema(example = "nonprofit_not_found")]
    code: &'a str,
    /// The same as `detail`.
    message: &'a str,
    #[serde(rename = "requestId")]
    request_id: &'a str,
    /// The errors of each field. Only present if the request body is invalid.
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
            Error::WebhookNotFound => (StatusCode::NOT_FOUND, "webhook_not_found"),
            Error::DonationNotFound => (StatusCode::NOT_FOUND, "donation_not_found"),
            Error::InvalidJson(_) | Error::BodyTimeout => (StatusCode::BAD_REQUEST, "invalid_json"),
            Error::InvalidBody(_) => (StatusCode::BAD_REQUEST, "invalid_body"),
            Error::InvalidSignature(_) => (StatusCode::BAD_REQUEST, "invalid_signature"),
            Error::IdempotencyMismatch => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_mismatch"),
            Error::IdempotencyInProgress => (StatusCode::CONFLICT, "idempotency_in_progress"),
            Error::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Error::ExportExpired | Error::CursorLost | Error::ChangesNotRecorded | Error::EventCursorLost => {
                (StatusCode::GONE, "cursor_expired")
            }
            Error::CrossSiteForm => (StatusCode::FORBIDDEN, "foreign_form"),
            Error::ForeignOrigin => (StatusCode::FORBIDDEN, "foreign_origin"),
            Error::NotOperator => (StatusCode::FORBIDDEN, "not_operator"),
            Error::UnsupportedMediaType | Error::NotAForm => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type")
            }
            Error::TooLarge(_) | Error::PictureTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            Error::RateLimited { .. }
            | Error::AddressLimited { .. }
            | Error::TooManyDonations { .. }
            | Error::TooManyInProgress => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
            Error::Timeout | Error::Unavailable | Error::ProviderUnavailable | Error::Overloaded => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
            Error::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }

    fn retry_after(&self) -> Option<u32> {
        match self {
            Error::RateLimited { verdict, .. } | Error::AddressLimited { verdict } => {
                Some(verdict.retry_after)
            }
            Error::TooManyDonations { retry_after, .. } => Some(*retry_after),
            Error::Timeout
            | Error::Unavailable
            | Error::ProviderUnavailable
            | Error::Overloaded
            | Error::TooManyInProgress
            | Error::IdempotencyInProgress => Some(1),
            _ => None,
        }
    }

    /// Creates the error for an identifier that no nonprofit has. A long identifier is shortened.
    pub fn nonprofit_not_found(identifier: &str) -> Error {
        Error::NonprofitNotFound(platform::text::cut(identifier, 100).to_owned())
    }

    /// Converts the error of looking up `identifier`.
    pub fn from_resolve(error: ResolveError, identifier: &str) -> Error {
        match error {
            ResolveError::FormattedEin(ein) => Error::FormattedEin(ein),
            ResolveError::NotFound => Error::nonprofit_not_found(identifier),
            ResolveError::Store(error) => error.into(),
        }
    }

    /// Creates the error for a nonprofit without this fundraiser. A long name is shortened.
    pub fn fundraiser_not_found(name: &str) -> Error {
        Error::FundraiserNotFound(platform::text::cut(name, 100).to_owned())
    }

    /// Creates the error for an account without this fundraiser. A long ID is shortened.
    pub fn own_fundraiser_not_found(id: &str) -> Error {
        Error::OwnFundraiserNotFound(platform::text::cut(id, 100).to_owned())
    }

    /// Creates the error for a cause that does not exist. A long name is shortened.
    pub fn unknown_cause(name: &str) -> Error {
        Error::UnknownCause(platform::text::cut(name, 100).to_owned())
    }
}

impl From<Overload> for Error {
    fn from(overload: Overload) -> Error {
        match overload {
            Overload::Client => Error::TooManyInProgress,
            Overload::Server => Error::Overloaded,
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Error {
        Error::of_store(&error)
    }
}

impl From<NearError> for Error {
    fn from(error: NearError) -> Error {
        Error::InvalidParameter(match error {
            NearError::Malformed => {
                "near has no ZIP code or position. Send a ZIP code such as 97201, or a position such as 45.52,-122.68."
                    .into()
            }
            NearError::UnknownZip(zip) => format!(
                "There is no ZIP code {zip}. Send another one, or a position such as 45.52,-122.68."
            )
            .into(),
            NearError::OutOfRange => {
                "near is not on the Earth. Send a latitude from -90 to 90 and a longitude from -180 to 180.".into()
            }
            NearError::Radius => "radius must be a number of miles from 1 to 500.".into(),
            NearError::RadiusWithoutCenter => {
                "radius needs near. Send a ZIP code or a position as near.".into()
            }
        })
    }
}

impl From<BulkWorkError> for Error {
    fn from(error: BulkWorkError) -> Error {
        match error {
            BulkWorkError::TooManyPending => Error::TooManyInProgress,
            BulkWorkError::Panicked => Error::Internal,
        }
    }
}

impl From<giving::Error> for Error {
    fn from(error: giving::Error) -> Error {
        match error {
            giving::Error::NotFound => Error::NotFound,
            giving::Error::Invalid(errors) => {
                // Entry points convert invalid fields themselves, because only they know the names that clients use.
                tracing::error!(?errors, "a handler did not report invalid fields");
                Error::Internal
            }
            giving::Error::Mismatch => Error::IdempotencyMismatch,
            giving::Error::InProgress => Error::IdempotencyInProgress,
            giving::Error::Suspended => Error::BlockedKey,
            giving::Error::Store(error) => Error::of_store(&error.0),
        }
    }
}

impl From<PaymentError> for Error {
    fn from(error: PaymentError) -> Error {
        match error {
            PaymentError::Donation(error) => error.into(),
            PaymentError::Books(BooksError::Store(error)) => Error::of_store(&error.0),
            PaymentError::Stripe(error) => {
                tracing::error!(%error, "a call to Stripe failed");
                Error::ProviderUnavailable
            }
            error => {
                tracing::error!(%error, "a payment could not be handled");
                Error::Internal
            }
        }
    }
}

impl From<DisburseError> for Error {
    fn from(error: DisburseError) -> Error {
        match error {
            DisburseError::Store(error) | DisburseError::Books(BooksError::Store(error)) => {
                Error::of_store(&error.0)
            }
            error => {
                tracing::error!(%error, "a step of disbursement failed");
                Error::Internal
            }
        }
    }
}

impl From<YearlyError> for Error {
    fn from(error: YearlyError) -> Error {
        match error {
            YearlyError::Store(error) => Error::of_store(&error),
            YearlyError::Overflow(error) => {
                tracing::error!(%error, "the sum of a statement is too large");
                Error::Internal
            }
        }
    }
}

impl From<DonationError> for Error {
    fn from(refused: DonationError) -> Error {
        match refused {
            DonationError::Store(error) => Error::of_store(&error.0),
            DonationError::NoSuchNonprofit(_) | DonationError::NoSuchFundraiser(_) => Error::NotFound,
            _ => Error::Internal,
        }
    }
}

impl Error {
    fn of_store(error: &sqlx::Error) -> Error {
        let is_transient = match error {
            // `Protocol` and `Tls`: a proxy that lost its database accepts connections and then sends nothing, or
            // something else.
            sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::Io(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::BeginFailed => true,
            sqlx::Error::Database(error) => error.code().is_some_and(|code| is_transient(&code)),
            _ => false,
        };
        tracing::error!(%error, "a database query failed");
        if is_transient {
            Error::Unavailable
        } else {
            Error::Internal
        }
    }
}

/// Returns whether a query that failed with this database error code may succeed when it is repeated.
///
/// The codes of PostgreSQL have five characters (SQLSTATE); those of SQLite are numbers with fewer digits.
fn is_transient(code: &str) -> bool {
    if code.len() == 5 {
        // Connection lost, serialization failure, out of resources such as the disk, canceled by an operator, I/O error,
        // read only after a failover, idle for too long, locked.
        return matches!(code.get(..2), Some("08" | "40" | "53" | "57" | "58"))
            || matches!(code, "25006" | "25P03" | "55P03");
    }
    // Busy, locked, read only, I/O error, disk full, a file that cannot be opened.
    let primary = code.parse::<u32>().map(|number| number & 0xFF);
    matches!(primary, Ok(5 | 6 | 8 | 10 | 13 | 14))
}

impl Error {
    /// Returns the status, the code and the body of the response, as an example for the description of the API.
    pub fn example(&self, public_url: &str, request_id: &str) -> (StatusCode, &'static str, Value) {
        let problem = self.problem();
        let body = serde_json::to_value(problem.body(public_url, request_id));
        (
            problem.status,
            problem.code,
            body.expect("a problem is plain text"),
        )
    }

    fn problem(&self) -> Problem {
        let (status, code) = self.status_and_code();
        Problem {
            status,
            code,
            detail: mask(&self.to_string()).into_owned(),
            errors: match self {
                Error::InvalidBody(errors) => errors.iter().map(masked).collect(),
                _ => Vec::new(),
            },
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let problem = self.problem();
        let status = problem.status;
        let retry_after = self.retry_after();
        let mut response = status.into_response();
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        if matches!(self, Error::Overloaded | Error::TooManyInProgress) {
            // The rest of the body is not read. HTTP/2 ends the stream instead, and hyper removes the header.
            response
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
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

    /// Returns the code, which does not change.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the sentence that says what went wrong and what to do.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns the body of the response of a server at `public_url`.
    fn body<'a>(&'a self, public_url: &str, request_id: &'a str) -> ProblemBody<'a> {
        ProblemBody {
            r#type: format!("{public_url}{DESCRIPTIONS}#{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.detail,
            code: self.code,
            message: &self.detail,
            request_id,
            errors: &self.errors,
        }
    }

    /// Writes the body of the response to a request at a server at `public_url`.
    pub fn write(&self, response: &mut Response, request: &RequestId, public_url: &str) {
        let body = self.body(public_url, request.as_str());
        let bytes = serde_json::to_vec(&body).expect("a problem is plain text");
        *response.body_mut() = bytes.into();
        let headers = response.headers_mut();
        headers.remove(axum::http::header::CONTENT_LENGTH);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    }
}

#[cfg(test)]
mod tests {
    use super::is_transient;

    #[test]
    fn error_codes_of_both_databases_are_classified() {
        for code in [
            "5", "261", "6", "8", "10", "778", "13", "14", "08006", "25006", "25P03", "40001", "40P01",
            "53100", "53300", "55P03", "57P01", "58030",
        ] {
            assert!(is_transient(code), "{code}");
        }
        // As SQLite codes, the first two would be busy and disk full.
        for code in ["42501", "22021", "23505", "25P02", "1", "11", "19", "2067", ""] {
            assert!(!is_transient(code), "{code}");
        }
    }
}
