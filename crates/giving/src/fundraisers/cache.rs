//! Fundraisers that are asked for often, kept in memory with what they stand at.
//!
//! A write of this process takes the fundraiser off the shelf before it is answered, so it shows at once. What other
//! processes write is seen in the outbox, at the next look: after `directory.poll_interval`, a tenth of a second
//! unless set otherwise. On SQLite a read looks at once when the log of the database was written since the last look.

use super::supported::SupportedNonprofits;
use super::{Fundraiser, FundraiserName, store};
use crate::ledger::entry::Totals;
use crate::ledger::{outbox, store as ledger_store};
use platform::db::Db;
use platform::ids::{FundraiserId, NonprofitId};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::SystemTime;

/// When there are more, all are let go and the ones in use come back.
const MAX_FUNDRAISERS: usize = 10_000;

/// A fundraiser with what its last entry says.
#[derive(Clone, Debug, PartialEq)]
pub struct FundraiserWithTotals {
    pub fundraiser: Fundraiser,
    pub totals: Totals,
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
    /// Counts what was taken off, so that nothing older is put back.
    invalidations: u64,
    /// The last fact of the outbox that was looked at.
    position: i64,
    /// The log as it was before that look.
    log_stamp: LogStamp,
    fundraiser: HashMap<CacheKey, Arc<FundraiserWithTotals>>,
    names: HashMap<FundraiserId, Vec<CacheKey>>,
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
        if self.log_stamp() != self.read().log_stamp {
            // A store that cannot be asked does not stop what is kept; the regular look tells of it.
            let _ = self.refresh().await;
        }
        let invalidations = {
            let state = self.read();
            if let Some(fundraiser) = state.fundraiser.get(&name) {
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

    /// Takes a fundraiser off, because it changed.
    pub fn forget(&self, id: FundraiserId) {
        self.supported.note(id);
        self.write().forget(id);
    }

    /// Does any fundraiser support the nonprofit? Asks the store only after one was made.
    pub async fn supports(&self, id: NonprofitId) -> sqlx::Result<bool> {
        self.supported.has(&self.db, id).await
    }

    /// Takes off what any process changed since the last look.
    pub async fn refresh(&self) -> sqlx::Result<()> {
        let log_stamp = self.log_stamp();
        let (position, is_empty) = {
            let state = self.read();
            (state.position, state.fundraiser.is_empty())
        };
        let last = outbox::find_last(&self.db).await?;
        if last == position {
            self.write().log_stamp = log_stamp;
            return Ok(());
        }
        let changed = match is_empty {
            true => Vec::new(),
            false => outbox::list_changed(&self.db, position, last).await?,
        };
        let mut state = self.write();
        if is_empty {
            // What came meanwhile may be older than the look.
            state.clear();
        }
        for id in changed {
            self.supported.note(id);
            state.forget(id);
        }
        state.position = state.position.max(last);
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
        if self.fundraiser.len() >= MAX_FUNDRAISERS {
            self.clear();
        }
        let names = self.names.entry(fundraiser.fundraiser.id).or_default();
        names.push(name.clone());
        self.fundraiser.insert(name, Arc::clone(fundraiser));
    }

    fn clear(&mut self) {
        self.invalidations += 1;
        self.fundraiser.clear();
        self.names.clear();
    }

    fn forget(&mut self, id: FundraiserId) {
        self.invalidations += 1;
        for name in self.names.remove(&id).into_iter().flatten() {
            self.fundraiser.remove(&name);
        }
    }
}
