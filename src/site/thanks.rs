//! The page of the link that stops thank-you emails of organizers. It works without an account.

use crate::app::App;
use crate::http::error::Result;
use crate::http::params::{RawQuery, values};
use crate::web::form_page::FormPage;
use crate::web::{Form, Layout, Section};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use giving::thanks::link::{STOP_PATH, verify};
use giving::thanks::store;

/// `GET /donations/emails/stop?token=`: shows a button, because programs that scan emails also open links.
pub async fn stop_page(State(app): State<App>, RawQuery(query): RawQuery) -> Response {
    let layout = Layout::new(Section::Other);
    let t = &layout.f.thanks;
    let token = values(&query, "token").next().unwrap_or_default();
    if verify(&app.secret, &token).is_none() {
        return invalid(layout);
    }
    let form = Form::new(format!("{STOP_PATH}?token={token}"), t.stop, Vec::new());
    let title = t.stop_title;
    let lead = t.stop_lead;
    FormPage::new(layout, title, form).lead(lead).into_response()
}

/// `POST /donations/emails/stop?token=`: from the button, or from a mail program as in RFC 8058, whatever its body says.
pub async fn stop(State(app): State<App>, RawQuery(query): RawQuery) -> Result<Response> {
    let layout = Layout::new(Section::Other);
    let token = values(&query, "token").next().unwrap_or_default();
    let Some(mailbox) = verify(&app.secret, &token) else {
        return Ok(invalid(layout));
    };
    store::stop(&app.db, mailbox, app.clock.millis()).await?;
    let t = &layout.f.thanks;
    let (title, text) = (t.stopped_title, t.stopped);
    Ok(FormPage::without_form(layout, title).lead(text).into_response())
}

fn invalid(layout: Layout) -> Response {
    let t = &layout.f.thanks;
    let (title, text) = (t.invalid_title, t.invalid);
    let home = t.home;
    let page = FormPage::without_form(layout, title).lead(text);
    (StatusCode::NOT_FOUND, page.link("/", home)).into_response()
}
