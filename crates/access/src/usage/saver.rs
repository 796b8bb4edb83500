//! Saves counted calls to the database: for the limits after a restart, and for usage.

use super::Usage;
use super::{HOUR_MILLIS, UnsavedCounts, hour_of, store};
use crate::limits::limiter::{CallsPerSecond, Limiter};
use crate::limits::recent;
use platform::clock::Clock;
use platform::db::Db;
use std::time::Duration;
use tokio::sync::Mutex;

/// The interval between two saves. A crash loses the calls of this interval.
pub const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// Saves counted calls, and buffers them while the database is unavailable.
#[derive(Debug, Default)]
pub struct CountSaver {
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    calls: CallsPerSecond,
    usage: UnsavedCounts,
    /// The hour in which old counts were last removed.
    pruned_in: i64,
}

impl CountSaver {
    /// Saves the calls since the last time in one transaction. If that fails, they are saved the next time.
    pub async fn save(&self, db: &Db, clock: &Clock, limiter: &Limiter, counts: &Usage) -> sqlx::Result<()> {
        let mut pending = self.pending.lock().await;
        let Pending {
            calls,
            usage,
            pruned_in,
        } = &mut *pending;
        let now = clock.millis();
        limiter.take_unsaved(clock.instant(), now, calls);
        counts.take_unsaved(now, usage);
        recent::drop_old(calls, now);
        let must_prune = now - *pruned_in >= HOUR_MILLIS;
        if calls.is_empty() && usage.is_empty() && !must_prune {
            return Ok(());
        }
        let mut tx = db.write().await?;
        recent::add(&mut tx, calls, now).await?;
        store::add(&mut tx, usage).await?;
        if must_prune {
            store::prune(&mut tx, now).await?;
        }
        tx.commit().await?;
        calls.clear();
        usage.clear();
        *pruned_in = hour_of(now);
        Ok(())
    }
}
