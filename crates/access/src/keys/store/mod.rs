//! The SQL of keys.
//!
//! Every change increments the revision of keys, which running servers follow. An operator's change to the key of another
//! account is recorded in the audit log in the same transaction.

pub mod pages;
mod row;

pub use row::StoredKey;

use super::{Class, Key, KeyText, Kind, Overlap, State};
use crate::accounts;
use crate::accounts::standing::Standing;
use crate::audit::{self, Action, Actor};
use crate::limits::ADDRESS;
use platform::db::{Db, Revision, Topic, Tx, query};
use platform::ids::{AccountId, KeyId};
use row::keys;
use std::collections::HashMap;
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
const INSERT: &str = "insert into keys (id, account_id, kind, name, public_key, last_four, hash, created_at, revision) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const COUNT: &str = "select count(*) from keys where account_id = $1 and revoked_at is null \
     and (ends_at is null or ends_at > $2)";
const REVOKE: &str = "update keys set revoked_at = coalesce(revoked_at, $2), revision = $3 where id = $1";
const END: &str = "update keys set ends_at = $2, revision = $3 where id = $1";
const BLOCK: &str =
    "update keys set blocked_at = coalesce(blocked_at, $2), block_reason = $3, revision = $4 where id = $1";
const UNBLOCK: &str = "update keys set blocked_at = null, block_reason = null, revision = $2 where id = $1";
const EXPOSE: &str = "update keys set exposed_at = $2, revision = $3 where hash = $1 and exposed_at is null";
const MAILED: &str = "update keys set exposed_mailed_at = $2 where id = $1 and exposed_mailed_at is null";
const REVOKE_ALL: &str = "update keys set revoked_at = coalesce(revoked_at, $2), revision = $3, name = '' \
     where account_id = $1";
/// Running servers read the keys whose revision has changed, with the state of their account.
const TOUCH_ALL: &str = "update keys set revision = $2 where account_id = $1";
const TOUCH: &str = "update keys set revision = $2 where id = $1";
const SET_LIMIT: &str = "insert into key_limits (key_id, class, per_minute) values ($1, $2, $3) \
     on conflict (key_id, class) do update set per_minute = excluded.per_minute";
const SET_ADDRESS_LIMIT: &str =
    "update keys set address_limit = $2, revision = $3 where id = $1 and kind = 'public'";
const ADDRESS_LIMITS: &str = "select id, address_limit from keys where address_limit is not null order by id";
const COPY_ADDRESS_LIMIT: &str =
    "update keys set address_limit = (select address_limit from keys where id = $1) where id = $2";
const COPY_LIMITS: &str = "insert into key_limits (key_id, class, per_minute) \
     select $2, class, per_minute from key_limits where key_id = $1";

/// The result of [`list_changed`].
#[derive(Debug)]
pub struct ChangedKeys {
    /// The current revision.
    pub revision: Revision,
    /// Whether these are all keys, because the revision of the caller is not part of the history of the database.
    pub is_complete: bool,
    /// Each with its text (for public keys) and its hash.
    pub keys: Vec<(Key, Option<String>, Vec<u8>)>,
}

/// Lists the keys that changed after `since`.
pub async fn list_changed(db: &Db, since: Revision) -> sqlx::Result<ChangedKeys> {
    let mut tx = db.view().await?;
    let revision = tx.current_revision(Topic::Keys).await?;
    let is_complete = !tx.has_revision(Topic::Keys, since).await?;
    let since = if is_complete { -1 } else { since.number };
    let stored: Vec<StoredKey> = tx.fetch_all(query(CHANGED_SINCE).bind(since)).await?;
    let limits: Vec<(Uuid, String, i64)> = tx.fetch_all(query(LIMITS_CHANGED_SINCE).bind(since)).await?;
    let stored = stored.into_iter();
    let mut keys: Vec<(Key, Option<String>, Vec<u8>)> = stored
        .map(|stored| (stored.key(), stored.public_key, stored.hash))
        .collect();
    let indexes: HashMap<Uuid, usize> = keys
        .iter()
        .enumerate()
        .map(|(index, (key, ..))| (key.id.0, index))
        .collect();
    for (id, class, per_minute) in limits {
        if let (Some(index), Some(class)) = (indexes.get(&id), Class::find(&class)) {
            keys[*index].0.limits[class as usize] = Some(u32::try_from(per_minute).unwrap_or(u32::MAX));
        }
    }
    Ok(ChangedKeys {
        revision,
        is_complete,
        keys,
    })
}

