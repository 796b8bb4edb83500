//! A page is a struct and a template.

use crate::error::Error;
use askama::Template;
use axum::response::{Html, IntoResponse, Response};

/// Answers with a rendered template: `Ok(Page(SignIn { frame, form }))`.
#[derive(Debug)]
pub struct Page<T>(pub T);

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
