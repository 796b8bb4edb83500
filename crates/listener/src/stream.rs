//! The socket of one connection, which reports its activity to the state of the connection.

use crate::refusal::{self, Refuse};
use crate::state::ConnectionState;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The maximum number of bytes that are read and discarded after a refusal, so that the client receives it.
const MAX_DISCARDED_BYTES: usize = 1 << 20;

/// A socket that reports to [`ConnectionState`] and completes the refusals that hyper sends.
#[derive(Debug)]
pub(crate) struct MonitoredStream {
    socket: TcpStream,
    state: Arc<ConnectionState>,
    refuse: Refuse,
    refusal: Option<Refusal>,
}

/// The completed refusal that is sent before the connection closes.
#[derive(Debug)]
struct Refusal {
    bytes: Vec<u8>,
    written: usize,
    discarded: usize,
}

impl MonitoredStream {
    pub(crate) fn new(socket: TcpStream, state: Arc<ConnectionState>, refuse: Refuse) -> Self {
        Self {
            socket,
            state,
            refuse,
            refusal: None,
        }
    }

    fn record_write<T>(&self, written: Poll<T>) -> Poll<T> {
        match written {
            Poll::Ready(_) => self.state.record_write(),
            Poll::Pending => self.state.record_blocked_write(),
        }
        written
    }

    /// Writes a completed refusal in place of `bytes`, and reports `bytes` as written once all of it is sent.
    ///
    /// Returns `None` if `bytes` are not a refusal.
    fn poll_write_refusal(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Option<Poll<io::Result<usize>>> {
        if self.refusal.is_none() {
            let completed = refusal::complete(bytes, self.refuse)?;
            self.state.record_read();
            self.refusal = Some(Refusal {
                bytes: completed,
                written: 0,
                discarded: 0,
            });
        }
        let refusal = self.refusal.as_mut()?;
        while refusal.written < refusal.bytes.len() {
            match Pin::new(&mut self.socket).poll_write(cx, &refusal.bytes[refusal.written..]) {
                Poll::Ready(Ok(count)) => refusal.written += count,
                Poll::Ready(Err(error)) => return Some(Poll::Ready(Err(error))),
                Poll::Pending => return Some(self.record_write(Poll::Pending)),
            }
        }
        Some(self.record_write(Poll::Ready(Ok(bytes.len()))))
    }

    /// Reads the rest of a refused request.
    ///
    /// Closing a socket with unread bytes resets the connection, and the reset can overtake the refusal. The
    /// deadline of the connection limits how long this takes.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(refusal) = &mut self.refusal else {
            return Poll::Ready(());
        };
        let mut space = [MaybeUninit::uninit(); 4096];
        while refusal.discarded < MAX_DISCARDED_BYTES {
            let mut buffer = ReadBuf::uninit(&mut space);
            match ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => refusal.discarded += buffer.filled().len(),
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for MonitoredStream {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if read.is_ready() {
            self.state.record_read();
        }
        read
    }
}

impl AsyncWrite for MonitoredStream {
    #[inline]
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.state.is_output_from_hyper()
            && let Some(written) = self.poll_write_refusal(cx, bytes)
        {
            return written;
        }
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.record_write(written)
    }

    #[inline]
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = slices
            && self.state.is_output_from_hyper()
            && let Some(written) = self.poll_write_refusal(cx, only)
        {
            return written;
        }
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.record_write(written)
    }

    #[inline]
    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A TCP socket has no buffer to flush. hyper flushes once its own buffer is empty.
        self.state.record_flush();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
        ready!(self.poll_discard(cx));
        Poll::Ready(Ok(()))
    }
}
