//! Removes pictures that nothing uses: uploads that were never used, and pictures that were replaced.
//!
//! What uses pictures is known above this crate, which passes the IDs of all used ones. A picture is first marked, and
//! removed when it has been marked for a day: a form may still refer to it, and a database that is restored to an earlier
//! state still finds the pictures of that day. Whoever is about to use a picture again marks it as used
//! ([`Pictures::add`], [`Pictures::reuse`]), so it cannot be removed at the same moment.

use super::{Pictures, is_hosted_id, store};
use crate::db::Db;
use crate::lease::Lease;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a picture stays after it was first found unused.
pub(crate) const UNUSED_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// Whoever holds this lease removes pictures, or copies all of them and needs them to stay.
const LEASE: &str = "pictures";
const LEASE_DURATION: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Acquires the lease to remove pictures. Returns `None` if another server removes them, or a backup copies them.
pub async fn try_lease(db: &Db) -> sqlx::Result<Option<Lease>> {
    Lease::try_acquire(db, LEASE, LEASE_DURATION).await
}

/// Acquires the lease to copy all pictures. If another process renews it for long, which is another backup, returns
/// `None`.
pub async fn wait_for_lease(db: &Db) -> sqlx::Result<Option<Lease>> {
    let start = Instant::now();
    loop {
        let lease = try_lease(db).await?;
        if lease.is_some() || start.elapsed() > LEASE_DURATION {
            return Ok(lease);
        }
        sleep(POLL_INTERVAL).await;
    }
}

impl Pictures {
    /// Marks the pictures that are not in `used`, and removes those that have been marked for a day. Returns the number
    /// of removed pictures; [`Pictures::sweep`] then removes their blobs.
    pub async fn remove_unused(&self, used: &HashSet<String>) -> sqlx::Result<usize> {
        let (db, now) = (self.db(), self.clock.millis());
        let (mut removed, mut last_id) = (0, String::new());
        loop {
            let page = store::list_usage_after(db, &last_id).await?;
            let Some((last, _)) = page.last() else {
                return Ok(removed);
            };
            last_id.clone_from(last);
            for (id, unused_since) in &page {
                match (used.contains(id), unused_since) {
                    (true, None) => {}
                    (true, Some(_)) => {
                        store::mark_used(db, id).await?;
                    }
                    (false, None) => {
                        store::mark_unused(db, id, now).await?;
                    }
                    (false, Some(_)) => {
                        removed += usize::from(store::remove_unused(db, id, now - UNUSED_MILLIS).await?);
                    }
                }
            }
        }
    }

    /// Prepares to use a picture that was stored before. Returns `false` if it does not exist any more.
    pub async fn reuse(&self, id: &str) -> sqlx::Result<bool> {
        Ok(is_hosted_id(id) && store::mark_used(self.db(), id).await?)
    }

    /// Removes a picture at once. Its blobs follow with the next [`Pictures::sweep`].
    pub async fn remove(&self, id: &str) -> sqlx::Result<bool> {
        store::remove(self.db(), id).await
    }
}
