//! The socket of one connection, which reports its activity to the state of the connection.

use crate::framing::{END_OF_HEAD, RequestFraming};
use crate::refusal::{self, Refuse};
use crate::state::ConnectionState;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The most bytes that are read at once. One less than hyper's first buffer: hyper doubles its buffer when a read fills it,
/// up to the size of the largest head.
const MAX_READ_BYTES: usize = 8 * 1024 - 1;
/// The maximum number of bytes that are read and discarded after a response, so that the client receives it.
const MAX_DISCARDED_BYTES: usize = 32 << 20;

/// The maximum number of connections that discard bytes at the same time. More of them are closed at once.
const MAX_LINGERING_CONNECTIONS: usize = 1000;

/// A socket that reports to [`ConnectionState`], completes the refusals that hyper sends, and lets hyper read at most to
/// the end of a request head at a time, after a look at its line ends.
#[derive(Debug)]
pub(crate) struct MonitoredStream {
    socket: TcpStream,
    state: Arc<ConnectionState>,
    framing: RequestFraming,
    read_ahead: ReadAhead,
    refuse: Refuse,
    refusal: Option<Refusal>,
    lingering: Arc<Lingering>,
    linger: Option<Linger>,
}

/// Bytes that were read from the socket after the end of a head or body, and that hyper has not asked for yet.
#[derive(Debug, Default)]
struct ReadAhead {
    bytes: Vec<u8>,
    start: usize,
}

/// The completed refusal that is sent before the connection closes.
#[derive(Debug)]
struct Refusal {
    bytes: Vec<u8>,
    written: usize,
}

/// The number of connections of a listener that discard what their clients still send.
#[derive(Debug, Default)]
pub(crate) struct Lingering(AtomicUsize);

/// A connection that discards what its client still sends.
#[derive(Debug)]
struct Linger {
    discarded: usize,
    lingering: Arc<Lingering>,
}

impl Linger {
    /// Returns `None` if too many connections linger already.
    fn start(lingering: &Arc<Lingering>) -> Option<Self> {
        let linger = Self {
            discarded: 0,
            lingering: Arc::clone(lingering),
        };
        (lingering.0.fetch_add(1, Relaxed) < MAX_LINGERING_CONNECTIONS).then_some(linger)
    }
}

impl Drop for Linger {
    fn drop(&mut self) {
        self.lingering.0.fetch_sub(1, Relaxed);
    }
}

impl MonitoredStream {
    pub(crate) fn new(
        socket: TcpStream,
        state: Arc<ConnectionState>,
        refuse: Refuse,
        lingering: Arc<Lingering>,
    ) -> Self {
        Self {
            socket,
            state,
            framing: RequestFraming::new(),
            read_ahead: ReadAhead::default(),
            refuse,
            refusal: None,
            lingering,
            linger: None,
        }
    }

    fn record_write<T>(&self, written: Poll<T>) -> Poll<T> {
        match written {
            Poll::Ready(_) => self.state.record_write(),
            Poll::Pending => self.state.record_blocked_write(),
        }
        written
    }

    /// Sets the length of the body that follows the last head, if hyper has parsed that head.
    #[inline]
    fn update_framing(&mut self) {
        if self.framing.needs_body_length()
            && let Some(length) = self.state.take_body_length()
        {
            self.framing.start_body(length);
        }
    }

    /// Delivers bytes that were read before. Returns whether there were any.
    fn deliver_read_ahead(&mut self, buffer: &mut ReadBuf<'_>) -> io::Result<bool> {
        let ahead = &mut self.read_ahead;
        let count = buffer.remaining().min(ahead.bytes.len() - ahead.start);
        if count == 0 {
            return Ok(false);
        }
        let was_refused = self.framing.is_refused();
        let bytes = &mut ahead.bytes[ahead.start..ahead.start + count];
        // After a refusal, what is left is the end of the refused head.
        let delivered = if was_refused {
            count
        } else {
            self.framing.deliver(bytes)
        };
        if delivered == 0 {
            return Err(unexpected_read());
        }
        buffer.put_slice(&ahead.bytes[ahead.start..ahead.start + delivered]);
        ahead.start += delivered;
        if self.framing.is_refused() && !was_refused {
            self.end_refused_head();
        } else if ahead.start == ahead.bytes.len() {
            self.read_ahead = ReadAhead::default();
        }
        Ok(true)
    }

    /// Ends a head in which a bare line feed was found, so that hyper parses and refuses it.
    fn end_refused_head(&mut self) {
        self.read_ahead = ReadAhead {
            bytes: END_OF_HEAD.to_vec(),
            start: 0,
        };
    }

    /// Withholds what hyper may not have yet of the bytes that were read after the first `filled` bytes of `buffer`.
    #[inline]
    fn withhold(&mut self, buffer: &mut ReadBuf<'_>, filled: usize) -> io::Result<()> {
        let read = &mut buffer.filled_mut()[filled..];
        if read.is_empty() {
            return Ok(());
        }
        let delivered = self.framing.deliver(read);
        if delivered == 0 {
            buffer.set_filled(filled);
            return Err(unexpected_read());
        }
        if self.framing.is_refused() {
            self.end_refused_head();
        } else if delivered < read.len() {
            self.read_ahead = ReadAhead {
                bytes: read[delivered..].to_vec(),
                start: 0,
            };
        }
        buffer.set_filled(filled + delivered);
        Ok(())
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

    /// Starts to discard what the client still sends, if the request was refused or its body was not read to the end.
    fn start_lingering(&mut self) {
        if self.linger.is_some() {
            return;
        }
        self.update_framing();
        if self.refusal.is_some() || self.framing.is_in_body() {
            self.linger = Linger::start(&self.lingering);
            self.state.record_lingering();
        }
    }

    /// Reads the rest of a request whose response has been sent.
    ///
    /// Closing a socket with unread bytes resets the connection, and the reset can overtake the response. The
    /// deadline of the connection limits how long this takes.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(linger) = &mut self.linger else {
            return Poll::Ready(());
        };
        let mut space = [MaybeUninit::uninit(); 16 * 1024];
        while linger.discarded < MAX_DISCARDED_BYTES {
            let mut buffer = ReadBuf::uninit(&mut space);
            match ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => linger.discarded += buffer.filled().len(),
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

/// The error that ends a connection on which hyper reads where it should not: it would get bytes that were not looked at.
#[cold]
fn unexpected_read() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the end of the last request is not known",
    )
}

impl AsyncRead for MonitoredStream {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.update_framing();
        if this.deliver_read_ahead(buffer)? {
            this.state.record_read();
            return Poll::Ready(Ok(()));
        }
        let filled = buffer.filled().len();
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(buffer.remaining().min(MAX_READ_BYTES)));
        let read = Pin::new(&mut this.socket).poll_read(cx, &mut part);
        let length = part.filled().len();
        buffer.advance(length);
        if read.is_ready() {
            this.state.record_read();
            this.withhold(buffer, filled)?;
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
        self.start_lingering();
        ready!(self.poll_discard(cx));
        Poll::Ready(Ok(()))
    }
}
