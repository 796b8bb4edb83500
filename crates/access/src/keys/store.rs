//! The SQL of keys.
//!
//! Every change raises the revision of keys, which running servers watch. What an operator does to the key of
//! somebody is written down in the same transaction.

pub use super::stored::StoredKey;

use super::stored::{KeyRow, keys};
use super::{Class, Key, KeyText, Kind, Overlap, State};
use crate::audit::{self, Action, Actor};
use platform::db::{Db, Topic, Tx, read, run};
use platform::ids::{AccountId, KeyId};
use uuid::Uuid;

const ALL: &str = keys!("order by a.username, k.created_at, k.id");
const OF_ACCOUNT: &str = keys!("where a.username = $1 order by k.created_at, k.id");
const FIND: &str = keys!("where k.id = $1");
const CHANGED_SINCE: &str = keys!("where k.revision > $1");
const EXPOSED_UNMAILED: &str =
    keys!("where k.exposed_at is not null and k.exposed_mailed_at is null order by k.exposed_at");
const LIMITS: &str = "select key_id, class, per_minute from key_limits order by key_id, class";
const LIMITS_CHANGED_SINCE: &str = "select l.key_id, l.class, l.per_minute from key_limits l \
     join keys k on k.id = l.key_id where k.revision > $1";
const INSERT: &str = "insert into keys (id, account_id, kind, name, public_key, hash, created_at, revision) \
     values ($1, $2, $3, $4, $5, $6, $7, $8)";
const COUNT: &str = "select count(*) from keys where account_id = $1 and revoked_at is null \
     and (ends_at is null or ends_at > $2)";
const REVOKE: &str = "update keys set revoked_at = coalesce(revoked_at, $2), revision = $3 where id = $1";
const END: &str = "update keys set ends_at = $2, revision = $3 where id = $1";
const BLOCK: &str =
    "update keys set blocked_at = coalesce(blocked_at, $2), block_reason = $3, revision = $4 where id = $1";
const UNBLOCK: &str = "update keys set blocked_at = null, block_reason = null, revision = $2 where id = $1";
const EXPOSE: &str = "update keys set exposed_at = $2, revision = $3 where hash = $1 and exposed_at is null";
const MAILED: &str = "update keys set exposed_mailed_at = $2 where id = $1 and exposed_mailed_at is null";
const TOUCH: &str = "update keys set revision = $2 where id = $1";
const SET_LIMIT: &str = "insert into key_limits (key_id, class, per_minute) values ($1, $2, $3) \
     on conflict (key_id, class) do update set per_minute = excluded.per_minute";
const COPY_LIMITS: &str = "insert into key_limits (key_id, class, per_minute) \
     select $2, class, per_minute from key_limits where key_id = $1";

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

/// One key.
pub async fn find(db: &Db, id: KeyId) -> sqlx::Result<Option<StoredKey>> {
    let row: Option<KeyRow> = read!(db, c => sqlx::query_as(FIND).bind(id.0).fetch_optional(c).await)?;
    Ok(row.map(StoredKey::from))
}

/// The keys that were seen in an address and whose owners have not been told by mail.
pub async fn list_exposed_unmailed(db: &Db) -> sqlx::Result<Vec<StoredKey>> {
    let rows: Vec<KeyRow> = read!(db, c => sqlx::query_as(EXPOSED_UNMAILED).fetch_all(c).await)?;
    Ok(rows.into_iter().map(StoredKey::from).collect())
}

/// Limits that operators set: key, class, calls a minute.
pub async fn list_limits(db: &Db) -> sqlx::Result<Vec<(KeyId, Class, u32)>> {
    let rows: Vec<(Uuid, String, i64)> = read!(db, c => sqlx::query_as(LIMITS).fetch_all(c).await)?;
    let known = rows.into_iter().filter_map(|(key, class, per_minute)| {
        Some((
            KeyId(key),
            Class::find(&class)?,
            u32::try_from(per_minute).unwrap_or(u32::MAX),
        ))
    });
    Ok(known.collect())
}

/// How many keys that are not over an account may make for itself. Rolled ones may overlap: twice as many with those.
pub const MAX_KEYS: i64 = 100;

