//! The nonprofits that some fundraiser supports, in memory: nearly every profile has no fundraisers, and is drawn
//! without a question to the store. Only those of new fundraisers are loaded again.

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

/// The nonprofits that fundraisers support. Those of one fundraiser never change.
#[derive(Debug)]
pub struct SupportedNonprofits {
    snapshot: ArcSwap<Snapshot>,
    /// Incremented for every new fundraiser, while `unloaded` is locked.
    version: AtomicU64,
    unloaded: Mutex<Unloaded>,
    /// Held while the snapshot is loaded.
    loading: AsyncMutex<()>,
}

/// What the snapshot lacks.
#[derive(Clone, Debug)]
enum Unloaded {
    Everything,
    Fundraisers(Vec<FundraiserId>),
}

#[derive(Clone, Debug, Default)]
struct Snapshot {
    /// The version that it was loaded for. A load that is canceled leaves the old one.
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
    /// Notes that a fundraiser was written; one that is not known is new.
    pub fn note(&self, id: FundraiserId) {
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

    /// Notes that any fundraiser may be new, and that any may have disappeared.
    pub fn note_all(&self) {
        let mut unloaded = self.unloaded();
        *unloaded = Unloaded::Everything;
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    pub async fn has(&self, db: &Db, id: NonprofitId) -> sqlx::Result<bool> {
        if self.is_stale() {
            let _loading = self.loading.lock().await;
            // Another caller may have loaded it meanwhile.
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
        // A fundraiser that is written during the query makes the snapshot stale again.
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
