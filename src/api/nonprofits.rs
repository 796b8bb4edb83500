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
