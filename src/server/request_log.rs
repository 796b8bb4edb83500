//! The layer that gives every request an ID, common response headers, metrics, usage counts and a log line.
//!
//! Extractors record the key of a request and the verdict of its rate limit in the [`RequestRecord`]; the layer reads it
//! once the response is there. The log contains the ID of a key, never the key: paths are logged without the query.

use super::cors;
use super::query_spans::request_span;
use crate::app::App;
use crate::app::recent_errors::FailedRequest;
use crate::app::traces::{ActiveSpan, Attribute, Span, SpanId, SpanKind, TraceId};
use crate::config::LoggedRequests;
use crate::http::error::{Error, Problem};
use crate::http::rate_limit::write_rate_limit_headers;
use crate::http::request_id::{RequestId, X_REQUEST_ID};
use crate::http::request_record::RequestRecord;
use crate::http::trace_context;
use crate::http::transport_security;
use crate::web::error_page::{self, is_page};
use crate::web::guard;
use crate::web::identity::{self, Identity};
use access::keys::mask;
use access::usage::endpoint::Endpoint;
use axum::extract::{MatchedPath, Request};
use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use pin_project_lite::pin_project;
use platform::db::Db;
use std::any::Any;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tower::{Layer, Service};

/// Requests that take longer are always logged.
const SLOW_REQUEST: Duration = Duration::from_secs(1);

const SEARCH_PREFIX: &str = "/v0.2/search/";
const SEARCH_ROUTE: &str = "/v0.2/search/{searchTerm}";

/// The outermost layer of all routes except the health checks.
///
/// It is a single layer because each layer of a router costs every request two allocations.
#[derive(Clone, Debug)]
pub struct RequestLogLayer {
    app: App,
    /// The identity that pages show.
    site: &'static Identity,
}

impl RequestLogLayer {
    /// Creates the layer of a server.
    pub fn new(app: App) -> RequestLogLayer {
        let site = Identity::new(&app.config.site, &app.site_files);
        RequestLogLayer { app, site }
    }
}

impl<S> Layer<S> for RequestLogLayer {
    type Service = RequestLogService<S>;

    fn layer(&self, inner: S) -> RequestLogService<S> {
        RequestLogService {
            inner,
            app: self.app.clone(),
            site: self.site,
        }
    }
}

/// The service of [`RequestLogLayer`].
#[derive(Clone, Debug)]
pub struct RequestLogService<S> {
    inner: S,
    app: App,
    site: &'static Identity,
}

impl<S> Service<Request> for RequestLogService<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = RequestLogFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let log = &self.app.config.log;
        let parent = trace_context::parent_of(request.headers());
        let trace = self.app.traces.begin(parent).map(|active| RequestTrace {
            span: request_span(&active.queries),
            active,
        });
        let log = RequestLog {
            id: RequestId::of_request(&request),
            trace_id: trace
                .as_ref()
                .map(|trace| trace.active.trace)
                .or(parent.map(|parent| parent.trace)),
            trace,
            started: self.app.clock.instant(),
            method: request.method().clone(),
            route: request.extensions().get::<MatchedPath>().cloned(),
            path: (log.requests == LoggedRequests::All).then(|| request.uri().path().to_owned()),
            is_open: cors::is_open(request.uri().path()),
            methods: cors::methods_of(request.uri().path()),
            is_page: is_page(request.uri().path()),
            record: Arc::default(),
            app: self.app.clone(),
            site: self.site,
        };
        let state = if let Some(response) = log.early_response(request.headers()) {
            FutureState::Ready {
                response: Some(response),
            }
        } else {
            request.extensions_mut().insert(Arc::clone(&log.record));
            FutureState::Pending {
                future: self.inner.call(request),
            }
        };
        RequestLogFuture { state, log }
    }
}

pin_project! {
    /// A pending response.
    pub struct RequestLogFuture<F> {
        #[pin]
        state: FutureState<F>,
        log: RequestLog,
    }
}

pin_project! {
    #[project = FutureStateProjection]
    enum FutureState<F> {
        Ready { response: Option<Response> },
        Pending { #[pin] future: F },
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for RequestLogFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let _site = identity::enter(this.log.site);
        let mut response = match this.state.project() {
            FutureStateProjection::Ready { response } => response.take().expect("polled after completion"),
            // A handler that panics is not polled again, and the locks it shared tolerate poisoning.
            FutureStateProjection::Pending { future } => {
                let _entered = this.log.trace.as_ref().map(|trace| trace.span.enter());
                match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
                    Ok(polled) => ready!(polled)?,
                    Err(panic) => panicked(panic.as_ref()),
                }
            }
        };
        this.log.finish(&mut response);
        Poll::Ready(Ok(response))
    }
}

/// The facts about a request that the response and the log need.
#[derive(Debug)]
struct RequestLog {
    id: RequestId,
    /// The trace that the request belongs to: that of the client, or a new one.
    trace_id: Option<TraceId>,
    /// `None` if the request is not traced.
    trace: Option<RequestTrace>,
    started: Instant,
    method: Method,
    route: Option<MatchedPath>,
    /// `None` if only failed requests are logged.
    path: Option<String>,
    /// Whether pages of other origins may read the response.
    is_open: bool,
    /// The methods that the URL supports.
    methods: &'static str,
    /// Whether errors are shown as a page.
    is_page: bool,
    record: Arc<RequestRecord>,
    app: App,
    site: &'static Identity,
}

/// The spans of a request that is traced.
#[derive(Debug)]
struct RequestTrace {
    active: ActiveSpan,
    /// The span of the log, in which queries are found.
    span: tracing::Span,
}

