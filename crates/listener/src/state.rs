//! Tracks what one connection is doing, to decide when it is closed.
//!
//! The stream records reads and blocked writes, the service records requests and responses, and the timer of the
//! connection asks for the resulting deadline. All of it is a few relaxed atomics that only this connection uses.

use crate::framing::BodyLength;
use crate::settings::ServeSettings;
use crate::stop::StopSignal;
use crate::unsent::Unsent;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::Instant;

/// The value of a time that is not set.
const NEVER: u64 = u64::MAX;

/// The value of a start time that is set when the deadline is computed next. Most heads arrive in one piece, so
/// this saves reading the clock for them.
const NOT_TIMED_YET: u64 = u64::MAX - 1;

/// The time for which the rest of a request is read and discarded after its response.
const LINGER_TIMEOUT: Duration = Duration::from_secs(5);

/// The values of a body length that are not a number of bytes.
const UNKNOWN_LENGTH: u64 = u64::MAX;
const CHUNKED_LENGTH: u64 = u64::MAX - 1;

/// The times after which a connection is closed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    header: Duration,
    idle: Duration,
    write: Duration,
}

impl Timeouts {
    pub(crate) fn new(settings: &ServeSettings) -> Self {
        Self {
            header: settings.header_timeout,
            idle: settings.idle_timeout,
            write: settings.write_timeout,
        }
    }
}

/// The activity of one connection.
///
/// Times are in microseconds since the connection was accepted.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    accepted_at: Instant,
    timeouts: Timeouts,
    requests_in_flight: AtomicU32,
    /// The number of requests that were received since the connection was polled last.
    requests_in_poll: AtomicU32,
    head_since: AtomicU64,
    idle_since: AtomicU64,
    write_blocked_since: AtomicU64,
    lingering_since: AtomicU64,
    /// The length of the body of the last request over HTTP/1, until the stream takes it.
    body_length: AtomicU64,
    /// Over HTTP/2, bytes between requests are control frames and not the start of a head.
    is_http2: AtomicBool,
    /// Whether the HTTP/2 stream that was just opened is refused.
    is_stream_refused: AtomicBool,
    /// Whether a response of the service has not been flushed to the socket yet.
    is_response_unflushed: AtomicBool,
    unsent: Arc<Unsent>,
    stop: Arc<StopSignal>,
}

impl ConnectionState {
    /// Returns the state of a connection that was just accepted. The time for its first head starts now, even if
    /// the client sends nothing.
    pub(crate) fn new(timeouts: Timeouts, unsent: Arc<Unsent>, stop: Arc<StopSignal>) -> Self {
        Self {
            accepted_at: Instant::now(),
            timeouts,
            requests_in_flight: AtomicU32::new(0),
            requests_in_poll: AtomicU32::new(0),
            head_since: AtomicU64::new(0),
            idle_since: AtomicU64::new(0),
            write_blocked_since: AtomicU64::new(NEVER),
            lingering_since: AtomicU64::new(NEVER),
            body_length: AtomicU64::new(UNKNOWN_LENGTH),
            is_http2: AtomicBool::new(false),
            is_stream_refused: AtomicBool::new(false),
            is_response_unflushed: AtomicBool::new(false),
            unsent,
            stop,
        }
    }

