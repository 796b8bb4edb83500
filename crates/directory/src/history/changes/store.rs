//! The queries of the change feed.

use crate::history::ADDED;
use platform::db::{Tx, from_row, query};
use sqlx::AssertSqlSafe;
use std::collections::HashSet;
use std::fmt::Write;
use uuid::Uuid;

const FIND_NEXT: &str = "select i.revision, i.kind, i.added, i.changed, i.gone, \
     exists (select 1 from directory_changes c where c.revision = i.revision) as has_ids from imports i \
     where i.revision > $1 and i.revision <= $2 and i.added + i.changed + i.gone > 0 order by i.revision limit 1";
const LIST_IDS: &str = "select nonprofit_id from directory_changes where revision = $1 and nonprofit_id > $2 \
     order by nonprofit_id limit $3";
const LIST_WITHOUT_EIN: &str = "select nonprofit_id from changes_without_ein where revision = $1 and nonprofit_id > $2 \
     order by nonprofit_id limit $3";
const LIST_ADDED_WITHOUT_EIN: &str = "select nonprofit_id from changes_without_ein where revision = $1 and nonprofit_id between $2 and $3 and is_added";
const HAS_ADDED: &str = "select exists (select 1 from nonprofit_history where revision = $1 and field = $2)";
const LIST_EINS: &str = "select distinct ein from nonprofit_history where revision = $1 and ein > $2 \
     order by ein limit $3";

/// An import that changed something.
#[derive(Clone, Debug)]
pub(crate) struct ImportRow {
    pub revision: i64,
    pub kind: String,
    pub added: i64,
    pub changed: i64,
    pub gone: i64,
    /// Whether the nonprofits that it changed are recorded.
    pub has_ids: bool,
}

from_row!(ImportRow {
    revision,
    kind,
    added,
    changed,
    gone,
    has_ids,
});

/// Finds the first import after a revision that changed something, up to another revision.
pub(crate) async fn find_next(tx: &mut Tx, after: i64, up_to: i64) -> sqlx::Result<Option<ImportRow>> {
    tx.fetch_optional(query(FIND_NEXT).bind(after).bind(up_to)).await
}

/// Lists nonprofits that a small import changed, sorted by ID.
pub(crate) async fn list_ids(
    tx: &mut Tx,
    revision: i64,
    after: Option<Uuid>,
    take: usize,
) -> sqlx::Result<Vec<Uuid>> {
    let after = after.unwrap_or(Uuid::nil());
    tx.fetch_scalars(query(LIST_IDS).bind(revision).bind(after).bind(take as i64))
        .await
}

/// Lists nonprofits without an EIN that an import changed, sorted by ID.
pub(crate) async fn list_without_ein(
    tx: &mut Tx,
    revision: i64,
    after: Option<Uuid>,
    take: usize,
) -> sqlx::Result<Vec<Uuid>> {
    let after = after.unwrap_or(Uuid::nil());
    tx.fetch_scalars(
        query(LIST_WITHOUT_EIN)
            .bind(revision)
            .bind(after)
            .bind(take as i64),
    )
    .await
}

/// Returns the nonprofits without an EIN that an import added, from one ID to another.
pub(crate) async fn list_added_without_ein(
    tx: &mut Tx,
    revision: i64,
    first: Uuid,
    last: Uuid,
) -> sqlx::Result<HashSet<Uuid>> {
    let ids: Vec<Uuid> = tx
        .fetch_scalars(
            query(LIST_ADDED_WITHOUT_EIN)
                .bind(revision)
                .bind(first)
                .bind(last),
        )
        .await?;
    Ok(ids.into_iter().collect())
}

/// Returns whether the history has nonprofits that an import added.
pub(crate) async fn has_added(tx: &mut Tx, revision: i64) -> sqlx::Result<bool> {
    tx.fetch_scalar(query(HAS_ADDED).bind(revision).bind(ADDED)).await
}

/// Lists the EINs of nonprofits in the history of an import, sorted.
pub(crate) async fn list_eins(
    tx: &mut Tx,
    revision: i64,
    after: Option<u32>,
    take: usize,
) -> sqlx::Result<Vec<u32>> {
    let after = after.map_or(-1, i64::from);
    let eins: Vec<i64> = tx
        .fetch_scalars(query(LIST_EINS).bind(revision).bind(after).bind(take as i64))
        .await?;
    Ok(eins.into_iter().map(|ein| ein as u32).collect())
}

/// Returns which of these EINs an import added to the directory.
pub(crate) async fn list_added(tx: &mut Tx, import: &ImportRow, eins: &[u32]) -> sqlx::Result<HashSet<u32>> {
    if import.added == 0 || eins.is_empty() {
        return Ok(HashSet::new());
    }
    let mut sql =
        "select ein from nonprofit_history where revision = $1 and field = $2 and ein in (".to_owned();
    for (index, ein) in eins.iter().enumerate() {
        let _ = write!(sql, "{}{ein}", if index == 0 { "" } else { "," });
    }
    sql.push(')');
    let found: Vec<i64> = tx
        .fetch_scalars(
            query(AssertSqlSafe(sql.clone()))
                .uncached()
                .bind(import.revision)
                .bind(ADDED),
        )
        .await?;
    Ok(found.into_iter().map(|ein| ein as u32).collect())
}
