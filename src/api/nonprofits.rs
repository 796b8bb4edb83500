//! `GET /v0.2/nonprofit/{identifier}`: one nonprofit.

use super::bodies::DetailsBody;
use crate::app::App;
use crate::http::cache::{self, Known};
use crate::http::error::{Error, ProblemBody, Result};
use crate::http::params::PathText;
use crate::http::public_key::{Details, PublicKey};
use axum::extract::State;
use axum::response::Response;

/// One nonprofit, named by its slug, its EIN or its ID.
#[utoipa::path(
    get,
    path = "/v0.2/nonprofit/{identifier}",
    operation_id = "details",
    tag = "nonprofits",
    security(("publicKey" = [])),
    params(("identifier" = String, Path, description = "The slug, the EIN as nine digits, or the ID (a UUID).", example = "530196605")),
    responses(
        (status = 200, description = "The nonprofit.", body = DetailsBody,
            headers(
                ("ETag" = String, description = "Changes whenever the directory does; send it back as If-None-Match."),
                ("RateLimit" = String, description = "Calls left, as in \"details\";r=99;t=60."),
                ("RateLimit-Policy" = String, description = "The limit, as in \"details\";q=100;w=60."),
                ("X-Request-Id" = String, description = "Names this request.")
            )),
        (status = 304, description = "Nothing changed since the answer with this ETag."),
        (status = 400, description = "invalid_parameter", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "missing_key, invalid_key or private_key_exposed", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "blocked_key", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "nonprofit_not_found", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "rate_limited; Retry-After says when to come back", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "unavailable", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub async fn details(
    State(app): State<App>,
    _key: PublicKey<Details>,
    PathText(text): PathText,
    known: Known,
) -> Result<Response> {
    let found = app.directory.resolve(&text).await;
    let found = found.map_err(|error| Error::unresolved(error, &text))?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    Ok(cache::json(&known, found.tag(), || {
        let mut out = Vec::with_capacity(4_096);
        app.wire.details(&mut out, &nonprofit);
        out
    }))
}
