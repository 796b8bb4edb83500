//! The log of imports: what each one did, its files, the nonprofits that small ones changed, and imports that failed.

use crate::nonprofits::sources::SourceId;
use platform::db::{Db, Topic, Tx, from_row, query};
use std::collections::HashMap;
use uuid::Uuid;

const INSERT_CHANGE: &str =
    "insert into directory_changes (revision, nonprofit_id) values ($1, $2) on conflict do nothing";
const REMOVE_CHANGES_BEFORE: &str = "delete from directory_changes where revision < $1";
const INSERT_IMPORT: &str = "insert into imports (revision, kind, started_at, finished_at, lines, added, changed, \
     gone, refused) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const SET_CHANGED: &str = "update imports set changed = $2 where revision = $1";
const LIST_NEWEST: &str = "select kind, finished_at, lines, added, changed, gone, refused from imports \
     order by revision desc limit $1 offset $2";
const COUNT: &str = "select count(*) from imports";
const LAST_OF: &str = "select max(finished_at) from imports where kind = $1";
const INSERT_FILE: &str =
    "insert into import_files (revision, position, name, sha256, lines) values ($1, $2, $3, $4, $5)";
const LAST_IMPORTS: &str = "select i.kind, i.revision, i.finished_at, i.lines, f.name, f.sha256, f.lines as file_lines \
     from imports i join import_files f on f.revision = i.revision \
     where i.revision in (select max(revision) from imports group by kind) and f.position <= $1 \
     order by i.revision, f.position";
/// The most files of one import that are listed. An import may have thousands.
const MAX_LISTED_FILES: i64 = 100;
/// Eight files by revision and position. Those that are not needed are 0, which no file has.
const FILES: &str = "select f.revision, f.position, f.name, f.sha256, i.finished_at from import_files f \
     join imports i on i.revision = f.revision \
     where (f.revision = $1 and f.position = $2) or (f.revision = $3 and f.position = $4) \
     or (f.revision = $5 and f.position = $6) or (f.revision = $7 and f.position = $8) \
     or (f.revision = $9 and f.position = $10) or (f.revision = $11 and f.position = $12) \
     or (f.revision = $13 and f.position = $14) or (f.revision = $15 and f.position = $16)";
/// The number of files that one statement finds.
const FILES_AT_ONCE: usize = 8;
const COUNT_CHANGES_SINCE: &str = "select cast(coalesce(sum(added + changed + gone), 0) as bigint) + (select count(*) from directory_changes c \
     where c.revision > $1 and not exists (select 1 from imports i where i.revision = c.revision)) \
     from imports where revision > $1";
/// A large import records no changed nonprofits.
const HAS_LARGE_IMPORT_SINCE: &str = "select exists (select 1 from imports i where i.revision > $1 \
     and i.added + i.changed + i.gone > 0 \
     and not exists (select 1 from directory_changes c where c.revision = i.revision))";
const RECORD_FAILURE: &str = "insert into import_failures (command, failed_at, error) values ($1, $2, $3) \
     on conflict (command) do update set failed_at = excluded.failed_at, error = excluded.error";
const REMOVE_FAILURE: &str = "delete from import_failures where command = $1";
const REMOVE_ALL_FAILURES: &str = "delete from import_failures";
const LIST_FAILURES: &str = "select command, failed_at, error from import_failures order by failed_at desc";
/// The command that imports everything, and so supersedes all others.
const ALL: &str = "all";

/// Records which nonprofits a small import changed.
pub async fn insert_changes(tx: &mut Tx, revision: i64, ids: &[Uuid]) -> sqlx::Result<()> {
    for id in ids {
        tx.execute(query(INSERT_CHANGE).bind(revision).bind(*id)).await?;
    }
    Ok(())
}

/// Removes the changes of imports before `revision`. Called by a large import, after which servers need a new snapshot.
pub async fn remove_changes_before(tx: &mut Tx, revision: i64) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_CHANGES_BEFORE).bind(revision))
        .await
        .map(|_| ())
}

