//! The nonprofits that some fundraiser supports, in memory: nearly every profile has no fundraisers, and is drawn
//! without a question to the store.

use super::store;
use arc_swap::ArcSwap;
use platform::db::Db;
use platform::ids::{FundraiserId, NonprofitId};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The nonprofits that fundraisers support. Those of one fundraiser never change.
#[derive(Debug)]
pub struct SupportedNonprofits {
    snapshot: ArcSwap<Snapshot>,
    is_stale: AtomicBool,
}

#[derive(Debug, Default)]
struct Snapshot {
    fundraisers: HashSet<FundraiserId>,
    nonprofits: HashSet<NonprofitId>,
}

impl Default for SupportedNonprofits {
    fn default() -> SupportedNonprofits {
        SupportedNonprofits {
            snapshot: ArcSwap::default(),
            is_stale: AtomicBool::new(true),
        }
    }
}

impl SupportedNonprofits {
    /// Notes that a fundraiser was written; one that is not known is new.
    pub fn note(&self, id: FundraiserId) {
        if !self.snapshot.load().fundraisers.contains(&id) {
            self.is_stale.store(true, Ordering::Release);
        }
    }

    pub async fn has(&self, db: &Db, id: NonprofitId) -> sqlx::Result<bool> {
        if self.is_stale.swap(false, Ordering::AcqRel)
            && let Err(error) = self.load(db).await
        {
            self.is_stale.store(true, Ordering::Release);
            return Err(error);
        }
        Ok(self.snapshot.load().nonprofits.contains(&id))
    }

    async fn load(&self, db: &Db) -> sqlx::Result<()> {
        let pairs = store::list_pairs(db).await?;
        self.snapshot.store(Arc::new(Snapshot {
            fundraisers: pairs.iter().map(|(fundraiser, _)| *fundraiser).collect(),
            nonprofits: pairs.into_iter().map(|(_, nonprofit)| nonprofit).collect(),
        }));
        Ok(())
    }
}
