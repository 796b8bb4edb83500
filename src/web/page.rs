//! A page is a struct and a template.

use crate::http::error::{Error, Result};
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

/// Most pages are shorter, so that drawing one takes its room once.
const USUAL: usize = 12 * 1_024;

/// Draws a template.
pub fn draw(page: &impl Template) -> Result<String> {
    let mut html = String::with_capacity(USUAL);
    match page.render_into(&mut html) {
        Ok(()) => Ok(html),
        Err(fault) => {
            tracing::error!(%fault, "a page could not be drawn");
            Err(Error::Internal)
        }
    }
}

impl<T: Template> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        draw(&self.0).map(Html).into_response()
    }
}

impl<T: Template> IntoResponse for PublicPage<T> {
    fn into_response(self) -> Response {
        public(draw(&self.0).map(Html))
    }
}

/// Answers with a page, drawn already, that is the same for everybody.
pub fn public(html: impl IntoResponse) -> Response {
    let mut response = html.into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
