//! Leases: of all processes that share the database, at most one holds the lease of a name.
//!
//! A lease lapses unless its holder renews it, so a process that dies blocks the others only for a while. All times are
//! those of the database, because the clocks of servers differ. A holder that was suspended may still work when another
//! one took over; use a lease to save work, not to protect data.

mod store;

use crate::db::Db;
use std::pin::pin;
use std::time::Duration;
use tokio::time::sleep;
use uuid::Uuid;

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
        let is_acquired = store::acquire(db, name, &holder.id, duration).await?;
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
                let Holder {
                    db,
                    name,
                    id,
                    duration,
                } = holder;
                tokio::spawn(async move { store::renew(&db, name, &id, duration).await }).await
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
        store::release(&self.0.db, self.0.name, &self.0.id).await
    }
}
