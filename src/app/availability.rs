//! Decides what a server may still answer: whether it is ready, and how old its keys may be.
//!
//! A server that is cut off from its store does not notice that a key was revoked. After `serve.max_stale` it is degraded: it
//! is no longer ready for writes and refuses private keys. Only after `serve.max_stale_reads`, when it refuses public keys
//! too, is it not ready at all: all servers of a store lose it at once, and until then each of them answers reads.

use crate::config::AvailabilitySettings;
use platform::clock::Clock;
use platform::last_seen::LastSeen;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use tokio::sync::watch;

/// A larger difference of clocks is logged.
pub const NOTED_CLOCK_SKEW_MILLIS: i64 = 5_000;
/// With a larger one, a server is not ready for writes.
const MAX_CLOCK_SKEW_MILLIS: i64 = 60_000;

/// The state of a server towards load balancers and clients. Times are in milliseconds since the Unix epoch.
#[derive(Debug)]
pub struct Availability {
    settings: AvailabilitySettings,
    /// When the keys were last compared with those in the store.
    pub store_seen: LastSeen,
    /// Whether the store responded at the start, or since.
    is_connected: AtomicBool,
    started_at: i64,
    /// How many milliseconds the clock of this machine is ahead of the store, and since when it is too far off.
    clock_skew: AtomicI64,
    skewed_since: AtomicI64,
    stopping_since: OnceLock<i64>,
    /// Whether requests still wait for what may happen.
    waits: watch::Sender<bool>,
}

/// What a server may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// The reasons why the server is not ready for everything; none if it is.
    pub obstacles: Vec<Obstacle>,
    /// Whether the server answers reads in spite of them.
    pub serves_reads: bool,
}

impl Readiness {
    /// Returns whether the server is ready for everything.
    pub fn serves_writes(&self) -> bool {
        self.obstacles.is_empty()
    }
}

/// A reason why a server is not ready for everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Obstacle {
    pub kind: ObstacleKind,
    pub since: i64,
}

/// The kinds of [`Obstacle`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObstacleKind {
    /// The server was asked to stop.
    Stopping,
    /// No snapshot of the directory is open yet, so searches find less.
    NoSnapshot,
    /// The store has not responded for `serve.max_stale`.
    StoreUnavailable,
    /// The clock of this machine differs from that of the store by more than a minute.
    ClockSkew,
}

impl ObstacleKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            ObstacleKind::Stopping => "stopping",
            ObstacleKind::NoSnapshot => "no_snapshot",
            ObstacleKind::StoreUnavailable => "store_unavailable",
            ObstacleKind::ClockSkew => "clock_skew",
        }
    }
}

impl Availability {
    /// `store_seen` is lost if the server starts without its store.
    pub fn new(settings: AvailabilitySettings, store_seen: LastSeen, clock: &Clock) -> Availability {
        Availability {
            settings,
            is_connected: AtomicBool::new(store_seen.lost_for().is_none()),
            store_seen,
            started_at: clock.millis(),
            clock_skew: AtomicI64::default(),
            skewed_since: AtomicI64::default(),
            stopping_since: OnceLock::new(),
            waits: watch::Sender::new(true),
        }
    }

