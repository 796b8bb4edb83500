//! `GET /dashboard/first-steps`: examples that run as they stand, with the reader's own public key in them.

use crate::app::App;
use crate::http::error::Result;
use crate::web::frame::Tab;
use crate::web::texts::fill;
use crate::web::{Frame, Page};
use access::keys::{State as KeyState, store};
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};

#[derive(Template)]
#[template(path = "dashboard/first_steps.html")]
struct FirstSteps {
    frame: Frame,
    lead: String,
    /// Without one, the page says how to get it.
    key: Option<String>,
    url: String,
}

pub async fn first_steps(State(app): State<App>, who: SignedIn, frame: Frame) -> Result<Response> {
    let now = app.clock.millis();
    let keys = store::list(&app.db, Some(&who.username)).await?;
    let usable = keys.into_iter().find(|key| {
        let is_public = key.public_key.is_some();
        is_public && key.ends_at.is_none() && key.state_at(now) == KeyState::Active
    });
    let name = usable.as_ref().map_or("", |key| key.name.as_str());
    let page = FirstSteps {
        lead: fill(frame.t.steps.lead, &[("name", name)]),
        frame: frame.at(&who, Tab::FirstSteps),
        key: usable.and_then(|key| key.public_key),
        url: app.config.public_url.clone(),
    };
    Ok(Page(page).into_response())
}
