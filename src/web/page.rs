//! Responses that render a page from a template.

use crate::app::compressible_text::CompressibleText;
use crate::http::error::{Error, Result};
use askama::Template;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};

/// A response with a rendered template: `Ok(Page(SignIn { layout, form }))`.
#[derive(Debug)]
pub struct Page<T>(pub T);

/// A page that is the same for every visitor. Caches may store it but must revalidate it.
#[derive(Debug)]
pub struct PublicPage<T>(pub T);

/// The initial buffer size in bytes. Most pages are shorter, so rendering one allocates only once.
const INITIAL_CAPACITY: usize = 12 * 1_024;

/// Renders a template.
pub fn render(page: &impl Template) -> Result<String> {
    let mut html = String::with_capacity(INITIAL_CAPACITY);
    match page.render_into(&mut html) {
        Ok(()) => Ok(html),
        Err(error) => {
            tracing::error!(%error, "failed to render a page");
            Err(Error::Internal)
        }
    }
}

impl<T: Template> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        render(&self.0).map(Html).into_response()
    }
}

impl<T: Template> IntoResponse for PublicPage<T> {
    fn into_response(self) -> Response {
        render(&self.0)
            .map(|html| public_response(CompressibleText::once(html)))
            .into_response()
    }
}

/// Turns rendered HTML that is the same for every visitor into a response.
pub fn public_response(html: CompressibleText) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, html).into_response()
}