    /// Returns whether the store responded at the start, or since. Later outages do not change this.
    pub fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Acquire)
    }

    /// Records that a server that started without its store is connected to it.
    pub fn set_connected(&self) {
        self.store_seen.record(true);
        self.is_connected.store(true, Ordering::Release);
    }

    /// Returns whether the store has not responded for so long, or not at all, that private keys are refused.
    #[inline]
    pub fn is_stale(&self) -> bool {
        let lost_for = self.store_seen.lost_for();
        lost_for.is_some_and(|lost_for| lost_for >= self.settings.max_stale || !self.is_connected())
    }

    /// Returns whether the store has not responded for so long that public keys are refused too.
    #[inline]
    pub fn is_too_stale_to_read(&self) -> bool {
        let lost_for = self.store_seen.lost_for();
        lost_for.is_some_and(|lost_for| lost_for >= self.settings.max_stale_reads)
    }

    /// Records how many milliseconds the clock of this machine is ahead of the store, or behind if negative. Returns whether it
    /// is the first time that it is so far off, or no longer is.
    pub fn record_clock_skew(&self, skew: i64, now: i64) -> bool {
        let before = self.clock_skew.swap(skew, Ordering::Relaxed);
        let is_far_off = skew.abs() > MAX_CLOCK_SKEW_MILLIS;
        if is_far_off != (before.abs() > MAX_CLOCK_SKEW_MILLIS) {
            self.skewed_since
                .store(if is_far_off { now } else { 0 }, Ordering::Relaxed);
        }
        (skew.abs() > NOTED_CLOCK_SKEW_MILLIS) != (before.abs() > NOTED_CLOCK_SKEW_MILLIS)
    }

    /// Returns how many milliseconds the clock of this machine is ahead of the store, or behind if negative.
    pub fn clock_skew(&self) -> i64 {
        self.clock_skew.load(Ordering::Relaxed)
    }

    /// Records that the server was asked to stop. From now on it is not ready.
    pub fn begin_stop(&self, now: i64) {
        let _ = self.stopping_since.set(now);
    }

    /// Ends the requests that wait for something to happen: the server accepts no more connections.
    pub fn end_waits(&self) {
        self.waits.send_replace(false);
    }

    /// Returns when requests no longer wait for something to happen.
    pub async fn waits_ended(&self) {
        // The sender is not dropped as long as this borrows it.
        let _ = self.waits.subscribe().wait_for(|waits| !waits).await;
    }

    /// Returns what load balancers should send here.
    pub fn readiness(&self, has_snapshot: bool) -> Readiness {
        let stopping = self.stopping_since.get().map(|since| Obstacle {
            kind: ObstacleKind::Stopping,
            since: *since,
        });
        let no_snapshot = (!has_snapshot).then_some(Obstacle {
            kind: ObstacleKind::NoSnapshot,
            since: self.started_at,
        });
        let unavailable = self.is_stale().then(|| Obstacle {
            kind: ObstacleKind::StoreUnavailable,
            since: self.store_seen.seen_at(),
        });
        let skewed_since = self.skewed_since.load(Ordering::Relaxed);
        let skewed = (skewed_since > 0).then_some(Obstacle {
            kind: ObstacleKind::ClockSkew,
            since: skewed_since,
        });
        Readiness {
            serves_reads: stopping.is_none() && has_snapshot && !self.is_too_stale_to_read(),
            obstacles: [stopping, no_snapshot, unavailable, skewed]
                .into_iter()
                .flatten()
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn settings() -> AvailabilitySettings {
        AvailabilitySettings {
            drain: Duration::ZERO,
            max_stale: Duration::from_secs(30),
            max_stale_reads: Duration::from_hours(1),
        }
    }

    #[test]
    fn a_server_that_lost_its_store_first_refuses_private_keys_and_then_public_ones() {
        let clock = Clock::default();
        clock.stop();
        let availability = Availability::new(settings(), LastSeen::now(&clock), &clock);
        let start = clock.millis();
        let refused = || (availability.is_stale(), availability.is_too_stale_to_read());
        availability.store_seen.record(false);
        clock.advance(Duration::from_millis(29_999));
        assert_eq!(refused(), (false, false));
        assert!(availability.readiness(true).serves_writes());
        clock.advance(Duration::from_millis(1));
        assert_eq!(refused(), (true, false));
        let unavailable = Obstacle {
            kind: ObstacleKind::StoreUnavailable,
            since: start,
        };
        let readiness = |serves_reads| Readiness {
            obstacles: vec![unavailable],
            serves_reads,
        };
        assert_eq!(availability.readiness(true), readiness(true));
        clock.advance(Duration::from_secs(3_570));
        assert_eq!(refused(), (true, true));
        assert_eq!(availability.readiness(true), readiness(false));
        availability.store_seen.record(true);
        assert_eq!(refused(), (false, false));
        assert!(availability.readiness(true).serves_writes());
    }

    #[test]
    fn a_server_without_a_snapshot_or_that_stops_is_not_ready() {
        let clock = Clock::default();
        clock.stop();
        let availability = Availability::new(settings(), LastSeen::now(&clock), &clock);
        let start = clock.millis();
        assert!(availability.readiness(true).serves_writes());
        clock.advance(Duration::from_secs(1));
        availability.begin_stop(clock.millis());
        availability.begin_stop(clock.millis() + 5);
        let Readiness {
            obstacles,
            serves_reads,
        } = availability.readiness(false);
        assert!(!serves_reads);
        let named = obstacles
            .iter()
            .map(|obstacle| (obstacle.kind.as_str(), obstacle.since));
        assert!(named.eq([("stopping", start + 1_000), ("no_snapshot", start)]));
    }

    #[test]
    fn a_server_whose_clock_is_a_minute_off_is_not_ready_for_writes() {
        let clock = Clock::default();
        let availability = Availability::new(settings(), LastSeen::now(&clock), &clock);
        assert!(!availability.record_clock_skew(-4_000, 1));
        assert!(availability.record_clock_skew(-6_000, 2), "is logged");
        assert!(!availability.record_clock_skew(-59_000, 3), "is logged once");
        assert!(availability.readiness(true).serves_writes());
        availability.record_clock_skew(-61_000, 4);
        availability.record_clock_skew(-62_000, 5);
        let readiness = availability.readiness(true);
        assert!(readiness.serves_reads && !readiness.serves_writes());
        let skewed = Obstacle {
            kind: ObstacleKind::ClockSkew,
            since: 4,
        };
        assert_eq!(readiness.obstacles, [skewed]);
        assert!(availability.record_clock_skew(100, 6), "is logged");
        assert!(availability.readiness(true).serves_writes());
    }

    #[test]
    fn a_server_that_started_without_its_store_only_reads_until_it_is_connected() {
        let clock = Clock::default();
        clock.stop();
        let seen_at = clock.millis() - 5_000;
        let availability = Availability::new(settings(), LastSeen::lost_at(&clock, seen_at), &clock);
        assert!(availability.is_stale() && !availability.is_too_stale_to_read());
        let readiness = availability.readiness(true);
        assert!(readiness.serves_reads && !readiness.serves_writes());
        assert_eq!(readiness.obstacles[0].since, seen_at);
        availability.set_connected();
        assert!(availability.readiness(true).serves_writes());
    }
}
