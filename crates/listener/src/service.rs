//! Wraps the service for one connection: every request gets a client address and a deadline, and is counted as in
//! flight until its response has been sent.

use crate::body::InFlightBody;
use crate::client::{ClientAddress, TrustedPeer};
use crate::deadline::Deadline;
use crate::framing::BodyLength;
use crate::host::has_valid_host;
use crate::refusal::Refuse;
use crate::state::{ConnectionState, InFlight};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Request, Response, StatusCode, Version};
use ipnet::IpNet;
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::error::Error;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tower_service::Service;

/// The body of a response, without its type.
pub(crate) type ErasedBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;
type ErasedFuture = Pin<Box<dyn Future<Output = Response<ErasedBody>> + Send>>;

/// The service without its type. hyper's code for connections is compiled once, in this crate, and not again in the crate
/// that has the service. It costs two allocations for each request.
pub(crate) type ErasedService = Arc<dyn Fn(Request<Incoming>) -> ErasedFuture + Send + Sync>;

/// Removes the type of a service.
pub(crate) fn erase<S, B>(service: S) -> ErasedService
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    Arc::new(move |request| {
        let response = service.clone().call(request);
        Box::pin(async move {
            let Ok(response) = response.await;
            response.map(|body| body.map_err(Into::into).boxed_unsync())
        })
    })
}

/// The service as one connection uses it.
pub(crate) struct ConnectionService {
    pub(crate) service: ErasedService,
    pub(crate) peer: IpAddr,
    /// The proxies whose `X-Forwarded-For` is trusted. Empty if `peer` is not one of them.
    pub(crate) trusted_proxies: Arc<[IpNet]>,
    pub(crate) state: Arc<ConnectionState>,
    pub(crate) response_timeout: Duration,
    pub(crate) refuse: Refuse,
}

impl hyper::service::Service<Request<Incoming>> for ConnectionService {
    type Response = Response<InFlightBody<ErasedBody>>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let is_http2 = request.version() == Version::HTTP_2;
        let in_flight = InFlight::start(&self.state, is_http2);
        if !is_http2 {
            self.state.record_body_length(body_length(&request));
        }
        let is_full = in_flight.refuse_without_room();
        let is_ambiguous = !has_valid_host(&request) || (!is_http2 && has_ambiguous_length(&request));
        let waiting = if is_full || is_ambiguous || in_flight.is_cut() {
            None
        } else {
            let client = ClientAddress::find(self.peer, request.headers(), &self.trusted_proxies);
            request.extensions_mut().insert(client);
            if !self.trusted_proxies.is_empty() {
                request.extensions_mut().insert(TrustedPeer);
            }
            Some((Arc::clone(&self.service), request))
        };
        ResponseFuture {
            waiting,
            response: None,
            response_timeout: self.response_timeout,
            must_yield: in_flight.must_yield(),
            needs_room: is_http2,
            is_full,
            in_flight: Some(in_flight),
            refuse: self.refuse,
        }
    }
}

/// Returns the length of the body that hyper is going to read from the connection.
fn body_length(request: &Request<Incoming>) -> BodyLength {
    let body = request.body();
    if body.is_end_stream() {
        return BodyLength::Empty;
    }
    body.size_hint()
        .exact()
        .map_or(BodyLength::Chunked, BodyLength::Bytes)
}

/// Returns whether a proxy in front of the server may disagree about where this request ends.
///
/// An attacker could then hide a second request in the body of the first one. With `transfer-encoding`, the only
/// unambiguous form is a single field with the value `chunked` and no `content-length` (RFC 9112, section 6.1).
fn has_ambiguous_length(request: &Request<Incoming>) -> bool {
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
    /// The response to one request.
    pub(crate) struct ResponseFuture {
        // The request, until the service is called. That is when this is polled first, because the future of the service
        // is large, and thousands of streams can be waiting for their first poll.
        waiting: Option<(ErasedService, Request<Incoming>)>,
        // `None` if the service was not called: the request is refused, or its connection is about to end.
        #[pin]
        response: Option<Deadline<ErasedFuture>>,
        response_timeout: Duration,
        in_flight: Option<InFlight>,
        must_yield: bool,
        // Whether to look once more for room when this is polled first.
        needs_room: bool,
        is_full: bool,
        refuse: Refuse,
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<InFlightBody<ErasedBody>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // The connection is about to end and its streams with it. What they asked for need not be computed.
        if this.in_flight.as_ref().is_some_and(InFlight::is_cut) {
            return Poll::Pending;
        }
        if std::mem::take(this.must_yield) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let has_room = |in_flight: &InFlight| in_flight.state().unsent().has_room();
        if std::mem::take(this.needs_room) && this.in_flight.as_ref().is_some_and(|it| !has_room(it)) {
            *this.is_full = true;
        }
        let is_full = *this.is_full;
        let mut service = this.response;
        if let Some((call, request)) = this.waiting.take().filter(|_| !is_full) {
            service.set(Some(Deadline::new(call(request), *this.response_timeout)));
        }
        let refuse = *this.refuse;
        let refuse = |status| {
            refuse(status).map(|text| Full::from(text).map_err(|never| match never {}).boxed_unsync())
        };
        let (mut response, is_refused) = match service.as_pin_mut() {
            None if is_full => (refuse(StatusCode::SERVICE_UNAVAILABLE), false),
            Some(response) => match ready!(response.poll(cx)) {
                Some(response) => (response, false),
                None => (refuse(StatusCode::SERVICE_UNAVAILABLE), false),
            },
            None => (refuse(StatusCode::BAD_REQUEST), true),
        };
        let in_flight = this.in_flight.take();
        if let Some(in_flight) = &in_flight {
            in_flight.record_response();
            if is_refused || in_flight.is_last() {
                response
                    .headers_mut()
                    .insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
        }
        let state = in_flight.as_ref().map(|in_flight| Arc::clone(in_flight.state()));
        let mut response = response.map(|body| InFlightBody::new(body, in_flight));
        if let Some(state) = state.filter(|state| state.is_http2()) {
            Pin::new(response.body_mut()).read_ahead(cx);
            // The task of the connection may be polled much later.
            state.unsent().report();
        }
        Poll::Ready(Ok(response))
    }
}
