//! `GET /v0.2/nonprofit/{identifier}`: one nonprofit.

use crate::api::bodies::DetailsBody;
use crate::api::problems::{NonprofitNotFound, NotModified, PublicKeyProblems};
use crate::app::App;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::public_key::{Details, PublicKey};
use axum::extract::State;
use axum::response::Response;

/// Retrieves a nonprofit by its slug, EIN or ID.
#[utoipa::path(
    get,
    path = "/v0.2/nonprofit/{identifier}",
    operation_id = "details",
    tag = "nonprofits",
    security(("publicKey" = [])),
    params(("identifier" = String, Path, description = "The slug, the EIN as nine digits, or the ID (a UUID) of the nonprofit.", example = "530196605")),
    responses(
        (status = 200, description = "The nonprofit.", body = DetailsBody,
            headers(
                ("ETag" = String, description = "Changes whenever the directory changes. Send it as If-None-Match to get 304 if nothing changed."),
                ("RateLimit" = String, description = "The remaining requests and the seconds until the oldest one stops counting, such as \"details\";r=99;t=60. A key with a limit per address has a second item, \"address\"."),
                ("RateLimit-Policy" = String, description = "The limit and its window in seconds, such as \"details\";q=100;w=60. A key with a limit per address has a second item, such as \"address\";q=60;w=60."),
                ("X-Request-Id" = String, description = "The ID of this request, which also appears in the server log.")
            )),
        NotModified,
        PublicKeyProblems,
        NonprofitNotFound,
    )
)]
pub async fn details(
    State(app): State<App>,
    _key: PublicKey<Details>,
    PathText(text): PathText,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let found = app.directory.resolve(&text).await;
    let found = found.map_err(|error| Error::from_resolve(error, &text))?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    Ok(cache::json(&if_none_match, found.tag(), || {
        let mut out = Vec::with_capacity(4_096);
        app.nonprofit_json.details(&mut out, &nonprofit);
        out
    }))
}
