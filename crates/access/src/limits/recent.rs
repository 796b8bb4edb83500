//! What limits let through in the last minute, kept in the store so that starting anew is no way to a second quota.
//!
//! Running servers add their calls once a second, and when they stop. A server that starts counts all calls of the
//! last minute, its own and those of others: after a restart a key has what it would have had without one, to the
//! second; after a crash, and what was let through in the last second before it. Between restarts each
//! server counts its own calls alone.

use super::Class;
use super::limiter::CallsPerSecond;
use platform::db::{Db, Tx, read, run};
use uuid::Uuid;

const ADD: &str = "insert into recent_calls (counted_id, class, second, calls) values ($1, $2, $3, $4) \
     on conflict (counted_id, class, second) do update set calls = recent_calls.calls + excluded.calls";
const SINCE: &str = "select counted_id, class, second, calls from recent_calls where second > $1";
const PRUNE: &str = "delete from recent_calls where second <= $1";

/// CallsPerSecond after which a call is of no interest any more; one more than the window, for those rounded up.
const KEPT: i64 = super::WINDOW_SECONDS as i64 + 1;

/// Adds calls and forgets old ones. The calls come sorted, so that two servers lock rows in the same order.
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
    run!(tx, c => sqlx::query(PRUNE).bind(now / 1_000 - KEPT).execute(c).await.map(|_| ()))
}

/// Drops the calls that are of no interest any more.
pub fn forget_old(seconds: &mut CallsPerSecond, now: i64) {
    seconds.retain(|(_, _, second), _| *second > now / 1_000 - KEPT);
}

/// The calls of the last minute.
pub async fn list(db: &Db, now: i64) -> sqlx::Result<CallsPerSecond> {
    let since = now / 1_000 - KEPT;
    let rows: Vec<(Uuid, String, i64, i64)> =
        read!(db, c => sqlx::query_as(SINCE).bind(since).fetch_all(c).await)?;
    let known = rows.into_iter().filter_map(|(counted, class, second, calls)| {
        let class = Class::find(&class)? as u32;
        Some(((counted.as_u128(), class, second), u32::try_from(calls).ok()?))
    });
    Ok(known.collect())
}
