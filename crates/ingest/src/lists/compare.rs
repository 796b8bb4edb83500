//! Compares the rows of a file with the stored ones, both in the order of their EINs.

use super::list::List;
use super::read::ReadResult;
use directory::history::Change;
use directory::nonprofits::lists::store::{self, ListRow};
use directory::nonprofits::sources::SourceId;
use platform::db::Tx;

/// How a file differs from the stored rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    /// The number of stored rows.
    pub stored: u64,
    pub unchanged: u64,
    /// The indexes of the rows of the file that are new.
    pub new: Vec<u32>,
    /// The indexes of the rows of the file that differ from the stored ones.
    pub changed: Vec<u32>,
    /// The EINs of stored rows that are not in the file. Those with a rejected row do not count.
    pub gone: Vec<u32>,
    /// What differs in the changed rows and was in those that are gone.
    pub changes: Vec<Change>,
}

/// Adds what differs between two rows of an EIN, of which one may be missing.
pub(crate) fn add_changes<L: List>(
    ein: u32,
    old: Option<&L::Row>,
    new: Option<&L::Row>,
    changes: &mut Vec<Change>,
) {
    let [old, new] = [old, new].map(|row| row.map(L::history_fields));
    let names: Vec<&'static str> = old
        .iter()
        .chain(&new)
        .take(1)
        .flatten()
        .map(|(name, _)| *name)
        .collect();
    for (index, field) in names.into_iter().enumerate() {
        let value = |fields: &Option<Vec<(_, Option<String>)>>| fields.as_ref()?[index].1.clone();
        let (old, new) = (value(&old), value(&new));
        if old != new {
            changes.push(Change { ein, field, old, new });
        }
    }
}

/// Compares a file with the stored rows. A row that only comes from another file is unchanged.
pub(super) async fn compare<L: List>(tx: &mut Tx, read: &ReadResult<L>) -> sqlx::Result<Comparison> {
    let mut walk = Walk {
        read,
        next: 0,
        comparison: Comparison::default(),
    };
    store::for_each(tx, |stored| walk.pass_stored(stored)).await?;
    Ok(walk.finish())
}

/// A walk along the rows of a file and the stored rows.
struct Walk<'a, L: List> {
    read: &'a ReadResult<L>,
    /// The index of the next row of the file.
    next: usize,
    comparison: Comparison,
}

impl<L: List> Walk<'_, L> {
    fn pass_stored(&mut self, stored: &L::Row) {
        self.comparison.stored += 1;
        let ein = stored.ein() as u32;
        while self.next < self.read.len() && self.read.ein(self.next) < ein {
            self.pass_new();
        }
        if self.next < self.read.len() && self.read.ein(self.next) == ein {
            let source = SourceId::from_number(stored.source());
            let row = self.read.row(self.next, source);
            if row == *stored {
                self.comparison.unchanged += 1;
            } else {
                self.comparison.changed.push(self.next as u32);
                add_changes::<L>(ein, Some(stored), Some(&row), &mut self.comparison.changes);
            }
            self.next += 1;
        } else if self.read.rejected_eins.contains(&ein) {
            self.comparison.unchanged += 1;
        } else {
            self.comparison.gone.push(ein);
            add_changes::<L>(ein, Some(stored), None, &mut self.comparison.changes);
        }
    }

    fn pass_new(&mut self) {
        self.comparison.new.push(self.next as u32);
        self.next += 1;
    }

    fn finish(mut self) -> Comparison {
        while self.next < self.read.len() {
            self.pass_new();
        }
        self.comparison
    }
}
