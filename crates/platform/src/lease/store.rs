//! The SQL of leases.

use crate::db::{Db, Tx, query};
use std::time::Duration;

macro_rules! acquire {
    ($now:literal) => {
        concat!(
            "insert into leases (name, holder, expires_at) values ($1, $2, ",
            $now,
            " + $3) on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at \
             where leases.expires_at <= ",
            $now
        )
    };
}

macro_rules! renew {
    ($now:literal) => {
        concat!(
            "update leases set expires_at = ",
            $now,
            " + $3 where name = $1 and holder = $2"
        )
    };
}

const ACQUIRE_SQLITE: &str = acquire!("cast(unixepoch('subsec') * 1000 as integer)");
const ACQUIRE_POSTGRES: &str = acquire!("cast(extract(epoch from clock_timestamp()) * 1000 as bigint)");
const RENEW_SQLITE: &str = renew!("cast(unixepoch('subsec') * 1000 as integer)");
const RENEW_POSTGRES: &str = renew!("cast(extract(epoch from clock_timestamp()) * 1000 as bigint)");
const RELEASE: &str = "delete from leases where name = $1 and holder = $2";

/// Gives a lease to a holder for some time. Returns `false` if another one has it.
pub(super) async fn acquire(db: &Db, name: &str, holder: &str, duration: Duration) -> sqlx::Result<bool> {
    write(db, (ACQUIRE_SQLITE, ACQUIRE_POSTGRES), name, holder, duration).await
}

/// Extends the lease of a holder. Returns `false` if it no longer has the lease.
pub(super) async fn renew(db: &Db, name: &str, holder: &str, duration: Duration) -> sqlx::Result<bool> {
    write(db, (RENEW_SQLITE, RENEW_POSTGRES), name, holder, duration).await
}

/// Ends the lease of a holder.
pub(super) async fn release(db: &Db, name: &str, holder: &str) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(RELEASE).bind(name).bind(holder)).await?;
    tx.commit().await
}

/// Runs the statement for the database that is used. Returns whether it changed the lease.
async fn write(
    db: &Db,
    (sqlite, postgres): (&'static str, &'static str),
    name: &str,
    holder: &str,
    duration: Duration,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let sql = match &tx {
        Tx::Sqlite(_) => sqlite,
        Tx::Postgres(_) => postgres,
    };
    let changed = tx
        .execute(
            query(sql)
                .bind(name)
                .bind(holder)
                .bind(duration.as_millis() as i64),
        )
        .await?;
    tx.commit().await?;
    Ok(changed == 1)
}
