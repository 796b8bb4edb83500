//! The SQL of reading and pruning the outbox. `ledger_head` records up to where it was pruned.

use platform::db::{Tx, run};
use platform::ids::FundraiserId;
use uuid::Uuid;

const EXTENT: &str = "select count(*), coalesce(min(sequence), 0), coalesce(max(sequence), 0) from outbox";
const LAST_PRUNED: &str = "select forgotten from ledger_head where id = 1";
const FIRST_SINCE: &str = "select sequence from outbox where created_at >= $1 order by sequence limit 1";
const SET_LAST_PRUNED: &str = "update ledger_head set forgotten = $1 where id = 1 and forgotten < $1";
const REMOVE: &str = "delete from outbox where sequence <= $1";
const FUNDRAISERS: &str = "select distinct fundraiser_id from outbox where sequence > $1 and sequence <= $2 \
     and fundraiser_id is not null";

/// Returns the number of rows, and the first and last sequence numbers.
pub(crate) async fn find_extent(tx: &mut Tx) -> sqlx::Result<(i64, i64, i64)> {
    run!(tx, c => sqlx::query_as(EXTENT).fetch_one(c).await)
}

/// Returns the sequence number of the last pruned row.
pub(crate) async fn find_last_pruned(tx: &mut Tx) -> sqlx::Result<i64> {
    run!(tx, c => sqlx::query_scalar(LAST_PRUNED).fetch_one(c).await)
}

/// Finds the first row that was created at `since` or later.
pub(crate) async fn find_first_since(tx: &mut Tx, since: i64) -> sqlx::Result<Option<i64>> {
    run!(tx, c => sqlx::query_scalar(FIRST_SINCE).bind(since).fetch_optional(c).await)
}

/// Removes the rows up to `last`, and records that in the head.
pub(crate) async fn remove_up_to(tx: &mut Tx, last: i64) -> sqlx::Result<()> {
    run!(&mut *tx, c => sqlx::query(SET_LAST_PRUNED).bind(last).execute(c).await.map(|_| ()))?;
    run!(tx, c => sqlx::query(REMOVE).bind(last).execute(c).await.map(|_| ()))
}

/// Lists the fundraisers of the rows after `after` up to `last`.
pub(crate) async fn list_fundraisers(tx: &mut Tx, after: i64, last: i64) -> sqlx::Result<Vec<FundraiserId>> {
    let ids: Vec<Uuid> =
        run!(tx, c => sqlx::query_scalar(FUNDRAISERS).bind(after).bind(last).fetch_all(c).await)?;
    Ok(ids.into_iter().map(FundraiserId).collect())
}
