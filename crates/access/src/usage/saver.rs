//! Saves counted calls to the database: for the limits after a restart, and for usage.
//!
//! One statement per table adds everything that was counted in ten seconds, and at a stop at once. A key that uses a
//! quarter of its limit in less time causes an earlier save: otherwise a crash within ten seconds of a burst would reset
//! its limit. A key that calls steadily never does.

use super::Usage;
use super::{HOUR_MILLIS, UnsavedCounts, hour_of, store};
use crate::limits::call::WindowId;
use crate::limits::limiter::{CallsPerSecond, Limiter};
use crate::limits::{self, Class, Limits};
use platform::clock::Clock;
use platform::db::Db;
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::Mutex;

/// The interval between two looks at what was counted.
pub const COLLECT_INTERVAL: Duration = Duration::from_secs(1);

/// The interval between two saves. A crash loses the counts of this interval.
const SAVE_INTERVAL_MILLIS: i64 = 10_000;

/// The part of a limit that may be used before it is saved: one in four.
const MAX_UNSAVED_PART: u32 = 4;

/// Saves counted calls, and buffers them while the database is unavailable.
#[derive(Debug, Default)]
pub struct CountSaver {
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    calls: CallsPerSecond,
    usage: UnsavedCounts,
    /// When counts were last saved.
    saved_at: i64,
    /// The hour in which old counts were last removed.
    pruned_in: i64,
}

impl CountSaver {
    /// Saves the calls since the last time, if that was ten seconds ago or a key has used much of its limit since.
    pub async fn save_if_due(
        &self,
        db: &Db,
        clock: &Clock,
        limiter: &Limiter,
        counts: &Usage,
        limits: &Limits,
    ) -> sqlx::Result<()> {
        let mut pending = self.pending.lock().await;
        pending.collect(clock, limiter, counts);
        let age = clock.millis() - pending.saved_at;
        // The system clock may have been set back.
        if (0..SAVE_INTERVAL_MILLIS).contains(&age) && !has_burst(&pending.calls, limits) {
            return Ok(());
        }
        pending.save(db, clock.millis()).await
    }

    /// Saves the calls since the last time. If that fails, they are saved the next time.
    pub async fn save(&self, db: &Db, clock: &Clock, limiter: &Limiter, counts: &Usage) -> sqlx::Result<()> {
        let mut pending = self.pending.lock().await;
        pending.collect(clock, limiter, counts);
        pending.save(db, clock.millis()).await
    }
}

impl Pending {
    fn collect(&mut self, clock: &Clock, limiter: &Limiter, counts: &Usage) {
        let now = clock.millis();
        limiter.take_unsaved(clock.instant(), now, &mut self.calls);
        counts.take_unsaved(now, &mut self.usage);
        limits::store::drop_old(&mut self.calls, now);
    }

    /// Saves everything in one transaction, with one statement per table.
    async fn save(&mut self, db: &Db, now: i64) -> sqlx::Result<()> {
        let Pending {
            calls,
            usage,
            saved_at,
            pruned_in,
        } = self;
        let must_prune = now - *pruned_in >= HOUR_MILLIS;
        if calls.is_empty() && usage.is_empty() && !must_prune {
            return Ok(());
        }
        let mut tx = db.write().await?;
        limits::store::add(&mut tx, calls, now).await?;
        store::add(&mut tx, usage).await?;
        if must_prune {
            store::prune(&mut tx, now).await?;
        }
        tx.commit().await?;
        calls.clear();
        usage.clear();
        *saved_at = now;
        *pruned_in = hour_of(now);
        Ok(())
    }
}

/// Returns whether any window has a large part of its limit that is not saved. The limit of an address is not known
/// here; it counts like the lowest limit of a class.
fn has_burst(calls: &CallsPerSecond, limits: &Limits) -> bool {
    let lowest = Class::ALL.into_iter().map(|class| limits.of_class(class)).min();
    let mut sums: HashMap<WindowId, u32> = HashMap::new();
    calls.iter().any(|((window, _), calls)| {
        let limit = match window {
            WindowId::Class(_, class) => limits.of_class(*class),
            WindowId::Address(_) => lowest.unwrap_or_default(),
        };
        let sum = sums.entry(*window).or_default();
        *sum = sum.saturating_add(*calls);
        *sum >= (limit / MAX_UNSAVED_PART).max(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::call::Owner;
    use platform::ids::KeyId;

    const LIMITS: Limits = Limits {
        details: 100,
        search: 500,
        browse: 500,
        causes: 500,
        fundraisers: 500,
        create: 30,
        matches: 60,
        export: 20,
        anonymous: 60,
        webhooks: 60,
        events: 300,
    };

    #[test]
    fn a_quarter_of_a_limit_is_a_burst_and_a_steady_key_is_not() {
        let (key, other_key) = (Owner::Key(KeyId::new()), Owner::Key(KeyId::new()));
        let calls = |class: Class, per_second: u32, seconds: i64| -> CallsPerSecond {
            (0..seconds)
                .map(|second| ((WindowId::Class(key, class), second), per_second))
                .collect()
        };
        assert!(!has_burst(&calls(Class::Search, 8, 10), &LIMITS), "500 a minute");
        assert!(!has_burst(&calls(Class::Search, 124, 1), &LIMITS));
        assert!(has_burst(&calls(Class::Search, 125, 1), &LIMITS));
        assert!(has_burst(&calls(Class::Search, 25, 5), &LIMITS));
        assert!(has_burst(&calls(Class::Details, 25, 1), &LIMITS));
        let two_keys = [key, other_key].map(|owner| ((WindowId::Class(owner, Class::Search), 3), 100));
        let two_keys = CallsPerSecond::from(two_keys);
        assert!(!has_burst(&two_keys, &LIMITS));
    }
}
