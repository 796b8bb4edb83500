//! Database access for imports: the current rows, bulk writes, and the history of imports.

use super::summary::Summary;
use crate::nonprofits::rows::StoredNonprofit;
use crate::nonprofits::sources::SourceId;
use platform::db::{Connection, Db, Topic, Tx, from_row, read, run};
use sqlx::{AssertSqlSafe, Executor};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use uuid::Uuid;

const EXISTING: &str =
    "select ein, slug, digest, listed, gone_at is not null as gone from nonprofits where ein is not null";
const SLUGS_WITHOUT_EIN: &str =
    "select slug from nonprofits where ein is null union all select slug from former_slugs";
const HAS_NONPROFITS: &str = "select exists (select 1 from nonprofits)";
const PROFILE_NAMES: &str = "select nonprofit_id, name from profiles where name is not null";
const COUNT_SLUG: &str = "select count(*) from (select slug from nonprofits where slug = $1 \
     union all select slug from former_slugs where slug = $1) as taken";
const COUNT_FORMER_SLUG: &str = "select count(*) from former_slugs where slug = $1 and nonprofit_id = $2";
const INSERT_FORMER_SLUG: &str =
    "insert into former_slugs (slug, nonprofit_id) values ($1, $2) on conflict (slug) do nothing";
const REMOVE_FORMER_SLUG: &str = "delete from former_slugs where slug = $1 and nonprofit_id = $2";
const MARK_GONE: &str = "update nonprofits set gone_at = $2 where ein = $1";
const INSERT_CHANGE: &str =
    "insert into directory_changes (revision, nonprofit_id) values ($1, $2) on conflict do nothing";
const REMOVE_CHANGES_BEFORE: &str = "delete from directory_changes where revision < $1";
const INSERT_IMPORT: &str = "insert into imports (revision, kind, started_at, finished_at, lines, added, changed, \
     gone, refused) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const LIST_NEWEST: &str = "select kind, finished_at, lines, added, changed, gone, refused from imports \
     order by revision desc limit $1 offset $2";
const COUNT: &str = "select count(*) from imports";
const LAST_OF: &str = "select max(finished_at) from imports where kind = $1";
const INSERT_FILE: &str =
    "insert into import_files (revision, position, name, sha256, lines) values ($1, $2, $3, $4, $5)";
/// The number of rows from which `copy` is faster than `insert`.
const COPY_THRESHOLD: usize = 32;
const INDEXES: [(&str, &str); 3] = [
    (
        "drop index nonprofits_id",
        "create unique index nonprofits_id on nonprofits (id)",
    ),
    (
        "drop index nonprofits_ein",
        "create unique index nonprofits_ein on nonprofits (ein)",
    ),
    (
        "drop index nonprofits_slug",
        "create unique index nonprofits_slug on nonprofits (slug)",
    ),
];
const INSERT: &str = "insert into nonprofits (id, ein, slug, filed, listed, gone_at, digest) values ";
const OR_UPDATE: &str = " on conflict (id) do update set slug = excluded.slug, filed = excluded.filed, \
     listed = excluded.listed, gone_at = excluded.gone_at, digest = excluded.digest";
const COPY: &str = "copy nonprofits (id, ein, slug, filed, listed, gone_at, digest) from stdin";
const COLUMNS: usize = 7;

/// The number of rows that one statement writes.
pub const CHUNK_SIZE: usize = 1_000;

/// What an import needs to know about a nonprofit in the store.
#[derive(Debug)]
pub struct ExistingNonprofit {
    pub slug: Box<str>,
    pub digest: i64,
    pub listed: bool,
    pub gone: bool,
}

/// A row of [`EXISTING`].
struct ExistingRow {
    ein: i64,
    slug: String,
    digest: i64,
    listed: bool,
    gone: bool,
}

from_row!(ExistingRow {
    ein,
    slug,
    digest,
    listed,
    gone
});

/// A row to write.
#[derive(Clone, Debug)]
pub struct NonprofitWrite {
    pub nonprofit: StoredNonprofit,
    /// A hash of the IRS data, by which the next import recognizes changes.
    pub digest: i64,
}

