//! The SQL of keys.

use super::{Class, Key, KeyText, Kind, State};
use crate::db::{Db, Topic, Tx, read, run};
use crate::ids::{AccountId, KeyId};
use uuid::Uuid;

/// A key with what its owner is shown of it.
#[derive(Clone, Debug)]
pub struct StoredKey {
    pub id: Uuid,
    pub account_id: Uuid,
    pub username: String,
    pub kind: String,
    pub name: String,
    /// The key itself, for public keys alone.
    pub public_key: Option<String>,
    pub hash: Vec<u8>,
    pub created_at: i64,
    pub revoked_at: Option<i64>,
    pub blocked_at: Option<i64>,
    pub exposed_at: Option<i64>,
}

/// The columns of a key as [`keys!`] selects them.
type KeyRow = (
    Uuid,
    Uuid,
    String,
    String,
    String,
    Option<String>,
    Vec<u8>,
    i64,
    Option<i64>,
    Option<i64>,
    Option<i64>,
);

impl From<KeyRow> for StoredKey {
    fn from(row: KeyRow) -> StoredKey {
        let (
            id,
            account_id,
            username,
            kind,
            name,
            public_key,
            hash,
            created_at,
            revoked_at,
            blocked_at,
            exposed_at,
        ) = row;
        StoredKey {
            id,
            account_id,
            username,
            kind,
            name,
            public_key,
            hash,
            created_at,
            revoked_at,
            blocked_at,
            exposed_at,
        }
    }
}

macro_rules! keys {
    ($rest:literal) => {
        concat!(
            "select k.id, k.account_id, a.username, k.kind, k.name, k.public_key, k.hash, k.created_at, ",
            "k.revoked_at, k.blocked_at, k.exposed_at from keys k join accounts a on a.id = k.account_id ",
            $rest
        )
    };
}

const ALL: &str = keys!("order by a.username, k.created_at, k.id");
const OF_ACCOUNT: &str = keys!("where a.username = $1 order by k.created_at, k.id");
const CHANGED_SINCE: &str = keys!("where k.revision > $1");
const LIMITS_CHANGED_SINCE: &str = "select l.key_id, l.class, l.per_minute from key_limits l \
     join keys k on k.id = l.key_id where k.revision > $1";
const INSERT: &str = "insert into keys (id, account_id, kind, name, public_key, hash, created_at, revision) \
     values ($1, $2, $3, $4, $5, $6, $7, $8)";
const REVOKE: &str = "update keys set revoked_at = coalesce(revoked_at, $2), revision = $3 where id = $1";
const BLOCK: &str = "update keys set blocked_at = coalesce(blocked_at, $2), revision = $3 where id = $1";
const UNBLOCK: &str = "update keys set blocked_at = null, revision = $2 where id = $1";
const EXPOSE: &str = "update keys set exposed_at = $2, revision = $3 where hash = $1 and exposed_at is null";
const TOUCH: &str = "update keys set revision = $2 where id = $1";
const SET_LIMIT: &str = "insert into key_limits (key_id, class, per_minute) values ($1, $2, $3) \
     on conflict (key_id, class) do update set per_minute = excluded.per_minute";

impl StoredKey {
    pub fn state(&self) -> State {
        match (self.revoked_at, self.blocked_at) {
            (Some(_), _) => State::Revoked,
            (None, Some(_)) => State::Blocked,
            (None, None) => State::Active,
        }
    }

    fn key(&self) -> Key {
        Key {
            id: KeyId(self.id),
            account: AccountId(self.account_id),
            kind: self.kind.parse().unwrap_or(Kind::Private),
            state: self.state(),
            limits: Default::default(),
        }
    }
}

/// Keys that changed, each with its text (public keys) and its hash.
pub type ChangedKeys = Vec<(Key, Option<String>, Vec<u8>)>;

/// The keys that changed after `revision`, and the revision that they show.
pub async fn list_changed(db: &Db, revision: i64) -> sqlx::Result<(i64, ChangedKeys)> {
    let mut tx = db.view().await?;
    let current = tx.revision(Topic::Keys).await?;
    let stored: Vec<KeyRow> =
        run!(&mut tx, c => sqlx::query_as(CHANGED_SINCE).bind(revision).fetch_all(c).await)?;
    let limits: Vec<(Uuid, String, i64)> =
        run!(&mut tx, c => sqlx::query_as(LIMITS_CHANGED_SINCE).bind(revision).fetch_all(c).await)?;
    let stored = stored.into_iter().map(StoredKey::from);
    let mut keys: ChangedKeys = stored
        .map(|stored| (stored.key(), stored.public_key, stored.hash))
        .collect();
    let places: std::collections::HashMap<Uuid, usize> = keys
        .iter()
        .enumerate()
        .map(|(place, (key, ..))| (key.id.0, place))
        .collect();
    for (id, class, per_minute) in limits {
        if let (Some(place), Some(class)) = (places.get(&id), Class::find(&class)) {
            keys[*place].0.limits[class as usize] = Some(u32::try_from(per_minute).unwrap_or(u32::MAX));
        }
    }
    Ok((current, keys))
}

