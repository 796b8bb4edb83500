//! Tells the store what was called: for limits after a restart, and for usage.

use super::Usage;
use super::{HOUR_MILLIS, UnsavedCounts, hour_of, store};
use crate::limits::limiter::{CallsPerSecond, Limiter};
use crate::limits::recent;
use platform::clock::Clock;
use platform::db::Db;
use std::time::Duration;
use tokio::sync::Mutex;

/// Between two times that the store is told: a crash forgets no more than these.
pub const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// What the store could not be told of yet.
#[derive(Debug, Default)]
pub struct CountSaver {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    calls: CallsPerSecond,
    usage: UnsavedCounts,
    /// The hour in which hours that are too old were last removed.
    pruned_in: i64,
}

impl CountSaver {
    /// Adds what was counted since the last time, in one transaction. What cannot be saved waits for the next.
    pub async fn save(&self, db: &Db, clock: &Clock, limiter: &Limiter, counts: &Usage) -> sqlx::Result<()> {
        let mut waiting = self.waiting.lock().await;
        let Waiting {
            calls,
            usage,
            pruned_in,
        } = &mut *waiting;
        let now = clock.millis();
        limiter.take_unsaved(clock.instant(), now, calls);
        counts.take_unsaved(now, usage);
        recent::forget_old(calls, now);
        let is_due = now - *pruned_in >= HOUR_MILLIS;
        if calls.is_empty() && usage.is_empty() && !is_due {
            return Ok(());
        }
        let mut tx = db.write().await?;
        recent::add(&mut tx, calls, now).await?;
        store::add(&mut tx, usage).await?;
        if is_due {
            store::prune(&mut tx, now).await?;
        }
        tx.commit().await?;
        calls.clear();
        usage.clear();
        *pruned_in = hour_of(now);
        Ok(())
    }
}
