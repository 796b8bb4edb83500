//! Health checks for load balancers and service managers.

use crate::app::App;
use crate::app::availability::{Obstacle, Readiness};
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
    /// Only present if the server is not ready for everything.
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

/// `GET /readyz`: whether load balancers should send requests here: a snapshot is open, the server is not stopping, and it
/// answers reads. It is degraded while it answers nothing else, because the store is away.
pub async fn readyz(State(app): State<App>) -> Response {
    let readiness = app.readiness();
    let is_ready = readiness.serves_reads;
    report(&app, readiness, is_ready)
}

/// `GET /readyz/write`: whether the server is ready for everything, for load balancers that prefer such servers.
pub async fn readyz_write(State(app): State<App>) -> Response {
    let readiness = app.readiness();
    let is_ready = readiness.serves_writes();
    report(&app, readiness, is_ready)
}

fn report(app: &App, readiness: Readiness, is_ready: bool) -> Response {
    let status = if readiness.serves_writes() {
        "ready"
    } else if readiness.serves_reads {
        "degraded"
    } else {
        "not ready"
    };
    let body = ReadinessBody {
        status,
        reasons: readiness.obstacles.into_iter().map(ReasonBody::from).collect(),
    };
    let code = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    json(
        app,
        code,
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
