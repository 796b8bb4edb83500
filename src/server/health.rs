//! Is the process alive, and can it answer? For load balancers and service managers.

use crate::app::App;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// The process answers.
pub async fn healthz() -> Response {
    answer(StatusCode::OK, r#"{"status":"ok"}"#)
}

/// The directory can be asked: a snapshot is open, or the store answers in its place.
pub async fn readyz(State(app): State<App>) -> Response {
    match app.directory.is_ready().await {
        true => answer(StatusCode::OK, r#"{"status":"ready"}"#),
        false => answer(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"not ready"}"#),
    }
}

fn answer(status: StatusCode, body: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
    ];
    (status, headers, body).into_response()
}
