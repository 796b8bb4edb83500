//! The SQL of anchors: which one was written last, and which ones of lost entries an operator has accepted. Compares them
//! with the entries and the head of the ledger, which it only reads.

use super::Anchor;
use crate::ledger::entry::Hash;
use platform::db::{Db, Tx, from_row, query};
use platform::secret::StoreSecret;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

const FIND_LAST: &str = "select a.entries as written_entries, a.hash as written_hash, a.written_at, h.entries, h.hash \
     from ledger_anchor a, ledger_head h where a.id = 1 and h.id = 1";
const CLAIM: &str =
    "update ledger_anchor set claimed_at = $1 where id = 1 and (claimed_at <= $2 or claimed_at > $1)";
const MARK_WRITTEN: &str = "update ledger_anchor set entries = $1, hash = $2, written_at = $3 where id = 1";
const LIST_PLACES: &str = "select place, entries, lost_at from anchor_places";
const MARK_LOST: &str = "insert into anchor_places (place, entries, written_at, lost_at) values ($1, $2, $3, $3) \
     on conflict (place) do update set lost_at = coalesce(anchor_places.lost_at, excluded.lost_at)";
const MARK_PLACE: &str = "insert into anchor_places (place, entries, written_at) values ($1, $2, $3) \
     on conflict (place) do update set entries = excluded.entries, written_at = excluded.written_at";
const REMOVE_PLACE: &str = "delete from anchor_places where place = $1";
const FIND_HASH: &str = "select hash from ledger_entries where sequence = $1";
const LIST_ACCEPTED: &str = "select entries, hash, mac from accepted_anchors";
const REMOVE_ACCEPTED: &str = "delete from accepted_anchors where entries = $1 and hash = $2";
const INSERT_ACCEPTED: &str =
    "insert into accepted_anchors (entries, hash, accepted_at, mac) values ($1, $2, $3, $4)";

/// The end of the ledger, and the last anchor that was written to every place.
#[derive(Debug)]
pub(super) struct LedgerEnds {
    pub entries: i64,
    pub hash: Vec<u8>,
    pub written_entries: i64,
    pub written_hash: Vec<u8>,
    pub written_at: i64,
}

from_row!(LedgerEnds {
    entries,
    hash,
    written_entries,
    written_hash,
    written_at,
});

/// Finds where the ledger ends and up to where it has an anchor.
pub(super) async fn find_ends(db: &Db) -> sqlx::Result<LedgerEnds> {
    db.fetch_one(query(FIND_LAST)).await
}

/// Claims to write the next anchor. Returns `false` if another server did so after `before`.
pub(super) async fn claim(db: &Db, now: i64, before: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let claimed = tx.execute(query(CLAIM).bind(now).bind(before)).await?;
    tx.commit().await?;
    Ok(claimed == 1)
}

/// Records that an anchor was written to every place.
pub(super) async fn mark_written(db: &Db, anchor: &Anchor) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(
        query(MARK_WRITTEN)
            .bind(anchor.entries)
            .bind(anchor.hash.as_slice())
            .bind(anchor.at),
    )
    .await?;
    tx.commit().await
}

/// What is known about the anchors in a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlaceEnds {
    /// Up to which entry it has anchors.
    pub entries: i64,
    /// When anchors were found to be gone.
    pub lost_at: Option<i64>,
}

/// Lists what is known about the anchors in each place.
pub(super) async fn list_places(db: &Db) -> sqlx::Result<HashMap<String, PlaceEnds>> {
    let rows: Vec<(String, i64, Option<i64>)> = db.fetch_all(query(LIST_PLACES)).await?;
    let ends = rows
        .into_iter()
        .map(|(place, entries, lost_at)| (place, PlaceEnds { entries, lost_at }));
    Ok(ends.collect())
}

/// Records that anchors in a place are gone, unless that is known.
pub(super) async fn mark_lost(db: &Db, place: &str, entries: i64, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(MARK_LOST).bind(place).bind(entries).bind(now))
        .await?;
    tx.commit().await
}

/// Records that an anchor was written to a place.
pub(super) async fn mark_place(db: &Db, place: &str, anchor: &Anchor) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(MARK_PLACE).bind(place).bind(anchor.entries).bind(anchor.at))
        .await?;
    tx.commit().await
}

/// Forgets that a place had anchors.
pub(super) async fn remove_place(tx: &mut Tx, place: &str) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_PLACE).bind(place)).await.map(|_| ())
}

/// Finds the hash of an entry. One of another length than a hash counts as missing.
pub(super) async fn find_hash(db: &Db, sequence: i64) -> sqlx::Result<Option<Hash>> {
    let hash: Option<Vec<u8>> = db.fetch_optional_scalar(query(FIND_HASH).bind(sequence)).await?;
    Ok(hash.and_then(|hash| hash.try_into().ok()))
}

/// Lists the anchors of lost entries that an operator has accepted. Rows with a wrong HMAC are left out.
pub(super) async fn list_accepted(
    db: &Db,
    secret: &StoreSecret,
    store: Uuid,
) -> sqlx::Result<HashSet<(i64, Hash)>> {
    let rows: Vec<(i64, Vec<u8>, Vec<u8>)> = db.fetch_all(query(LIST_ACCEPTED)).await?;
    let accepted = rows.into_iter().filter_map(|(entries, hash, found)| {
        let hash: Hash = hash.try_into().ok()?;
        (mac(secret, store, entries, &hash)[..] == found).then_some((entries, hash))
    });
    Ok(accepted.collect())
}

/// Accepts that the entry of an anchor is lost.
pub(super) async fn accept(tx: &mut Tx, secret: &StoreSecret, anchor: &Anchor, now: i64) -> sqlx::Result<()> {
    let mac = mac(secret, anchor.store, anchor.entries, &anchor.hash);
    tx.execute(
        query(REMOVE_ACCEPTED)
            .bind(anchor.entries)
            .bind(anchor.hash.as_slice()),
    )
    .await?;
    tx.execute(
        query(INSERT_ACCEPTED)
            .bind(anchor.entries)
            .bind(anchor.hash.as_slice())
            .bind(now)
            .bind(mac.as_slice()),
    )
    .await
    .map(|_| ())
}

fn mac(secret: &StoreSecret, store: Uuid, entries: i64, hash: &Hash) -> [u8; 32] {
    let message = [store.as_bytes().as_slice(), &entries.to_be_bytes(), hash].concat();
    secret.authenticate("accepted anchor", &message)
}
