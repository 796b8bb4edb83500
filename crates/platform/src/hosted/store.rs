//! The SQL of hosted pictures.

use super::picture::StoredPicture;
use crate::db::{Db, Tx, from_row, query};
use crate::ids::AccountId;
use crate::text::hex;
use pictures::picture::Kind;
use uuid::Uuid;

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
const BLOBS: &str = "select distinct blob, hash from pictures order by blob";
const HAS_BLOB: &str = "select count(*) from pictures where blob = $1";
const INSERT: &str = "insert into pictures (id, blob, hash, kind, width, height, size, created_at) \
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (id) do nothing";
const SET_SIZE: &str = "update pictures set size = $2 where id = $1";
const FIND_BLOB: &str = "select blob from pictures where hash = $1 and kind = $2 order by blob limit 1";
/// PostgreSQL only: the row must not be removed before the transaction ends, or its blob might be removed too.
const FIND_AND_LOCK_BLOB: &str =
    "select blob from pictures where hash = $1 and kind = $2 order by blob limit 1 for key share";
/// PostgreSQL only: a transaction of SQLite that writes holds the whole file.
const LOCK: &str = "select pg_advisory_xact_lock(hashtextextended($1, 0))";

const IS_CHARGED: &str = "select count(*) from account_pictures where account_id = $1 and picture_id = $2";
const CHARGE: &str = "insert into account_pictures (account_id, picture_id) values ($1, $2) \
     on conflict (account_id, picture_id) do update set unused_since = null";
const CHARGED_BYTES: &str = "select cast(coalesce(sum(p.size), 0) as bigint) from account_pictures a \
     join pictures p on p.id = a.picture_id where a.account_id = $1";
const CHARGES_AFTER: &str = "select account_id, picture_id, unused_since from account_pictures \
     where (account_id, picture_id) > ($1, $2) order by account_id, picture_id limit 1000";
const MARK_CHARGE: &str =
    "update account_pictures set unused_since = $3 where account_id = $1 and picture_id = $2";
const REMOVE_CHARGE: &str =
    "delete from account_pictures where account_id = $1 and picture_id = $2 and unused_since <= $3";

const USAGE_AFTER: &str = "select id, unused_since, case when size is null then blob end from pictures \
     where id > $1 order by id limit 1000";
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

/// Whose quota a picture counts in, and how many bytes that account may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charge {
    pub account: AccountId,
    pub quota: u64,
}

/// The result of inserting a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// A picture with this ID exists now.
    Done,
    /// No stored picture has the same pixels. The blob must be stored first.
    NeedsBlob,
    OverQuota,
}

/// Inserts a picture of `size` bytes, unless one with its ID exists, and charges an account. If a picture has the same
/// pixels, the new one shares its blob; otherwise its own blob must have been stored.
pub(crate) async fn insert(
    db: &Db,
    (picture, size): (&StoredPicture, u64),
    is_blob_stored: bool,
    charge: Option<Charge>,
    now: i64,
) -> sqlx::Result<Insertion> {
    let mut tx = db.write().await?;
    let find_blob = match tx {
        Tx::Postgres(_) => FIND_AND_LOCK_BLOB,
        Tx::Sqlite(_) => FIND_BLOB,
    };
    // Otherwise two uploads of the same pixels might both find no blob.
    lock(&mut tx, &hex(&picture.sha256)).await?;
    let find_blob = query(find_blob).bind(&picture.sha256).bind(picture.kind.name());
    let shared: Option<String> = tx.fetch_optional_scalar(find_blob).await?;
    if shared.is_none() && !is_blob_stored {
        return Ok(Insertion::NeedsBlob);
    }
    tx.execute(
        query(INSERT)
            .bind(&picture.id)
            .bind(shared.as_ref().unwrap_or(&picture.blob))
            .bind(&picture.sha256)
            .bind(picture.kind.name())
            .bind(i64::from(picture.width))
            .bind(i64::from(picture.height))
            .bind(size as i64)
            .bind(now),
    )
    .await?;
    if let Some(charge) = charge
        && !try_charge(&mut tx, &picture.id, charge).await?
    {
        return Ok(Insertion::OverQuota);
    }
    tx.commit().await?;
    Ok(Insertion::Done)
}

