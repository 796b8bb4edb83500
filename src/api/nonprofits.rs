//! `GET /v0.2/nonprofit/{identifier}`: one nonprofit, with the sources of its fields if the client asks for them.

use crate::api::bodies::DetailsBody;
use crate::api::problems::{NonprofitNotFound, NotModified, PublicKeyProblems};
use crate::api::schemas::IncludeName;
use crate::api::sources::{self, IrsBody};
use crate::app::App;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::error::{Error, Result};
use crate::http::params::{PathText, values};
use crate::http::public_key::{Details, OptionalKey};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use directory::history::field_sources;
use directory::nonprofits::Nonprofit;
use std::convert::Infallible;

/// Retrieves a nonprofit by its slug, EIN or ID.
#[utoipa::path(
    get,
    path = "/v0.2/nonprofit/{identifier}",
    operation_id = "details",
    tag = "nonprofits",
    security(("publicKey" = [])),
    params(
        ("identifier" = String, Path, description = "The slug, the EIN as nine digits, or the ID (a UUID) of the nonprofit.", example = "530196605"),
        ("include" = inline(Option<IncludeName>), Query, description = "sources: also return where each field comes from."),
    ),
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
    _key: OptionalKey<Details>,
    PathText(text): PathText,
    if_none_match: IfNoneMatch,
    uri: Uri,
) -> Result<Response> {
    let includes_sources = includes_sources(uri.query().unwrap_or_default())?;
    if !includes_sources {
        let view = app.directory.view();
        if let Some(body) = app.caches.details.get(text.as_str(), view.tag.as_ref()) {
            return Ok(cache::json(&if_none_match, view.tag.as_deref(), || body));
        }
    }
    let found = app.directory.resolve(&text).await;
    let found = found.map_err(|error| Error::from_resolve(error, &text))?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    let write = |more: &[u8]| {
        let mut out = Vec::with_capacity(4_096 + more.len());
        app.site.nonprofit_json.details_with(&mut out, &nonprofit, more);
        Bytes::from(out)
    };
    let body = if includes_sources {
        write(&sources_json(&app, &nonprofit).await?)
    } else {
        let Ok(body) = app
            .caches
            .details
            .get_or_insert_with(text.as_str(), found.tag(), || Ok::<_, Infallible>(write(b"")));
        body
    };
    Ok(cache::json(&if_none_match, found.tag().map(|tag| &**tag), || {
        body
    }))
}

/// Returns whether a query asks for the sources of fields. Any other value of `include` is an error, so that a typing error
/// is noticed.
fn includes_sources(query: &str) -> Result<bool> {
    let mut includes = false;
    for value in values(query, "include") {
        if value != "sources" {
            let message = "include can only be sources. Send include=sources, or leave it out.";
            return Err(Error::InvalidParameter(message.into()));
        }
        includes = true;
    }
    Ok(includes)
}

/// Returns the fields `irs` and `sources`, each after a comma.
async fn sources_json(app: &App, nonprofit: &Nonprofit<'_>) -> Result<Vec<u8>> {
    let imports = app
        .caches
        .provenance
        .list(&app.db, app.directory.view().revision)
        .await?;
    let found = field_sources::list(&app.db, &imports, nonprofit.id).await?;
    let found = found.unwrap_or_default();
    let mut out = br#","irs":"#.to_vec();
    serde_json::to_writer(&mut out, &IrsBody::new(nonprofit, found.revenue)).expect("facts are plain data");
    out.extend_from_slice(br#","sources":"#);
    serde_json::to_writer(&mut out, &sources::bodies(found)).expect("sources are plain data");
    Ok(out)
}