impl RequestLog {
    /// Returns the response to a CORS preflight, or to a request whose declared length is too large.
    fn early_response(&self, headers: &HeaderMap) -> Option<Response> {
        if self.is_open && self.method == Method::OPTIONS {
            return Some(cors::preflight(self.methods));
        }
        let max = self.app.config.max_body;
        let is_too_large = declared_length(headers).is_some_and(|length| length > max as u64);
        is_too_large.then(|| Error::TooLarge(max).into_response())
    }

    fn finish(&self, response: &mut Response) {
        if let Some(problem) = response.extensions_mut().remove::<Problem>() {
            if self.is_page {
                write_error_page(&problem, response, &self.id);
            } else {
                problem.write(response, &self.id, self.app.urls.public());
            }
        }
        let is_wrong_method = response.status() == StatusCode::METHOD_NOT_ALLOWED;
        let headers = response.headers_mut();
        let id = HeaderValue::from_str(self.id.as_str()).expect("a request ID is visible ASCII");
        headers.insert(X_REQUEST_ID, id);
        if transport_security::is_required(&self.app.config.public_url) {
            transport_security::add_header(headers);
        }
        if self.is_open {
            cors::add_headers(headers, self.methods);
            if is_wrong_method {
                headers.insert(ALLOW, HeaderValue::from_static(self.methods));
            }
        }
        if self.is_page {
            guard::add_headers(headers);
        }
        if let Some((class, decision)) = self.record.limit.get() {
            write_rate_limit_headers(headers, class.name(), decision);
        }
        let took = self.app.clock.instant() - self.started;
        let status = response.status();
        let route = self.route.as_ref().map_or("none", MatchedPath::as_str);
        self.app.metrics.request(route, status, took);
        if let Some(trace) = &self.trace {
            self.send_spans(&trace.active, route, status, took);
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            self.app
                .metrics
                .refusal(self.record.limit.get().map(|(class, _)| *class));
        }
        self.count(route, status);
        if status.is_server_error() {
            self.note_failure(route, status);
        }
        if self.path.is_some() || took > SLOW_REQUEST || status.is_server_error() {
            let path = self.path.as_deref().unwrap_or(route);
            self.log(&mask(path), status, took);
        }
    }

    /// Counts a rate-limited call for each key that made it.
    fn count(&self, route: &str, status: StatusCode) {
        if self.record.limit.get().is_none() {
            return;
        }
        // A search term with a slash has a route of its own.
        let route = if route.starts_with(SEARCH_PREFIX) {
            SEARCH_ROUTE
        } else {
            route
        };
        let (endpoint, now) = (Endpoint::of_route(route), self.app.clock.millis());
        let keys = [&self.record.key, &self.record.private_key];
        for key in keys.into_iter().filter_map(OnceLock::get) {
            self.app.usage.count(*key, endpoint, status.as_u16(), now);
        }
    }

    /// Queues the span of the request and those of its queries for export.
    fn send_spans(&self, active: &ActiveSpan, route: &str, status: StatusCode, took: Duration) {
        let text = |text: &str| Attribute::Text(text.to_owned());
        let method = known_method(&self.method);
        let end = self.app.clock.nanos();
        let mut attributes = vec![
            ("http.request.method", text(method)),
            ("http.route", text(route)),
            (
                "http.response.status_code",
                Attribute::Number(status.as_u16().into()),
            ),
            ("causeway.request_id", text(self.id.as_str())),
        ];
        if let Some(key) = self.record.key.get() {
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
        let system = match self.app.db {
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
        self.app
            .traces
            .send([request].into_iter().chain(queries).collect());
    }

    fn note_failure(&self, route: &str, status: StatusCode) {
        self.app.recent_errors.note(FailedRequest {
            at: self.app.clock.millis(),
            request: self.id.to_string(),
            method: self.method.to_string(),
            route: route.to_owned(),
            status: status.as_u16(),
            key: self.record.key.get().copied(),
        });
    }

    fn log(&self, path: &str, status: StatusCode, took: Duration) {
        let (id, method) = (self.id.as_str(), &self.method);
        let key = self.record.key.get().map(tracing::field::display);
        let trace_id = self.trace_id.map(tracing::field::display);
        let status = status.as_u16();
        let micros = took.as_micros() as u64;
        if let 500.. = status {
            tracing::error!(request = id, trace_id, key, %method, path, status, micros, "request failed");
        } else {
            tracing::info!(request = id, trace_id, key, %method, path, status, micros, "request");
        }
    }
}

/// Returns the name of a standard method. Others have one name together, as the conventions of OpenTelemetry say.
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

/// Writes the error page that a person sees in place of a problem body.
fn write_error_page(problem: &Problem, response: &mut Response, request: &RequestId) {
    *response.body_mut() = error_page::render(problem.status(), problem.detail(), request).into();
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
}

fn panicked(payload: &(dyn Any + Send)) -> Response {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("unknown"), "a handler panicked");
    Error::Internal.into_response()
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;

    #[tokio::test]
    async fn a_panicking_handler_is_a_500_and_the_next_request_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let app = App::build(Config::for_tests(folder.path())).await.unwrap();
        let panic = || async { assert!(std::hint::black_box(false), "on purpose") };
        let router = Router::new()
            .route("/v0.2/panic", get(panic))
            .route("/v0.2/fine", get(async || "fine"))
            .layer(RequestLogLayer::new(app.clone()));
        for (path, status) in [("/v0.2/panic", 500), ("/v0.2/fine", 200), ("/v0.2/panic", 500)] {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), status);
            assert!(response.headers().contains_key(X_REQUEST_ID));
        }
        app.db.close().await;
    }
}
