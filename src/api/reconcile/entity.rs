//! What all parts of the service share: the one type of its entities, how they are found, and the form of responses.

use crate::app::App;
use crate::http::error::{Error, Result};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use directory::nonprofits::Nonprofit;
use directory::nonprofits::identifier::Identifier;
use directory::{HitLocation, View};
use serde::Serialize;
use std::sync::Arc;

/// The one type of all entities.
pub(super) const TYPE_ID: &str = "nonprofit";
pub(super) const TYPE_NAME: &str = "Nonprofit";

/// A type or a property.
#[derive(Clone, Copy, Serialize)]
pub struct Named<'a> {
    pub id: &'a str,
    pub name: &'a str,
}

pub(super) const NONPROFIT: Named<'static> = Named {
    id: TYPE_ID,
    name: TYPE_NAME,
};

/// Returns the current view, which needs a snapshot.
pub(super) fn usable_view(app: &App) -> Result<Arc<View>> {
    let view = app.directory.view();
    if view.snapshot.is_none() {
        return Err(Error::Unavailable);
    }
    Ok(view)
}

/// Returns a JSON response that is not stored.
pub(super) fn json(body: &impl Serialize) -> Response {
    json_bytes(serde_json::to_vec(body).expect("texts and numbers are plain data"))
}

/// Does the same with a body that is JSON already.
pub(super) fn json_bytes(body: Vec<u8>) -> Response {
    let headers = [
        (
            CONTENT_TYPE,
            HeaderValue::from_static("application/json; charset=utf-8"),
        ),
        (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
    ];
    (headers, body).into_response()
}

/// Returns where the nonprofit with an ID, an EIN or a slug is.
pub(super) fn locate(view: &View, text: &str) -> Option<HitLocation> {
    let identifier = Identifier::parse(text).ok()?;
    view.locate(&identifier)
}

/// Returns what tells nonprofits with the same name apart: the chapter, the place and the EIN.
pub(super) fn describe(nonprofit: &Nonprofit<'_>) -> String {
    let ein = nonprofit.ein.map(|ein| format!("EIN {}", ein.dashed()));
    let parts = [
        nonprofit.distinguishing_chapter().unwrap_or_default().to_owned(),
        nonprofit.location(),
        ein.unwrap_or_default(),
    ];
    let known: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    known.join(" · ")
}
