//! The SQL of usage.

use super::{Counts, Hour, RETENTION_MILLIS, UnsavedCounts, hour_of};
use platform::db::{Db, Tx, from_row, read, run};
use platform::ids::{AccountId, KeyId};
use sqlx::QueryBuilder;
use uuid::Uuid;

const ADD: &str = "insert into key_usage (key_id, hour, class, calls, refused, errors, last_at) ";
const ADD_TO_EXISTING: &str = " on conflict (key_id, hour, class) do update set \
     calls = key_usage.calls + excluded.calls, refused = key_usage.refused + excluded.refused, \
     errors = key_usage.errors + excluded.errors, last_at = case when excluded.last_at > key_usage.last_at \
     then excluded.last_at else key_usage.last_at end";
const PRUNE: &str = "delete from key_usage where hour < $1";
const OF_KEY: &str = "select key_id, hour, class, calls, refused, errors from key_usage \
     where key_id = $1 and hour >= $2 order by hour, class";
/// Counts only public keys, because a call with a private key is counted for its public key too.
const OF_ACCOUNT: &str = "select u.key_id, u.hour, u.class, u.calls, u.refused, u.errors from key_usage u \
     join keys k on k.id = u.key_id where k.account_id = $1 and k.kind = 'public' and u.hour >= $2 \
     order by u.hour, k.created_at, k.id, u.class";
const TOTALS: &str = "select u.key_id, cast(sum(u.calls) as bigint), cast(sum(u.refused) as bigint), \
     cast(sum(u.errors) as bigint) from key_usage u where u.hour >= $1 group by u.key_id";
const TOTALS_OF_ACCOUNT: &str = "select u.key_id, cast(sum(u.calls) as bigint), \
     cast(sum(u.refused) as bigint), cast(sum(u.errors) as bigint) from key_usage u \
     join keys k on k.id = u.key_id where u.hour >= $1 and k.account_id = $2 group by u.key_id";
const LAST_USED: &str = "select key_id, max(last_at) from key_usage group by key_id";
const LAST_USED_OF_ACCOUNT: &str = "select u.key_id, max(u.last_at) from key_usage u \
     join keys k on k.id = u.key_id where k.account_id = $1 group by u.key_id";

/// A row of `key_usage`.
struct HourRow {
    key_id: Uuid,
    hour: i64,
    class: String,
    calls: i64,
    refused: i64,
    errors: i64,
}

from_row!(HourRow {
    key_id,
    hour,
    class,
    calls,
    refused,
    errors,
});

type TotalRow = (Uuid, i64, i64, i64);

/// The maximum number of rows in one statement. SQLite takes up to 32,766 parameters.
const MAX_ROWS_PER_STATEMENT: usize = 4_000;

/// Adds counts. They are sorted, so that two servers lock rows in the same order.
pub async fn add(tx: &mut Tx, unsaved: &UnsavedCounts) -> sqlx::Result<()> {
    let rows: Vec<_> = unsaved.iter().collect();
    for rows in rows.chunks(MAX_ROWS_PER_STATEMENT) {
        run!(&mut *tx, c => {
            let mut query = QueryBuilder::new(ADD);
            query.push_values(rows, |mut values, ((key, hour, class), (counts, last_at))| {
                values
                    .push_bind(key.0)
                    .push_bind(*hour)
                    .push_bind(*class)
                    .push_bind(counts.calls as i64)
                    .push_bind(counts.refused as i64)
                    .push_bind(counts.errors as i64)
                    .push_bind(*last_at);
            });
            query.push(ADD_TO_EXISTING);
            // The number of rows differs each time, so it is not worth keeping the statement.
            query.build().persistent(false).execute(c).await.map(|_| ())
        })?;
    }
    Ok(())
}

/// Removes the counts that are older than [`RETENTION_MILLIS`].
pub async fn prune(tx: &mut Tx, now: i64) -> sqlx::Result<()> {
    run!(tx, c => sqlx::query(PRUNE).bind(hour_of(now - RETENTION_MILLIS)).execute(c).await.map(|_| ()))
}

/// Lists the hours of a key that started at `since` or later, oldest first. Hours without a call are missing.
pub async fn list_of_key(db: &Db, key: KeyId, since: i64) -> sqlx::Result<Vec<Hour>> {
    let rows: Vec<HourRow> =
        read!(db, c => sqlx::query_as(OF_KEY).bind(key.0).bind(since).fetch_all(c).await)?;
    Ok(rows.into_iter().map(hour).collect())
}

/// Lists the hours of all public keys of an account that started at `since` or later, oldest first.
pub async fn list_of_account(db: &Db, account: AccountId, since: i64) -> sqlx::Result<Vec<Hour>> {
    let rows: Vec<HourRow> =
        read!(db, c => sqlx::query_as(OF_ACCOUNT).bind(account.0).bind(since).fetch_all(c).await)?;
    Ok(rows.into_iter().map(hour).collect())
}

/// Lists the totals of each key, of one account or of all, in the hours that started at `since` or later.
pub async fn list_totals(
    db: &Db,
    account: Option<AccountId>,
    since: i64,
) -> sqlx::Result<Vec<(KeyId, Counts)>> {
    let rows: Vec<TotalRow> = match account {
        None => read!(db, c => sqlx::query_as(TOTALS).bind(since).fetch_all(c).await),
        Some(account) => {
            read!(db, c => sqlx::query_as(TOTALS_OF_ACCOUNT).bind(since).bind(account.0).fetch_all(c).await)
        }
    }?;
    let total = |(key, calls, refused, errors)| (KeyId(key), counts(calls, refused, errors));
    Ok(rows.into_iter().map(total).collect())
}

/// Lists when each key, of one account or of all, was last used, in milliseconds since the Unix epoch.
///
/// The times are about ten seconds behind. Keys that have not been used for 90 days are missing.
pub async fn list_last_used(db: &Db, account: Option<AccountId>) -> sqlx::Result<Vec<(KeyId, i64)>> {
    let rows: Vec<(Uuid, i64)> = match account {
        None => read!(db, c => sqlx::query_as(LAST_USED).fetch_all(c).await),
        Some(account) => {
            read!(db, c => sqlx::query_as(LAST_USED_OF_ACCOUNT).bind(account.0).fetch_all(c).await)
        }
    }?;
    Ok(rows.into_iter().map(|(key, at)| (KeyId(key), at)).collect())
}

fn hour(row: HourRow) -> Hour {
    Hour {
        key: row.key_id,
        hour: row.hour,
        class: row.class,
        counts: counts(row.calls, row.refused, row.errors),
    }
}

fn counts(calls: i64, refused: i64, errors: i64) -> Counts {
    Counts {
        calls: calls.unsigned_abs(),
        refused: refused.unsigned_abs(),
        errors: errors.unsigned_abs(),
    }
}
