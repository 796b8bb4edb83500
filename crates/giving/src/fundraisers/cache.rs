//! A cache of fundraisers and their totals, and of the visibility of their covers.
//!
//! A write of this process removes the fundraiser from the cache before it is acknowledged. Writes of other processes
//! are found in the outbox at the next refresh: PostgreSQL notifies servers of them, and SQLite is checked every
//! `directory.poll_interval`. On SQLite a read looks at once when the log of the database was written since the last look.
//! After an older copy of the database was restored, the cache is emptied.

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

/// When the cache is full it is cleared, and the fundraisers in use are loaded again.
const MAX_FUNDRAISERS: usize = 10_000;
/// The same for the visibility of hosted pictures.
const MAX_COVERS: usize = 10_000;

/// A fundraiser with the totals in its last entries, one for each mode.
#[derive(Clone, Debug, PartialEq)]
pub struct FundraiserWithTotals {
    pub fundraiser: Fundraiser,
    pub totals: TotalsByMode,
}

/// The fundraisers of a running server.
#[derive(Debug)]
pub struct FundraiserCache {
    db: Db,
    /// The log of the embedded database.
    log: Option<PathBuf>,
    state: RwLock<CacheState>,
    supported: SupportedNonprofits,
}

/// When a log was last written, and how long it was.
type LogStamp = Option<(SystemTime, u64)>;
type CacheKey = (NonprofitId, FundraiserName);

#[derive(Debug, Default)]
struct CacheState {
    /// Counts invalidations, so that a stale read is not inserted.
    invalidations: u64,
    /// The last outbox row that was read.
    position: Revision,
    /// The log as it was before that read.
    log_stamp: LogStamp,
    fundraisers: HashMap<CacheKey, Arc<FundraiserWithTotals>>,
    names: HashMap<FundraiserId, Vec<CacheKey>>,
    /// By the ID of the picture. Any fundraiser that changes may get any cover, so each change clears them all.
    covers: HashMap<String, CoverVisibility>,
}

impl FundraiserCache {
    /// `data` is the folder of the embedded database.
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

    /// Finds a fundraiser of a nonprofit; none where it is of another.
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
        // What was read may be from before a write that has been answered meanwhile.
        if state.invalidations == invalidations {
            state.insert(name, &fundraiser);
        }
        Ok(Some(fundraiser))
    }

    /// Returns who may see a hosted picture. Queries the database only once until a fundraiser changes.
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

    /// Refreshes the cache if the log of the embedded database was written since the last refresh.
    async fn catch_up(&self) {
        if self.log_stamp() != self.read().log_stamp {
            // If the database is unavailable, cached fundraisers are still served; the periodic refresh reports the error.
            let _ = self.refresh().await;
        }
    }

    /// Removes a fundraiser that changed.
    pub fn forget(&self, id: FundraiserId) {
        self.supported.note(id);
        self.write().forget(id);
    }

    /// Returns a number that changes whenever a fundraiser changes or receives a donation. What was computed from
    /// fundraisers is valid as long as the number that was read before is the same.
    pub async fn version(&self) -> u64 {
        self.catch_up().await;
        self.read().invalidations
    }

    /// Returns `true` if any fundraiser supports the nonprofit. Queries the database only after one was created.
    pub async fn supports(&self, id: NonprofitId) -> sqlx::Result<bool> {
        self.supported.has(&self.db, id).await
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
                self.supported.note(id);
                state.forget(id);
            }
        } else {
            // What came meanwhile may be older than the look.
            state.clear();
            self.supported.note_all();
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
