//! Leases: of all processes that share the database, at most one holds the lease of a name.
//!
//! A lease lapses unless its holder renews it, so a process that dies blocks the others only for a while. All times are
//! those of the database, because the clocks of servers differ. A holder that was suspended may still work when another
//! one took over; use a lease to save work, not to protect data.

use crate::db::{Db, Tx, run};
use std::pin::pin;
use std::time::Duration;
use tokio::time::sleep;
use uuid::Uuid;

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

/// A lease that this process holds, as long as it renews it.
#[derive(Debug)]
pub struct Lease(Holder);

/// Who holds a lease.
#[derive(Clone, Debug)]
struct Holder {
    db: Db,
    name: &'static str,
    id: String,
    duration: Duration,
}

impl Lease {
    /// Acquires the lease of a name for some time. Returns `None` if another process holds it.
    pub async fn try_acquire(db: &Db, name: &'static str, duration: Duration) -> sqlx::Result<Option<Lease>> {
        let holder = Holder {
            db: db.clone(),
            name,
            id: Uuid::now_v7().to_string(),
            duration,
        };
        let is_acquired = holder.write(ACQUIRE_SQLITE, ACQUIRE_POSTGRES).await?;
        Ok(is_acquired.then_some(Lease(holder)))
    }

    /// Renews the lease while `work` runs.
    pub async fn hold<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            // A task of its own, which ends even if `work` ends first: a statement that is dropped halfway could leave
            // its connection in a transaction.
            let holder = self.0.clone();
            let renewal = async {
                sleep(holder.duration / 3).await;
                tokio::spawn(async move { holder.write(RENEW_SQLITE, RENEW_POSTGRES).await }).await
            };
            let renewed = tokio::select! {
                done = &mut work => return done,
                renewed = renewal => renewed,
            };
            let name = self.0.name;
            match renewed {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => {
                    tracing::warn!(name, "a lease lapsed, and another process has it");
                    return work.await;
                }
                // The database may be away for a moment.
                Ok(Err(error)) => tracing::warn!(%error, name, "could not renew a lease"),
                Err(error) => tracing::error!(%error, name, "could not renew a lease"),
            }
        }
    }

    /// Lets another process have the lease at once.
    pub async fn release(self) -> sqlx::Result<()> {
        let mut tx = self.0.db.write().await?;
        run!(&mut tx, c => sqlx::query(RELEASE)
            .bind(self.0.name)
            .bind(&self.0.id)
            .execute(c)
            .await
            .map(|_| ()))?;
        tx.commit().await
    }
}

impl Holder {
    /// Runs the statement for the database that is used. Returns whether it changed the lease.
    async fn write(&self, sqlite: &'static str, postgres: &'static str) -> sqlx::Result<bool> {
        let mut tx = self.db.write().await?;
        let sql = match &tx {
            Tx::Sqlite(_) => sqlite,
            Tx::Postgres(_) => postgres,
        };
        let changed = run!(&mut tx, c => sqlx::query(sql)
            .bind(self.name)
            .bind(&self.id)
            .bind(self.duration.as_millis() as i64)
            .execute(c)
            .await
            .map(|done| done.rows_affected()))?;
        tx.commit().await?;
        Ok(changed == 1)
    }
}
