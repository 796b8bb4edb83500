//! The front of the service: what every request gets before it and every answer after it.

use super::client::ClientAddress;
use super::deadline::Deadline;
use super::refusal::Refuse;
use super::state::{Flight, Vitals};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderValue};
use hyper::{Request, Response, StatusCode, Version};
use ipnet::IpNet;
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tower_service::Service;

/// The service as one connection sees it.
pub(super) struct Front<S> {
    pub(super) service: S,
    pub(super) peer: IpAddr,
    /// The networks whose word on the client's address counts; empty where `peer` is in none of them.
    pub(super) trusted: Arc<[IpNet]>,
    pub(super) vitals: Arc<Vitals>,
    pub(super) answer_within: Duration,
    pub(super) refuse: Refuse,
}

impl<S, B> hyper::service::Service<Request<Incoming>> for Front<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone,
    B: From<String>,
{
    type Response = Response<FlightBody<B>>;
    type Error = Infallible;
    type Future = Answering<S::Future>;

    fn call(&self, mut request: Request<Incoming>) -> Answering<S::Future> {
        let refuse = self.refuse;
        let http2 = request.version() == Version::HTTP_2;
        let flight = Some(Flight::begin(&self.vitals, http2));
        if !http2 && is_length_in_doubt(&request) {
            return Answering {
                answer: None,
                flight,
                refuse,
            };
        }
        let client = ClientAddress::find(self.peer, request.headers(), &self.trusted);
        request.extensions_mut().insert(client);
        let answer = Deadline::new(self.service.clone().call(request), self.answer_within);
        Answering {
            answer: Some(answer),
            flight,
            refuse,
        }
    }
}

/// Whether a proxy before us may see another end of this request than we do, so that what we take for the next
/// request is a part of this one. The only form without doubt is one field that says `chunked` and no length
/// (RFC 9112, section 6.1).
fn is_length_in_doubt(request: &Request<Incoming>) -> bool {
    if request.body().is_end_stream() {
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
    pub(super) struct Answering<F> {
        #[pin]
        answer: Option<Deadline<F>>,
        flight: Option<Flight>,
        refuse: Refuse,
    }
}

impl<F, B> Future for Answering<F>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
    B: From<String>,
{
    type Output = Result<Response<FlightBody<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let refuse = *this.refuse;
        let refuse = |status| refuse(status).map(B::from);
        let (mut response, refused) = match this.answer.as_pin_mut() {
            Some(answer) => match ready!(answer.poll(cx)) {
                Some(answer) => (answer?, false),
                None => (refuse(StatusCode::SERVICE_UNAVAILABLE), false),
            },
            None => (refuse(StatusCode::BAD_REQUEST), true),
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
    pub(super) struct FlightBody<B> {
        #[pin]
        body: B,
        flight: Option<Flight>,
    }
}

impl<B: Body> Body for FlightBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