/// The contents of the store when an import starts.
#[derive(Debug)]
pub struct StoreContents {
    pub revision: i64,
    /// By EIN.
    pub existing: HashMap<u32, ExistingNonprofit>,
    /// The slugs of nonprofits without an EIN, and all former slugs.
    pub other_slugs: Vec<String>,
}

/// Loads the contents of the store.
pub async fn load_contents(db: &Db) -> sqlx::Result<StoreContents> {
    use futures_util::TryStreamExt;
    let mut tx = db.view().await?;
    let revision = tx.revision(Topic::Directory).await?;
    let mut existing = HashMap::new();
    run!(&mut tx, c => {
        let mut rows = sqlx::query_as::<_, ExistingRow>(EXISTING).fetch(c);
        while let Some(ExistingRow { ein, slug, digest, listed, gone }) = rows.try_next().await? {
            existing.insert(ein as u32, ExistingNonprofit { slug: slug.into(), digest, listed, gone });
        }
        sqlx::Result::Ok(())
    })?;
    let other_slugs = run!(&mut tx, c => sqlx::query_scalar(SLUGS_WITHOUT_EIN).fetch_all(c).await)?;
    Ok(StoreContents {
        revision,
        existing,
        other_slugs,
    })
}

/// Lists the names in profiles, by the ID of the nonprofit.
pub async fn list_profile_names(db: &Db) -> sqlx::Result<HashMap<Uuid, String>> {
    let mut tx = db.view().await?;
    let names: Vec<(Uuid, String)> = run!(&mut tx, c => sqlx::query_as(PROFILE_NAMES).fetch_all(c).await)?;
    Ok(names.into_iter().collect())
}

