//! Saves the calls admitted in the last minute to the database, so that a restart does not reset the limits.
//!
//! A running server saves its calls every ten seconds, after a burst within a second (see
//! [`saver`](crate::usage::saver)), and when it stops. A server that starts restores all calls of the last minute, its
//! own and those of other servers. After a restart the limits are exact to the second; after a crash, less than a quarter
//! of a limit and the calls of the last second may be lost. Between restarts, each server counts only its own calls.
//! With Redis, these counts matter only while it is away.

use super::limiter::{ADDRESS_CLASS, CallsPerSecond};
use super::{ADDRESS, Class};
use platform::db::{Db, Tx, read, run};
use sqlx::QueryBuilder;
use uuid::Uuid;

const ADD: &str = "insert into recent_calls (counted_id, class, second, calls) ";
const ADD_TO_EXISTING: &str =
    " on conflict (counted_id, class, second) do update set calls = recent_calls.calls + excluded.calls";
const SINCE: &str = "select counted_id, class, second, calls from recent_calls where second > $1";
const PRUNE: &str = "delete from recent_calls where second <= $1";

/// The maximum number of rows in one statement. SQLite takes up to 32,766 parameters.
const MAX_ROWS_PER_STATEMENT: usize = 8_000;

/// How long calls are stored, in seconds: one more than the window, because seconds are rounded up.
const RETENTION_SECONDS: i64 = super::WINDOW_SECONDS as i64 + 1;

/// Adds calls and removes old ones. The calls are sorted, so that two servers lock rows in the same order.
pub async fn add(tx: &mut Tx, seconds: &CallsPerSecond, now: i64) -> sqlx::Result<()> {
    let rows: Vec<_> = seconds.iter().collect();
    for rows in rows.chunks(MAX_ROWS_PER_STATEMENT) {
        run!(&mut *tx, c => {
            let mut query = QueryBuilder::new(ADD);
            query.push_values(rows, |mut values, ((counted, class, second), calls)| {
                values
                    .push_bind(Uuid::from_u128(*counted))
                    .push_bind(name_of(*class))
                    .push_bind(*second)
                    .push_bind(i64::from(**calls));
            });
            query.push(ADD_TO_EXISTING);
            // The number of rows differs each time, so it is not worth keeping the statement.
            query.build().persistent(false).execute(c).await.map(|_| ())
        })?;
    }
    run!(tx, c => sqlx::query(PRUNE).bind(now / 1_000 - RETENTION_SECONDS).execute(c).await.map(|_| ()))
}

fn name_of(class: u32) -> &'static str {
    Class::ALL
        .get(class as usize)
        .map_or(ADDRESS, |class| class.name())
}

/// Drops the calls that are too old to save.
pub fn drop_old(seconds: &mut CallsPerSecond, now: i64) {
    seconds.retain(|(_, _, second), _| *second > now / 1_000 - RETENTION_SECONDS);
}

/// Lists the calls of the last minute.
pub async fn list(db: &Db, now: i64) -> sqlx::Result<CallsPerSecond> {
    let since = now / 1_000 - RETENTION_SECONDS;
    let rows: Vec<(Uuid, String, i64, i64)> =
        read!(db, c => sqlx::query_as(SINCE).bind(since).fetch_all(c).await)?;
    let calls = rows.into_iter().filter_map(|(counted, class, second, calls)| {
        let class = if class == ADDRESS {
            ADDRESS_CLASS
        } else {
            Class::find(&class)? as u32
        };
        Some(((counted.as_u128(), class, second), u32::try_from(calls).ok()?))
    });
    Ok(calls.collect())
}
