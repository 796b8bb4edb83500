//! Pages with a title, an introduction and a form, such as signing in or confirming an action.

use super::{Form, Layout, Page};
use askama::Template;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use std::time::Duration;

/// A page with an optional introduction, form and links.
#[derive(Debug, Template)]
#[template(path = "web/form_page.html")]
pub struct FormPage {
    layout: Layout,
    title: String,
    lead: Option<String>,
    /// The name of a script of the form.
    script: Option<&'static str>,
    form: Option<Form>,
    links: Vec<(String, &'static str)>,
}

impl FormPage {
    pub fn new(layout: Layout, title: impl Into<String>, form: Form) -> FormPage {
        let mut page = FormPage::without_form(layout, title);
        page.form = Some(form);
        page
    }

    /// Creates a page that shows only a message.
    pub fn without_form(layout: Layout, title: impl Into<String>) -> FormPage {
        FormPage {
            layout,
            title: title.into(),
            lead: None,
            script: None,
            form: None,
            links: Vec::new(),
        }
    }

    #[must_use]
    pub fn lead(mut self, lead: impl Into<String>) -> FormPage {
        self.lead = Some(lead.into());
        self
    }

    /// Adds a script of the form, which works without it too.
    #[must_use]
    pub fn script(mut self, name: &'static str) -> FormPage {
        self.script = Some(name);
        self
    }

    /// Adds a link below the form.
    #[must_use]
    pub fn link(mut self, url: impl Into<String>, text: &'static str) -> FormPage {
        self.links.push((url.into(), text));
        self
    }

    /// Responds to a form that has errors.
    pub fn invalid(self) -> Response {
        (StatusCode::UNPROCESSABLE_ENTITY, self).into_response()
    }

    /// Responds to a client that has to wait before it tries again.
    pub fn too_many_requests(self, wait: Duration) -> Response {
        let seconds = wait.as_millis().div_ceil(1_000).max(1).to_string();
        (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, seconds)], self).into_response()
    }
}

impl IntoResponse for FormPage {
    fn into_response(self) -> Response {
        Page(self).into_response()
    }
}
