//! The front of the router: what every request gets before it and every answer after it.

use super::refusal::{overdue, problem_response};
use super::vitals::{Flight, Vitals};
use crate::http::client::{ClientAddress, Network};
use crate::http::deadline::Deadline;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Request, Response, StatusCode, Version, header};
use axum::routing::future::RouteFuture;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tower::Service;

/// The router as one connection sees it.
pub(super) struct Front {
    pub(super) router: Router,
    pub(super) peer: IpAddr,
    /// The networks whose word on the client's address counts; empty where `peer` is in none of them.
    pub(super) trusted: Arc<[Network]>,
    pub(super) vitals: Arc<Vitals>,
    pub(super) answer_within: Duration,
}

impl hyper::service::Service<Request<Incoming>> for Front {
    type Response = Response<FlightBody>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, mut request: Request<Incoming>) -> Answering {
        let http2 = request.version() == Version::HTTP_2;
        let flight = Some(Flight::begin(&self.vitals, http2));
        if !http2 && is_length_in_doubt(&request) {
            return Answering { answer: None, flight };
        }
        let client = ClientAddress::find(self.peer, request.headers(), &self.trusted);
        request.extensions_mut().insert(client);
        let answer = Deadline::new(self.router.clone().call(request), self.answer_within, |_| {
            overdue()
        });
        Answering {
            answer: Some(answer),
            flight,
        }
    }
}

/// Whether a proxy before us may see another end of this request than we do, so that what we take for the next
/// request is a part of this one. The only form without doubt is one field that says `chunked` and no length
/// (RFC 9112, section 6.1).
fn is_length_in_doubt(request: &Request<Incoming>) -> bool {
    if http_body::Body::is_end_stream(request.body()) {
        return false;
    }
    let mut encodings = request.headers().get_all(header::TRANSFER_ENCODING).iter();
    let Some(encoding) = encodings.next() else {
        return false;
    };
    encodings.next().is_some()
        || !encoding.as_bytes().eq_ignore_ascii_case(b"chunked")
        || request.headers().contains_key(header::CONTENT_LENGTH)
}

pin_project! {
    /// An answer under way; none where the request is refused.
    pub(super) struct Answering {
        #[pin]
        answer: Option<Deadline<RouteFuture<Infallible>>>,
        flight: Option<Flight>,
    }
}

impl Future for Answering {
    type Output = Result<Response<FlightBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (mut response, refused) = match this.answer.as_pin_mut() {
            Some(answer) => (ready!(answer.poll(cx))?, false),
            None => (problem_response(StatusCode::BAD_REQUEST), true),
        };
        let flight = this.flight.take();
        if let Some(flight) = &flight {
            flight.answered();
            if refused || flight.is_last() {
                response
                    .headers_mut()
                    .insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
        }
        Poll::Ready(Ok(response.map(|body| FlightBody { body, flight })))
    }
}

pin_project! {
    /// The body of an answer; its request is in flight until the body is sent or given up.
    pub(super) struct FlightBody {
        #[pin]
        body: Body,
        flight: Option<Flight>,
    }
}

impl http_body::Body for FlightBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
