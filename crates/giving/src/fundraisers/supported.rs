//! The nonprofits that some fundraiser supports, in memory: nearly every profile has no fundraisers, and is drawn
//! without a question to the store.

use super::store;
use arc_swap::ArcSwap;
use platform::db::Db;
use platform::ids::{FundraiserId, NonprofitId};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// The nonprofits that fundraisers support. Those of one fundraiser never change.
#[derive(Debug)]
pub struct SupportedNonprofits {
    snapshot: ArcSwap<Snapshot>,
    /// Incremented for every new fundraiser.
    version: AtomicU64,
    /// Held while the snapshot is loaded.
    loading: Mutex<()>,
}

#[derive(Debug, Default)]
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
            loading: Mutex::default(),
        }
    }
}

impl SupportedNonprofits {
    /// Notes that a fundraiser was written; one that is not known is new.
    pub fn note(&self, id: FundraiserId) {
        if !self.snapshot.load().fundraisers.contains(&id) {
            self.version.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Notes that any fundraiser may be new.
    pub fn note_all(&self) {
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

    async fn load(&self, db: &Db) -> sqlx::Result<()> {
        // A fundraiser that is written during the query makes the snapshot stale again.
        let version = self.version.load(Ordering::Acquire);
        let pairs = store::list_pairs(db).await?;
        self.snapshot.store(Arc::new(Snapshot {
            version,
            fundraisers: pairs.iter().map(|(fundraiser, _)| *fundraiser).collect(),
            nonprofits: pairs.into_iter().map(|(_, nonprofit)| nonprofit).collect(),
        }));
        Ok(())
    }
}
