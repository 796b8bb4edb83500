//! The layer of every request: it refuses what needs no handler, catches panics, completes the response, and records
//! what happened.
//!
//! Extractors record the key of a request and the verdict of its rate limit in the
//! [`RequestRecord`](crate::http::request_record::RequestRecord); the layer reads it once the response is ready.

mod facts;
mod log;
mod panics;
mod response;
mod spans;

use crate::app::App;
use crate::web::identity::{self, Identity};
use axum::extract::Request;
use axum::response::Response;
use facts::RequestFacts;
use panics::catch_panic;
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tower::{Layer, Service};

/// The outermost layer of all routes except the health checks.
///
/// It is a single layer because each layer of a router costs every request two allocations.
#[derive(Clone, Debug)]
pub struct RequestLayer {
    app: App,
    /// The identity that pages show.
    site: &'static Identity,
}

impl RequestLayer {
    /// Creates the layer of a server.
    pub fn new(app: App) -> RequestLayer {
        let site = Identity::new(&app.config.site, &app.site.site_files);
        RequestLayer { app, site }
    }
}

impl<S> Layer<S> for RequestLayer {
    type Service = RequestService<S>;

    fn layer(&self, inner: S) -> RequestService<S> {
        RequestService {
            inner,
            app: self.app.clone(),
            site: self.site,
        }
    }
}

/// The service of [`RequestLayer`].
#[derive(Clone, Debug)]
pub struct RequestService<S> {
    inner: S,
    app: App,
    site: &'static Identity,
}

impl<S> Service<Request> for RequestService<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = RequestFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let facts = RequestFacts::new(&self.app, &request);
        let state = if let Some(response) = response::respond_early(&facts, request.headers()) {
            FutureState::Ready {
                response: Some(response),
            }
        } else {
            request.extensions_mut().insert(Arc::clone(&facts.record));
            FutureState::Pending {
                future: self.inner.call(request),
            }
        };
        RequestFuture {
            state,
            facts,
            site: self.site,
        }
    }
}

pin_project! {
    /// A pending response.
    pub struct RequestFuture<F> {
        #[pin]
        state: FutureState<F>,
        facts: RequestFacts,
        site: &'static Identity,
    }
}

pin_project! {
    #[project = FutureStateProjection]
    enum FutureState<F> {
        Ready { response: Option<Response> },
        Pending { #[pin] future: F },
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for RequestFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let _site = identity::enter(this.site);
        let mut response = match this.state.project() {
            FutureStateProjection::Ready { response } => response.take().expect("polled after completion"),
            FutureStateProjection::Pending { future } => {
                let _entered = this.facts.trace.as_ref().map(|trace| trace.span.enter());
                ready!(catch_panic(|| future.poll(cx)))?
            }
        };
        response::write_problem(this.facts, &mut response);
        response::write_headers(this.facts, &mut response);
        log::record(this.facts, response.status());
        Poll::Ready(Ok(response))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::http::request_id::X_REQUEST_ID;
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
            .layer(RequestLayer::new(app.clone()));
        for (path, status) in [("/v0.2/panic", 500), ("/v0.2/fine", 200), ("/v0.2/panic", 500)] {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), status);
            assert!(response.headers().contains_key(X_REQUEST_ID));
        }
        app.db.close().await;
    }
}