/// What became of a key that an account makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    Inserted,
    /// There is one with this id.
    Duplicate,
    /// The account has as many as it may have.
    TooMany,
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
    let mut tx = db.write().await?;
    let revision = tx.increment_revision(Topic::Keys).await?;
    insert_in(&mut tx, id, account, name, text, now, revision).await?;
    tx.commit().await?;
    Ok(id)
}

/// Stores a new key that somebody makes for an account, which is written down with it.
pub async fn insert_for(
    db: &Db,
    account: AccountId,
    name: &str,
    text: &KeyText,
    actor: Actor,
    now: i64,
) -> sqlx::Result<KeyId> {
    let id = KeyId::new();
    let act = Action::new(actor, "key create", &id.to_string(), text.kind().as_str());
    change(db, now, Some(act), async |tx, revision| {
        insert_in(tx, id, account, name, text, now, revision).await?;
        Ok(1)
    })
    .await?;
    Ok(id)
}

/// Stores a key that an account makes for itself, under an id that the caller chose.
pub async fn insert_as(
    db: &Db,
    id: KeyId,
    account: AccountId,
    name: &str,
    text: &KeyText,
    now: i64,
) -> sqlx::Result<InsertOutcome> {
    let mut tx = db.write().await?;
    let revision = tx.increment_revision(Topic::Keys).await?;
    match insert_in(&mut tx, id, account, name, text, now, revision).await {
        Ok(()) => {}
        Err(sqlx::Error::Database(fault)) if fault.is_unique_violation() => {
            return Ok(InsertOutcome::Duplicate);
        }
        Err(fault) => return Err(fault),
    }
    if count(&mut tx, account, now).await? > MAX_KEYS {
        return Ok(InsertOutcome::TooMany);
    }
    tx.commit().await?;
    Ok(InsertOutcome::Inserted)
}

/// The keys of an account that are not over.
async fn count(tx: &mut Tx, account: AccountId, now: i64) -> sqlx::Result<i64> {
    run!(tx, c => sqlx::query_scalar(COUNT).bind(account.0).bind(now).fetch_one(c).await)
}

async fn insert_in(
    tx: &mut Tx,
    id: KeyId,
    account: AccountId,
    name: &str,
    text: &KeyText,
    now: i64,
    revision: i64,
) -> sqlx::Result<()> {
    let public_key = (text.kind() == Kind::Public).then(|| text.expose());
    run!(tx, c => sqlx::query(INSERT)
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
        .map(|_| ()))
}

/// Ends a key for ever. False where there is none.
pub async fn revoke(db: &Db, id: KeyId, now: i64) -> sqlx::Result<bool> {
    change(db, now, None, async |tx, revision| {
        run!(tx, c => sqlx::query(REVOKE).bind(id.0).bind(now).bind(revision).execute(c).await.map(|done| done.rows_affected()))
    })
    .await
}

/// Ends the key of somebody for ever, as an operator. False where there is none.
pub async fn revoke_for(db: &Db, id: KeyId, actor: Actor, now: i64) -> sqlx::Result<bool> {
    let act = Action::new(actor, "key revoke", &id.to_string(), "");
    change(db, now, Some(act), async |tx, revision| {
        run!(tx, c => sqlx::query(REVOKE).bind(id.0).bind(now).bind(revision).execute(c).await.map(|done| done.rows_affected()))
    })
    .await
}

/// What became of a roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotateOutcome {
    /// The new key.
    Rotated(KeyId),
    NoSuchKey,
    /// A key that is blocked, revoked or at its end gets no successor, nor a second one from its owner.
    NotActive(State),
    /// The account has as many as it may have.
    TooMany,
}

