//! Catches panics of handlers, so that they end a request and not the server.

use crate::http::error::Error;
use axum::response::{IntoResponse, Response};
use std::any::Any;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// Polls a handler, and responds with an error if it panics.
///
/// A handler that panics is not polled again, and the locks it shared tolerate poisoning.
pub(super) fn catch_panic(
    poll: impl FnOnce() -> Poll<Result<Response, Infallible>>,
) -> Poll<Result<Response, Infallible>> {
    catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|panic| Poll::Ready(Ok(respond(panic.as_ref()))))
}

fn respond(payload: &(dyn Any + Send)) -> Response {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("unknown"), "a handler panicked");
    Error::Internal.into_response()
}