    /// Returns when the connection is closed if nothing changes, or `None` while a request is in flight and the client
    /// has taken all that was sent to it.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let lingering_since = self.lingering_since.load(Relaxed);
        if lingering_since != NEVER {
            return Some(self.instant(lingering_since) + LINGER_TIMEOUT);
        }
        // A client that grants no flow-control window over HTTP/2 takes nothing although no write is blocked.
        if let Some(stalled_since) = self.unsent.stalled_since() {
            return Some(stalled_since + self.timeouts.write);
        }
        let write_blocked_since = self.write_blocked_since.load(Relaxed);
        if write_blocked_since != NEVER {
            return Some(self.instant(write_blocked_since) + self.timeouts.write);
        }
        if self.is_busy() {
            return None;
        }
        Some(match self.head_since.load(Relaxed) {
            NEVER => self.instant(self.idle_since.load(Relaxed)) + self.timeouts.idle,
            NOT_TIMED_YET => {
                let now = self.now();
                self.head_since.store(now, Relaxed);
                self.instant(now) + self.timeouts.header
            }
            head_since => self.instant(head_since) + self.timeouts.header,
        })
    }

    #[inline]
    pub(crate) fn stop(&self) -> &StopSignal {
        &self.stop
    }

    #[inline]
    pub(crate) fn unsent(&self) -> &Unsent {
        &self.unsent
    }

    #[inline]
    pub(crate) fn idle_timeout(&self) -> Duration {
        self.timeouts.idle
    }

    #[inline]
    pub(crate) fn record_poll(&self) {
        self.requests_in_poll.store(0, Relaxed);
    }

    /// Returns whether any request is in flight.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.requests_in_flight.load(Relaxed) > 0
    }

    #[inline]
    pub(crate) fn is_http2(&self) -> bool {
        self.is_http2.load(Relaxed)
    }

    #[inline]
    pub(crate) fn record_read(&self) {
        if !self.is_busy() && self.head_since.load(Relaxed) == NEVER && !self.is_http2() {
            self.head_since.store(NOT_TIMED_YET, Relaxed);
        }
    }

    #[inline]
    pub(crate) fn record_write(&self) {
        if self.write_blocked_since.load(Relaxed) != NEVER {
            self.write_blocked_since.store(NEVER, Relaxed);
        }
    }

    #[inline]
    pub(crate) fn record_blocked_write(&self) {
        if self.write_blocked_since.load(Relaxed) == NEVER {
            self.write_blocked_since.store(self.now(), Relaxed);
        }
    }

    /// Records that the connection only waits for the client to stop sending.
    pub(crate) fn record_lingering(&self) {
        if self.lingering_since.load(Relaxed) == NEVER {
            self.lingering_since.store(self.now(), Relaxed);
        }
    }

    /// Records the length of the body of a request over HTTP/1.
    #[inline]
    pub(crate) fn record_body_length(&self, length: BodyLength) {
        let length = match length {
            BodyLength::Empty => 0,
            BodyLength::Bytes(length) => length.min(CHUNKED_LENGTH - 1),
            BodyLength::Chunked => CHUNKED_LENGTH,
        };
        self.body_length.store(length, Relaxed);
    }

    /// Takes the length of the body of the last request, or `None` if it was taken before.
    #[inline]
    pub(crate) fn take_body_length(&self) -> Option<BodyLength> {
        match self.body_length.swap(UNKNOWN_LENGTH, Relaxed) {
            UNKNOWN_LENGTH => None,
            CHUNKED_LENGTH => Some(BodyLength::Chunked),
            length => Some(BodyLength::Bytes(length)),
        }
    }

    /// Takes whether the HTTP/2 stream that was just opened is refused. hyper passes each stream to the executor as soon
    /// as the service has returned its future.
    #[inline]
    pub(crate) fn take_stream_refusal(&self) -> bool {
        self.is_stream_refused.swap(false, Relaxed)
    }

    #[inline]
    pub(crate) fn record_flush(&self) {
        self.is_response_unflushed.store(false, Relaxed);
    }

    /// Returns whether the bytes being written come from hyper and not from the service. Over HTTP/1, that is its
    /// response to a head it cannot parse.
    #[inline]
    pub(crate) fn is_output_from_hyper(&self) -> bool {
        !self.is_busy() && !self.is_response_unflushed.load(Relaxed) && !self.is_http2()
    }

    #[inline]
    fn now(&self) -> u64 {
        self.accepted_at.elapsed().as_micros() as u64
    }

    #[inline]
    fn instant(&self, micros: u64) -> Instant {
        self.accepted_at + Duration::from_micros(micros)
    }
}

/// A request in flight, from its head until the client has taken the last byte of its response.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<ConnectionState>);

impl InFlight {
    #[inline]
    pub(crate) fn start(state: &Arc<ConnectionState>, is_http2: bool) -> Self {
        if is_http2 {
            state.is_http2.store(true, Relaxed);
            state.unsent.add_stream();
        }
        state.requests_in_flight.fetch_add(1, Relaxed);
        state.requests_in_poll.fetch_add(1, Relaxed);
        state.head_since.store(NEVER, Relaxed);
        Self(Arc::clone(state))
    }

    #[inline]
    pub(crate) fn state(&self) -> &Arc<ConnectionState> {
        &self.0
    }

    /// Returns whether the connection is about to end because it holds too much.
    #[inline]
    pub(crate) fn is_cut(&self) -> bool {
        self.0.unsent.cut_signal().is_set()
    }

