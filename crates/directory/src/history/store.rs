//! Database access for the history of nonprofits.

use super::change::{Change, shorten};
use crate::nonprofits::ein::Ein;
use platform::db::{Db, Tx, from_row, query};
use std::borrow::Cow;
use std::collections::BTreeMap;
use uuid::Uuid;

const LIST: &str = "select h.revision, i.kind, i.finished_at, h.field, h.old_value, h.new_value \
     from nonprofit_history h join imports i on i.revision = h.revision where h.ein = $1 \
     order by h.revision desc, h.field";
const INSERT_WITHOUT_EIN: &str =
    "insert into changes_without_ein (revision, nonprofit_id, is_added) values ($1, $2, $3)";
const LIST_FILES: &str = "select f.revision, f.name, f.sha256 from import_files f where f.revision in \
     (select h.revision from nonprofit_history h where h.ein = $1) order by f.revision, f.position";

/// Records the changes of an import. Each field of a nonprofit must be in at most one of them.
pub async fn insert(tx: &mut Tx, revision: i64, changes: &[Change]) -> sqlx::Result<()> {
    let shortened: Vec<[Option<Cow<'_, str>>; 2]> = changes
        .iter()
        .map(|change| [&change.old, &change.new].map(|value| value.as_deref().map(shorten)))
        .collect();
    let rows: Vec<_> = changes
        .iter()
        .zip(&shortened)
        .map(|(change, [old, new])| {
            [
                i64::from(change.ein).into(),
                revision.into(),
                change.field.into(),
                platform::db::Value::Text(old.as_deref()),
                platform::db::Value::Text(new.as_deref()),
            ]
        })
        .collect();
    let columns = ["ein", "revision", "field", "old_value", "new_value"];
    tx.insert_many("nonprofit_history", columns, &rows).await
}

/// Records which nonprofits without an EIN an import added (`true`) or changed.
pub async fn insert_without_ein(
    tx: &mut Tx,
    revision: i64,
    nonprofits: &BTreeMap<Uuid, bool>,
) -> sqlx::Result<()> {
    for (id, is_added) in nonprofits {
        tx.execute(query(INSERT_WITHOUT_EIN).bind(revision).bind(*id).bind(*is_added))
            .await?;
    }
    Ok(())
}

/// An import that changed a nonprofit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    pub revision: i64,
    /// The kind of import, such as `irs`.
    pub kind: String,
    pub finished_at: i64,
    /// The files of the import, with their SHA-256 hashes.
    pub files: Vec<(String, String)>,
    /// The changed fields, with the old and the new value.
    pub changes: Vec<FieldChange>,
}

/// A recorded change of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    pub field: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

/// A row of [`LIST`].
struct HistoryRow {
    revision: i64,
    kind: String,
    finished_at: i64,
    field: String,
    old_value: Option<String>,
    new_value: Option<String>,
}

from_row!(HistoryRow {
    revision,
    kind,
    finished_at,
    field,
    old_value,
    new_value
});

/// Lists the imports that changed a nonprofit, newest first.
pub async fn list(db: &Db, ein: Ein) -> sqlx::Result<Vec<HistoryEntry>> {
    let ein = i64::from(ein.value());
    let rows: Vec<HistoryRow> = db.fetch_all(query(LIST).bind(ein)).await?;
    let files: Vec<(i64, String, String)> = db.fetch_all(query(LIST_FILES).bind(ein)).await?;
    let mut entries: Vec<HistoryEntry> = Vec::new();
    for row in rows {
        let is_next = entries.last().is_none_or(|entry| entry.revision != row.revision);
        if is_next {
            let of_import = files.iter().filter(|(revision, ..)| *revision == row.revision);
            entries.push(HistoryEntry {
                revision: row.revision,
                kind: row.kind,
                finished_at: row.finished_at,
                files: of_import
                    .map(|(_, name, sha256)| (name.clone(), sha256.clone()))
                    .collect(),
                changes: Vec::new(),
            });
        }
        if let Some(entry) = entries.last_mut() {
            entry.changes.push(FieldChange {
                field: row.field,
                old: row.old_value,
                new: row.new_value,
            });
        }
    }
    Ok(entries)
}
