//! Which nonprofits changed since a state of the directory, import by import.
//!
//! Small imports record the nonprofits that they change (`directory_changes`), until the next large import. Large ones do
//! not, but the history has the EINs of those that they added or changed (`nonprofit_history`), and the IDs of those
//! without an EIN (`changes_without_ein`). If nothing is recorded, as for the first import, what changed is not known, and a
//! copy of the directory has to be exported again.
//!
//! The cursor of a reader contains the token of a revision, so it is rejected after an older copy of the database was
//! restored.

mod store;

use crate::nonprofits::ein::Ein;
use crate::nonprofits::identifier::Identifier;
use crate::snapshot::view::{HitLocation, View};
use platform::db::{Db, Revision, Topic, Tx};
use platform::ids::NonprofitId;
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use store::ImportRow;
use thiserror::Error;
use uuid::Uuid;

/// How far a client has read. The text form is opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The import that is being read, or that was read completely.
    revision: Revision,
    /// The last nonprofit of that import that was read; `None` if all were.
    after: Option<Key>,
}

/// How the nonprofits of an import are sorted: by ID, or if they come from the history, by EIN, and then by ID those that
/// have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Id(Uuid),
    Ein(u32),
    WithoutEin(Uuid),
}

/// What precedes the ID of a nonprofit without an EIN in the text of a cursor. No EIN has this value.
const WITHOUT_EIN: &str = "ffffffff";

/// What happened to a nonprofit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Changed,
    /// It is no longer in the IRS files.
    Removed,
}

impl ChangeKind {
    pub const fn name(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Changed => "changed",
            ChangeKind::Removed => "removed",
        }
    }
}

/// A nonprofit that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedNonprofit {
    pub kind: ChangeKind,
    /// Where its current state is in the view.
    pub location: HitLocation,
}

/// Some of the changes since a cursor, oldest first.
#[derive(Clone, Debug)]
pub struct ChangePage {
    pub changes: Vec<ChangedNonprofit>,
    /// Where the next page starts.
    pub next: Cursor,
    pub has_more: bool,
}

/// The reason why changes cannot be listed.
#[derive(Debug, Error)]
pub enum ChangesError {
    /// The state of the cursor is not part of the history of the store: an older copy was restored.
    #[error("the state of the cursor was lost")]
    Lost,
    /// An import since then changed too much to record it.
    #[error("too much changed since the cursor")]
    NotRecorded,
    #[error(transparent)]
    Store(#[from] sqlx::Error),
}

impl Cursor {
    /// Returns the cursor of a client that knows a state of the directory.
    pub fn at(revision: Revision) -> Cursor {
        Cursor {
            revision,
            after: None,
        }
    }

    /// Returns the cursor of a client that knows the state of a view.
    pub fn of_view(view: &View) -> Cursor {
        Cursor {
            revision: view.revision,
            after: None,
        }
    }
}

/// The text form: version, revision, token and position in hexadecimal digits, without separators.
impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Revision { number, token } = self.revision;
        write!(f, "1{number:016x}{}", token.simple())?;
        match self.after {
            None => Ok(()),
            Some(Key::Id(id)) => write!(f, "{}", id.simple()),
            Some(Key::Ein(ein)) => write!(f, "{ein:08x}"),
            Some(Key::WithoutEin(id)) => write!(f, "{WITHOUT_EIN}{}", id.simple()),
        }
    }
}

impl FromStr for Cursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Cursor, ()> {
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(());
        }
        let rest = text.strip_prefix('1').ok_or(())?;
        let (number, rest) = rest.split_at_checked(16).ok_or(())?;
        let (token, after) = rest.split_at_checked(32).ok_or(())?;
        let number = i64::from_str_radix(number, 16).map_err(|_| ())?;
        let token = Uuid::try_parse(token).map_err(|_| ())?;
        let after = match after.len() {
            0 => None,
            8 => Some(Key::Ein(u32::from_str_radix(after, 16).map_err(|_| ())?)),
            32 => Some(Key::Id(Uuid::try_parse(after).map_err(|_| ())?)),
            40 => {
                let id = after.strip_prefix(WITHOUT_EIN).ok_or(())?;
                Some(Key::WithoutEin(Uuid::try_parse(id).map_err(|_| ())?))
            }
            _ => return Err(()),
        };
        Ok(Cursor {
            revision: Revision { number, token },
            after,
        })
    }
}

/// Lists about `take` changes after a cursor, up to the state that the view shows. A nonprofit that several imports
/// changed is listed for each.
pub async fn list(db: &Db, view: &View, since: Cursor, take: usize) -> Result<ChangePage, ChangesError> {
    let mut tx = db.view().await?;
    if !tx.has_revision(Topic::Directory, since.revision).await? {
        return Err(ChangesError::Lost);
    }
    let mut page = ChangePage {
        changes: Vec::new(),
        next: since,
        has_more: true,
    };
    // An import that was read in part is read on; otherwise the next one begins.
    let mut after = since.after;
    let mut number = since.revision.number - i64::from(after.is_some());
    while page.changes.len() < take {
        let Some(import) = store::find_next(&mut tx, number, view.revision.number).await? else {
            page.has_more = false;
            // Revisions without changes are skipped.
            if view.revision.number >= page.next.revision.number {
                page.next = Cursor::of_view(view);
            }
            break;
        };
        let token = tx.revision_token(Topic::Directory, import.revision).await?;
        let revision = Revision {
            number: import.revision,
            token: token.ok_or(ChangesError::Lost)?,
        };
        let left = take - page.changes.len();
        let keys: Vec<Key> = if import.has_ids {
            let ids = store::list_ids(&mut tx, import.revision, after.and_then(Key::id), left).await?;
            ids.into_iter().map(Key::Id).collect()
        } else {
            list_history(&mut tx, &import, after, left).await?
        };
        let added = list_added(&mut tx, view, &import, &keys).await?;
        let is_complete = keys.len() < left;
        page.next = Cursor {
            revision,
            after: keys.last().copied().filter(|_| !is_complete),
        };
        page.changes.extend(
            keys.iter()
                .filter_map(|key| describe(view, *key, &import, &added)),
        );
        if !is_complete {
            break;
        }
        (number, after) = (import.revision, None);
    }
    Ok(page)
}

