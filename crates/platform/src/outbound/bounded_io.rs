//! A connection of which only so much is read after each request.

use hyper_util::client::legacy::connect::{Connected, Connection};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection for HTTP/1.1. What the other side sends is counted before it is parsed.
pub(super) struct BoundedIo<T> {
    inner: T,
    max: usize,
    /// What was read since a request was written.
    received: usize,
}

/// The other side sent more than the bound.
#[derive(Debug, Error)]
#[error("the response is too long")]
pub(super) struct TooMuch;

impl<T> BoundedIo<T> {
    pub(super) fn new(inner: T, max: usize) -> BoundedIo<T> {
        BoundedIo {
            inner,
            max,
            received: 0,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for BoundedIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.received > self.max {
            return Poll::Ready(Err(io::Error::other(TooMuch)));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        self.received += buffer.filled().len() - before;
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for BoundedIo<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.received = 0;
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl<T: Connection> Connection for BoundedIo<T> {
    fn connected(&self) -> Connected {
        self.inner.connected()
    }
}
