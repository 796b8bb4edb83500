//! What embedded scripts ask the server: may the page show the checkout in a dialog, how much has a fundraiser raised, and
//! what are the titles of causes?

use crate::app::App;
use crate::http::client::Client;
use crate::http::error::Result;
use crate::http::params::PathPair;
use crate::site::checkout::embedding::Embedder;
use crate::site::fundraiser_links;
use crate::site::search::admit;
use crate::web::fundraiser_article::{percent, supporters_line};
use crate::web::texts::{PUBLIC_EN, fill};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, HeaderName, ORIGIN, VARY,
};
use axum::response::{IntoResponse, Response};
use giving::fundraisers::goal::Goal;
use giving::providers::Provider;
use serde_json::{Map, Value, json};

/// `GET /embed/origin`: whether the page that asks may show the checkout in a dialog. Browsers send its origin.
pub async fn origin(State(app): State<App>, client: Client, headers: HeaderMap) -> Result<Response> {
    admit(&app, client).await?;
    let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    let embedder = match origin {
        Some(origin) if app.config.giving != Provider::Off => Embedder::admit(&app, origin).await?,
        _ => None,
    };
    Ok(answer(
        &json!({ "dialog": embedder.is_some() }),
        "private, max-age=300",
    ))
}

/// `GET /embed/fundraisers/{nonprofit}/{fundraiser}`: what the thermometer of a fundraiser shows.
pub async fn fundraiser(
    State(app): State<App>,
    client: Client,
    PathPair(nonprofit, name): PathPair,
) -> Result<Response> {
    admit(&app, client).await?;
    let found = fundraiser_links::find(&app.directory, &app.giving.fundraisers, &nonprofit, &name).await?;
    let (fundraiser, t) = (&found.fundraiser, &PUBLIC_EN.fundraiser);
    let totals = found.totals.counted(app.is_test_mode());
    let goal = Goal::after(totals.raised, fundraiser.goal).amount();
    let totals = fundraiser.verified(totals);
    let is_open = fundraiser.is_active(app.clock.millis()) && app.config.giving != Provider::Off;
    let body = json!({
        "title": fundraiser.title,
        "raised": totals.raised.to_string(),
        "ofGoal": fill(t.of_goal, &[("goal", &goal.to_string())]),
        "percent": percent(totals.raised.get(), goal.get()),
        "supporters": supporters_line(totals.supporters, t),
        "isOpen": is_open,
        "notice": app.is_test_mode().then_some(t.test_mode),
    });
    Ok(answer(&body, "public, max-age=60"))
}

/// `GET /embed/causes.json`: the title of each cause, for scripts that show nonprofits: the API names causes by their slugs.
pub async fn causes(State(app): State<App>) -> Response {
    let causes = app.directory.causes().list().iter();
    let titles: Map<String, Value> = causes
        .map(|cause| (cause.name.clone(), Value::from(cause.title.as_str())))
        .collect();
    answer(&Value::Object(titles), "public, max-age=3600")
}

fn answer(body: &Value, cache: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, cache),
        (VARY, "origin"),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        ),
    ];
    (headers, body.to_string()).into_response()
}
