//! The only module that reads the time. The clock is a part of the app, so that a test can move it.
#![expect(
    clippy::disallowed_methods,
    reason = "everything else reads the time from here"
)]

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Formats a stored time as the API does: RFC 3339 in UTC, with milliseconds.
pub fn rfc3339(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The wall clock for stored times and the monotonic clock for limits. A test advances both together, and can stop
/// them so that only it moves them.
///
/// With PostgreSQL, the wall clock is that of the database: [`follow`](Clock::follow) sets it, and in between it goes on with the
/// monotonic clock. So all servers agree, and a jump of the clock of this machine changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Clock(Arc<State>);

#[derive(Debug)]
struct State {
    offset_micros: AtomicU64,
    stopped_at: OnceLock<(Duration, Instant)>,
    /// A moment of the monotonic clock.
    epoch: Instant,
    /// The time that the clock follows at `epoch`, in microseconds since the Unix epoch.
    followed: AtomicI64,
    /// The earliest time to return, in milliseconds: the clock never goes back because what it follows does.
    floor: AtomicI64,
    /// How far the clock of this machine is wrong in a test, in milliseconds.
    machine_error: AtomicI64,
}

/// The value of `followed` while the clock follows that of this machine.
const NOT_FOLLOWED: i64 = i64::MIN;

impl Default for State {
    fn default() -> State {
        State {
            offset_micros: AtomicU64::default(),
            stopped_at: OnceLock::new(),
            epoch: Instant::now(),
            followed: AtomicI64::new(NOT_FOLLOWED),
            floor: AtomicI64::default(),
            machine_error: AtomicI64::default(),
        }
    }
}

impl Clock {
    /// Returns the wall time in milliseconds since the Unix epoch, the format in which times are stored.
    pub fn millis(&self) -> i64 {
        let millis = self.since_epoch().as_millis() as i64;
        millis.max(self.0.floor.load(Ordering::Relaxed))
    }

    /// Returns the wall time of this machine, whatever the clock follows.
    pub(crate) fn machine_millis(&self) -> i64 {
        since_epoch().as_millis() as i64 + self.0.machine_error.load(Ordering::Relaxed)
    }

    /// Sets the clock of this machine wrong, for a test.
    pub fn set_machine_wrong(&self, by_millis: i64) {
        self.0.machine_error.store(by_millis, Ordering::Relaxed);
    }

    /// Makes this clock and its clones follow another one, which had this time, in microseconds since the Unix epoch, at a
    /// moment of the monotonic clock. The time never goes back: it stands still until the other clock has caught up.
    pub fn follow(&self, micros: i64, at: Instant) {
        let before = self.millis();
        let since = at.saturating_duration_since(self.0.epoch).as_micros() as i64;
        let followed = micros - since;
        let earlier = self.0.followed.swap(followed, Ordering::Relaxed);
        if earlier != NOT_FOLLOWED && followed < earlier {
            self.0.floor.fetch_max(before, Ordering::Relaxed);
        }
    }

    /// Returns the wall time in nanoseconds since the Unix epoch, for traces.
    pub fn nanos(&self) -> u64 {
        self.since_epoch().as_nanos() as u64
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
        self.0
            .stopped_at
            .get_or_init(|| (self.running_since_epoch(), Instant::now()));
    }

    fn since_epoch(&self) -> Duration {
        let stopped_at = self.0.stopped_at.get();
        let since_epoch =
            stopped_at.map_or_else(|| self.running_since_epoch(), |(since_epoch, _)| *since_epoch);
        since_epoch + self.offset()
    }

    fn running_since_epoch(&self) -> Duration {
        match self.0.followed.load(Ordering::Relaxed) {
            NOT_FOLLOWED => {
                let error = self.0.machine_error.load(Ordering::Relaxed);
                let by = Duration::from_millis(error.unsigned_abs());
                if error < 0 {
                    since_epoch().saturating_sub(by)
                } else {
                    since_epoch() + by
                }
            }
            followed => {
                let micros = followed + self.0.epoch.elapsed().as_micros() as i64;
                Duration::from_micros(u64::try_from(micros).unwrap_or_default())
            }
        }
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
    fn a_clock_that_follows_another_ignores_its_machine_and_never_goes_back() {
        let clock = Clock::default();
        clock.set_machine_wrong(3_600_000);
        let (real, at) = (since_epoch(), clock.instant());
        assert!(clock.millis() >= real.as_millis() as i64 + 3_600_000);
        assert!(clock.machine_millis() >= real.as_millis() as i64 + 3_600_000);
        let micros = real.as_micros() as i64;
        clock.follow(micros, at);
        let followed = clock.millis();
        assert!(
            (0..60_000).contains(&(followed - real.as_millis() as i64)),
            "{followed}"
        );
        clock.set_machine_wrong(-3_600_000);
        assert!(clock.millis() >= followed);
        // The other clock is set back, and the time stands still.
        clock.follow(micros - 120_000_000, at);
        assert!((followed..followed + 60_000).contains(&clock.millis()));
        let still = clock.millis();
        clock.advance(Duration::from_millis(10));
        assert_eq!(clock.millis(), still);
        clock.follow(micros + 5_000_000, at);
        assert!(clock.millis() >= real.as_millis() as i64 + 5_000);
    }

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
