//! `GET /media/{hosted id}`: the pictures that we make for nonprofits and causes.

use super::{cover, monogram};
use crate::app::App;
use crate::error::{Error, Result};
use crate::http::cache::Known;
use crate::http::params::PathText;
use crate::ids::NonprofitId;
use crate::nonprofits::identifier::Identifier;
use axum::extract::State;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

/// The picture with this id.
pub async fn picture(
    State(app): State<App>,
    PathText(hosted_id): PathText,
    known: Known,
) -> Result<Response> {
    let svg = draw(&app, &hosted_id).await?.ok_or(Error::NotFound)?;
    // The picture is drawn from a name that may change, so its tag is made from what is drawn.
    let tag = format!("\"{:08x}-{:x}\"", crc32fast::hash(svg.as_bytes()), svg.len());
    let tag = HeaderValue::try_from(tag).expect("a tag is plain text");
    let mut response = match known.has(&tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, "image/svg+xml")], svg).into_response(),
    };
    let fields = response.headers_mut();
    fields.insert(ETAG, tag);
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400"));
    fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    );
    fields.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    Ok(response)
}

async fn draw(app: &App, hosted_id: &str) -> Result<Option<String>> {
    if let Some(name) = hosted_id.strip_prefix("cause-") {
        let cause = app.directory.causes().find(name);
        return Ok(cause.map(|cause| cover::cover_svg(&cause.title, cause.id.as_u128())));
    }
    let (draw, id): (fn(&str, u128) -> String, _) = match hosted_id.split_once('-') {
        Some(("logo", id)) => (monogram::logo_svg, id),
        Some(("cover", id)) => (cover::cover_svg, id),
        _ => return Ok(None),
    };
    let Ok(id) = Uuid::try_parse(id) else {
        return Ok(None);
    };
    let found = app.directory.find(&Identifier::Id(NonprofitId(id))).await?;
    Ok(found
        .as_ref()
        .and_then(super::super::directory::Found::nonprofit)
        .map(|nonprofit| draw(nonprofit.name, id.as_u128())))
}