/// Lists all keys, or those of one account.
pub async fn list(db: &Db, username: Option<&str>) -> sqlx::Result<Vec<StoredKey>> {
    match username {
        None => db.fetch_all(query(ALL)).await,
        Some(username) => db.fetch_all(query(OF_ACCOUNT).bind(username)).await,
    }
}

/// Finds a key by its ID.
pub async fn find(db: &Db, id: KeyId) -> sqlx::Result<Option<StoredKey>> {
    db.fetch_optional(query(FIND).bind(id.0)).await
}

/// Lists the exposed keys whose owners have not been warned by email.
pub async fn list_exposed_unmailed(db: &Db) -> sqlx::Result<Vec<StoredKey>> {
    db.fetch_all(query(EXPOSED_UNMAILED)).await
}

/// Lists the limits that operators have set: key, class, calls per minute.
pub async fn list_limits(db: &Db) -> sqlx::Result<Vec<(KeyId, Class, u32)>> {
    let rows: Vec<(Uuid, String, i64)> = db.fetch_all(query(LIMITS)).await?;
    let limits = rows.into_iter().filter_map(|(key, class, per_minute)| {
        Some((
            KeyId(key),
            Class::find(&class)?,
            u32::try_from(per_minute).unwrap_or(u32::MAX),
        ))
    });
    Ok(limits.collect())
}

/// Lists the limits per address that owners have set: key, calls per minute.
pub async fn list_address_limits(db: &Db) -> sqlx::Result<Vec<(KeyId, u32)>> {
    let rows: Vec<(Uuid, i64)> = db.fetch_all(query(ADDRESS_LIMITS)).await?;
    let limits = rows.into_iter();
    Ok(limits
        .map(|(key, per_minute)| (KeyId(key), u32::try_from(per_minute).unwrap_or(u32::MAX)))
        .collect())
}

/// The number of working keys that an account may create. With overlapping rotated keys, it may have twice as many.
pub const MAX_KEYS: i64 = 100;

/// The result of [`insert_as`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    Inserted,
    /// A key with this ID exists.
    Duplicate,
    /// The account has reached [`MAX_KEYS`].
    TooMany,
    /// An operator has blocked a key of the account, or suspended it.
    NotAllowed,
}

/// Inserts a key.
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

/// Inserts a key for another account, with an audit entry.
pub async fn insert_for(
    db: &Db,
    account: AccountId,
    name: &str,
    text: &KeyText,
    actor: Actor,
    now: i64,
) -> sqlx::Result<KeyId> {
    let id = KeyId::new();
    let action = Action::new(actor, "key create", &id.to_string(), text.kind().as_str());
    change(db, now, Some(action), async |tx, revision| {
        insert_in(tx, id, account, name, text, now, revision).await?;
        Ok(1)
    })
    .await?;
    Ok(id)
}

/// Inserts a key that an account creates for itself, with an ID that the caller chose.
pub async fn insert_as(
    db: &Db,
    id: KeyId,
    account: AccountId,
    name: &str,
    text: &KeyText,
    now: i64,
) -> sqlx::Result<InsertOutcome> {
    let mut tx = db.write().await?;
    // First, because on PostgreSQL this serializes it with a block of another key.
    let revision = tx.increment_revision(Topic::Keys).await?;
    if accounts::store::find_standing_in(&mut tx, account).await? != Standing::Good {
        return Ok(InsertOutcome::NotAllowed);
    }
    match insert_in(&mut tx, id, account, name, text, now, revision).await {
        Ok(()) => {}
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            return Ok(InsertOutcome::Duplicate);
        }
        Err(error) => return Err(error),
    }
    if count(&mut tx, account, now).await? > MAX_KEYS {
        return Ok(InsertOutcome::TooMany);
    }
    tx.commit().await?;
    Ok(InsertOutcome::Inserted)
}

/// Counts the working keys of an account.
async fn count(tx: &mut Tx, account: AccountId, now: i64) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(COUNT).bind(account.0).bind(now)).await
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
    tx.execute(
        query(INSERT)
            .bind(id.0)
            .bind(account.0)
            .bind(text.kind().as_str())
            .bind(name)
            .bind(public_key)
            .bind(text.last_four())
            .bind(text.hash().as_slice())
            .bind(now)
            .bind(revision),
    )
    .await
    .map(|_| ())
}

