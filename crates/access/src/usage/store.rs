//! The SQL of usage.

use super::{Counts, DAY_RETENTION_MILLIS, Period, RETENTION_MILLIS, UnsavedCounts, day_of, hour_of};
use crate::usage::endpoint::Endpoint;
use platform::db::{Db, Tx, from_row, query, run};
use platform::ids::{AccountId, KeyId};
use sqlx::QueryBuilder;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The counts of a row, and how they are summed.
macro_rules! add_counts {
    ($table:literal) => {
        concat!(
            "succeeded = ",
            $table,
            ".succeeded + excluded.succeeded, client_errors = ",
            $table,
            ".client_errors + excluded.client_errors, refused = ",
            $table,
            ".refused + excluded.refused, server_errors = ",
            $table,
            ".server_errors + excluded.server_errors"
        )
    };
}

const ADD_HOURS: &str = "insert into key_usage \
     (key_id, hour, endpoint, succeeded, client_errors, refused, server_errors, last_at) ";
const ADD_TO_HOURS: &str = concat!(
    " on conflict (key_id, hour, endpoint) do update set ",
    add_counts!("key_usage"),
    ", last_at = case when excluded.last_at > key_usage.last_at then excluded.last_at else key_usage.last_at end"
);
const ADD_DAYS: &str = "insert into key_usage_days \
     (key_id, day, endpoint, succeeded, client_errors, refused, server_errors) ";
const ADD_TO_DAYS: &str = concat!(
    " on conflict (key_id, day, endpoint) do update set ",
    add_counts!("key_usage_days")
);
const PRUNE_HOURS: &str = "delete from key_usage where hour < $1";
const PRUNE_DAYS: &str = "delete from key_usage_days where day < $1";
const HOURS_OF_KEY: &str = "select key_id, hour as start_at, endpoint, succeeded, client_errors, refused, \
     server_errors from key_usage where key_id = $1 and hour >= $2 order by hour, endpoint";
const DAYS_OF_KEY: &str = "select key_id, day as start_at, endpoint, succeeded, client_errors, refused, \
     server_errors from key_usage_days where key_id = $1 and day >= $2 order by day, endpoint";
/// Counts only public keys, because a call with a private key is counted for its public key too.
const HOURS_OF_ACCOUNT: &str = "select u.key_id, u.hour as start_at, u.endpoint, u.succeeded, u.client_errors, \
     u.refused, u.server_errors from key_usage u join keys k on k.id = u.key_id \
     where k.account_id = $1 and k.kind = 'public' and u.hour >= $2 \
     order by u.hour, k.created_at, k.id, u.endpoint";
const DAYS_OF_ACCOUNT: &str = "select u.key_id, u.day as start_at, u.endpoint, u.succeeded, u.client_errors, \
     u.refused, u.server_errors from key_usage_days u join keys k on k.id = u.key_id \
     where k.account_id = $1 and k.kind = 'public' and u.day >= $2 \
     order by u.day, k.created_at, k.id, u.endpoint";
const TOTALS: &str = "select key_id, cast(sum(succeeded + client_errors + refused + server_errors) as bigint) \
     from key_usage where hour >= $1 group by key_id";
const TOTALS_OF_ACCOUNT: &str = "select u.key_id, \
     cast(sum(u.succeeded + u.client_errors + u.refused + u.server_errors) as bigint) from key_usage u \
     join keys k on k.id = u.key_id where u.hour >= $1 and k.account_id = $2 group by u.key_id";
const LAST_USED: &str = "select key_id, max(last_at) from key_usage group by key_id";
const LAST_USED_OF_ACCOUNT: &str = "select u.key_id, max(u.last_at) from key_usage u \
     join keys k on k.id = u.key_id where k.account_id = $1 group by u.key_id";

/// A row of `key_usage` or `key_usage_days`.
struct PeriodRow {
    key_id: Uuid,
    start_at: i64,
    endpoint: String,
    succeeded: i64,
    client_errors: i64,
    refused: i64,
    server_errors: i64,
}

from_row!(PeriodRow {
    key_id,
    start_at,
    endpoint,
    succeeded,
    client_errors,
    refused,
    server_errors,
});

impl From<PeriodRow> for Period {
    fn from(row: PeriodRow) -> Period {
        Period {
            key: row.key_id,
            start: row.start_at,
            endpoint: row.endpoint,
            counts: Counts {
                succeeded: row.succeeded.unsigned_abs(),
                client_errors: row.client_errors.unsigned_abs(),
                refused: row.refused.unsigned_abs(),
                server_errors: row.server_errors.unsigned_abs(),
            },
        }
    }
}

/// The rows that a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Of the last 90 days.
    Hour,
    /// In UTC, of the last 13 months.
    Day,
}

/// The maximum number of rows in one statement. SQLite takes up to 32,766 parameters.
const MAX_ROWS_PER_STATEMENT: usize = 4_000;

