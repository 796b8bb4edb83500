//! Saves the calls admitted in the last minute to the database, so that a restart does not reset the limits.
//!
//! A running server saves its calls once a second, and when it stops. A server that starts restores all calls of the
//! last minute, its own and those of other servers. After a restart the limits are exact to the second; after a crash,
//! the calls of the last second may be lost. Between restarts, each server counts only its own calls.

use super::Class;
use super::limiter::CallsPerSecond;
use platform::db::{Db, Tx, read, run};
use uuid::Uuid;

const ADD: &str = "insert into recent_calls (counted_id, class, second, calls) values ($1, $2, $3, $4) \
     on conflict (counted_id, class, second) do update set calls = recent_calls.calls + excluded.calls";
const SINCE: &str = "select counted_id, class, second, calls from recent_calls where second > $1";
const PRUNE: &str = "delete from recent_calls where second <= $1";

/// How long calls are stored, in seconds: one more than the window, because seconds are rounded up.
const RETENTION_SECONDS: i64 = super::WINDOW_SECONDS as i64 + 1;

/// Adds calls and removes old ones. The calls are sorted, so that two servers lock rows in the same order.
pub async fn add(tx: &mut Tx, seconds: &CallsPerSecond, now: i64) -> sqlx::Result<()> {
    for ((counted, class, second), calls) in seconds {
        run!(&mut *tx, c => sqlx::query(ADD)
            .bind(Uuid::from_u128(*counted))
            .bind(Class::ALL[*class as usize].name())
            .bind(second)
            .bind(i64::from(*calls))
            .execute(c)
            .await
            .map(|_| ()))?;
    }
    run!(tx, c => sqlx::query(PRUNE).bind(now / 1_000 - RETENTION_SECONDS).execute(c).await.map(|_| ()))
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
        let class = Class::find(&class)? as u32;
        Some(((counted.as_u128(), class, second), u32::try_from(calls).ok()?))
    });
    Ok(calls.collect())
}
