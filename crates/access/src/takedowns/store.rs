//! The SQL of requests to receive no donations.

use super::Takedown;
use platform::db::{Db, Tx, from_row, query};
use platform::ids::{AccountId, NonprofitId};
use uuid::Uuid;

macro_rules! takedowns {
    ($rest:literal) => {
        concat!(
            "select d.nonprofit_id, a.username, d.reason, d.created_at from takedowns d ",
            "join accounts a on a.id = d.account_id ",
            $rest
        )
    };
}

const FIND: &str = takedowns!("where d.nonprofit_id = $1 and d.ended_at is null");
const LIST: &str = takedowns!("where d.ended_at is null order by d.created_at, d.id limit 200");
const INSERT: &str = "insert into takedowns (id, nonprofit_id, account_id, reason, created_at) \
     values ($1, $2, $3, $4, $5) on conflict do nothing";
const END: &str =
    "update takedowns set ended_at = $3, ended_by = $2 where nonprofit_id = $1 and ended_at is null";

struct TakedownRow {
    nonprofit_id: Uuid,
    username: String,
    reason: String,
    created_at: i64,
}

from_row!(TakedownRow {
    nonprofit_id,
    username,
    reason,
    created_at,
});

fn takedown(row: TakedownRow) -> Takedown {
    Takedown {
        nonprofit: NonprofitId(row.nonprofit_id),
        username: row.username,
        reason: row.reason,
        created_at: row.created_at,
    }
}

/// Finds the request of a nonprofit that is in force.
pub async fn find(db: &Db, nonprofit: NonprofitId) -> sqlx::Result<Option<Takedown>> {
    let row: Option<TakedownRow> = db.fetch_optional(query(FIND).bind(nonprofit.0)).await?;
    Ok(row.map(takedown))
}

/// Lists the requests that are in force, oldest first.
pub async fn list(db: &Db) -> sqlx::Result<Vec<Takedown>> {
    let rows: Vec<TakedownRow> = db.fetch_all(query(LIST)).await?;
    Ok(rows.into_iter().map(takedown).collect())
}

/// Inserts a request. Returns `false` if one is in force.
pub async fn insert(
    tx: &mut Tx,
    nonprofit: NonprofitId,
    account: AccountId,
    reason: &str,
    now: i64,
) -> sqlx::Result<bool> {
    let inserted = tx
        .execute(
            query(INSERT)
                .bind(Uuid::now_v7())
                .bind(nonprofit.0)
                .bind(account.0)
                .bind(reason)
                .bind(now),
        )
        .await?;
    Ok(inserted > 0)
}

/// Ends the request of a nonprofit. Returns `false` if none is in force.
pub async fn end(tx: &mut Tx, nonprofit: NonprofitId, by: AccountId, now: i64) -> sqlx::Result<bool> {
    let ended = tx
        .execute(query(END).bind(nonprofit.0).bind(by.0).bind(now))
        .await?;
    Ok(ended > 0)
}
