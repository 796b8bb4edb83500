//! A page that is a title, a sentence and a form: signing in, confirming, asking back.

use super::{Form, Frame, Page};
use askama::Template;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use std::time::Duration;

#[derive(Debug, Template)]
#[template(path = "web/form_page.html")]
pub struct FormPage {
    frame: Frame,
    title: String,
    lead: Option<String>,
    form: Option<Form>,
    links: Vec<(String, &'static str)>,
}

impl FormPage {
    pub fn new(frame: Frame, title: impl Into<String>, form: Form) -> FormPage {
        let mut page = FormPage::without_form(frame, title);
        page.form = Some(form);
        page
    }

    /// A page that only tells something.
    pub fn without_form(frame: Frame, title: impl Into<String>) -> FormPage {
        FormPage {
            frame,
            title: title.into(),
            lead: None,
            form: None,
            links: Vec::new(),
        }
    }

    #[must_use]
    pub fn lead(mut self, lead: impl Into<String>) -> FormPage {
        self.lead = Some(lead.into());
        self
    }

    /// A way on below the form.
    #[must_use]
    pub fn link(mut self, address: impl Into<String>, text: &'static str) -> FormPage {
        self.links.push((address.into(), text));
        self
    }

    /// The answer to a form that has to be looked at again.
    pub fn refused(self) -> Response {
        (StatusCode::UNPROCESSABLE_ENTITY, self).into_response()
    }

    /// The answer to somebody who has to wait.
    pub fn too_often(self, wait: Duration) -> Response {
        let seconds = wait.as_millis().div_ceil(1_000).max(1).to_string();
        (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, seconds)], self).into_response()
    }
}

impl IntoResponse for FormPage {
    fn into_response(self) -> Response {
        Page(self).into_response()
    }
}