/// An import to record.
#[derive(Clone, Copy, Debug)]
pub struct ImportRecord<'a> {
    pub revision: i64,
    /// Such as `irs`.
    pub kind: &'a str,
    pub started_at: i64,
    pub finished_at: i64,
    pub lines: u64,
    /// The number of nonprofits that it added; the next two count nonprofits as well.
    pub added: u64,
    pub changed: u64,
    pub gone: u64,
    /// The number of rejected lines.
    pub refused: u64,
}

/// Records an import and its files.
pub async fn insert_import(tx: &mut Tx, import: ImportRecord<'_>, files: &[NamedFile]) -> sqlx::Result<()> {
    tx.execute(
        query(INSERT_IMPORT)
            .bind(import.revision)
            .bind(import.kind)
            .bind(import.started_at)
            .bind(import.finished_at)
            .bind(import.lines as i64)
            .bind(import.added as i64)
            .bind(import.changed as i64)
            .bind(import.gone as i64)
            .bind(import.refused as i64),
    )
    .await?;
    for (position, file) in (1i64..).zip(files) {
        tx.execute(
            query(INSERT_FILE)
                .bind(import.revision)
                .bind(position)
                .bind(&file.name)
                .bind(&file.sha256)
                .bind(file.lines),
        )
        .await?;
    }
    Ok(())
}

/// Sets how many nonprofits an import changed, once that is known.
pub async fn set_changed(tx: &mut Tx, revision: i64, changed: u64) -> sqlx::Result<()> {
    let statement = query(SET_CHANGED).bind(revision).bind(changed as i64);
    tx.execute(statement).await.map(|_| ())
}

/// Begins a transaction with the next revision of the directory. Other imports wait for it.
pub async fn begin(db: &Db) -> sqlx::Result<(Tx, i64)> {
    let mut tx = db.write().await?;
    let revision = next_revision(&mut tx).await?;
    Ok((tx, revision))
}

/// Takes the next revision of the directory in a transaction. Imports wait for it.
pub(crate) async fn next_revision(tx: &mut Tx) -> sqlx::Result<i64> {
    tx.increment_revision(Topic::Directory).await
}

/// An import in the history.
#[derive(Clone, Debug)]
pub struct RecordedImport {
    pub kind: String,
    pub finished_at: i64,
    pub lines: i64,
    pub added: i64,
    pub changed: i64,
    pub gone: i64,
    pub refused: i64,
}

from_row!(RecordedImport {
    kind,
    finished_at,
    lines,
    added,
    changed,
    gone,
    refused,
});

/// Counts the imports.
pub async fn count(db: &Db) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT)).await
}

/// Finds when the last import of a kind finished.
pub async fn find_last_of(db: &Db, kind: &str) -> sqlx::Result<Option<i64>> {
    db.fetch_scalar(query(LAST_OF).bind(kind)).await
}

/// Lists imports, newest first.
pub async fn list_newest(db: &Db, take: i64, skip: i64) -> sqlx::Result<Vec<RecordedImport>> {
    db.fetch_all(query(LIST_NEWEST).bind(take).bind(skip)).await
}

/// The last import of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastImport {
    pub kind: String,
    pub finished_at: i64,
    pub lines: i64,
    /// At most 100.
    pub files: Vec<NamedFile>,
}

/// A file of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// Without its folders, which are not public.
    pub name: String,
    /// In hexadecimal.
    pub sha256: String,
    pub lines: i64,
}

/// A row of [`LAST_IMPORTS`].
struct LastImportRow {
    kind: String,
    revision: i64,
    finished_at: i64,
    lines: i64,
    name: String,
    sha256: String,
    file_lines: i64,
}

from_row!(LastImportRow {
    kind,
    revision,
    finished_at,
    lines,
    name,
    sha256,
    file_lines
});

/// A file that facts come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Without its folders, which are not public.
    pub name: String,
    /// In hexadecimal.
    pub sha256: String,
    pub imported_at: i64,
}

