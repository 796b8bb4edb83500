//! The time, as a part of the app: the system's own, or one that a test moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A stored time as the interface writes it: RFC 3339 in UTC, with milliseconds.
pub fn rfc3339(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Wall time for what is stored, steady time for limits; both moved on together by a test.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    ahead_micros: Arc<AtomicU64>,
}

impl Clock {
    /// Milliseconds since 1970 in UTC, the form in which times are stored.
    pub fn millis(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (since + self.ahead()).as_millis() as i64
    }

    /// Steady time, which never runs backwards.
    pub fn instant(&self) -> Instant {
        Instant::now() + self.ahead()
    }

    /// Moves this clock and its clones on.
    pub fn advance(&self, by: Duration) {
        self.ahead_micros
            .fetch_add(by.as_micros() as u64, Ordering::Relaxed);
    }

    fn ahead(&self) -> Duration {
        Duration::from_micros(self.ahead_micros.load(Ordering::Relaxed))
    }
}
