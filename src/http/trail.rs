//! What every request leaves behind: an id, the headers that all answers carry, a count and a line in the log.
//!
//! Extractors note on the [`Trail`] which key called and what its limit said; the layer writes it out once the
//! answer is there. The log has the id of a key, never the key: an address is logged without its query.

use super::rate_limit::tell_limit;
use super::request_id::RequestId;
use crate::app::App;
use crate::config::LoggedRequests;
use crate::error::{Error, Problem};
use crate::ids::KeyId;
use crate::keys::Class;
use crate::keys::limit::Verdict;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CONTENT_LENGTH, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// An answer slower than this is logged in any case.
const SLOW: Duration = Duration::from_secs(1);

/// Notes that are taken while a request is answered.
#[derive(Debug, Default)]
pub struct Trail {
    pub key: OnceLock<KeyId>,
    /// The other key of a privileged call.
    pub private_key: OnceLock<KeyId>,
    pub limit: OnceLock<(Class, u32, Verdict)>,
}

impl Trail {
    /// Counts a call that a limit judged for the keys it was made with.
    fn count(&self, app: &App, status: StatusCode) {
        if let Some((class, ..)) = self.limit.get() {
            let now = app.clock.millis();
            for key in [&self.key, &self.private_key]
                .into_iter()
                .filter_map(OnceLock::get)
            {
                app.usage.count(*key, *class, status, now);
            }
        }
    }
}

/// The outermost layer of all routes but the health checks.
pub async fn follow(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let begun = app.clock.instant();
    let id = RequestId::next();
    let trail = Arc::new(Trail::default());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let path = match app.config.log.requests {
        LoggedRequests::All => Some(request.uri().path().to_owned()),
        LoggedRequests::Failed => None,
    };
    request.extensions_mut().insert(Arc::clone(&trail));
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        problem.write(&mut response, &id);
    }
    let headers = response.headers_mut();
    headers.insert(
        REQUEST_ID,
        HeaderValue::from_str(id.as_str()).expect("an id is plain text"),
    );
    if let Some((class, per_minute, verdict)) = trail.limit.get() {
        tell_limit(headers, class.name(), *per_minute, verdict);
    }
    let took = app.clock.instant() - begun;
    let status = response.status();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    app.metrics.request(route, status, took);
    trail.count(&app, status);
    if path.is_some() || took > SLOW || status.is_server_error() {
        log(
            &id,
            &trail,
            &method,
            path.as_deref().unwrap_or(route),
            status,
            took,
        );
    }
    response
}

/// Refuses a body that says it is too large before anything of it is read.
pub async fn refuse_large(State(app): State<App>, request: Request, next: Next) -> Response {
    match declared_length(request.headers()) {
        Some(length) if length > app.config.max_body as u64 => {
            Error::TooLarge(app.config.max_body).into_response()
        }
        _ => next.run(request).await,
    }
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn log(id: &RequestId, trail: &Trail, method: &Method, path: &str, status: StatusCode, took: Duration) {
    let key = trail.key.get().map(tracing::field::display);
    let status = status.as_u16();
    let micros = took.as_micros() as u64;
    if let 500.. = status {
        tracing::error!(request = id.as_str(), key, %method, path, status, micros, "request failed");
    } else {
        tracing::info!(request = id.as_str(), key, %method, path, status, micros, "request");
    }
}
