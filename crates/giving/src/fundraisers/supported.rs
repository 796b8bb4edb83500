//! A set of all nonprofits that fundraisers support, in memory.
//!
//! Most nonprofits have no fundraisers, so most profiles are rendered without a query. After a fundraiser was created, only
//! its nonprofits are loaded.

use super::store;
use arc_swap::ArcSwap;
use platform::db::Db;
use platform::ids::{FundraiserId, NonprofitId};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Mutex as AsyncMutex;

/// With more new fundraisers than this, all are loaded with one query.
const MAX_LOADED_ONE_BY_ONE: usize = 100;

/// The nonprofits that fundraisers support. The nonprofits of a fundraiser never change.
#[derive(Debug)]
pub(super) struct SupportedNonprofits {
    snapshot: ArcSwap<Snapshot>,
    /// Incremented for every new fundraiser, while `unloaded` is locked.
    version: AtomicU64,
    unloaded: Mutex<Unloaded>,
    /// Held while the snapshot is loaded.
    loading: AsyncMutex<()>,
}

/// The fundraisers that the snapshot does not contain.
#[derive(Clone, Debug)]
enum Unloaded {
    Everything,
    Fundraisers(Vec<FundraiserId>),
}

#[derive(Clone, Debug, Default)]
struct Snapshot {
    /// The version for which it was loaded. A canceled load does not change it.
    version: u64,
    fundraisers: HashSet<FundraiserId>,
    nonprofits: HashSet<NonprofitId>,
}

impl Default for SupportedNonprofits {
    fn default() -> SupportedNonprofits {
        SupportedNonprofits {
            snapshot: ArcSwap::default(),
            version: AtomicU64::new(1),
            unloaded: Mutex::new(Unloaded::Everything),
            loading: AsyncMutex::default(),
        }
    }
}

impl SupportedNonprofits {
    /// Records that a fundraiser was written. It is loaded later if the snapshot does not contain it.
    pub(super) fn mark_written(&self, id: FundraiserId) {
        if self.snapshot.load().fundraisers.contains(&id) {
            return;
        }
        let mut unloaded = self.unloaded();
        match &mut *unloaded {
            Unloaded::Fundraisers(ids) if ids.len() < MAX_LOADED_ONE_BY_ONE => ids.push(id),
            unloaded => *unloaded = Unloaded::Everything,
        }
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Records that any fundraiser may have been created or removed.
    pub(super) fn mark_all_written(&self) {
        let mut unloaded = self.unloaded();
        *unloaded = Unloaded::Everything;
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns whether a fundraiser supports the nonprofit.
    pub(super) async fn contains(&self, db: &Db, id: NonprofitId) -> sqlx::Result<bool> {
        if self.is_stale() {
            let _loading = self.loading.lock().await;
            // Another caller may have loaded it in the meantime.
            if self.is_stale() {
                self.load(db).await?;
            }
        }
        Ok(self.snapshot.load().nonprofits.contains(&id))
    }

    fn is_stale(&self) -> bool {
        self.snapshot.load().version != self.version.load(Ordering::Acquire)
    }

    fn unloaded(&self) -> MutexGuard<'_, Unloaded> {
        self.unloaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn load(&self, db: &Db) -> sqlx::Result<()> {
        // The version is read first: a fundraiser that is written during the query makes the snapshot stale again.
        let (version, unloaded) = {
            let unloaded = self.unloaded();
            (self.version.load(Ordering::Acquire), unloaded.clone())
        };
        let mut snapshot = Snapshot::default();
        let pairs = match unloaded {
            Unloaded::Everything => store::list_pairs(db).await?,
            Unloaded::Fundraisers(ids) => {
                snapshot = Snapshot::clone(&self.snapshot.load());
                let mut pairs = Vec::new();
                for id in ids {
                    pairs.extend(store::list_pairs_of(db, id).await?);
                }
                pairs
            }
        };
        snapshot.version = version;
        for (fundraiser, nonprofit) in pairs {
            snapshot.fundraisers.insert(fundraiser);
            snapshot.nonprofits.insert(nonprofit);
        }
        let mut unloaded = self.unloaded();
        self.snapshot.store(Arc::new(snapshot));
        if self.version.load(Ordering::Acquire) == version {
            *unloaded = Unloaded::Fundraisers(Vec::new());
        }
        Ok(())
    }
}
