//! A page is a struct and a template.

use crate::error::Error;
use askama::Template;
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::{Html, IntoResponse, Response};

/// Answers with a rendered template: `Ok(Page(SignIn { frame, form }))`.
#[derive(Debug)]
pub struct Page<T>(pub T);

/// A page that is the same for everybody: it may be kept, but has to be asked for again.
#[derive(Debug)]
pub struct PublicPage<T>(pub T);

impl<T: Template> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        match self.0.render() {
            Ok(html) => Html(html).into_response(),
            Err(fault) => {
                tracing::error!(%fault, "a page could not be drawn");
                Error::Internal.into_response()
            }
        }
    }
}

impl<T: Template> IntoResponse for PublicPage<T> {
    fn into_response(self) -> Response {
        let mut response = Page(self.0).into_response();
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}
