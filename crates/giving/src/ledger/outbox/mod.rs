//! The outbox: one row for every event, written in the transaction of the event, for readers that follow changes.
//!
//! Sequence numbers have no gaps and follow the order of commits, so a reader that remembers the last one misses nothing.
//! Old rows are pruned, oldest first; the ledger itself is never pruned.
//!
//! `ledger_head` records up to which row the outbox was pruned, so `causeway check` notices a row that is missing for
//! another reason.

pub mod store;

use super::store::lock_head;
use crate::webhooks::events;
use platform::db::{Db, Revision, Topic};
use platform::ids::FundraiserId;
use serde::Deserialize;

/// Rows removed in one transaction, so that writers do not wait long.
const MAX_BATCH_SIZE: i64 = 5_000;
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// How long rows are retained.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct OutboxSettings {
    /// 0 keeps them forever.
    pub keep_days: u32,
}

/// Removes rows that are too old, and returns how many. Rows after the first recent one stay, and so do those that are not
/// [fanned out](crate::webhooks) yet.
pub async fn prune(db: &Db, settings: OutboxSettings, now: i64) -> sqlx::Result<i64> {
    if settings.keep_days == 0 {
        return Ok(0);
    }
    let cutoff = now - i64::from(settings.keep_days) * DAY_MILLIS;
    let mut removed = 0;
    loop {
        let mut tx = db.write().await?;
        let head = lock_head(&mut tx).await?;
        let before = store::find_last_pruned(&mut tx).await?;
        let first_retained = store::find_first_since(&mut tx, cutoff).await?;
        let last = first_retained.map_or(head.events, |first| first - 1);
        // A row that was not fanned out stays, however old it is.
        let fanned_out = events::store::find_fanned_out(&mut tx).await?;
        let last = last.min(before + MAX_BATCH_SIZE).min(fanned_out);
        if last <= before {
            return Ok(removed);
        }
        store::remove_up_to(&mut tx, last).await?;
        tx.commit().await?;
        removed += last - before;
    }
}

/// The result of [`list_changed`].
#[derive(Debug)]
pub(crate) struct ChangedFundraisers {
    /// The sequence number of the last row, with its token.
    pub last: Revision,
    /// `None` if any fundraiser may have changed.
    pub ids: Option<Vec<FundraiserId>>,
}

/// Lists the fundraisers of the rows after `after`. They are unknown if an older copy of the database was restored since,
/// or if some of these rows were pruned.
pub(crate) async fn list_changed(db: &Db, after: Revision) -> sqlx::Result<ChangedFundraisers> {
    let mut tx = db.view().await?;
    let last = tx.current_revision(Topic::Events).await?;
    if !tx.has_revision(Topic::Events, after).await? || store::find_last_pruned(&mut tx).await? > after.number
    {
        return Ok(ChangedFundraisers { last, ids: None });
    }
    let ids = store::list_fundraisers(&mut tx, after.number, last.number).await?;
    Ok(ChangedFundraisers { last, ids: Some(ids) })
}