    /// Returns whether the request is an HTTP/2 stream for which there is no room, and has the executor refuse it.
    #[inline]
    pub(crate) fn refuse_without_room(&self) -> bool {
        let is_refused = self.0.is_http2() && !self.0.unsent.has_room();
        if is_refused {
            self.0.is_stream_refused.store(true, Relaxed);
        }
        is_refused
    }

    /// Returns whether other connections should have their turn before this request: a client that pipelines would
    /// otherwise have many requests served in one go. HTTP/2 streams have their own tasks.
    #[inline]
    pub(crate) fn must_yield(&self) -> bool {
        self.0.requests_in_poll.load(Relaxed) > 1 && !self.0.is_http2()
    }

    #[inline]
    pub(crate) fn record_response(&self) {
        self.0.is_response_unflushed.store(true, Relaxed);
    }

    /// Returns whether the response must say that it is the last one on its connection. HTTP/2 has a frame for
    /// that.
    #[inline]
    pub(crate) fn is_last(&self) -> bool {
        self.0.stop.is_set() && !self.0.is_http2()
    }
}

impl Drop for InFlight {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_http2() {
            self.0.unsent.remove_stream();
        }
        self.0.idle_since.store(self.0.now(), Relaxed);
        self.0.requests_in_flight.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unsent::{OpenUnsent, UnsentLimits};
    use tokio::time::advance;

    fn state() -> Arc<ConnectionState> {
        Arc::new(ConnectionState::new(
            Timeouts {
                header: Duration::from_secs(10),
                idle: Duration::from_mins(1),
                write: Duration::from_secs(30),
            },
            Arc::clone(open_unsent().counter()),
            Arc::default(),
        ))
    }

    fn open_unsent() -> OpenUnsent {
        UnsentLimits::new(&ServeSettings::default()).open("192.0.2.1".parse().unwrap(), false)
    }

    fn seconds_left(state: &ConnectionState) -> Option<u64> {
        let left = state.deadline()? - Instant::now();
        Some(left.as_secs_f64().round() as u64)
    }

    #[tokio::test(start_paused = true)]
    async fn reads_do_not_extend_the_deadline_of_the_first_head() {
        let state = state();
        for left in [10, 6, 2] {
            assert_eq!(seconds_left(&state), Some(left));
            advance(Duration::from_secs(4)).await;
            state.record_read();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_later_head_has_a_shorter_deadline_than_an_idle_connection() {
        let state = state();
        drop(InFlight::start(&state, false));
        advance(Duration::from_secs(20)).await;
        assert_eq!(seconds_left(&state), Some(40));
        state.record_read();
        assert_eq!(seconds_left(&state), Some(10));
        advance(Duration::from_secs(3)).await;
        state.record_read();
        assert_eq!(seconds_left(&state), Some(7));
    }

    #[tokio::test(start_paused = true)]
    async fn http2_control_frames_do_not_change_the_deadline() {
        let state = state();
        drop(InFlight::start(&state, true));
        advance(Duration::from_secs(20)).await;
        state.record_read();
        assert_eq!(seconds_left(&state), Some(40));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_in_flight_has_a_deadline_only_while_a_write_is_blocked() {
        let state = state();
        let in_flight = InFlight::start(&state, false);
        assert_eq!(seconds_left(&state), None);
        state.record_blocked_write();
        advance(Duration::from_secs(5)).await;
        state.record_blocked_write();
        assert_eq!(seconds_left(&state), Some(25));
        state.record_write();
        assert_eq!(seconds_left(&state), None);
        drop(in_flight);
        assert_eq!(seconds_left(&state), Some(60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_of_a_response_has_a_deadline() {
        let state = state();
        let in_flight = InFlight::start(&state, true);
        state.unsent().add_bytes(1000);
        state.unsent().report();
        advance(Duration::from_secs(10)).await;
        state.unsent().report();
        assert_eq!(seconds_left(&state), Some(20));
        state.unsent().record_progress();
        state.unsent().report();
        assert_eq!(seconds_left(&state), Some(30));
        state.unsent().remove_bytes(1000);
        state.unsent().report();
        assert_eq!(seconds_left(&state), None);
        drop(in_flight);
        assert_eq!(seconds_left(&state), Some(60));
    }

    #[tokio::test(start_paused = true)]
    async fn lingering_ends_after_five_seconds_whatever_the_client_sends() {
        let state = state();
        state.record_lingering();
        for left in [5, 3, 1] {
            assert_eq!(seconds_left(&state), Some(left));
            advance(Duration::from_secs(2)).await;
            state.record_read();
            state.record_lingering();
        }
    }
}