/// A row of [`FILES`].
struct FileRow {
    revision: i64,
    position: i64,
    name: String,
    sha256: String,
    finished_at: i64,
}

from_row!(FileRow {
    revision,
    position,
    name,
    sha256,
    finished_at
});

/// Finds files by their sources.
pub(crate) async fn find_files(
    tx: &mut Tx,
    sources: &[SourceId],
) -> sqlx::Result<HashMap<SourceId, SourceFile>> {
    let mut found = HashMap::new();
    for chunk in sources.chunks(FILES_AT_ONCE) {
        let mut statement = query(FILES);
        for index in 0..FILES_AT_ONCE {
            let (revision, position) = chunk
                .get(index)
                .map_or((0, 0), |source| (source.revision, i64::from(source.position)));
            statement = statement.bind(revision).bind(position);
        }
        let rows: Vec<FileRow> = tx.fetch_all(statement).await?;
        found.extend(rows.into_iter().map(|row| {
            let source = SourceId {
                revision: row.revision,
                position: row.position as u16,
            };
            let file = SourceFile {
                name: file_name(&row.name).to_owned(),
                sha256: row.sha256,
                imported_at: row.finished_at,
            };
            (source, file)
        }));
    }
    Ok(found)
}

/// Lists the last import of each kind, oldest first.
pub(crate) async fn list_last_imports(db: &Db) -> sqlx::Result<Vec<LastImport>> {
    list_last_imports_in(&mut db.view().await?).await
}

/// Lists the last import of each kind, oldest first, in a transaction.
pub(crate) async fn list_last_imports_in(tx: &mut Tx) -> sqlx::Result<Vec<LastImport>> {
    let rows: Vec<LastImportRow> = tx.fetch_all(query(LAST_IMPORTS).bind(MAX_LISTED_FILES)).await?;
    let imports = rows.chunk_by(|a, b| a.revision == b.revision);
    Ok(imports
        .map(|rows| LastImport {
            kind: rows[0].kind.clone(),
            finished_at: rows[0].finished_at,
            lines: rows[0].lines,
            files: rows
                .iter()
                .map(|row| NamedFile {
                    name: file_name(&row.name).to_owned(),
                    sha256: row.sha256.clone(),
                    lines: row.file_lines,
                })
                .collect(),
        })
        .collect())
}

/// Returns the last part of a path. The folders on the server are not public.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Counts the nonprofits that imports, and the nonprofits themselves, changed after `revision`.
pub(crate) async fn count_changes_since(tx: &mut Tx, revision: i64) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(COUNT_CHANGES_SINCE).bind(revision)).await
}

/// Returns whether an import after `revision` was too large to record which nonprofits it changed.
pub(crate) async fn has_large_import_since(tx: &mut Tx, revision: i64) -> sqlx::Result<bool> {
    tx.fetch_scalar(query(HAS_LARGE_IMPORT_SINCE).bind(revision))
        .await
}

/// The last failure of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFailure {
    /// Such as `irs`, for `causeway import irs`.
    pub command: String,
    pub failed_at: i64,
    pub error: String,
}

from_row!(ImportFailure {
    command,
    failed_at,
    error,
});

/// Records how an import ended. Success removes the failure of the same command.
pub async fn record_outcome(db: &Db, command: &str, error: Option<&str>, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    match error {
        Some(error) => tx
            .execute(query(RECORD_FAILURE).bind(command).bind(now).bind(error))
            .await
            .map(|_| ())?,
        None if command == ALL => {
            tx.execute(query(REMOVE_ALL_FAILURES)).await?;
        }
        None => tx
            .execute(query(REMOVE_FAILURE).bind(command))
            .await
            .map(|_| ())?,
    }
    tx.commit().await
}

/// Lists the failures, newest first.
pub async fn list_failures(db: &Db) -> sqlx::Result<Vec<ImportFailure>> {
    db.fetch_all(query(LIST_FAILURES)).await
}
