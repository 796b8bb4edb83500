//! The SQL of reading and pruning the outbox. `ledger_head` records up to where it was pruned.

use platform::db::{Tx, query};
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
    tx.fetch_one(query(EXTENT)).await
}

/// Returns the sequence number of the last pruned row.
pub(crate) async fn find_last_pruned(tx: &mut Tx) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(LAST_PRUNED)).await
}

/// Finds the first row that was created at `since` or later.
pub(crate) async fn find_first_since(tx: &mut Tx, since: i64) -> sqlx::Result<Option<i64>> {
    tx.fetch_optional_scalar(query(FIRST_SINCE).bind(since)).await
}

/// Removes the rows up to `last`, and records that in the head.
pub(crate) async fn remove_up_to(tx: &mut Tx, last: i64) -> sqlx::Result<()> {
    tx.execute(query(SET_LAST_PRUNED).bind(last)).await?;
    tx.execute(query(REMOVE).bind(last)).await.map(|_| ())
}

/// Lists the fundraisers of the rows after `after` up to `last`.
pub(crate) async fn list_fundraisers(tx: &mut Tx, after: i64, last: i64) -> sqlx::Result<Vec<FundraiserId>> {
    let ids: Vec<Uuid> = tx
        .fetch_scalars(query(FUNDRAISERS).bind(after).bind(last))
        .await?;
    Ok(ids.into_iter().map(FundraiserId).collect())
}
