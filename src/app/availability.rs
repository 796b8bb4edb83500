//! Decides what a server may still answer: whether it is ready, and how old its keys may be.
//!
//! A server that is cut off from its store does not notice that a key was revoked. After `serve.max_stale` it is no longer
//! ready and refuses private keys; after `serve.max_stale_reads` it refuses public keys too.

use crate::config::AvailabilitySettings;
use platform::clock::Clock;
use platform::last_seen::LastSeen;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// The state of a server towards load balancers and clients. Times are in milliseconds since the Unix epoch.
#[derive(Debug)]
pub struct Availability {
    settings: AvailabilitySettings,
    /// When the keys were last compared with those in the store.
    pub store_seen: LastSeen,
    /// Whether the store responded at the start, or since.
    is_connected: AtomicBool,
    started_at: i64,
    stopping_since: OnceLock<i64>,
    /// Whether requests still wait for what may happen.
    waits: watch::Sender<bool>,
}

/// A reason why a server is not ready.
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
}

impl ObstacleKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            ObstacleKind::Stopping => "stopping",
            ObstacleKind::NoSnapshot => "no_snapshot",
            ObstacleKind::StoreUnavailable => "store_unavailable",
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

    /// Returns the reasons why the server is not ready; none if it is.
    pub fn obstacles(&self, has_snapshot: bool) -> Vec<Obstacle> {
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
        [stopping, no_snapshot, unavailable]
            .into_iter()
            .flatten()
            .collect()
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
        assert_eq!(availability.obstacles(true), []);
        clock.advance(Duration::from_millis(1));
        assert_eq!(refused(), (true, false));
        let unavailable = Obstacle {
            kind: ObstacleKind::StoreUnavailable,
            since: start,
        };
        assert_eq!(availability.obstacles(true), [unavailable]);
        clock.advance(Duration::from_secs(3_570));
        assert_eq!(refused(), (true, true));
        availability.store_seen.record(true);
        assert_eq!(refused(), (false, false));
        assert_eq!(availability.obstacles(true), []);
    }

    #[test]
    fn a_server_without_a_snapshot_or_that_stops_is_not_ready() {
        let clock = Clock::default();
        clock.stop();
        let availability = Availability::new(settings(), LastSeen::now(&clock), &clock);
        let start = clock.millis();
        assert_eq!(availability.obstacles(true), []);
        clock.advance(Duration::from_secs(1));
        availability.begin_stop(clock.millis());
        availability.begin_stop(clock.millis() + 5);
        let obstacles = availability.obstacles(false);
        let named = obstacles
            .iter()
            .map(|obstacle| (obstacle.kind.as_str(), obstacle.since));
        assert!(named.eq([("stopping", start + 1_000), ("no_snapshot", start)]));
    }

    #[test]
    fn a_server_that_started_without_its_store_is_not_ready_until_it_is_connected() {
        let clock = Clock::default();
        clock.stop();
        let seen_at = clock.millis() - 5_000;
        let availability = Availability::new(settings(), LastSeen::lost_at(&clock, seen_at), &clock);
        assert!(availability.is_stale() && !availability.is_too_stale_to_read());
        assert_eq!(availability.obstacles(true)[0].since, seen_at);
        availability.set_connected();
        assert_eq!(availability.obstacles(true), []);
    }
}
