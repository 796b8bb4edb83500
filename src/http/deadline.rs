//! A layer that limits the time until the response to a request begins.
//!
//! The timer is created when the response is not ready at the first poll, so responses from memory cost nothing
//! extra. A request that times out is dropped and a substitute response is sent. That response depends on the cause: if
//! the client did not send its body in time, it is a client error and not a failure of the server.
//!
//! A response before the end of the body says that the connection will be closed. Otherwise a proxy would send the request
//! of another client over a connection that ends.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Version};
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;
use tower::{Layer, Service};

/// Creates the response to a request that timed out.
pub type TimeoutResponse = fn(TimeoutCause) -> Response;

/// What a request was waiting for when its time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutCause {
    /// The rest of the request body.
    RequestBody,
    /// The response of the handler.
    Handler,
}

/// Applies a timeout to every request.
#[derive(Clone, Copy, Debug)]
pub struct DeadlineLayer {
    timeout: Duration,
    respond: TimeoutResponse,
}

impl DeadlineLayer {
    pub fn new(timeout: Duration, respond: TimeoutResponse) -> Self {
        Self { timeout, respond }
    }
}

impl<S> Layer<S> for DeadlineLayer {
    type Service = DeadlineService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        DeadlineService { inner, layer: *self }
    }
}

/// The service of [`DeadlineLayer`].
#[derive(Clone, Copy, Debug)]
pub struct DeadlineService<S> {
    inner: S,
    layer: DeadlineLayer,
}

impl<S> Service<Request> for DeadlineService<S>
where
    S: Service<Request>,
    S::Response: IntoResponse,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Deadline<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (request, body) = watch_body(request);
        let response = self.inner.call(request);
        Deadline {
            body,
            ..Deadline::new(response, self.layer.timeout, self.layer.respond)
        }
    }
}

/// What is known about a request body.
#[derive(Debug)]
struct BodyState {
    /// Whether it is being waited for.
    is_pending: AtomicBool,
    /// Whether a response now must close the connection: the body was not read to its end, and HTTP/1 cannot skip the rest.
    closes: AtomicBool,
}

/// Wraps the request body, if there is one, to record its state.
fn watch_body(request: Request) -> (Request, Option<Arc<BodyState>>) {
    if http_body::Body::is_end_stream(request.body()) {
        return (request, None);
    }
    let state = Arc::new(BodyState {
        is_pending: AtomicBool::new(false),
        closes: AtomicBool::new(request.version() <= Version::HTTP_11),
    });
    let shared = Arc::clone(&state);
    (
        request.map(|body| Body::new(WatchedBody { body, state })),
        Some(shared),
    )
}

pin_project! {
    /// A body that records its state.
    struct WatchedBody {
        #[pin]
        body: Body,
        state: Arc<BodyState>,
    }
}

impl http_body::Body for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut this = self.project();
        let polled = this.body.as_mut().poll_frame(cx);
        this.state
            .is_pending
            .store(polled.is_pending(), Ordering::Relaxed);
        if matches!(polled, Poll::Ready(None)) || this.body.is_end_stream() {
            this.state.closes.store(false, Ordering::Relaxed);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pin_project! {
    /// A pending response with its timeout.
    pub struct Deadline<F> {
        #[pin]
        response: F,
        #[pin]
        timer: Option<Sleep>,
        timeout: Duration,
        respond: TimeoutResponse,
        body: Option<Arc<BodyState>>,
    }
}

impl<F> Deadline<F> {
    pub fn new(response: F, timeout: Duration, respond: TimeoutResponse) -> Self {
        Self {
            response,
            timer: None,
            timeout,
            respond,
            body: None,
        }
    }
}

impl<F, A, E> Future for Deadline<F>
where
    F: Future<Output = Result<A, E>>,
    A: IntoResponse,
{
    type Output = Result<Response, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Poll::Ready(response) = this.response.poll(cx) {
            return Poll::Ready(
                response.map(|response| complete(response.into_response(), this.body.as_deref())),
            );
        }
        if this.timer.is_none() {
            this.timer.set(Some(tokio::time::sleep(*this.timeout)));
        }
        match this.timer.as_pin_mut().map(|timer| timer.poll(cx)) {
            Some(Poll::Ready(())) => {
                let body = this.body.as_deref();
                let cause = if body.is_some_and(|body| body.is_pending.load(Ordering::Relaxed)) {
                    TimeoutCause::RequestBody
                } else {
                    TimeoutCause::Handler
                };
                Poll::Ready(Ok(complete((this.respond)(cause), body)))
            }
            _ => Poll::Pending,
        }
    }
}

