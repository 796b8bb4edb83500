//! The only module that reads the time. The clock is a part of the app, so that a test can move it.
#![expect(
    clippy::disallowed_methods,
    reason = "everything else reads the time from here"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Formats a stored time as the API does: RFC 3339 in UTC, with milliseconds.
pub fn rfc3339(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The wall clock for stored times and the monotonic clock for limits. A test advances both together, and can stop
/// them so that only it moves them.
#[derive(Clone, Debug, Default)]
pub struct Clock(Arc<State>);

#[derive(Debug, Default)]
struct State {
    offset_micros: AtomicU64,
    stopped_at: OnceLock<(Duration, Instant)>,
}

impl Clock {
    /// Returns the wall time in milliseconds since the Unix epoch, the format in which times are stored.
    pub fn millis(&self) -> i64 {
        let stopped_at = self.0.stopped_at.get();
        let since_epoch = stopped_at.map_or_else(since_epoch, |(since_epoch, _)| *since_epoch);
        (since_epoch + self.offset()).as_millis() as i64
    }

    /// Returns the wall time in nanoseconds since the Unix epoch, for traces.
    pub fn nanos(&self) -> u64 {
        let stopped_at = self.0.stopped_at.get();
        let since_epoch = stopped_at.map_or_else(since_epoch, |(since_epoch, _)| *since_epoch);
        (since_epoch + self.offset()).as_nanos() as u64
    }

    /// Returns the monotonic time.
    pub fn instant(&self) -> Instant {
        let stopped_at = self.0.stopped_at.get();
        stopped_at.map_or_else(Instant::now, |(_, instant)| *instant) + self.offset()
    }

    /// Advances this clock and its clones.
    pub fn advance(&self, by: Duration) {
        self.0
            .offset_micros
            .fetch_add(by.as_micros() as u64, Ordering::Relaxed);
    }

    /// Stops this clock and its clones. From now on only [`advance`](Self::advance) moves them, so that a test does not
    /// depend on how fast the machine is.
    pub fn stop(&self) {
        self.0.stopped_at.get_or_init(|| (since_epoch(), Instant::now()));
    }

    fn offset(&self) -> Duration {
        Duration::from_micros(self.0.offset_micros.load(Ordering::Relaxed))
    }
}

/// Returns the wall time since the Unix epoch.
fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_clock_and_its_clones_move_only_when_they_are_advanced() {
        let clock = Clock::default();
        let other = clock.clone();
        clock.stop();
        let (millis, instant) = (clock.millis(), clock.instant());
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!((other.millis(), other.instant()), (millis, instant));
        other.advance(Duration::from_secs(7));
        assert_eq!(clock.millis(), millis + 7_000);
        assert_eq!(clock.instant(), instant + Duration::from_secs(7));
    }
}
