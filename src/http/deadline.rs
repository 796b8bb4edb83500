//! The time a request may take until its answer begins.
//!
//! A timer is made only for an answer that is not there at the first look, so an answer from memory pays
//! nothing for its deadline. What runs over is dropped where it stands, and the given answer is sent instead. It
//! depends on who was waited for: a client whose body does not come is told so, and nothing of ours has failed.

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

/// The answer for a request that ran over.
pub type Overdue = fn(TimeoutCause) -> Response;

/// What a request was waiting for when its time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutCause {
    /// The rest of the request body.
    RequestBody,
    /// The response of the handler.
    Handler,
}

/// Gives every request of the routes below it the same time.
#[derive(Clone, Copy, Debug)]
pub struct DeadlineLayer {
    after: Duration,
    overdue: Overdue,
}

impl DeadlineLayer {
    pub fn new(after: Duration, overdue: Overdue) -> Self {
        Self { after, overdue }
    }
}

impl<S> Layer<S> for DeadlineLayer {
    type Service = DeadlineService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        DeadlineService { inner, layer: *self }
    }
}

/// What [`DeadlineLayer`] makes of a service.
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
        let (request, body_awaited) = watched(request);
        let answer = self.inner.call(request);
        Deadline {
            body_awaited,
            ..Deadline::new(answer, self.layer.after, self.layer.overdue)
        }
    }
}

/// The request with its body watched; one without a body is as it was.
fn watched(request: Request) -> (Request, Option<Arc<AtomicBool>>) {
    if http_body::Body::is_end_stream(request.body()) {
        return (request, None);
    }
    let is_awaited = Arc::new(AtomicBool::new(false));
    let watch = Arc::clone(&is_awaited);
    (
        request.map(|body| Body::new(Watched { body, is_awaited })),
        Some(watch),
    )
}

pin_project! {
    /// A body that tells whether it is waited for.
    struct Watched {
        #[pin]
        body: Body,
        is_awaited: Arc<AtomicBool>,
    }
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.project();
        let polled = this.body.poll_frame(cx);
        this.is_awaited.store(polled.is_pending(), Ordering::Relaxed);
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
    /// An answer under way, and the moment it is given up.
    pub struct Deadline<F> {
        #[pin]
        answer: F,
        #[pin]
        timer: Option<Sleep>,
        after: Duration,
        overdue: Overdue,
        body_awaited: Option<Arc<AtomicBool>>,
    }
}

impl<F> Deadline<F> {
    pub fn new(answer: F, after: Duration, overdue: Overdue) -> Self {
        Self {
            answer,
            timer: None,
            after,
            overdue,
            body_awaited: None,
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
        if let Poll::Ready(answer) = this.answer.poll(cx) {
            return Poll::Ready(answer.map(IntoResponse::into_response));
        }
        if this.timer.is_none() {
            this.timer.set(Some(tokio::time::sleep(*this.after)));
        }
        match this.timer.as_pin_mut().map(|timer| timer.poll(cx)) {
            Some(Poll::Ready(())) => {
                let body_awaited = this.body_awaited.as_ref();
                let awaited = match body_awaited.is_some_and(|awaited| awaited.load(Ordering::Relaxed)) {
                    true => TimeoutCause::RequestBody,
                    false => TimeoutCause::Handler,
                };
                Poll::Ready(Ok((this.overdue)(awaited)))
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

    fn overdue(awaited: TimeoutCause) -> Response {
        let status = match awaited {
            TimeoutCause::RequestBody => StatusCode::BAD_REQUEST,
            TimeoutCause::Handler => StatusCode::SERVICE_UNAVAILABLE,
        };
        status.into_response()
    }

    async fn answer(request: Request<Body>) -> StatusCode {
        let slow = |_: Bytes| std::future::pending::<()>();
        let router = Router::new()
            .route("/prompt", get(|| async { "here" }))
            .route("/late", get(|| tokio::time::sleep(Duration::from_secs(29))))
            .route("/never", get(std::future::pending::<()>))
            .route("/read", post(|body: Bytes| async move { body }))
            .route("/slow", post(slow))
            .layer(DeadlineLayer::new(Duration::from_secs(30), overdue));
        router.oneshot(request).await.unwrap().status()
    }

    async fn status_of(path: &str) -> StatusCode {
        answer(Request::get(path).body(Body::empty()).unwrap()).await
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_within_its_time_is_sent_as_it_is() {
        assert_eq!(status_of("/prompt").await, StatusCode::OK);
        assert_eq!(status_of("/late").await, StatusCode::OK);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_does_not_come_is_replaced() {
        assert_eq!(status_of("/never").await, StatusCode::SERVICE_UNAVAILABLE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_told_from_an_answer_that_does_not() {
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
                answer(Request::post(path).body(body).unwrap()).await,
                status,
                "{path}"
            );
        }
    }
}
