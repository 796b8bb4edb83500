//! The SQL of hosted pictures.

use super::picture::StoredPicture;
use crate::db::{Db, Tx, from_row, read, run};
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

/// Finds a picture by its ID.
pub async fn find(db: &Db, id: &str) -> sqlx::Result<Option<StoredPicture>> {
    let row: Option<PictureRow> = read!(db, c => sqlx::query_as(FIND).bind(id).fetch_optional(c).await)?;
    Ok(row.map(StoredPicture::from))
}

/// Lists the next thousand pictures after `id`, ordered by ID.
pub async fn list_after(db: &Db, id: &str) -> sqlx::Result<Vec<StoredPicture>> {
    let rows: Vec<PictureRow> = read!(db, c => sqlx::query_as(AFTER).bind(id).fetch_all(c).await)?;
    Ok(rows.into_iter().map(StoredPicture::from).collect())
}

/// Lists the blobs of all pictures and their SHA-256 hashes.
pub async fn list_blobs(tx: &mut Tx) -> sqlx::Result<Vec<(String, Vec<u8>)>> {
    run!(tx, c => sqlx::query_as(BLOBS).fetch_all(c).await)
}

/// Returns whether a picture refers to this blob.
pub async fn is_blob_used(db: &Db, blob: &str) -> sqlx::Result<bool> {
    let count: i64 = read!(db, c => sqlx::query_scalar(HAS_BLOB).bind(blob).fetch_one(c).await)?;
    Ok(count > 0)
}

/// Inserts a picture. Returns `false` if one with its ID exists.
pub async fn insert(db: &Db, picture: &StoredPicture, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let added = run!(&mut tx, c => sqlx::query(INSERT)
        .bind(&picture.id)
        .bind(&picture.blob)
        .bind(&picture.sha256)
        .bind(picture.kind.name())
        .bind(i64::from(picture.width))
        .bind(i64::from(picture.height))
        .bind(now)
        .execute(c)
        .await
        .map(|done| done.rows_affected()))?;
    tx.commit().await?;
    Ok(added == 1)
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