/// Finds what is filed about nonprofits, by EIN.
pub async fn list_filings(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<HashMap<u32, String>> {
    let sql = AssertSqlSafe(format!(
        "select ein, filed from nonprofits where ein in ({})",
        number_list(eins)
    ));
    let rows: Vec<(i64, String)> = run!(tx, c => sqlx::query_as(sql).persistent(false).fetch_all(c).await)?;
    Ok(rows.into_iter().map(|(ein, filed)| (ein as u32, filed)).collect())
}

/// Finds which EINs are in the directory.
pub async fn list_known(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<HashSet<u32>> {
    if eins.is_empty() {
        return Ok(HashSet::new());
    }
    let sql = AssertSqlSafe(format!(
        "select ein from nonprofits where ein in ({})",
        number_list(eins)
    ));
    let known: Vec<i64> = run!(tx, c => sqlx::query_scalar(sql).persistent(false).fetch_all(c).await)?;
    Ok(known.into_iter().map(|ein| ein as u32).collect())
}

/// Formats numbers for `in (…)`. Thousands of parameters would take longer to bind than the numbers to parse.
fn number_list(numbers: &[u32]) -> String {
    let mut list = String::with_capacity(numbers.len() * 10);
    for number in numbers {
        let comma = if list.is_empty() { "" } else { "," };
        let _ = write!(list, "{comma}{number}");
    }
    list
}

/// Returns whether the directory has any nonprofit.
pub async fn has_nonprofits(tx: &mut Tx) -> sqlx::Result<bool> {
    run!(tx, c => sqlx::query_scalar(HAS_NONPROFITS).fetch_one(c).await)
}

/// Returns whether a slug is in use, as a current or a former one.
pub async fn is_slug_taken(tx: &mut Tx, slug: &str) -> sqlx::Result<bool> {
    let count: i64 = run!(tx, c => sqlx::query_scalar(COUNT_SLUG).bind(slug).fetch_one(c).await)?;
    Ok(count > 0)
}

/// Returns whether a slug is a former slug of a nonprofit.
pub async fn is_former_slug_of(tx: &mut Tx, slug: &str, id: Uuid) -> sqlx::Result<bool> {
    let count: i64 =
        run!(tx, c => sqlx::query_scalar(COUNT_FORMER_SLUG).bind(slug).bind(id).fetch_one(c).await)?;
    Ok(count > 0)
}

/// Records the former slug of a renamed nonprofit. Its current slug is then no longer a former one.
pub async fn insert_former_slug(tx: &mut Tx, former: &str, current: &str, id: Uuid) -> sqlx::Result<()> {
    run!(&mut *tx, c => sqlx::query(REMOVE_FORMER_SLUG).bind(current).bind(id).execute(c).await.map(|_| ()))?;
    run!(tx, c => sqlx::query(INSERT_FORMER_SLUG).bind(former).bind(id).execute(c).await.map(|_| ()))
}

/// Marks nonprofits as no longer listed in the IRS files.
pub async fn mark_gone(tx: &mut Tx, eins: &[u32], now: i64) -> sqlx::Result<()> {
    for ein in eins {
        run!(&mut *tx, c => sqlx::query(MARK_GONE).bind(i64::from(*ein)).bind(now).execute(c).await.map(|_| ()))?;
    }
    Ok(())
}

/// Drops the indexes before many rows are inserted. Creating them again with [`create_indexes`] is faster than updating
/// them row by row.
pub async fn drop_indexes(tx: &mut Tx) -> sqlx::Result<()> {
    for (drop, _) in INDEXES {
        run!(&mut *tx, c => c.execute(drop).await.map(|_| ()))?;
    }
    Ok(())
}

/// Creates the indexes again.
pub async fn create_indexes(tx: &mut Tx) -> sqlx::Result<()> {
    for (_, create) in INDEXES {
        run!(&mut *tx, c => c.execute(create).await.map(|_| ()))?;
    }
    Ok(())
}

/// Inserts new rows.
pub async fn insert_rows(tx: &mut Tx, rows: Vec<NonprofitWrite>) -> sqlx::Result<()> {
    // A `copy` takes three round trips, each slowed down by a delayed acknowledgment.
    if rows.len() < COPY_THRESHOLD {
        return write_rows(tx, rows, "").await;
    }
    match tx.connection() {
        Connection::Sqlite(_) => write_rows(tx, rows, "").await,
        Connection::Postgres(connection) => {
            let mut copy = connection.copy_in_raw(COPY).await?;
            copy.send(copy_text(&rows).into_bytes()).await?;
            copy.finish().await.map(|_| ())
        }
    }
}

/// Replaces the rows with the same IDs.
pub async fn update_rows(tx: &mut Tx, rows: Vec<NonprofitWrite>) -> sqlx::Result<()> {
    write_rows(tx, rows, OR_UPDATE).await
}

async fn write_rows(tx: &mut Tx, rows: Vec<NonprofitWrite>, ending: &str) -> sqlx::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let sql = AssertSqlSafe(insert_statement(
        rows.len(),
        ending,
        matches!(tx, Tx::Postgres(_)),
    ));
    run!(tx, c => {
        let mut query = sqlx::query(sql);
        for row in rows {
            let NonprofitWrite { nonprofit, digest } = row;
            query = query
                .bind(nonprofit.id)
                .bind(nonprofit.ein)
                .bind(nonprofit.slug)
                .bind(nonprofit.filed)
                .bind(nonprofit.listed)
                .bind(nonprofit.gone_at)
                .bind(digest);
        }
        query.execute(c).await.map(|_| ())
    })
}

/// Returns an `insert` statement for many rows.
///
/// SQLite looks up a numbered parameter by a linear search, so its parameters are question marks.
fn insert_statement(rows: usize, ending: &str, is_numbered: bool) -> String {
    let mut sql = INSERT.to_owned();
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ",(" });
        for column in 1..=COLUMNS {
            let comma = if column == 1 { "" } else { "," };
            let _ = if is_numbered {
                write!(sql, "{comma}${}", row * COLUMNS + column)
            } else {
                write!(sql, "{comma}?")
            };
        }
        sql.push(')');
    }
    sql.push_str(ending);
    sql
}

/// Formats rows for PostgreSQL's `copy`: columns separated by tabs, `\N` for null.
fn copy_text(rows: &[NonprofitWrite]) -> String {
    let mut text = String::with_capacity(rows.len() * 256);
    for NonprofitWrite { nonprofit, digest } in rows {
        let number = |value: Option<i64>| value.map_or_else(|| "\\N".to_owned(), |value| value.to_string());
        let _ = write!(text, "{}\t{}", nonprofit.id, number(nonprofit.ein));
        for column in [&nonprofit.slug, &nonprofit.filed] {
            text.push('\t');
            for character in column.chars() {
                match character {
                    '\\' => text.push_str("\\\\"),
                    '\t' => text.push_str("\\t"),
                    '\n' => text.push_str("\\n"),
                    '\r' => text.push_str("\\r"),
                    character => text.push(character),
                }
            }
        }
        let _ = writeln!(
            text,
            "\t{}\t{}\t{digest}",
            nonprofit.listed,
            number(nonprofit.gone_at)
        );
    }
    text
}

