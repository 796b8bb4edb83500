//! The spans of a request and of its queries, for an OpenTelemetry collector.

use super::facts::{RequestFacts, RequestTrace};
use crate::app::traces::{Attribute, Span, SpanId, SpanKind};
use axum::http::{Method, StatusCode};
use platform::db::Db;
use std::time::Duration;

/// Queues the span of the request and those of its queries for export.
pub(super) fn send(facts: &RequestFacts, trace: &RequestTrace, status: StatusCode, took: Duration) {
    let (active, route) = (&trace.active, facts.route());
    let text = |text: &str| Attribute::Text(text.to_owned());
    let method = known_method(&facts.method);
    let end = facts.app.clock.nanos();
    let mut attributes = vec![
        ("http.request.method", text(method)),
        ("http.route", text(route)),
        (
            "http.response.status_code",
            Attribute::Number(status.as_u16().into()),
        ),
        ("causeway.request_id", text(facts.id.as_str())),
    ];
    if let Some(key) = facts.record.key.get() {
        attributes.push(("causeway.key_id", Attribute::Text(key.to_string())));
    }
    let request = Span {
        trace: active.trace,
        id: active.id,
        parent: active.parent,
        name: format!("{method} {route}"),
        kind: SpanKind::Server,
        start: end.saturating_sub(took.as_nanos() as u64),
        end,
        is_error: status.is_server_error(),
        attributes,
    };
    let system = match facts.app.db {
        Db::Sqlite { .. } => "sqlite",
        Db::Postgres(_) => "postgresql",
    };
    let queries = active.queries.take().into_iter().map(|query| Span {
        trace: active.trace,
        id: SpanId::random(),
        parent: Some(active.id),
        kind: SpanKind::Client,
        start: query.end.saturating_sub(query.duration.as_nanos() as u64),
        end: query.end,
        is_error: false,
        attributes: vec![
            ("db.system.name", text(system)),
            ("db.query.summary", text(&query.summary)),
        ],
        name: query.summary,
    });
    facts
        .app
        .telemetry
        .traces
        .send([request].into_iter().chain(queries).collect());
}

/// Returns the name of a standard method. All others share one name, as the conventions of OpenTelemetry require.
fn known_method(method: &Method) -> &str {
    match *method {
        Method::GET
        | Method::HEAD
        | Method::POST
        | Method::PUT
        | Method::PATCH
        | Method::DELETE
        | Method::OPTIONS => method.as_str(),
        _ => "_OTHER",
    }
}