/// Adds that the connection will be closed, if the body was not read to its end.
fn complete(mut response: Response, body: Option<&BodyState>) -> Response {
    if body.is_some_and(|body| body.closes.load(Ordering::Relaxed)) {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::http::{Request, StatusCode};
    use axum::routing::{get, post};
    use futures_util::{StreamExt, stream};
    use tower::ServiceExt;

    fn respond(cause: TimeoutCause) -> Response {
        let status = match cause {
            TimeoutCause::RequestBody => StatusCode::BAD_REQUEST,
            TimeoutCause::Handler => StatusCode::SERVICE_UNAVAILABLE,
        };
        status.into_response()
    }

    async fn send(request: Request<Body>) -> Response {
        let slow = |_: Bytes| std::future::pending::<()>();
        let router = Router::new()
            .route("/prompt", get(|| async { "here" }))
            .route("/late", get(|| tokio::time::sleep(Duration::from_secs(29))))
            .route("/never", get(std::future::pending::<()>))
            .route("/read", post(|body: Bytes| async move { body }))
            .route("/slow", post(slow))
            .route("/refuse", post(|| async { "no" }))
            .layer(DeadlineLayer::new(Duration::from_secs(30), respond));
        router.oneshot(request).await.unwrap()
    }

    async fn status_of(path: &str) -> StatusCode {
        send(Request::get(path).body(Body::empty()).unwrap())
            .await
            .status()
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_in_time_is_unchanged() {
        assert_eq!(status_of("/prompt").await, StatusCode::OK);
        assert_eq!(status_of("/late").await, StatusCode::OK);
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_that_does_not_come_is_replaced() {
        assert_eq!(status_of("/never").await, StatusCode::SERVICE_UNAVAILABLE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stalled_body_and_a_slow_handler_have_different_responses() {
        let first = || stream::iter([Ok::<_, std::io::Error>("first")]);
        let stalled = || Body::from_stream(first().chain(stream::pending()));
        for (path, body, status) in [
            ("/read", stalled(), StatusCode::BAD_REQUEST),
            ("/read", Body::from_stream(first()), StatusCode::OK),
            (
                "/slow",
                Body::from_stream(first()),
                StatusCode::SERVICE_UNAVAILABLE,
            ),
            ("/slow", Body::from("whole"), StatusCode::SERVICE_UNAVAILABLE),
        ] {
            assert_eq!(
                send(Request::post(path).body(body).unwrap()).await.status(),
                status,
                "{path}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_before_the_end_of_the_body_closes_the_connection() {
        let parts = || stream::iter(["first", "second"].map(Ok::<_, std::io::Error>));
        let stalled = || Body::from_stream(parts().chain(stream::pending()));
        for (path, body, closes) in [
            ("/refuse", stalled(), true),
            ("/refuse", Body::from("unread"), true),
            ("/refuse", Body::empty(), false),
            ("/read", stalled(), true),
            ("/read", Body::from_stream(parts()), false),
            ("/read", Body::from("whole"), false),
        ] {
            let response = send(Request::post(path).body(body).unwrap()).await;
            assert_eq!(response.headers().contains_key(CONNECTION), closes, "{path}");
        }
        // HTTP/2 ends the stream alone.
        let request = Request::post("/refuse").version(Version::HTTP_2);
        let response = send(request.body(Body::from("unread")).unwrap()).await;
        assert!(!response.headers().contains_key(CONNECTION));
    }
}
