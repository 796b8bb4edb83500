//! The responses that endpoints have in common, for their OpenAPI descriptions.
//!
//! An endpoint names the types that apply to it instead of repeating each status.

use crate::http::error::ProblemBody;
use std::collections::BTreeMap;
use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

/// Declares types for problem responses: each status with the codes of its problems.
macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident { $($status:literal: $codes:literal,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $name;

            impl IntoResponses for $name {
                fn responses() -> BTreeMap<String, RefOr<Response>> {
                    [$(($status.to_owned(), problem($codes).into()),)*].into()
                }
            }
        )*
    };
}

problems! {
    /// The problems of every endpoint that takes a public key.
    PublicKeyProblems {
        "400": "invalid_parameter",
        "401": "missing_key, invalid_key or private_key_exposed",
        "403": "blocked_key",
        "429": "rate_limited; Retry-After has the seconds to wait",
        "503": "unavailable",
    }
    /// The problems of every endpoint that takes the keys of an account.
    AccountProblems {
        "401": "missing_credentials or invalid_credentials",
        "403": "blocked_key",
        "429": "rate_limited; Retry-After has the seconds to wait",
    }
    /// The problems of a search with `explain`, which takes the keys of an account.
    ExplainProblems {
        "401": "missing_key, invalid_key or private_key_exposed; with explain=1 missing_credentials or invalid_credentials",
    }
    /// The account has no such webhook endpoint or delivery.
    WebhookNotFound {
        "404": "webhook_not_found",
    }
    /// The account may not see such a donation.
    DonationNotFound {
        "404": "donation_not_found",
    }
    /// A query or path parameter is invalid.
    InvalidParameter {
        "400": "invalid_parameter",
    }
    /// The problems of a JSON body.
    JsonBodyProblems {
        "400": "invalid_json, invalid_parameter, or invalid_body with the invalid fields in errors",
        "413": "too_large",
        "415": "unsupported_media_type",
    }
    /// The problems of an endpoint that takes an `Idempotency-Key`.
    IdempotencyProblems {
        "409": "idempotency_in_progress",
        "422": "idempotency_mismatch",
        "503": "unavailable; retry with the same Idempotency-Key, and nothing is created twice",
    }
    /// The database cannot be reached.
    Unavailable {
        "503": "unavailable",
    }
    /// The database cannot be reached; retrying the request is safe.
    UnavailableWrite {
        "503": "unavailable; retrying is safe",
    }
    /// The state of the directory that a cursor belongs to is gone.
    CursorExpired {
        "410": "cursor_expired; export the directory again",
    }
    /// No nonprofit has this identifier.
    NonprofitNotFound {
        "404": "nonprofit_not_found",
    }
    /// There is no such nonprofit, or it has no such fundraiser.
    FundraiserNotFound {
        "404": "nonprofit_not_found or fundraiser_not_found",
    }
    /// The account has no such fundraiser.
    OwnFundraiserNotFound {
        "404": "fundraiser_not_found, also for fundraisers of other accounts",
    }
    /// No cause has this name.
    CauseNotFound {
        "404": "unknown_cause",
    }
    /// There is nothing to search for.
    BlankTerm {
        "404": "not_found: the search term is blank",
    }
}

/// The response to a conditional request whose ETag is current.
#[derive(Debug)]
pub struct NotModified;

impl IntoResponses for NotModified {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let description = "The response with this ETag is still current.";
        let response = ResponseBuilder::new().description(description).build();
        [("304".to_owned(), response.into())].into()
    }
}

fn problem(codes: &str) -> Response {
    let schema = Ref::from_schema_name(ProblemBody::name());
    ResponseBuilder::new()
        .description(codes)
        .content("application/problem+json", Content::new(Some(schema)))
        .build()
}
