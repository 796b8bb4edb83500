//! Fundraisers that are asked for often, kept in memory with what they stand at.
//!
//! A write of this process takes the fundraiser off the shelf before it is answered, so it shows at once. What other
//! processes write is seen in the outbox, at the next look: after `directory.poll_interval`, a tenth of a second
//! unless set otherwise.

use super::supported::Supported;
use super::{Fundraiser, FundraiserName, store};
use crate::db::Db;
use crate::donations::journal::entry::Totals;
use crate::donations::journal::{outbox, store as journal};
use crate::ids::{FundraiserId, NonprofitId};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

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
    kept: RwLock<Kept>,
    supported: Supported,
}

type Name = (NonprofitId, FundraiserName);

#[derive(Debug, Default)]
struct Kept {
    /// Counts what was taken off, so that nothing older is put back.
    taken_off: u64,
    /// The last fact of the outbox that was looked at.
    position: i64,
    shown: HashMap<Name, Arc<Shown>>,
    names: HashMap<FundraiserId, Vec<Name>>,
}

impl Shelf {
    pub fn new(db: Db) -> Shelf {
        Shelf {
            db,
            kept: RwLock::default(),
            supported: Supported::default(),
        }
    }

    /// Finds a fundraiser of a nonprofit; none where it is of another.
    pub async fn find(
        &self,
        nonprofit: NonprofitId,
        name: FundraiserName,
    ) -> sqlx::Result<Option<Arc<Shown>>> {
        let name = (nonprofit, name);
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
        let position = self.read().position;
        let last = outbox::find_last(&self.db).await?;
        if last == position {
            return Ok(());
        }
        let touched = outbox::list_touched(&self.db, position, last).await?;
        let mut kept = self.write();
        for id in touched {
            self.supported.note(id);
            kept.forget(id);
        }
        kept.position = last;
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
            self.shown.clear();
            self.names.clear();
        }
        let names = self.names.entry(shown.fundraiser.id).or_default();
        names.push(name.clone());
        self.shown.insert(name, Arc::clone(shown));
    }

    fn forget(&mut self, id: FundraiserId) {
        self.taken_off += 1;
        for name in self.names.remove(&id).into_iter().flatten() {
            self.shown.remove(&name);
        }
    }
}