/// Revokes a key. Returns `false` if there is no such key.
pub async fn revoke(db: &Db, id: KeyId, now: i64) -> sqlx::Result<bool> {
    change(db, now, None, async |tx, revision| {
        tx.execute(query(REVOKE).bind(id.0).bind(now).bind(revision))
            .await
    })
    .await
}

/// Revokes a key of another account, with an audit entry. Returns `false` if there is no such key.
pub async fn revoke_for(db: &Db, id: KeyId, actor: Actor, now: i64) -> sqlx::Result<bool> {
    let action = Action::new(actor, "key revoke", &id.to_string(), "");
    change(db, now, Some(action), async |tx, revision| {
        tx.execute(query(REVOKE).bind(id.0).bind(now).bind(revision))
            .await
    })
    .await
}

/// Revokes all keys of an account and erases their names.
pub(crate) async fn revoke_all_in(tx: &mut Tx, account: AccountId, now: i64) -> sqlx::Result<()> {
    let revision = tx.increment_revision(Topic::Keys).await?;
    tx.execute(query(REVOKE_ALL).bind(account.0).bind(now).bind(revision))
        .await
        .map(|_| ())
}

/// Lets running servers notice that the account of some keys has changed.
pub(crate) async fn touch_all_in(tx: &mut Tx, account: AccountId) -> sqlx::Result<()> {
    let revision = tx.increment_revision(Topic::Keys).await?;
    tx.execute(query(TOUCH_ALL).bind(account.0).bind(revision))
        .await
        .map(|_| ())
}

/// The result of [`rotate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotateOutcome {
    /// The new key.
    Rotated(KeyId),
    NoSuchKey,
    /// The key does not work any more, or its owner has rotated it before.
    NotActive(State),
    /// The account has reached twice [`MAX_KEYS`].
    TooMany,
}

/// Inserts a replacement with the name and the limits of a key, which expires after the overlap.
///
/// With an actor, this is the action of an operator and gets an audit entry.
pub async fn rotate(
    db: &Db,
    id: KeyId,
    text: &KeyText,
    overlap: Overlap,
    actor: Option<Actor>,
    now: i64,
) -> sqlx::Result<RotateOutcome> {
    let mut tx = db.write().await?;
    // First, because on PostgreSQL this serializes two rotations of one key.
    let revision = tx.increment_revision(Topic::Keys).await?;
    let row: Option<StoredKey> = tx.fetch_optional(query(FIND).bind(id.0)).await?;
    let Some(old) = row.filter(|old| old.kind == text.kind().as_str()) else {
        return Ok(RotateOutcome::NoSuchKey);
    };
    match old.state_at(now) {
        State::Active => {}
        state => return Ok(RotateOutcome::NotActive(state)),
    }
    // The form was submitted twice.
    if actor.is_none() && old.ends_at.is_some() {
        return Ok(RotateOutcome::NotActive(State::Active));
    }
    let new = KeyId::new();
    let account = AccountId(old.account_id);
    insert_in(&mut tx, new, account, &old.name, text, now, revision).await?;
    tx.execute(query(COPY_LIMITS).bind(id.0).bind(new.0)).await?;
    tx.execute(query(COPY_ADDRESS_LIMIT).bind(id.0).bind(new.0))
        .await?;
    // A key that was rotated before keeps its expiry if that is earlier.
    let end = now + overlap.millis();
    let end = old.ends_at.map_or(end, |before| before.min(end));
    tx.execute(query(END).bind(id.0).bind(end).bind(revision)).await?;
    if actor.is_none() && count(&mut tx, account, now).await? > 2 * MAX_KEYS {
        return Ok(RotateOutcome::TooMany);
    }
    if let Some(actor) = actor {
        let detail = format!("to {new}, overlap {}", overlap.as_str());
        let action = Action::new(actor, "key rotate", &id.to_string(), detail);
        audit::store::record(&mut tx, &action, now).await?;
    }
    tx.commit().await?;
    Ok(RotateOutcome::Rotated(new))
}

/// Blocks a key until it is unblocked. Its owner sees the reason. Returns `false` if there is no such key.
pub async fn block(db: &Db, id: KeyId, reason: &str, actor: Actor, now: i64) -> sqlx::Result<bool> {
    let action = Action::new(actor, "key block", &id.to_string(), reason);
    change(db, now, Some(action), async |tx, revision| {
        tx.execute(query(BLOCK).bind(id.0).bind(now).bind(reason).bind(revision))
            .await
    })
    .await
}

