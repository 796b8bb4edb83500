//! What one connection is doing, so that it is closed when it does nothing for too long.
//!
//! The stream notes when bytes of a head arrive and when a write is stuck, the front notes requests and answers,
//! and the connection's one timer asks for the deadline that follows. All of it is a handful of relaxed atomics
//! that only this connection touches.

use super::settings::ServeSettings;
use super::stop::Stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::Instant;

const NEVER: u64 = u64::MAX;
/// It began since the last look. A head mostly arrives whole and is answered before anyone asks when it began.
const UNTIMED: u64 = u64::MAX - 1;

/// The times after which a connection is closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    header: Duration,
    idle: Duration,
    write: Duration,
}

impl Patience {
    pub(super) fn new(settings: &ServeSettings) -> Self {
        Self {
            header: settings.header_timeout,
            idle: settings.idle_timeout,
            write: settings.write_timeout,
        }
    }
}

/// Moments are microseconds since the connection was accepted.
#[derive(Debug)]
pub(super) struct Vitals {
    accepted: Instant,
    patience: Patience,
    in_flight: AtomicU32,
    head_since: AtomicU64,
    idle_since: AtomicU64,
    stuck_since: AtomicU64,
    /// HTTP/2: bytes between requests are control frames and not the beginning of a head.
    multiplexed: AtomicBool,
    /// An answer of the router is on its way to the socket.
    answered: AtomicBool,
    stop: Arc<Stop>,
}

impl Vitals {
    /// A connection just accepted: its first head is awaited from now on, silent or not.
    pub(super) fn new(patience: Patience, stop: Arc<Stop>) -> Self {
        Self {
            accepted: Instant::now(),
            patience,
            in_flight: AtomicU32::new(0),
            head_since: AtomicU64::new(0),
            idle_since: AtomicU64::new(0),
            stuck_since: AtomicU64::new(NEVER),
            multiplexed: AtomicBool::new(false),
            answered: AtomicBool::new(false),
            stop,
        }
    }

    /// When the connection is to be closed as things stand; none while a request is being answered.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        let stuck = self.stuck_since.load(Relaxed);
        if stuck != NEVER {
            return Some(self.moment(stuck, self.patience.write));
        }
        if self.is_busy() {
            return None;
        }
        Some(match self.head_since.load(Relaxed) {
            NEVER => self.moment(self.idle_since.load(Relaxed), self.patience.idle),
            UNTIMED => {
                let now = self.now();
                self.head_since.store(now, Relaxed);
                self.moment(now, self.patience.header)
            }
            head => self.moment(head, self.patience.header),
        })
    }

    #[inline]
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// How long the timer may rest while there is no deadline.
    #[inline]
    pub(super) fn rest(&self) -> Duration {
        self.patience.idle
    }

    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.in_flight.load(Relaxed) > 0
    }

    #[inline]
    pub(super) fn is_multiplexed(&self) -> bool {
        self.multiplexed.load(Relaxed)
    }

    #[inline]
    pub(super) fn bytes_arrived(&self) {
        if !self.is_busy() && self.head_since.load(Relaxed) == NEVER && !self.is_multiplexed() {
            self.head_since.store(UNTIMED, Relaxed);
        }
    }

    #[inline]
    pub(super) fn write_is_stuck(&self) {
        if self.stuck_since.load(Relaxed) == NEVER {
            self.stuck_since.store(self.now(), Relaxed);
        }
    }

    #[inline]
    pub(super) fn write_moved(&self) {
        if self.stuck_since.load(Relaxed) != NEVER {
            self.stuck_since.store(NEVER, Relaxed);
        }
    }

    #[inline]
    pub(super) fn flushed(&self) {
        self.answered.store(false, Relaxed);
    }

    /// Whether what is being written comes from the protocol library alone: its word to a head it cannot read.
    #[inline]
    pub(super) fn is_speaking_for_itself(&self) -> bool {
        !self.is_busy() && !self.answered.load(Relaxed) && !self.is_multiplexed()
    }

    fn now(&self) -> u64 {
        self.accepted.elapsed().as_micros() as u64
    }

    fn moment(&self, since: u64, patience: Duration) -> Instant {
        self.accepted + Duration::from_micros(since) + patience
    }
}

/// One request, from its head to the end of its answer's body.
#[derive(Debug)]
pub(super) struct Flight(Arc<Vitals>);

impl Flight {
    #[inline]
    pub(super) fn begin(vitals: &Arc<Vitals>, multiplexed: bool) -> Self {
        if multiplexed {
            vitals.multiplexed.store(true, Relaxed);
        }
        vitals.in_flight.fetch_add(1, Relaxed);
        vitals.head_since.store(NEVER, Relaxed);
        Self(Arc::clone(vitals))
    }

    #[inline]
    pub(super) fn answered(&self) {
        self.0.answered.store(true, Relaxed);
    }

    /// Whether this answer is to be the last one on its connection. HTTP/2 says so in a frame of its own.
    #[inline]
    pub(super) fn is_last(&self) -> bool {
        self.0.stop.has_begun() && !self.0.is_multiplexed()
    }
}

impl Drop for Flight {
    #[inline]
    fn drop(&mut self) {
        self.0.idle_since.store(self.0.now(), Relaxed);
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vitals() -> Arc<Vitals> {
        let seconds = Duration::from_secs;
        Arc::new(Vitals::new(
            Patience {
                header: seconds(10),
                idle: seconds(60),
                write: seconds(30),
            },
            Arc::default(),
        ))
    }

    fn seconds_left(vitals: &Vitals) -> Option<u64> {
        let left = vitals.deadline()? - Instant::now();
        Some(left.as_secs_f64().round() as u64)
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_head_has_its_time_from_the_accept_on_whatever_arrives() {
        let vitals = vitals();
        for left in [10, 6, 2] {
            assert_eq!(seconds_left(&vitals), Some(left));
            tokio::time::advance(Duration::from_secs(4)).await;
            vitals.bytes_arrived();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn between_requests_a_connection_may_idle_but_not_drip() {
        let vitals = vitals();
        drop(Flight::begin(&vitals, false));
        tokio::time::advance(Duration::from_secs(20)).await;
        assert_eq!(seconds_left(&vitals), Some(40));
        vitals.bytes_arrived();
        assert_eq!(seconds_left(&vitals), Some(10));
        tokio::time::advance(Duration::from_secs(3)).await;
        vitals.bytes_arrived();
        assert_eq!(seconds_left(&vitals), Some(7));
    }

    #[tokio::test(start_paused = true)]
    async fn control_frames_are_no_head_and_keep_nothing_alive() {
        let vitals = vitals();
        drop(Flight::begin(&vitals, true));
        tokio::time::advance(Duration::from_secs(20)).await;
        vitals.bytes_arrived();
        assert_eq!(seconds_left(&vitals), Some(40));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_in_flight_has_no_deadline_until_its_answer_is_stuck() {
        let vitals = vitals();
        let flight = Flight::begin(&vitals, false);
        assert_eq!(seconds_left(&vitals), None);
        vitals.write_is_stuck();
        tokio::time::advance(Duration::from_secs(5)).await;
        vitals.write_is_stuck();
        assert_eq!(seconds_left(&vitals), Some(25));
        vitals.write_moved();
        assert_eq!(seconds_left(&vitals), None);
        drop(flight);
        assert_eq!(seconds_left(&vitals), Some(60));
    }
}
