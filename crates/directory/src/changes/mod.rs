//! Which nonprofits changed since a state of the directory, import by import.
//!
//! Small imports record the nonprofits that they change (`directory_changes`). Large ones do not, but the history
//! (`nonprofit_history`) has the EINs of those that were in the directory before. If neither is there, as for the first
//! import, what changed is not known, and a copy of the directory has to be exported again.

mod store;

use crate::nonprofits::ein::Ein;
use crate::nonprofits::identifier::Identifier;
use crate::search::HitLocation;
use crate::view::View;
use platform::db::{Db, Revision, Topic};
use platform::ids::NonprofitId;
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
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

/// How the nonprofits of an import are sorted: by ID, or by EIN if they come from the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Id(Uuid),
    Ein(u32),
}

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
        let ids = store::list_ids(&mut tx, import.revision, after.and_then(Key::id), left).await?;
        let keys: Vec<Key> = if ids.is_empty() && !import.has_ids {
            let eins = store::list_eins(&mut tx, import.revision, after.and_then(Key::ein), left).await?;
            if eins.is_empty() && after.is_none() {
                return Err(ChangesError::NotRecorded);
            }
            eins.into_iter().map(Key::Ein).collect()
        } else {
            ids.into_iter().map(Key::Id).collect()
        };
        let added = store::list_added(&mut tx, &import, &keys_of_eins(view, &keys)).await?;
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

impl Key {
    fn id(self) -> Option<Uuid> {
        match self {
            Key::Id(id) => Some(id),
            Key::Ein(_) => None,
        }
    }

    fn ein(self) -> Option<u32> {
        match self {
            Key::Ein(ein) => Some(ein),
            Key::Id(_) => None,
        }
    }

    fn locate(self, view: &View) -> Option<HitLocation> {
        let id = match self {
            Key::Id(id) => NonprofitId(id),
            Key::Ein(ein) => Ein::new(ein)?.nonprofit_id(),
        };
        view.locate(&Identifier::Id(id))
    }
}

/// Returns the EINs of the nonprofits that have one.
fn keys_of_eins(view: &View, keys: &[Key]) -> Vec<u32> {
    let ein = |key: &Key| Some(view.nonprofit(key.locate(view)?)?.ein?.value());
    keys.iter().filter_map(ein).collect()
}

fn describe(
    view: &View,
    key: Key,
    import: &store::ImportRow,
    added: &HashSet<u32>,
) -> Option<ChangedNonprofit> {
    let location = key.locate(view)?;
    let nonprofit = view.nonprofit(location)?;
    let is_added = (import.changed == 0 && import.gone == 0)
        || nonprofit.ein.is_some_and(|ein| added.contains(&ein.value()));
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
        fn a_cursor_survives_its_text(number in 0..i64::MAX, token: u128, position in prop::option::of(any::<u128>()), is_ein: bool) {
            let after = position.map(|position| if is_ein {
                Key::Ein(position as u32)
            } else {
                Key::Id(Uuid::from_u128(position))
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
