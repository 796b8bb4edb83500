//! Finding the nonprofit of a page, and redirecting to the URL under which a page is served.

use crate::http::error::{Error, Result};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use directory::{Directory, NonprofitRef, ResolveError};

/// Finds the nonprofit that a URL names by its slug, its ID or its EIN, with or without a dash.
pub async fn find(directory: &Directory, text: &str) -> Result<NonprofitRef> {
    let found = directory.resolve_lenient(text).await;
    found.map_err(|error| match error {
        ResolveError::Store(error) => error.into(),
        ResolveError::NotFound | ResolveError::FormattedEin(_) => Error::NotFound,
    })
}

/// Redirects to `path`, keeping the query of the request.
pub fn redirect_permanently(path: &str, query: Option<&str>) -> Response {
    let location = match query {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    (StatusCode::MOVED_PERMANENTLY, [(LOCATION, location)]).into_response()
}
