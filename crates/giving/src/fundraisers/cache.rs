//! A cache of fundraisers and their totals, and of the visibility of their covers.
//!
//! A write in this process removes the fundraiser from the cache before the write is acknowledged. Writes in other
//! processes are found in the outbox at the next refresh: PostgreSQL notifies servers of them, and SQLite is polled every
//! `directory.poll_interval`. On SQLite, a read also refreshes the cache if the write-ahead log of the database changed
//! since the last refresh. The cache is cleared after an older copy of the database was restored.

use super::cover::CoverVisibility;
use super::supported::SupportedNonprofits;
use super::{Fundraiser, FundraiserName, store};
use crate::ledger::entry::TotalsByMode;
use crate::ledger::outbox::{self, ChangedFundraisers};
use crate::ledger::store as ledger_store;
use platform::db::{Db, Revision, Topic};
use platform::ids::{FundraiserId, NonprofitId};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::SystemTime;

/// A full cache is cleared, and the fundraisers in use are loaded again.
const MAX_FUNDRAISERS: usize = 10_000;
/// The same limit for the visibility of hosted pictures.
const MAX_COVERS: usize = 10_000;

/// A fundraiser with its totals in each mode.
#[derive(Clone, Debug, PartialEq)]
pub struct FundraiserWithTotals {
    pub fundraiser: Fundraiser,
    pub totals: TotalsByMode,
}

/// The cache of a running server.
#[derive(Debug)]
pub struct FundraiserCache {
    db: Db,
    /// The write-ahead log of SQLite.
    log: Option<PathBuf>,
    state: RwLock<CacheState>,
    supported: SupportedNonprofits,
}

/// The modification time and the size of the write-ahead log.
type LogStamp = Option<(SystemTime, u64)>;
type CacheKey = (NonprofitId, FundraiserName);

#[derive(Debug, Default)]
struct CacheState {
    /// Counts invalidations, so that a stale read is not inserted.
    invalidations: u64,
    /// The last outbox row that was read.
    position: Revision,
    /// The log before that row was read.
    log_stamp: LogStamp,
    fundraisers: HashMap<CacheKey, Arc<FundraiserWithTotals>>,
    names: HashMap<FundraiserId, Vec<CacheKey>>,
    /// By the ID of the picture. A change of a fundraiser may affect any cover, so each change removes all of them.
    covers: HashMap<String, CoverVisibility>,
}

impl FundraiserCache {
    /// Creates an empty cache. `data` is the folder of the SQLite database.
    pub fn new(db: Db, data: &Path) -> FundraiserCache {
        let log = matches!(db, Db::Sqlite { .. }).then(|| data.join("causeway.db-wal"));
        FundraiserCache {
            db,
            log,
            state: RwLock::default(),
            supported: SupportedNonprofits::default(),
        }
    }

    fn log_stamp(&self) -> LogStamp {
        let found = fs::metadata(self.log.as_ref()?).ok()?;
        Some((found.modified().ok()?, found.len()))
    }

    /// Finds a fundraiser of a nonprofit. Fundraisers of other nonprofits are not found.
    pub async fn find(
        &self,
        nonprofit: NonprofitId,
        name: FundraiserName,
    ) -> sqlx::Result<Option<Arc<FundraiserWithTotals>>> {
        let name = (nonprofit, name);
        self.catch_up().await;
        let invalidations = {
            let state = self.read();
            if let Some(fundraiser) = state.fundraisers.get(&name) {
                return Ok(Some(Arc::clone(fundraiser)));
            }
            state.invalidations
        };
        let Some(fundraiser) = store::find_of(&self.db, nonprofit, &name.1).await? else {
            return Ok(None);
        };
        let totals = ledger_store::find_totals(&self.db, fundraiser.id).await?;
        let fundraiser = Arc::new(FundraiserWithTotals { fundraiser, totals });
        let mut state = self.write();
        // If a write was acknowledged in the meantime, this read may be older than the write.
        if state.invalidations == invalidations {
            state.insert(name, &fundraiser);
        }
        Ok(Some(fundraiser))
    }

    /// Returns who can see a hosted picture. Queries the database once until a fundraiser changes.
    pub async fn find_cover_visibility(&self, hosted_id: &str) -> sqlx::Result<CoverVisibility> {
        self.catch_up().await;
        let invalidations = {
            let state = self.read();
            if let Some(visibility) = state.covers.get(hosted_id) {
                return Ok(visibility.clone());
            }
            state.invalidations
        };
        let visibility = store::find_cover_visibility(&self.db, hosted_id).await?;
        let mut state = self.write();
        if state.invalidations == invalidations {
            if state.covers.len() >= MAX_COVERS {
                state.covers.clear();
            }
            state.covers.insert(hosted_id.to_owned(), visibility.clone());
        }
        Ok(visibility)
    }

    /// Refreshes the cache if the write-ahead log of SQLite changed since the last refresh.
    async fn catch_up(&self) {
        if self.log_stamp() != self.read().log_stamp {
            // Cached fundraisers are served even if the database is unavailable. The periodic refresh reports the error.
            let _ = self.refresh().await;
        }
    }

    /// Removes a fundraiser that changed.
    pub(crate) fn forget(&self, id: FundraiserId) {
        self.supported.mark_written(id);
        self.write().forget(id);
    }

    /// Returns a number that changes whenever a fundraiser changes or receives a donation. A value that was computed from
    /// fundraisers is valid while the number is the same as before the computation.
    pub async fn version(&self) -> u64 {
        self.catch_up().await;
        self.read().invalidations
    }

    /// Returns whether any fundraiser supports the nonprofit. Queries the database only after a fundraiser was created.
    pub async fn supports(&self, id: NonprofitId) -> sqlx::Result<bool> {
        self.supported.contains(&self.db, id).await
    }

    /// Removes the fundraisers that any process changed since the last refresh.
    pub async fn refresh(&self) -> sqlx::Result<()> {
        let log_stamp = self.log_stamp();
        let (position, is_empty) = {
            let state = self.read();
            (state.position, state.fundraisers.is_empty())
        };
        let last = self.db.current_revision(Topic::Events).await?;
        if last == position {
            self.write().log_stamp = log_stamp;
            return Ok(());
        }
        let changed = if is_empty {
            ChangedFundraisers { last, ids: None }
        } else {
            outbox::list_changed(&self.db, position).await?
        };
        let mut state = self.write();
        if let Some(ids) = changed.ids {
            for id in ids {
                self.supported.mark_written(id);
                state.forget(id);
            }
        } else {
            // The cache was empty, or the outbox does not contain all changes. A fundraiser that was inserted in the
            // meantime may be outdated.
            state.clear();
            self.supported.mark_all_written();
        }
        state.position = changed.last;
        state.log_stamp = log_stamp;
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, CacheState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, CacheState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheState {
    fn insert(&mut self, name: CacheKey, fundraiser: &Arc<FundraiserWithTotals>) {
        if self.fundraisers.len() >= MAX_FUNDRAISERS {
            self.clear();
        }
        let names = self.names.entry(fundraiser.fundraiser.id).or_default();
        names.push(name.clone());
        self.fundraisers.insert(name, Arc::clone(fundraiser));
    }

    fn clear(&mut self) {
        self.invalidations += 1;
        self.fundraisers.clear();
        self.names.clear();
        self.covers.clear();
    }

    fn forget(&mut self, id: FundraiserId) {
        self.invalidations += 1;
        self.covers.clear();
        for name in self.names.remove(&id).into_iter().flatten() {
            self.fundraisers.remove(&name);
        }
    }
}