/// Stores the new text of a key as a key of its own, with the name and the limits of the old one, which ends after
/// the overlap. With an actor it is the act of an operator.
pub async fn rotate(
    db: &Db,
    id: KeyId,
    text: &KeyText,
    overlap: Overlap,
    actor: Option<Actor>,
    now: i64,
) -> sqlx::Result<RotateOutcome> {
    let mut tx = db.write().await?;
    // Raised first, since on PostgreSQL that makes two rolls of one key queue.
    let revision = tx.increment_revision(Topic::Keys).await?;
    let row: Option<KeyRow> = run!(&mut tx, c => sqlx::query_as(FIND).bind(id.0).fetch_optional(c).await)?;
    let Some(old) = row
        .map(StoredKey::from)
        .filter(|old| old.kind == text.kind().as_str())
    else {
        return Ok(RotateOutcome::NoSuchKey);
    };
    match old.state_at(now) {
        State::Active => {}
        state => return Ok(RotateOutcome::NotActive(state)),
    }
    // A form that was sent twice at the same time.
    if actor.is_none() && old.ends_at.is_some() {
        return Ok(RotateOutcome::NotActive(State::Active));
    }
    let new = KeyId::new();
    let account = AccountId(old.account_id);
    insert_in(&mut tx, new, account, &old.name, text, now, revision).await?;
    run!(&mut tx, c => sqlx::query(COPY_LIMITS).bind(id.0).bind(new.0).execute(c).await.map(|_| ()))?;
    // A key that was rolled before keeps its end where that is earlier.
    let end = now + overlap.millis();
    let end = old.ends_at.map_or(end, |before| before.min(end));
    run!(&mut tx, c => sqlx::query(END).bind(id.0).bind(end).bind(revision).execute(c).await.map(|_| ()))?;
    if actor.is_none() && count(&mut tx, account, now).await? > 2 * MAX_KEYS {
        return Ok(RotateOutcome::TooMany);
    }
    if let Some(actor) = actor {
        let detail = format!("to {new}, overlap {}", overlap.as_str());
        audit::store::record(
            &mut tx,
            &Action::new(actor, "key roll", &id.to_string(), detail),
            now,
        )
        .await?;
    }
    tx.commit().await?;
    Ok(RotateOutcome::Rotated(new))
}

/// Stops a key until it is unblocked; its owner is shown the reason. False where there is none.
pub async fn block(db: &Db, id: KeyId, reason: &str, actor: Actor, now: i64) -> sqlx::Result<bool> {
    let act = Action::new(actor, "key block", &id.to_string(), reason);
    change(db, now, Some(act), async |tx, revision| {
        run!(tx, c => sqlx::query(BLOCK)
            .bind(id.0)
            .bind(now)
            .bind(reason)
            .bind(revision)
            .execute(c)
            .await
            .map(|done| done.rows_affected()))
    })
    .await
}

/// Lets a blocked key work again. False where there is none.
pub async fn unblock(db: &Db, id: KeyId, actor: Actor, now: i64) -> sqlx::Result<bool> {
    let act = Action::new(actor, "key unblock", &id.to_string(), "");
    change(db, now, Some(act), async |tx, revision| {
        run!(tx, c => sqlx::query(UNBLOCK).bind(id.0).bind(revision).execute(c).await.map(|done| done.rows_affected()))
    })
    .await
}

/// Notes that a private key was seen where anybody can read it.
pub async fn expose(db: &Db, hash: [u8; 32], now: i64) -> sqlx::Result<bool> {
    change(db, now, None, async |tx, revision| {
        run!(tx, c => sqlx::query(EXPOSE).bind(hash.as_slice()).bind(now).bind(revision).execute(c).await.map(|done| done.rows_affected()))
    })
    .await
}

/// Notes that the owner of an exposed key is being told. False where somebody else has noted that already: the
/// mail is sent by the one who is told true, so it is sent once.
pub async fn mark_mailed(db: &Db, id: KeyId, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let marked = run!(&mut tx, c => sqlx::query(MAILED).bind(id.0).bind(now).execute(c).await.map(|done| done.rows_affected()))?;
    tx.commit().await?;
    Ok(marked > 0)
}

/// Sets calls a minute for one key. False where there is none.
pub async fn set_limits(
    db: &Db,
    id: KeyId,
    limits: &[(Class, u32)],
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    let detail: Vec<String> = limits
        .iter()
        .map(|(class, per_minute)| format!("{}={per_minute}", class.name()))
        .collect();
    let act = Action::new(actor, "limit set", &id.to_string(), detail.join(" "));
    change(db, now, Some(act), async |tx, revision| {
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
async fn change(
    db: &Db,
    now: i64,
    act: Option<Action>,
    apply: impl AsyncFnOnce(&mut Tx, i64) -> sqlx::Result<u64>,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let revision = tx.increment_revision(Topic::Keys).await?;
    let touched = apply(&mut tx, revision).await?;
    if touched == 0 {
        return Ok(false);
    }
    if let Some(act) = act {
        audit::store::record(&mut tx, &act, now).await?;
    }
    tx.commit().await?;
    Ok(true)
}
