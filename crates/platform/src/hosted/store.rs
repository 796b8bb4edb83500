//! The SQL of hosted pictures.

use super::picture::StoredPicture;
use crate::db::{Db, Tx, from_row, query};
use pictures::picture::Kind;

/// A row of `pictures`.
struct PictureRow {
    id: String,
    blob: String,
    hash: Vec<u8>,
    kind: String,
    width: i64,
    height: i64,
}

from_row!(PictureRow {
    id,
    blob,
    hash,
    kind,
    width,
    height,
});

macro_rules! pictures {
    ($rest:literal) => {
        concat!("select id, blob, hash, kind, width, height from pictures ", $rest)
    };
}

const FIND: &str = pictures!("where id = $1");
const AFTER: &str = pictures!("where id > $1 order by id limit 1000");
const BLOBS: &str = "select blob, hash from pictures order by blob";
const HAS_BLOB: &str = "select count(*) from pictures where blob = $1";
const INSERT: &str = "insert into pictures (id, blob, hash, kind, width, height, created_at) \
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing";

const USAGE_AFTER: &str = "select id, unused_since from pictures where id > $1 order by id limit 1000";
const IS_MARKED: &str = "select unused_since is not null from pictures where id = $1";
const MARK_USED: &str = "update pictures set unused_since = null where id = $1";
const MARK_UNUSED: &str = "update pictures set unused_since = $2 where id = $1 and unused_since is null";
const REMOVE_UNUSED: &str = "delete from pictures where id = $1 and unused_since <= $2";
const REMOVE: &str = "delete from pictures where id = $1";

/// Finds a picture by its ID.
pub async fn find(db: &Db, id: &str) -> sqlx::Result<Option<StoredPicture>> {
    let row: Option<PictureRow> = db.fetch_optional(query(FIND).bind(id)).await?;
    Ok(row.map(StoredPicture::from))
}

/// Lists the next thousand pictures after `id`, ordered by ID.
pub async fn list_after(db: &Db, id: &str) -> sqlx::Result<Vec<StoredPicture>> {
    let rows: Vec<PictureRow> = db.fetch_all(query(AFTER).bind(id)).await?;
    Ok(rows.into_iter().map(StoredPicture::from).collect())
}

/// Lists the blobs of all pictures and their SHA-256 hashes.
pub async fn list_blobs(tx: &mut Tx) -> sqlx::Result<Vec<(String, Vec<u8>)>> {
    tx.fetch_all(query(BLOBS)).await
}

/// Returns whether a picture refers to this blob.
pub(crate) async fn is_blob_used(db: &Db, blob: &str) -> sqlx::Result<bool> {
    let count: i64 = db.fetch_scalar(query(HAS_BLOB).bind(blob)).await?;
    Ok(count > 0)
}

/// Inserts a picture. Returns `false` if one with its ID exists.
pub async fn insert(db: &Db, picture: &StoredPicture, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let added = tx
        .execute(
            query(INSERT)
                .bind(&picture.id)
                .bind(&picture.blob)
                .bind(&picture.sha256)
                .bind(picture.kind.name())
                .bind(i64::from(picture.width))
                .bind(i64::from(picture.height))
                .bind(now),
        )
        .await?;
    tx.commit().await?;
    Ok(added == 1)
}

/// Lists the next thousand pictures after `id`, and since when they are marked as unused.
pub(crate) async fn list_usage_after(db: &Db, id: &str) -> sqlx::Result<Vec<(String, Option<i64>)>> {
    db.fetch_all(query(USAGE_AFTER).bind(id)).await
}

/// Marks a picture as used, because something is about to use it. Returns `false` if it does not exist.
pub(crate) async fn mark_used(db: &Db, id: &str) -> sqlx::Result<bool> {
    let is_marked: Option<bool> = db.fetch_optional_scalar(query(IS_MARKED).bind(id)).await?;
    match is_marked {
        None => Ok(false),
        // It is not removed before it has been marked for a day.
        Some(false) => Ok(true),
        Some(true) => write(db, MARK_USED, id, None).await,
    }
}

/// Marks a picture as unused since `now`, unless it is marked already.
pub(crate) async fn mark_unused(db: &Db, id: &str, now: i64) -> sqlx::Result<bool> {
    write(db, MARK_UNUSED, id, Some(now)).await
}

/// Removes a picture that has been marked as unused since `before`. Returns `false` if it was marked as used meanwhile.
pub async fn remove_unused(db: &Db, id: &str, before: i64) -> sqlx::Result<bool> {
    write(db, REMOVE_UNUSED, id, Some(before)).await
}

/// Removes a picture. Returns `false` if it does not exist.
pub async fn remove(db: &Db, id: &str) -> sqlx::Result<bool> {
    write(db, REMOVE, id, None).await
}

/// Runs a statement on one picture. Returns whether it changed something.
async fn write(db: &Db, sql: &'static str, id: &str, time: Option<i64>) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let statement = query(sql).bind(id);
    let statement = match time {
        Some(time) => statement.bind(time),
        None => statement,
    };
    let changed = tx.execute(statement).await?;
    tx.commit().await?;
    Ok(changed > 0)
}

impl From<PictureRow> for StoredPicture {
    fn from(row: PictureRow) -> StoredPicture {
        StoredPicture {
            id: row.id,
            blob: row.blob,
            sha256: row.hash,
            kind: Kind::parse(&row.kind).unwrap_or(Kind::Jpeg),
            width: row.width as u32,
            height: row.height as u32,
        }
    }
}
