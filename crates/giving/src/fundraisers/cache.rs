//! Fundraisers that are asked for often, kept in memory with what they stand at.
//!
//! A write of this process takes the fundraiser off the shelf before it is answered, so it shows at once. What other
//! processes write is seen in the outbox, at the next look: after `directory.poll_interval`, a tenth of a second
//! unless set otherwise. On SQLite a read looks at once when the log of the database was written since the last look.

use super::supported::Supported;
use super::{Fundraiser, FundraiserName, store};
use crate::ledger::entry::Totals;
use crate::ledger::{outbox, store as journal};
use platform::db::Db;
use platform::ids::{FundraiserId, NonprofitId};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::SystemTime;

/// When there are more, all are let go and the ones in use come back.
const MOST_KEPT: usize = 10_000;

/// A fundraiser with what its last entry says.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    pub fundraiser: Fundraiser,
    pub totals: Totals,
}

/// The fundraisers of a running server.
#[derive(Debug)]
pub struct Shelf {
    db: Db,
    /// The log of the embedded database.
    log: Option<PathBuf>,
    kept: RwLock<Kept>,
    supported: Supported,
}

/// When a log was last written, and how long it was.
type Mark = Option<(SystemTime, u64)>;
type Name = (NonprofitId, FundraiserName);

#[derive(Debug, Default)]
struct Kept {
    /// Counts what was taken off, so that nothing older is put back.
    taken_off: u64,
    /// The last fact of the outbox that was looked at.
    position: i64,
    /// The log as it was before that look.
    mark: Mark,
    shown: HashMap<Name, Arc<Shown>>,
    names: HashMap<FundraiserId, Vec<Name>>,
}

impl Shelf {
    /// `data` is the folder of the embedded database.
    pub fn new(db: Db, data: &Path) -> Shelf {
        let log = matches!(db, Db::Sqlite { .. }).then(|| data.join("causeway.db-wal"));
        Shelf {
            db,
            log,
            kept: RwLock::default(),
            supported: Supported::default(),
        }
    }

    fn mark(&self) -> Mark {
        let found = fs::metadata(self.log.as_ref()?).ok()?;
        Some((found.modified().ok()?, found.len()))
    }

    /// Finds a fundraiser of a nonprofit; none where it is of another.
    pub async fn find(
        &self,
        nonprofit: NonprofitId,
        name: FundraiserName,
    ) -> sqlx::Result<Option<Arc<Shown>>> {
        let name = (nonprofit, name);
        if self.mark() != self.read().mark {
            // A store that cannot be asked does not stop what is kept; the regular look tells of it.
            let _ = self.refresh().await;
        }
        let taken_off = {
            let kept = self.read();
            if let Some(shown) = kept.shown.get(&name) {
                return Ok(Some(Arc::clone(shown)));
            }
            kept.taken_off
        };
        let Some(fundraiser) = store::find_of(&self.db, nonprofit, &name.1).await? else {
            return Ok(None);
        };
        let totals = journal::find_totals(&self.db, fundraiser.id).await?;
        let shown = Arc::new(Shown { fundraiser, totals });
        let mut kept = self.write();
        // What was read may be from before a write that has been answered meanwhile.
        if kept.taken_off == taken_off {
            kept.keep(name, &shown);
        }
        Ok(Some(shown))
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
        let mark = self.mark();
        let (position, nothing_kept) = {
            let kept = self.read();
            (kept.position, kept.shown.is_empty())
        };
        let last = outbox::find_last(&self.db).await?;
        if last == position {
            self.write().mark = mark;
            return Ok(());
        }
        let touched = match nothing_kept {
            true => Vec::new(),
            false => outbox::list_touched(&self.db, position, last).await?,
        };
        let mut kept = self.write();
        if nothing_kept {
            // What came meanwhile may be older than the look.
            kept.let_go();
        }
        for id in touched {
            self.supported.note(id);
            kept.forget(id);
        }
        kept.position = kept.position.max(last);
        kept.mark = mark;
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Kept> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn keep(&mut self, name: Name, shown: &Arc<Shown>) {
        if self.shown.len() >= MOST_KEPT {
            self.let_go();
        }
        let names = self.names.entry(shown.fundraiser.id).or_default();
        names.push(name.clone());
        self.shown.insert(name, Arc::clone(shown));
    }

    fn let_go(&mut self) {
        self.taken_off += 1;
        self.shown.clear();
        self.names.clear();
    }

    fn forget(&mut self, id: FundraiserId) {
        self.taken_off += 1;
        for name in self.names.remove(&id).into_iter().flatten() {
            self.shown.remove(&name);
        }
    }
}