/// Charges an account for a picture that exists. Returns `false` if it would be over its quota.
pub(crate) async fn charge(db: &Db, id: &str, charge: Charge) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let is_charged = try_charge(&mut tx, id, charge).await?;
    if is_charged {
        tx.commit().await?;
    }
    Ok(is_charged)
}

/// Charges an account, if its pictures then take no more than its quota. Otherwise the transaction must not be committed.
async fn try_charge(tx: &mut Tx, id: &str, Charge { account, quota }: Charge) -> sqlx::Result<bool> {
    lock(tx, &account.to_string()).await?;
    let before: i64 = tx
        .fetch_scalar(query(IS_CHARGED).bind(account.0).bind(id))
        .await?;
    tx.execute(query(CHARGE).bind(account.0).bind(id)).await?;
    let bytes: i64 = tx.fetch_scalar(query(CHARGED_BYTES).bind(account.0)).await?;
    // A picture that the account has already is never refused, even if the quota was lowered.
    Ok(before > 0 || bytes as u64 <= quota)
}

/// Waits until no other transaction has locked the same text, and locks it until the transaction ends.
async fn lock(tx: &mut Tx, text: &str) -> sqlx::Result<()> {
    if let Tx::Postgres(_) = tx {
        tx.execute(query(LOCK).bind(text)).await?;
    }
    Ok(())
}

/// Returns the bytes of the pictures that count in the quota of an account.
pub(crate) async fn charged_bytes(db: &Db, account: AccountId) -> sqlx::Result<u64> {
    let bytes: i64 = db.fetch_scalar(query(CHARGED_BYTES).bind(account.0)).await?;
    Ok(bytes as u64)
}

/// An account, one of its pictures, and since when it is marked as unused.
pub(crate) type ChargeRow = (Uuid, String, Option<i64>);

/// Lists the next thousand pictures of accounts after one of them.
pub(crate) async fn list_charges_after(db: &Db, account: Uuid, id: &str) -> sqlx::Result<Vec<ChargeRow>> {
    db.fetch_all(query(CHARGES_AFTER).bind(account).bind(id)).await
}

/// Marks a picture of an account as unused since a time, or as used.
pub(crate) async fn mark_charge(
    db: &Db,
    account: Uuid,
    id: &str,
    unused_since: Option<i64>,
) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(MARK_CHARGE).bind(account).bind(id).bind(unused_since))
        .await?;
    tx.commit().await
}

/// Stops charging an account for a picture that it has not used since `before`.
pub(crate) async fn remove_charge(db: &Db, account: Uuid, id: &str, before: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(REMOVE_CHARGE).bind(account).bind(id).bind(before))
        .await?;
    tx.commit().await
}

/// Sets the size of a picture that an earlier version stored.
pub(crate) async fn set_size(db: &Db, id: &str, size: u64) -> sqlx::Result<()> {
    write(db, SET_SIZE, id, Some(size as i64)).await.map(|_| ())
}

/// A picture, since when it is marked as unused, and its blob if the size is not known.
pub(crate) type UsageRow = (String, Option<i64>, Option<String>);

/// Lists the next thousand pictures after `id`, and since when they are marked as unused.
pub(crate) async fn list_usage_after(db: &Db, id: &str) -> sqlx::Result<Vec<UsageRow>> {
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

/// Runs a statement on one picture, with one more value or without. Returns whether it changed something.
async fn write(db: &Db, sql: &'static str, id: &str, value: Option<i64>) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let statement = query(sql).bind(id);
    let statement = match value {
        Some(value) => statement.bind(value),
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
