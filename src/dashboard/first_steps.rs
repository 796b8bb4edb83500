//! `GET /dashboard/first-steps`: examples that contain the user's own public key, ready to run.

use crate::app::App;
use crate::http::error::Result;
use crate::web::layout::Tab;
use crate::web::texts::fill;
use crate::web::{Layout, Page};
use access::keys::{State as KeyState, store};
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};

#[derive(Template)]
#[template(path = "dashboard/first_steps.html")]
struct FirstSteps {
    layout: Layout,
    lead: String,
    /// If `None`, the page explains how to create a key.
    key: Option<String>,
    url: String,
}

pub async fn first_steps(State(app): State<App>, user: SignedIn, layout: Layout) -> Result<Response> {
    let now = app.clock.millis();
    let keys = store::list(&app.db, Some(&user.username)).await?;
    let usable = keys.into_iter().find(|key| {
        let is_public = key.public_key.is_some();
        is_public && key.ends_at.is_none() && key.state_at(now) == KeyState::Active
    });
    let name = usable.as_ref().map_or("", |key| key.name.as_str());
    let page = FirstSteps {
        lead: fill(layout.t.steps.lead, &[("name", name)]),
        layout: layout.with_menu(&user, Tab::FirstSteps),
        key: usable.and_then(|key| key.public_key),
        url: app.config.public_url.clone(),
    };
    Ok(Page(page).into_response())
}
