//! The socket of one connection, which notes what moves on it.

use super::refusal::{self, Refuse};
use super::state::Vitals;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// How much of a refused request is still read, so that its sender gets to see the refusal.
const PATIENCE_WITH_REFUSED: usize = 1 << 20;

/// A socket that reports to [`Vitals`] and puts a body into bare refusals.
#[derive(Debug)]
pub(super) struct Stream {
    socket: TcpStream,
    vitals: Arc<Vitals>,
    refuse: Refuse,
    refusal: Option<Refusal>,
}

#[derive(Debug)]
struct Refusal {
    bytes: Vec<u8>,
    written: usize,
    discarded: usize,
}

impl Stream {
    pub(super) fn new(socket: TcpStream, vitals: Arc<Vitals>, refuse: Refuse) -> Self {
        Self {
            socket,
            vitals,
            refuse,
            refusal: None,
        }
    }

    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        match written {
            Poll::Ready(_) => self.vitals.write_moved(),
            Poll::Pending => self.vitals.write_is_stuck(),
        }
        written
    }

    /// Writes the completed refusal in place of `bare` and claims `bare` as written once all of it is out.
    fn poll_refuse(&mut self, cx: &mut Context<'_>, bare: &[u8]) -> Option<Poll<io::Result<usize>>> {
        if self.refusal.is_none() {
            let bytes = refusal::complete(bare, self.refuse)?;
            self.vitals.bytes_arrived();
            self.refusal = Some(Refusal {
                bytes,
                written: 0,
                discarded: 0,
            });
        }
        let refusal = self.refusal.as_mut()?;
        while refusal.written < refusal.bytes.len() {
            match Pin::new(&mut self.socket).poll_write(cx, &refusal.bytes[refusal.written..]) {
                Poll::Ready(Ok(count)) => refusal.written += count,
                Poll::Ready(Err(error)) => return Some(Poll::Ready(Err(error))),
                Poll::Pending => return Some(self.note(Poll::Pending)),
            }
        }
        Some(self.note(Poll::Ready(Ok(bare.len()))))
    }

    /// Reads on after a refusal: closing a socket with unread bytes resets it, and a reset can overtake the
    /// refusal. The connection's deadline bounds this.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(refusal) = &mut self.refusal else {
            return Poll::Ready(());
        };
        let mut space = [MaybeUninit::uninit(); 4096];
        while refusal.discarded < PATIENCE_WITH_REFUSED {
            let mut buffer = ReadBuf::uninit(&mut space);
            match ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => refusal.discarded += buffer.filled().len(),
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Stream {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if read.is_ready() {
            self.vitals.bytes_arrived();
        }
        read
    }
}

impl AsyncWrite for Stream {
    #[inline]
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.vitals.is_speaking_for_itself()
            && let Some(refused) = self.poll_refuse(cx, bytes)
        {
            return refused;
        }
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.note(written)
    }

    #[inline]
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = slices
            && self.vitals.is_speaking_for_itself()
            && let Some(refused) = self.poll_refuse(cx, only)
        {
            return refused;
        }
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.note(written)
    }

    #[inline]
    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A TCP socket holds nothing back. The caller flushes once its own buffer is empty.
        self.vitals.flushed();
        Poll::Ready(Ok(()))
    }

    #[inline]
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
        ready!(self.poll_discard(cx));
        Poll::Ready(Ok(()))
    }
}
