//! The facts about a request that the response and the log need.

use crate::app::App;
use crate::app::traces::{ActiveSpan, TraceId};
use crate::config::LoggedRequests;
use crate::http::compression::accepts_gzip;
use crate::http::request_id::RequestId;
use crate::http::request_record::RequestRecord;
use crate::http::trace_context;
use crate::server::cors::CorsPolicy;
use crate::server::query_spans::request_span;
use crate::web::error_page::is_page;
use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use std::sync::Arc;
use std::time::Instant;

/// The facts about a request that the response and the log need.
#[derive(Debug)]
pub(super) struct RequestFacts {
    pub(super) id: RequestId,
    /// The trace that the request belongs to: that of the client, or a new one.
    pub(super) trace_id: Option<TraceId>,
    /// `None` if the request is not traced.
    pub(super) trace: Option<RequestTrace>,
    pub(super) started: Instant,
    pub(super) method: Method,
    route: Option<MatchedPath>,
    /// `None` if only failed requests are logged.
    pub(super) path: Option<String>,
    /// `None` if pages of other origins may not read the response.
    pub(super) cors: Option<CorsPolicy>,
    pub(super) accepts_gzip: bool,
    /// Whether errors are shown as a page.
    pub(super) is_page: bool,
    pub(super) record: Arc<RequestRecord>,
    pub(super) app: App,
}

/// The spans of a request that is traced.
#[derive(Debug)]
pub(super) struct RequestTrace {
    pub(super) active: ActiveSpan,
    /// The span of the log, in which queries are found.
    pub(super) span: tracing::Span,
}

impl RequestFacts {
    /// Collects the facts about a request that begins now.
    pub(super) fn new(app: &App, request: &Request) -> RequestFacts {
        let path = request.uri().path();
        let parent = trace_context::parent_of(request.headers());
        let trace = app.telemetry.traces.begin(parent).map(|active| RequestTrace {
            span: request_span(&active.queries),
            active,
        });
        let own_trace = trace.as_ref().map(|trace| trace.active.trace);
        RequestFacts {
            id: RequestId::of_request(request),
            trace_id: own_trace.or(parent.map(|parent| parent.trace)),
            trace,
            started: app.clock.instant(),
            method: request.method().clone(),
            route: request.extensions().get::<MatchedPath>().cloned(),
            path: (app.config.log.requests == LoggedRequests::All).then(|| path.to_owned()),
            cors: CorsPolicy::of_path(path),
            accepts_gzip: accepts_gzip(request.headers()),
            is_page: is_page(path),
            record: Arc::default(),
            app: app.clone(),
        }
    }

    /// Returns the path of the route that matched, with the names of its parameters.
    pub(super) fn route(&self) -> &str {
        self.route.as_ref().map_or("none", MatchedPath::as_str)
    }
}