/// Records which nonprofits a small import changed.
pub async fn insert_changes(tx: &mut Tx, revision: i64, ids: &[Uuid]) -> sqlx::Result<()> {
    for id in ids {
        run!(&mut *tx, c => sqlx::query(INSERT_CHANGE).bind(revision).bind(id).execute(c).await.map(|_| ()))?;
    }
    Ok(())
}

/// Removes the changes of imports before `revision`. Called by a large import, after which servers need a new snapshot.
pub async fn remove_changes_before(tx: &mut Tx, revision: i64) -> sqlx::Result<()> {
    run!(tx, c => sqlx::query(REMOVE_CHANGES_BEFORE).bind(revision).execute(c).await.map(|_| ()))
}

/// Records an import under the new revision of the directory.
pub async fn insert_import(
    tx: &mut Tx,
    kind: &str,
    summary: &Summary,
    started_at: i64,
    finished_at: i64,
) -> sqlx::Result<()> {
    let [added, changed, gone] = summary.nonprofits();
    run!(&mut *tx, c => sqlx::query(INSERT_IMPORT)
        .bind(summary.revision)
        .bind(kind)
        .bind(started_at)
        .bind(finished_at)
        .bind(summary.lines as i64)
        .bind(added as i64)
        .bind(changed as i64)
        .bind(gone as i64)
        .bind(summary.refused as i64)
        .execute(c)
        .await
        .map(|_| ()))?;
    for (position, file) in (1i64..).zip(&summary.files) {
        run!(&mut *tx, c => sqlx::query(INSERT_FILE)
            .bind(summary.revision)
            .bind(position)
            .bind(&file.name)
            .bind(&file.sha256)
            .bind(file.lines as i64)
            .execute(c)
            .await
            .map(|_| ()))?;
    }
    Ok(())
}

/// Begins a transaction with the next revision of the directory. Other imports wait for it.
pub async fn begin(db: &Db) -> sqlx::Result<(Tx, i64)> {
    let mut tx = db.write().await?;
    let revision = tx.increment_revision(Topic::Directory).await?;
    Ok((tx, revision))
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
    read!(db, c => sqlx::query_scalar(COUNT).fetch_one(c).await)
}

/// Finds when the last import of a kind finished.
pub async fn find_last_of(db: &Db, kind: &str) -> sqlx::Result<Option<i64>> {
    read!(db, c => sqlx::query_scalar(LAST_OF).bind(kind).fetch_one(c).await)
}

/// Lists imports, newest first.
pub async fn list_newest(db: &Db, take: i64, skip: i64) -> sqlx::Result<Vec<RecordedImport>> {
    read!(db, c => sqlx::query_as(LIST_NEWEST).bind(take).bind(skip).fetch_all(c).await)
}

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
pub async fn find_files(tx: &mut Tx, sources: &[SourceId]) -> sqlx::Result<HashMap<SourceId, SourceFile>> {
    let mut found = HashMap::new();
    for chunk in sources.chunks(FILES_AT_ONCE) {
        let rows: Vec<FileRow> = run!(&mut *tx, c => {
            let mut query = sqlx::query_as(FILES);
            for index in 0..FILES_AT_ONCE {
                let (revision, position) = chunk
                    .get(index)
                    .map_or((0, 0), |source| (source.revision, i64::from(source.position)));
                query = query.bind(revision).bind(position);
            }
            query.fetch_all(c).await
        })?;
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
pub async fn list_last_imports(db: &Db) -> sqlx::Result<Vec<LastImport>> {
    let rows: Vec<LastImportRow> =
        read!(db, c => sqlx::query_as(LAST_IMPORTS).bind(MAX_LISTED_FILES).fetch_all(c).await)?;
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
