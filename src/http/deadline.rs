//! The time a request may take until its answer begins.
//!
//! A timer is made only for an answer that is not there at the first look, so an answer from memory pays
//! nothing for its deadline. What runs over is dropped where it stands, and the given answer is sent instead.

use axum::response::{IntoResponse, Response};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;
use tower::{Layer, Service};

/// The answer for a request that ran over.
pub type Overdue = fn() -> Response;

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

impl<S, R> Service<R> for DeadlineService<S>
where
    S: Service<R>,
    S::Response: IntoResponse,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Deadline<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        Deadline::new(self.inner.call(request), self.layer.after, self.layer.overdue)
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
    }
}

impl<F> Deadline<F> {
    pub fn new(answer: F, after: Duration, overdue: Overdue) -> Self {
        Self {
            answer,
            timer: None,
            after,
            overdue,
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
            Some(Poll::Ready(())) => Poll::Ready(Ok((this.overdue)())),
            _ => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use axum::routing::get;
    use tower::ServiceExt;

    fn overdue() -> Response {
        StatusCode::SERVICE_UNAVAILABLE.into_response()
    }

    async fn status_of(path: &str) -> StatusCode {
        let router = Router::new()
            .route("/prompt", get(|| async { "here" }))
            .route("/late", get(|| tokio::time::sleep(Duration::from_secs(29))))
            .route("/never", get(std::future::pending::<()>))
            .layer(DeadlineLayer::new(Duration::from_secs(30), overdue));
        let request = Request::get(path).body(Body::empty()).unwrap();
        router.oneshot(request).await.unwrap().status()
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
}