/// All keys, or those of one account.
pub async fn list(db: &Db, username: Option<&str>) -> sqlx::Result<Vec<StoredKey>> {
    let rows: Vec<KeyRow> = match username {
        None => read!(db, c => sqlx::query_as(ALL).fetch_all(c).await),
        Some(username) => read!(db, c => sqlx::query_as(OF_ACCOUNT).bind(username).fetch_all(c).await),
    }?;
    Ok(rows.into_iter().map(StoredKey::from).collect())
}

/// Stores a new key.
pub async fn insert(
    db: &Db,
    account: AccountId,
    name: &str,
    text: &KeyText,
    now: i64,
) -> sqlx::Result<KeyId> {
    let id = KeyId::new();
    insert_as(db, id, account, name, text, now).await?;
    Ok(id)
}

/// Stores a new key under an id that the caller chose. False where there is one with this id already.
pub async fn insert_as(
    db: &Db,
    id: KeyId,
    account: AccountId,
    name: &str,
    text: &KeyText,
    now: i64,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let revision = tx.raise_revision(Topic::Keys).await?;
    let public_key = (text.kind() == Kind::Public).then(|| text.expose());
    let inserted = run!(&mut tx, c => sqlx::query(INSERT)
        .bind(id.0)
        .bind(account.0)
        .bind(text.kind().as_str())
        .bind(name)
        .bind(public_key)
        .bind(text.hash().as_slice())
        .bind(now)
        .bind(revision)
        .execute(c)
        .await
        .map(|_| ()));
    match inserted {
        Ok(()) => tx.commit().await.map(|()| true),
        Err(sqlx::Error::Database(fault)) if fault.is_unique_violation() => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// Ends a key for ever. False where there is none.
pub async fn revoke(db: &Db, id: KeyId, now: i64) -> sqlx::Result<bool> {
    change(db, async |tx, revision| {
        run!(tx, c => sqlx::query(REVOKE).bind(id.0).bind(now).bind(revision).execute(c).await.map(|done| done.rows_affected()))
    })
    .await
}

/// Stops a key until it is unblocked. False where there is none.
pub async fn block(db: &Db, id: KeyId, now: i64) -> sqlx::Result<bool> {
    change(db, async |tx, revision| {
        run!(tx, c => sqlx::query(BLOCK).bind(id.0).bind(now).bind(revision).execute(c).await.map(|done| done.rows_affected()))
    })
    .await
}

/// Lets a blocked key work again. False where there is none.
pub async fn unblock(db: &Db, id: KeyId) -> sqlx::Result<bool> {
    change(db, async |tx, revision| {
        run!(tx, c => sqlx::query(UNBLOCK).bind(id.0).bind(revision).execute(c).await.map(|done| done.rows_affected()))
    })
    .await
}

/// Notes that a private key was seen where anybody can read it.
pub async fn expose(db: &Db, hash: [u8; 32], now: i64) -> sqlx::Result<bool> {
    change(db, async |tx, revision| {
        run!(tx, c => sqlx::query(EXPOSE).bind(hash.as_slice()).bind(now).bind(revision).execute(c).await.map(|done| done.rows_affected()))
    })
    .await
}

/// Sets calls a minute for one key. False where there is none.
pub async fn set_limits(db: &Db, id: KeyId, limits: &[(Class, u32)]) -> sqlx::Result<bool> {
    change(db, async |tx, revision| {
        let known = run!(&mut *tx, c => sqlx::query(TOUCH).bind(id.0).bind(revision).execute(c).await.map(|done| done.rows_affected()))?;
        if known == 0 {
            return Ok(0);
        }
        for (class, per_minute) in limits {
            run!(&mut *tx, c => sqlx::query(SET_LIMIT)
                .bind(id.0)
                .bind(class.name())
                .bind(i64::from(*per_minute))
                .execute(c)
                .await
                .map(|_| ()))?;
        }
        Ok(known)
    })
    .await
}

/// Runs a change under a new revision, which running servers see; one that touched nothing is taken back.
async fn change(db: &Db, apply: impl AsyncFnOnce(&mut Tx, i64) -> sqlx::Result<u64>) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let revision = tx.raise_revision(Topic::Keys).await?;
    let touched = apply(&mut tx, revision).await?;
    if touched > 0 {
        tx.commit().await?;
    }
    Ok(touched > 0)
}
