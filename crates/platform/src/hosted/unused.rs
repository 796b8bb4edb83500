//! Removes pictures that nothing uses: uploads that were never used, and pictures that were replaced.
//!
//! What uses pictures is known above this crate, which passes the IDs of all used ones. A picture is first marked, and
//! removed when it has been marked for a day: a form may still refer to it, and a database that is restored to an earlier
//! state still finds the pictures of that day. Whoever is about to use a picture again marks it as used
//! ([`Pictures::add`], [`Pictures::reuse`]), so it cannot be removed at the same moment.
//!
//! A picture counts in the quota of an account for as long: until it is removed, or until the account has not used it for
//! a day, if others do.

use super::{Pictures, is_hosted_id, store};
use crate::db::Db;
use crate::ids::AccountId;
use crate::lease::Lease;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// How long a picture stays after it was first found unused.
pub(crate) const UNUSED_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// Whoever holds this lease removes pictures, or copies all of them and needs them to stay.
const LEASE: &str = "pictures";
const LEASE_DURATION: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The pictures that something uses.
#[derive(Debug, Default)]
pub struct UsedPictures {
    /// The pictures of nonprofits.
    pub by_nonprofits: HashSet<String>,
    /// The pictures of accounts and of their fundraisers.
    pub by_accounts: HashSet<(AccountId, String)>,
}

impl UsedPictures {
    /// Returns the IDs of all used pictures.
    pub fn ids(&self) -> HashSet<&str> {
        let by_accounts = self.by_accounts.iter().map(|(_, id)| id);
        self.by_nonprofits
            .iter()
            .chain(by_accounts)
            .map(String::as_str)
            .collect()
    }
}

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
    pub async fn remove_unused(&self, used: &UsedPictures) -> anyhow::Result<usize> {
        let (db, now) = (self.db(), self.clock.millis());
        self.remove_unused_charges(used).await?;
        let ids = used.ids();
        let (mut removed, mut last_id) = (0, String::new());
        loop {
            let page = store::list_usage_after(db, &last_id).await?;
            let Some((last, ..)) = page.last() else {
                return Ok(removed);
            };
            last_id.clone_from(last);
            for (id, unused_since, blob_without_size) in &page {
                if let Some(blob) = blob_without_size
                    && let Some(size) = self.blobs().find_size(blob).await?
                {
                    store::set_size(db, id, size).await?;
                }
                match (ids.contains(id.as_str()), unused_since) {
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

    /// Marks what accounts are charged for and do not use, and stops charging for what has been marked for a day.
    async fn remove_unused_charges(&self, used: &UsedPictures) -> sqlx::Result<()> {
        let (db, now) = (self.db(), self.clock.millis());
        let mut last = (Uuid::nil(), String::new());
        loop {
            let page = store::list_charges_after(db, last.0, &last.1).await?;
            let Some((account, id, _)) = page.last() else {
                return Ok(());
            };
            last = (*account, id.clone());
            for (account, id, unused_since) in page {
                let is_used = used.by_accounts.contains(&(AccountId(account), id.clone()));
                match (is_used, unused_since) {
                    (true, None) => {}
                    (true, Some(_)) => store::mark_charge(db, account, &id, None).await?,
                    (false, None) => store::mark_charge(db, account, &id, Some(now)).await?,
                    (false, Some(_)) => store::remove_charge(db, account, &id, now - UNUSED_MILLIS).await?,
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
