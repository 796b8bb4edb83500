//! The titles of causes as JSON, for scripts that show nonprofits: the API names causes by their slugs.

use crate::app::App;
use axum::extract::State;
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

/// `GET /causes.json`: the title of each cause. Embedded search boxes on other sites read it too.
pub async fn cause_titles(State(app): State<App>) -> Response {
    let causes = app.directory.causes().list().iter();
    let titles: Map<String, Value> = causes
        .map(|cause| (cause.name.clone(), Value::from(cause.title.as_str())))
        .collect();
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "public, max-age=3600"),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        ),
    ];
    (headers, Value::Object(titles).to_string()).into_response()
}
