//! The response body as hyper sends it: counted as unsent, and its request in flight, until the client has taken the
//! last byte.
//!
//! hyper drops a body once it has taken its last frame, which over HTTP/2 can be long before the client takes the bytes.
//! Each frame therefore carries its own share, and the last one the request.
//!
//! As long as a client grants no window over HTTP/2, hyper does not ask for the first frame, which is the whole response if
//! it is in memory. So that frame is taken from the body as soon as there is a response, and counts from then on.

use crate::state::{ConnectionState, InFlight};
use hyper::body::{Body, Buf, Bytes, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

pin_project! {
    /// A response body that keeps its request in flight until the body is sent or dropped.
    pub(crate) struct InFlightBody<B: Body> {
        #[pin]
        body: B,
        // The first frame, if it was taken from the body before hyper asked for it.
        first: Option<Result<Frame<UnsentData<B::Data>>, B::Error>>,
        in_flight: Option<InFlight>,
    }
}

impl<B: Body> InFlightBody<B> {
    #[inline]
    pub(crate) fn new(body: B, in_flight: Option<InFlight>) -> Self {
        Self {
            body,
            first: None,
            in_flight,
        }
    }

    /// Takes the first frame from the body, if it is there already, so that it counts as unsent.
    pub(crate) fn read_ahead(mut self: Pin<&mut Self>, cx: &mut Context<'_>) {
        if let Poll::Ready(first) = self.as_mut().poll_frame(cx) {
            *self.project().first = first;
        }
    }
}

impl<B: Body> Body for InFlightBody<B> {
    type Data = UnsentData<B::Data>;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, B::Error>>> {
        let mut this = self.project();
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(first));
        }
        let Some(frame) = ready!(this.body.as_mut().poll_frame(cx)?) else {
            return Poll::Ready(None);
        };
        let is_last = this.body.is_end_stream();
        let frame = frame.map_data(|data| {
            let state = this.in_flight.as_ref().map(|request| Arc::clone(request.state()));
            let in_flight = if is_last { this.in_flight.take() } else { None };
            UnsentData::new(data, state, in_flight)
        });
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        if let Some(Ok(first)) = &self.first {
            let length = first.data_ref().map_or(0, |data| data.remaining() as u64);
            if let Some(upper) = hint.upper() {
                hint.set_upper(upper + length);
            }
            hint.set_lower(hint.lower() + length);
        }
        hint
    }
}

/// A part of a response body that the client has not taken yet.
///
/// The memory is released as a whole, so all of it counts until it is dropped.
pub(crate) struct UnsentData<D> {
    data: D,
    size: usize,
    state: Option<Arc<ConnectionState>>,
    /// The request, if this is the last part of its response.
    _in_flight: Option<InFlight>,
}

impl<D: Buf> UnsentData<D> {
    #[inline]
    fn new(data: D, state: Option<Arc<ConnectionState>>, in_flight: Option<InFlight>) -> Self {
        let size = data.remaining();
        if let Some(state) = &state {
            state.unsent().add_bytes(size);
        }
        Self {
            data,
            size,
            state,
            _in_flight: in_flight,
        }
    }
}

impl<D> Drop for UnsentData<D> {
    #[inline]
    fn drop(&mut self) {
        if let Some(state) = &self.state {
            state.unsent().remove_bytes(self.size);
        }
    }
}

impl<D: Buf> Buf for UnsentData<D> {
    #[inline]
    fn remaining(&self) -> usize {
        self.data.remaining()
    }

    #[inline]
    fn chunk(&self) -> &[u8] {
        self.data.chunk()
    }

    #[inline]
    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        self.data.chunks_vectored(slices)
    }

    #[inline]
    fn advance(&mut self, count: usize) {
        self.data.advance(count);
        if let Some(state) = &self.state {
            state.unsent().record_progress();
        }
    }

    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        let bytes = self.data.copy_to_bytes(length);
        if let Some(state) = &self.state {
            state.unsent().record_progress();
        }
        bytes
    }
}