/// Lists the nonprofits of an import from the history.
async fn list_history(
    tx: &mut Tx,
    import: &ImportRow,
    after: Option<Key>,
    take: usize,
) -> Result<Vec<Key>, ChangesError> {
    let mut keys = Vec::new();
    if !matches!(after, Some(Key::WithoutEin(_))) {
        let eins = store::list_eins(tx, import.revision, after.and_then(Key::ein), take).await?;
        keys.extend(eins.into_iter().map(Key::Ein));
    }
    if keys.len() < take {
        let after = after.and_then(Key::without_ein);
        let ids = store::list_without_ein(tx, import.revision, after, take - keys.len()).await?;
        keys.extend(ids.into_iter().map(Key::WithoutEin));
    }
    // A position by ID is from the time before a large import removed the IDs: everything is listed again.
    if matches!(after, None | Some(Key::Id(_))) {
        // The first import of IRS files records what it changed, but not what it added.
        let is_first =
            import.kind == "irs" && import.added > 0 && !store::has_added(tx, import.revision).await?;
        if keys.is_empty() || is_first {
            return Err(ChangesError::NotRecorded);
        }
    }
    Ok(keys)
}

/// Returns which of these nonprofits an import added to the directory.
async fn list_added(
    tx: &mut Tx,
    view: &View,
    import: &ImportRow,
    keys: &[Key],
) -> sqlx::Result<HashSet<NonprofitId>> {
    let (mut eins, mut ids) = (Vec::new(), Vec::new());
    for nonprofit in keys.iter().filter_map(|key| view.nonprofit(key.locate(view)?)) {
        match nonprofit.ein {
            Some(ein) => eins.push(ein.value()),
            None => ids.push(nonprofit.id.0),
        }
    }
    let added = store::list_added(tx, import, &eins).await?;
    let mut added: HashSet<NonprofitId> = added
        .into_iter()
        .filter_map(|ein| Some(Ein::new(ein)?.nonprofit_id()))
        .collect();
    if let (Some(first), Some(last)) = (ids.iter().min(), ids.iter().max()) {
        let without_ein = store::list_added_without_ein(tx, import.revision, *first, *last).await?;
        added.extend(without_ein.into_iter().map(NonprofitId));
    }
    Ok(added)
}

impl Key {
    fn id(self) -> Option<Uuid> {
        match self {
            Key::Id(id) => Some(id),
            Key::Ein(_) | Key::WithoutEin(_) => None,
        }
    }

    fn ein(self) -> Option<u32> {
        match self {
            Key::Ein(ein) => Some(ein),
            Key::Id(_) | Key::WithoutEin(_) => None,
        }
    }

    fn without_ein(self) -> Option<Uuid> {
        match self {
            Key::WithoutEin(id) => Some(id),
            Key::Id(_) | Key::Ein(_) => None,
        }
    }

    fn locate(self, view: &View) -> Option<HitLocation> {
        let id = match self {
            Key::Id(id) | Key::WithoutEin(id) => NonprofitId(id),
            Key::Ein(ein) => Ein::new(ein)?.nonprofit_id(),
        };
        view.locate(&Identifier::Id(id))
    }
}

fn describe(
    view: &View,
    key: Key,
    import: &ImportRow,
    added: &HashSet<NonprofitId>,
) -> Option<ChangedNonprofit> {
    let location = key.locate(view)?;
    let nonprofit = view.nonprofit(location)?;
    let is_added = (import.changed == 0 && import.gone == 0) || added.contains(&nonprofit.id);
    let kind = if nonprofit.gone_at.is_some() {
        ChangeKind::Removed
    } else if is_added {
        ChangeKind::Added
    } else {
        ChangeKind::Changed
    };
    Some(ChangedNonprofit { kind, location })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_survives_its_text(number in 0..i64::MAX, token: u128, position in prop::option::of(any::<u128>()), kind in 0..3) {
            let after = position.map(|position| match kind {
                0 => Key::Ein(position as u32),
                1 => Key::Id(Uuid::from_u128(position)),
                _ => Key::WithoutEin(Uuid::from_u128(position)),
            });
            let cursor = Cursor { revision: Revision { number, token: Uuid::from_u128(token) }, after };
            prop_assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }

        #[test]
        fn other_texts_are_no_cursors(text in "\\PC{0,90}") {
            // It must not panic; a text of the right form may be one.
            let _ = text.parse::<Cursor>();
        }
    }

    #[test]
    fn a_damaged_cursor_is_refused() {
        for text in ["", "1", "2abc", "1zz", "10000000000000001"] {
            assert_eq!(text.parse::<Cursor>(), Err(()), "{text}");
        }
    }
}
