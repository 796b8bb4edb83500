//! The outbox: one row for every event, written in the transaction of the event, for readers that follow changes.
//!
//! Its numbers have no gaps and come in the order of commits, so a reader that remembers the last one misses nothing.
//! Old rows are pruned, oldest first; the ledger itself is never pruned.

use super::store;
use platform::db::{Db, Revision, Topic, Tx, run};
use platform::ids::FundraiserId;
use serde::Deserialize;
use uuid::Uuid;

const EXTENT: &str = "select count(*), coalesce(min(sequence), 0), coalesce(max(sequence), 0) from outbox";
const LAST_PRUNED: &str = "select forgotten from ledger_head where id = 1";
const FIRST_RETAINED: &str = "select sequence from outbox where created_at >= $1 order by sequence limit 1";
const SET_LAST_PRUNED: &str = "update ledger_head set forgotten = $1 where id = 1 and forgotten < $1";
const REMOVE: &str = "delete from outbox where sequence <= $1";

/// Rows removed in one transaction, so that writers do not wait long.
const MAX_BATCH_SIZE: i64 = 5_000;
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// How long rows are retained.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct OutboxSettings {
    /// 0 keeps them forever.
    pub keep_days: u32,
}
const CHANGED: &str = "select distinct fundraiser_id from outbox where sequence > $1 and sequence <= $2 \
     and fundraiser_id is not null";

/// Returns the number of rows, and the first and last sequence numbers.
pub async fn find_extent(tx: &mut Tx) -> sqlx::Result<(i64, i64, i64)> {
    run!(tx, c => sqlx::query_as(EXTENT).fetch_one(c).await)
}

/// Returns the sequence number of the last pruned row.
pub async fn find_last_pruned(tx: &mut Tx) -> sqlx::Result<i64> {
    run!(tx, c => sqlx::query_scalar(LAST_PRUNED).fetch_one(c).await)
}

/// Removes rows that are too old, and returns how many. Rows after the first recent one stay.
pub async fn prune(db: &Db, settings: OutboxSettings, now: i64) -> sqlx::Result<i64> {
    if settings.keep_days == 0 {
        return Ok(0);
    }
    let cutoff = now - i64::from(settings.keep_days) * DAY_MILLIS;
    let mut removed = 0;
    loop {
        let mut tx = db.write().await?;
        let head = store::lock_head(&mut tx).await?;
        let before = find_last_pruned(&mut tx).await?;
        let first_retained: Option<i64> =
            run!(&mut tx, c => sqlx::query_scalar(FIRST_RETAINED).bind(cutoff).fetch_optional(c).await)?;
        let last = first_retained.map_or(head.events, |first| first - 1);
        let last = last.min(before + MAX_BATCH_SIZE);
        if last <= before {
            return Ok(removed);
        }
        run!(&mut tx, c => sqlx::query(SET_LAST_PRUNED).bind(last).execute(c).await.map(|_| ()))?;
        run!(&mut tx, c => sqlx::query(REMOVE).bind(last).execute(c).await.map(|_| ()))?;
        tx.commit().await?;
        removed += last - before;
    }
}

/// The result of [`list_changed`].
#[derive(Debug)]
pub struct ChangedFundraisers {
    /// The number of the last row, with its token.
    pub last: Revision,
    /// `None` if any fundraiser may have changed.
    pub ids: Option<Vec<FundraiserId>>,
}

/// Lists the fundraisers of the rows after `after`. They are unknown if an older copy of the database was restored since,
/// or if some of these rows were pruned.
pub async fn list_changed(db: &Db, after: Revision) -> sqlx::Result<ChangedFundraisers> {
    let mut tx = db.view().await?;
    let last = tx.current_revision(Topic::Events).await?;
    if !tx.has_revision(Topic::Events, after).await? || find_last_pruned(&mut tx).await? > after.number {
        return Ok(ChangedFundraisers { last, ids: None });
    }
    let ids: Vec<Uuid> = run!(&mut tx, c => sqlx::query_scalar(CHANGED)
        .bind(after.number)
        .bind(last.number)
        .fetch_all(c)
        .await)?;
    let ids = Some(ids.into_iter().map(FundraiserId).collect());
    Ok(ChangedFundraisers { last, ids })
}