/// Adds counts. They are sorted, so that two servers lock rows in the same order.
pub async fn add(tx: &mut Tx, unsaved: &UnsavedCounts) -> sqlx::Result<()> {
    let rows: Vec<_> = unsaved.iter().collect();
    for rows in rows.chunks(MAX_ROWS_PER_STATEMENT) {
        run!(&mut *tx, c => {
            let mut query = QueryBuilder::new(ADD_HOURS);
            query.push_values(rows, |mut values, ((key, hour, endpoint), (counts, last_at))| {
                values
                    .push_bind(key.0)
                    .push_bind(*hour)
                    .push_bind(endpoint.name())
                    .push_bind(counts.succeeded as i64)
                    .push_bind(counts.client_errors as i64)
                    .push_bind(counts.refused as i64)
                    .push_bind(counts.server_errors as i64)
                    .push_bind(*last_at);
            });
            query.push(ADD_TO_HOURS);
            // The number of rows differs each time, so it is not worth keeping the statement.
            query.build().persistent(false).execute(c).await.map(|_| ())
        })?;
    }
    add_days(tx, unsaved).await
}

async fn add_days(tx: &mut Tx, unsaved: &UnsavedCounts) -> sqlx::Result<()> {
    let mut days: BTreeMap<(KeyId, i64, Endpoint), Counts> = BTreeMap::new();
    for ((key, hour, endpoint), (counts, _)) in unsaved {
        let day = days.entry((*key, day_of(*hour), *endpoint)).or_default();
        day.add(*counts);
    }
    let rows: Vec<_> = days.iter().collect();
    for rows in rows.chunks(MAX_ROWS_PER_STATEMENT) {
        run!(&mut *tx, c => {
            let mut query = QueryBuilder::new(ADD_DAYS);
            query.push_values(rows, |mut values, ((key, day, endpoint), counts)| {
                values
                    .push_bind(key.0)
                    .push_bind(*day)
                    .push_bind(endpoint.name())
                    .push_bind(counts.succeeded as i64)
                    .push_bind(counts.client_errors as i64)
                    .push_bind(counts.refused as i64)
                    .push_bind(counts.server_errors as i64);
            });
            query.push(ADD_TO_DAYS);
            query.build().persistent(false).execute(c).await.map(|_| ())
        })?;
    }
    Ok(())
}

/// Removes the counts that are older than [`RETENTION_MILLIS`] and [`DAY_RETENTION_MILLIS`].
pub async fn prune(tx: &mut Tx, now: i64) -> sqlx::Result<()> {
    let (hour, day) = (
        hour_of(now - RETENTION_MILLIS),
        day_of(now - DAY_RETENTION_MILLIS),
    );
    tx.execute(query(PRUNE_HOURS).bind(hour)).await?;
    tx.execute(query(PRUNE_DAYS).bind(day)).await.map(|_| ())
}

/// Lists the hours or days of a key that started at `since` or later, oldest first. Those without a call are missing.
pub async fn list_of_key(db: &Db, key: KeyId, unit: Unit, since: i64) -> sqlx::Result<Vec<Period>> {
    let sql = match unit {
        Unit::Hour => HOURS_OF_KEY,
        Unit::Day => DAYS_OF_KEY,
    };
    let rows: Vec<PeriodRow> = db.fetch_all(query(sql).bind(key.0).bind(since)).await?;
    Ok(rows.into_iter().map(Period::from).collect())
}

/// Lists the hours or days of all public keys of an account that started at `since` or later, oldest first.
pub async fn list_of_account(
    db: &Db,
    account: AccountId,
    unit: Unit,
    since: i64,
) -> sqlx::Result<Vec<Period>> {
    let sql = match unit {
        Unit::Hour => HOURS_OF_ACCOUNT,
        Unit::Day => DAYS_OF_ACCOUNT,
    };
    let rows: Vec<PeriodRow> = db.fetch_all(query(sql).bind(account.0).bind(since)).await?;
    Ok(rows.into_iter().map(Period::from).collect())
}

/// Lists the number of calls of each key, of one account or of all, in the hours that started at `since` or later.
pub async fn list_totals(db: &Db, account: Option<AccountId>, since: i64) -> sqlx::Result<Vec<(KeyId, u64)>> {
    let rows: Vec<(Uuid, i64)> = match account {
        None => db.fetch_all(query(TOTALS).bind(since)).await,
        Some(account) => {
            db.fetch_all(query(TOTALS_OF_ACCOUNT).bind(since).bind(account.0))
                .await
        }
    }?;
    let total = |(key, calls): (Uuid, i64)| (KeyId(key), calls.unsigned_abs());
    Ok(rows.into_iter().map(total).collect())
}

/// Lists when each key, of one account or of all, was last used, in milliseconds since the Unix epoch.
///
/// The times are about ten seconds behind. Keys that have not been used for 90 days are missing.
pub async fn list_last_used(db: &Db, account: Option<AccountId>) -> sqlx::Result<Vec<(KeyId, i64)>> {
    let rows: Vec<(Uuid, i64)> = match account {
        None => db.fetch_all(query(LAST_USED)).await,
        Some(account) => db.fetch_all(query(LAST_USED_OF_ACCOUNT).bind(account.0)).await,
    }?;
    Ok(rows.into_iter().map(|(key, at)| (KeyId(key), at)).collect())
}
