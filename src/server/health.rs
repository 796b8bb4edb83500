//! Health checks for load balancers and service managers.

use crate::app::App;
use crate::app::availability::Obstacle;
use crate::http::transport_security;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use platform::clock::rfc3339;
use serde::Serialize;

#[derive(Serialize)]
struct ReadinessBody {
    status: &'static str,
    /// Only present if the server is not ready.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<ReasonBody>,
}

#[derive(Serialize)]
struct ReasonBody {
    reason: &'static str,
    /// For a store that does not respond, when it last did.
    since: String,
}

impl From<Obstacle> for ReasonBody {
    fn from(obstacle: Obstacle) -> ReasonBody {
        ReasonBody {
            reason: obstacle.kind.as_str(),
            since: rfc3339(obstacle.since),
        }
    }
}

/// `GET /healthz`: whether the process is alive.
pub async fn healthz(State(app): State<App>) -> Response {
    json(&app, StatusCode::OK, r#"{"status":"ok"}"#.to_owned())
}

/// `GET /readyz`: whether load balancers should send requests here: a snapshot is open, the store has responded within
/// `serve.max_stale`, and the server is not stopping.
pub async fn readyz(State(app): State<App>) -> Response {
    let obstacles = app.availability.obstacles(app.directory.has_snapshot());
    let (status, text) = if obstacles.is_empty() {
        (StatusCode::OK, "ready")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready")
    };
    let body = ReadinessBody {
        status: text,
        reasons: obstacles.into_iter().map(ReasonBody::from).collect(),
    };
    json(
        &app,
        status,
        serde_json::to_string(&body).expect("text is valid JSON"),
    )
}

fn json(app: &App, status: StatusCode, body: String) -> Response {
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