/// Unblocks a key. Returns `false` if there is no such key.
pub async fn unblock(db: &Db, id: KeyId, actor: Actor, now: i64) -> sqlx::Result<bool> {
    let action = Action::new(actor, "key unblock", &id.to_string(), "");
    change(db, now, Some(action), async |tx, revision| {
        tx.execute(query(UNBLOCK).bind(id.0).bind(revision)).await
    })
    .await
}

/// Flags a private key as exposed. Returns `false` if it is flagged already or does not exist.
pub async fn expose(db: &Db, hash: [u8; 32], now: i64) -> sqlx::Result<bool> {
    change(db, now, None, async |tx, revision| {
        tx.execute(query(EXPOSE).bind(hash.as_slice()).bind(now).bind(revision))
            .await
    })
    .await
}

/// Marks an exposed key whose owner is being warned. Returns `false` if another server has marked it already. Only the
/// server that gets `true` queues the email in the same transaction, so it is sent once.
pub async fn mark_mailed(tx: &mut Tx, id: KeyId, now: i64) -> sqlx::Result<bool> {
    let marked = tx.execute(query(MAILED).bind(id.0).bind(now)).await?;
    Ok(marked > 0)
}

/// Sets the calls per minute of a key. Returns `false` if there is no such key.
pub async fn set_limits(
    db: &Db,
    id: KeyId,
    limits: &[(Class, u32)],
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    set_limits_and_address(db, id, limits, AddressChange::Keep, actor, now).await
}

/// A change to the limit per address of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressChange {
    Keep,
    Remove,
    /// The new number of calls per minute.
    Set(u32),
}

impl AddressChange {
    fn limit(self) -> Option<i64> {
        match self {
            AddressChange::Keep | AddressChange::Remove => None,
            AddressChange::Set(per_minute) => Some(per_minute.into()),
        }
    }
}

/// Sets the calls per minute of a key, and its limit per address, in one transaction. Returns `false` if there is no such
/// key, or if a private key would get a limit per address.
pub async fn set_limits_and_address(
    db: &Db,
    id: KeyId,
    limits: &[(Class, u32)],
    address: AddressChange,
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    let mut detail: Vec<String> = limits
        .iter()
        .map(|(class, per_minute)| format!("{}={per_minute}", class.name()))
        .collect();
    match address {
        AddressChange::Keep => {}
        AddressChange::Remove => detail.push(format!("{ADDRESS}=none")),
        AddressChange::Set(per_minute) => detail.push(format!("{ADDRESS}={per_minute}")),
    }
    let action = Action::new(actor, "limit set", &id.to_string(), detail.join(" "));
    change(db, now, Some(action), async |tx, revision| {
        let updated = if address == AddressChange::Keep {
            tx.execute(query(TOUCH).bind(id.0).bind(revision)).await?
        } else {
            update_address_limit(tx, id, address.limit(), revision).await?
        };
        if updated == 0 {
            return Ok(0);
        }
        for (class, per_minute) in limits {
            tx.execute(
                query(SET_LIMIT)
                    .bind(id.0)
                    .bind(class.name())
                    .bind(i64::from(*per_minute)),
            )
            .await?;
        }
        Ok(updated)
    })
    .await
}

/// Sets or removes the limit per address of a public key, for its owner. Returns `false` if there is no such key.
pub async fn set_address_limit(db: &Db, id: KeyId, per_minute: Option<u32>, now: i64) -> sqlx::Result<bool> {
    change(db, now, None, async |tx, revision| {
        update_address_limit(tx, id, per_minute.map(i64::from), revision).await
    })
    .await
}

async fn update_address_limit(
    tx: &mut Tx,
    id: KeyId,
    limit: Option<i64>,
    revision: i64,
) -> sqlx::Result<u64> {
    tx.execute(query(SET_ADDRESS_LIMIT).bind(id.0).bind(limit).bind(revision))
        .await
}

/// Applies a change with a new revision and an audit entry. Rolls back if the change affected no rows.
async fn change(
    db: &Db,
    now: i64,
    action: Option<Action>,
    apply: impl AsyncFnOnce(&mut Tx, i64) -> sqlx::Result<u64>,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let revision = tx.increment_revision(Topic::Keys).await?;
    let affected = apply(&mut tx, revision).await?;
    if affected == 0 {
        return Ok(false);
    }
    if let Some(action) = action {
        audit::store::record(&mut tx, &action, now).await?;
    }
    tx.commit().await?;
    Ok(true)
}
