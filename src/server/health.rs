//! Health checks for load balancers and service managers.

use crate::app::App;
use crate::http::transport_security;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// `GET /healthz`: whether the process is alive.
pub async fn healthz(State(app): State<App>) -> Response {
    json(&app, StatusCode::OK, r#"{"status":"ok"}"#)
}

/// `GET /readyz`: whether the directory can be read, from a snapshot or from the database.
pub async fn readyz(State(app): State<App>) -> Response {
    if app.directory.is_ready().await {
        json(&app, StatusCode::OK, r#"{"status":"ready"}"#)
    } else {
        json(&app, StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"not ready"}"#)
    }
}

fn json(app: &App, status: StatusCode, body: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
    ];
    let mut response = (status, headers, body).into_response();
    if transport_security::is_required(&app.config.public_url) {
        transport_security::add_header(response.headers_mut());
    }
    response
}
