//! What is recorded about a request: metrics, spans, the usage of its keys, and a log line.
//!
//! The log contains the ID of a key, never the key: paths are logged without the query.

use super::facts::RequestFacts;
use super::spans;
use crate::app::recent_errors::FailedRequest;
use access::keys::mask;
use access::usage::endpoint::Endpoint;
use axum::http::StatusCode;
use std::sync::OnceLock;
use std::time::Duration;

/// Requests that take longer are always logged.
const SLOW_REQUEST: Duration = Duration::from_secs(1);

const SEARCH_PREFIX: &str = "/v0.2/search/";
const SEARCH_ROUTE: &str = "/v0.2/search/{searchTerm}";

/// Records a request whose response is ready.
pub(super) fn record(facts: &RequestFacts, status: StatusCode) {
    let took = facts.app.clock.instant() - facts.started;
    let (metrics, route) = (&facts.app.telemetry.metrics, facts.route());
    metrics.request(route, status, took);
    if let Some(trace) = &facts.trace {
        spans::send(facts, trace, status, took);
    }
    if status == StatusCode::TOO_MANY_REQUESTS {
        metrics.refusal(facts.record.limit.get().map(|(class, _)| *class));
    }
    count_usage(facts, route, status);
    if status.is_server_error() {
        note_failure(facts, route, status);
    }
    if facts.path.is_some() || took > SLOW_REQUEST || status.is_server_error() {
        let path = facts.path.as_deref().unwrap_or(route);
        write_line(facts, &mask(path), status, took);
    }
}

/// Counts a rate-limited call for each key that made it.
fn count_usage(facts: &RequestFacts, route: &str, status: StatusCode) {
    if facts.record.limit.get().is_none() {
        return;
    }
    // A search term with a slash has a route of its own.
    let route = if route.starts_with(SEARCH_PREFIX) {
        SEARCH_ROUTE
    } else {
        route
    };
    let (endpoint, now) = (Endpoint::of_route(route), facts.app.clock.millis());
    let keys = [&facts.record.key, &facts.record.private_key];
    for key in keys.into_iter().filter_map(OnceLock::get) {
        facts.app.access.usage.count(*key, endpoint, status.as_u16(), now);
    }
}

/// Adds a request that failed to the list that operators see.
fn note_failure(facts: &RequestFacts, route: &str, status: StatusCode) {
    facts.app.telemetry.recent_errors.note(FailedRequest {
        at: facts.app.clock.millis(),
        request: facts.id.to_string(),
        method: facts.method.to_string(),
        route: route.to_owned(),
        status: status.as_u16(),
        key: facts.record.key.get().copied(),
    });
}

/// Writes the log line of a request.
fn write_line(facts: &RequestFacts, path: &str, status: StatusCode, took: Duration) {
    let (id, method) = (facts.id.as_str(), &facts.method);
    let key = facts.record.key.get().map(tracing::field::display);
    let trace_id = facts.trace_id.map(tracing::field::display);
    let status = status.as_u16();
    let micros = took.as_micros() as u64;
    if let 500.. = status {
        tracing::error!(request = id, trace_id, key, %method, path, status, micros, "request failed");
    } else {
        tracing::info!(request = id, trace_id, key, %method, path, status, micros, "request");
    }
}
