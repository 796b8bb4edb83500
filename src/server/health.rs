//! Health checks for load balancers and service managers.

use crate::app::App;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// `GET /healthz`: whether the process is alive.
pub async fn healthz() -> Response {
    json(StatusCode::OK, r#"{"status":"ok"}"#)
}

/// `GET /readyz`: whether the directory can be read, from a snapshot or from the database.
pub async fn readyz(State(app): State<App>) -> Response {
    if app.directory.is_ready().await {
        json(StatusCode::OK, r#"{"status":"ready"}"#)
    } else {
        json(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"not ready"}"#)
    }
}

fn json(status: StatusCode, body: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
    ];
    (status, headers, body).into_response()
}
