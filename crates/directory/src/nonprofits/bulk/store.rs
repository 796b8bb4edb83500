//! Database access for imports of nonprofits: the current rows, bulk writes, and slugs.

use crate::nonprofits::rows::StoredNonprofit;
use platform::db::{Connection, Db, Topic, Tx, from_row, query, run};
use sqlx::AssertSqlSafe;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use uuid::Uuid;

const EXISTING: &str =
    "select ein, slug, digest, listed, gone_at is not null as gone from nonprofits where ein is not null";
const SLUGS_WITHOUT_EIN: &str =
    "select slug from nonprofits where ein is null union all select slug from former_slugs";
const FIND_DIGEST: &str = "select digest from nonprofits where id = $1";
const HAS_NONPROFITS: &str = "select exists (select 1 from nonprofits)";
const PROFILE_NAMES: &str = "select nonprofit_id, name from profiles where name is not null";
const COUNT_SLUG: &str = "select count(*) from (select slug from nonprofits where slug = $1 \
     union all select slug from former_slugs where slug = $1) as taken";
const COUNT_FORMER_SLUG: &str = "select count(*) from former_slugs where slug = $1 and nonprofit_id = $2";
const INSERT_FORMER_SLUG: &str =
    "insert into former_slugs (slug, nonprofit_id) values ($1, $2) on conflict (slug) do nothing";
const REMOVE_FORMER_SLUG: &str = "delete from former_slugs where slug = $1 and nonprofit_id = $2";
const MARK_GONE: &str = "update nonprofits set gone_at = $2 where ein = $1";
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
    let mut tx = db.view().await?;
    let revision = tx.revision(Topic::Directory).await?;
    let mut existing = HashMap::new();
    tx.for_each(query(EXISTING), |row| {
        let ExistingRow {
            ein,
            slug,
            digest,
            listed,
            gone,
        } = row;
        existing.insert(
            ein as u32,
            ExistingNonprofit {
                slug: slug.into(),
                digest,
                listed,
                gone,
            },
        );
        Ok(())
    })
    .await?;
    let other_slugs = tx.fetch_scalars(query(SLUGS_WITHOUT_EIN)).await?;
    Ok(StoreContents {
        revision,
        existing,
        other_slugs,
    })
}

/// Lists the names in profiles, by the ID of the nonprofit.
pub async fn list_profile_names(db: &Db) -> sqlx::Result<HashMap<Uuid, String>> {
    let mut tx = db.view().await?;
    let names: Vec<(Uuid, String)> = tx.fetch_all(query(PROFILE_NAMES)).await?;
    Ok(names.into_iter().collect())
}

/// Finds what is filed about nonprofits, by EIN.
pub async fn list_filings(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<HashMap<u32, String>> {
    let sql = AssertSqlSafe(format!(
        "select ein, filed from nonprofits where ein in ({})",
        number_list(eins)
    ));
    let rows: Vec<(i64, String)> = tx.fetch_all(query(sql).uncached()).await?;
    Ok(rows.into_iter().map(|(ein, filed)| (ein as u32, filed)).collect())
}

/// Finds which EINs are in the directory.
pub async fn list_known(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<HashSet<u32>> {
    let mut known = HashSet::new();
    for chunk in eins.chunks(CHUNK_SIZE) {
        let sql = AssertSqlSafe(format!(
            "select ein from nonprofits where ein in ({})",
            number_list(chunk)
        ));
        let found: Vec<i64> = tx.fetch_scalars(query(sql).uncached()).await?;
        known.extend(found.into_iter().map(|ein| ein as u32));
    }
    Ok(known)
}

/// Finds the hash of the IRS data of a nonprofit.
pub async fn find_digest(tx: &mut Tx, id: Uuid) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(FIND_DIGEST).bind(id)).await
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
    tx.fetch_scalar(query(HAS_NONPROFITS)).await
}

/// Returns whether a slug is in use, as a current or a former one.
pub async fn is_slug_taken(tx: &mut Tx, slug: &str) -> sqlx::Result<bool> {
    let count: i64 = tx.fetch_scalar(query(COUNT_SLUG).bind(slug)).await?;
    Ok(count > 0)
}

/// Returns whether a slug is a former slug of a nonprofit.
pub async fn is_former_slug_of(tx: &mut Tx, slug: &str, id: Uuid) -> sqlx::Result<bool> {
    let count: i64 = tx
        .fetch_scalar(query(COUNT_FORMER_SLUG).bind(slug).bind(id))
        .await?;
    Ok(count > 0)
}

/// Records the former slug of a renamed nonprofit. Its current slug is then no longer a former one.
pub async fn insert_former_slug(tx: &mut Tx, former: &str, current: &str, id: Uuid) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_FORMER_SLUG).bind(current).bind(id))
        .await?;
    tx.execute(query(INSERT_FORMER_SLUG).bind(former).bind(id))
        .await
        .map(|_| ())
}

/// Marks nonprofits as no longer listed in the IRS files.
pub async fn mark_gone(tx: &mut Tx, eins: &[u32], now: i64) -> sqlx::Result<()> {
    for ein in eins {
        tx.execute(query(MARK_GONE).bind(i64::from(*ein)).bind(now))
            .await?;
    }
    Ok(())
}

/// Drops the indexes before many rows are inserted. Creating them again with [`create_indexes`] is faster than updating
/// them row by row.
pub async fn drop_indexes(tx: &mut Tx) -> sqlx::Result<()> {
    for (drop, _) in INDEXES {
        tx.execute(query(drop)).await?;
    }
    Ok(())
}

/// Creates the indexes again.
pub async fn create_indexes(tx: &mut Tx) -> sqlx::Result<()> {
    for (_, create) in INDEXES {
        tx.execute(query(create)).await?;
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
