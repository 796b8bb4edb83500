//! A layer that limits the time until the response to a request begins.
//!
//! The timer is created when the response is not ready at the first poll, so responses from memory cost nothing
//! extra. A request that times out is dropped and a substitute response is sent. That response depends on the cause: if
//! the client did not send its body in time, it is a client error and not a failure of the server.

use axum::body::{Body, Bytes};
use axum::extract::Request;
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
        let (request, is_body_pending) = watch_body(request);
        let response = self.inner.call(request);
        Deadline {
            is_body_pending,
            ..Deadline::new(response, self.layer.timeout, self.layer.respond)
        }
    }
}

/// Wraps the request body, if there is one, to record whether it is being waited for.
fn watch_body(request: Request) -> (Request, Option<Arc<AtomicBool>>) {
    if http_body::Body::is_end_stream(request.body()) {
        return (request, None);
    }
    let is_pending = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&is_pending);
    (
        request.map(|body| Body::new(WatchedBody { body, is_pending })),
        Some(shared),
    )
}

pin_project! {
    /// A body that records whether it is being waited for.
    struct WatchedBody {
        #[pin]
        body: Body,
        is_pending: Arc<AtomicBool>,
    }
}

impl http_body::Body for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.project();
        let polled = this.body.poll_frame(cx);
        this.is_pending.store(polled.is_pending(), Ordering::Relaxed);
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
        is_body_pending: Option<Arc<AtomicBool>>,
    }
}

impl<F> Deadline<F> {
    pub fn new(response: F, timeout: Duration, respond: TimeoutResponse) -> Self {
        Self {
            response,
            timer: None,
            timeout,
            respond,
            is_body_pending: None,
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
            return Poll::Ready(response.map(IntoResponse::into_response));
        }
        if this.timer.is_none() {
            this.timer.set(Some(tokio::time::sleep(*this.timeout)));
        }
        match this.timer.as_pin_mut().map(|timer| timer.poll(cx)) {
            Some(Poll::Ready(())) => {
                let is_body_pending = this.is_body_pending.as_ref();
                let cause = if is_body_pending.is_some_and(|pending| pending.load(Ordering::Relaxed)) {
                    TimeoutCause::RequestBody
                } else {
                    TimeoutCause::Handler
                };
                Poll::Ready(Ok((this.respond)(cause)))
            }
            _ => Poll::Pending,
        }
    }
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

    async fn send(request: Request<Body>) -> StatusCode {
        let slow = |_: Bytes| std::future::pending::<()>();
        let router = Router::new()
            .route("/prompt", get(|| async { "here" }))
            .route("/late", get(|| tokio::time::sleep(Duration::from_secs(29))))
            .route("/never", get(std::future::pending::<()>))
            .route("/read", post(|body: Bytes| async move { body }))
            .route("/slow", post(slow))
            .layer(DeadlineLayer::new(Duration::from_secs(30), respond));
        router.oneshot(request).await.unwrap().status()
    }

    async fn status_of(path: &str) -> StatusCode {
        send(Request::get(path).body(Body::empty()).unwrap()).await
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
                send(Request::post(path).body(body).unwrap()).await,
                status,
                "{path}"
            );
        }
    }
}
