//! The only module that reads the time. The clock is a part of the app, so that a test can move it.
#![expect(
    clippy::disallowed_methods,
    reason = "everything else reads the time from here"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Formats a stored time as the API does: RFC 3339 in UTC, with milliseconds.
pub fn rfc3339(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The wall clock for stored times and the monotonic clock for limits. A test advances both together.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    offset_micros: Arc<AtomicU64>,
}

impl Clock {
    /// Returns the wall time in milliseconds since the Unix epoch, the format in which times are stored.
    pub fn millis(&self) -> i64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (since_epoch + self.offset()).as_millis() as i64
    }

    /// Returns the monotonic time.
    pub fn instant(&self) -> Instant {
        Instant::now() + self.offset()
    }

    /// Advances this clock and its clones.
    pub fn advance(&self, by: Duration) {
        self.offset_micros
            .fetch_add(by.as_micros() as u64, Ordering::Relaxed);
    }

    fn offset(&self) -> Duration {
        Duration::from_micros(self.offset_micros.load(Ordering::Relaxed))
    }
}

/// Measures how long work takes. Unlike [`Clock`], a test cannot move it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts to measure.
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Returns the time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
