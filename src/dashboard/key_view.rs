//! A key as a page shows it to its owner or to an operator.

use crate::http::error::{Error, Result};
use crate::web::relative_time::RelativeTime;
use crate::web::texts::Keys;
use access::keys::State;
use access::keys::store::{self, StoredKey};
use access::limits::{Class, Limits};
use access::sessions::SignedIn;
use access::usage::{RETENTION_MILLIS, store as usage};
use platform::db::Db;
use platform::ids::{AccountId, KeyId};
use std::collections::HashMap;
use uuid::Uuid;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// What a page shows about a key. Of a private key, only the last four characters are shown.
#[derive(Clone, Debug)]
pub struct KeyView {
    pub id: Uuid,
    pub username: String,
    pub name: String,
    pub is_public: bool,
    pub public_key: Option<String>,
    /// The last four characters of a private key.
    pub last_four: Option<String>,
    pub state: State,
    pub created: RelativeTime,
    /// When a rotated key expires.
    pub expires: Option<RelativeTime>,
    pub last_used: Option<RelativeTime>,
    /// Whether it was created before the oldest recorded call.
    is_old: bool,
    /// Calls in the last 24 hours.
    pub calls: u64,
    pub exposed: Option<RelativeTime>,
    /// The operator's reason for blocking it.
    pub reason: Option<String>,
    /// The calls per minute that one address may make with it.
    pub address_limit: Option<i64>,
    /// Whether an operator blocked this key itself, and not only its account.
    pub has_block: bool,
}

/// The recent calls of keys, and when each was last used.
#[derive(Debug, Default)]
pub struct KeyUsage {
    calls: HashMap<Uuid, u64>,
    last_used: HashMap<Uuid, i64>,
}

impl KeyUsage {
    /// Loads the usage of the keys of an account, or of all keys.
    pub async fn load(db: &Db, account: Option<AccountId>, now: i64) -> sqlx::Result<KeyUsage> {
        let totals = usage::list_totals(db, account, now - DAY).await?;
        let last_used = usage::list_last_used(db, account).await?;
        Ok(KeyUsage {
            calls: totals.into_iter().map(|(KeyId(id), calls)| (id, calls)).collect(),
            last_used: last_used.into_iter().map(|(KeyId(id), at)| (id, at)).collect(),
        })
    }
}

impl KeyView {
    pub fn new(key: StoredKey, usage: &KeyUsage, now: i64) -> KeyView {
        let time = |at: i64| RelativeTime::new(at, now);
        KeyView {
            id: key.id,
            is_public: key.public_key.is_some(),
            state: key.state_at(now),
            created: time(key.created_at),
            expires: key.ends_at.map(time),
            last_used: usage.last_used.get(&key.id).copied().map(time),
            is_old: key.created_at < now - RETENTION_MILLIS,
            calls: usage.calls.get(&key.id).copied().unwrap_or_default(),
            exposed: key.exposed_at.map(time),
            name: key.title(),
            has_block: key.blocked_at.is_some(),
            reason: key.block_reason.filter(|_| key.blocked_at.is_some()),
            address_limit: key.address_limit,
            username: key.username,
            last_four: key.last_four,
            public_key: key.public_key,
        }
    }

    pub fn is_active(&self) -> bool {
        self.state == State::Active
    }

    pub fn is_revoked(&self) -> bool {
        self.state == State::Revoked
    }

    /// Returns whether the key can be rotated. A key that expires has already been rotated.
    pub fn can_rotate(&self) -> bool {
        self.is_active() && self.expires.is_none()
    }

    pub fn state_text(&self, t: &Keys) -> &'static str {
        match (self.state, &self.expires) {
            (State::Active, None) => t.active,
            (State::Active, Some(_)) => t.expiring,
            (State::Blocked, _) => t.blocked,
            (State::Revoked, None) => t.revoked,
            (State::Revoked, Some(_)) => t.expired,
        }
    }

    /// Returns the CSS class of the status badge.
    pub fn state_badge(&self) -> &'static str {
        match (self.state, &self.expires) {
            (State::Active, None) => "badge badge-good",
            (State::Active, Some(_)) => "badge badge-warn",
            (State::Blocked, _) => "badge badge-bad",
            (State::Revoked, _) => "badge",
        }
    }

    /// Returns what to show as the last use of a key without recorded calls.
    pub fn unused_text(&self, t: &Keys) -> &'static str {
        if self.is_old { t.long_unused } else { t.never_used }
    }

    pub fn kind_text(&self, t: &Keys) -> &'static str {
        if self.is_public { t.public } else { t.private }
    }
}

/// Finds a key of the signed-in user. Keys of other users are not found.
pub async fn find_own(db: &Db, user: &SignedIn, id: &str) -> Result<StoredKey> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    let keys = store::list(db, Some(&user.username)).await?;
    keys.into_iter().find(|key| key.id == id).ok_or(Error::NotFound)
}

/// Returns the rate limits of a key. Private keys are only used to create fundraisers, so they have only that limit.
pub async fn limits_of(db: &Db, defaults: &Limits, id: KeyId, is_public: bool) -> Result<Vec<(Class, u32)>> {
    let custom = store::list_limits(db).await?;
    let of_class = |class: Class| {
        let limit = custom.iter().find(|(key, of, _)| *key == id && *of == class);
        limit.map_or(defaults.of_class(class), |(.., per_minute)| *per_minute)
    };
    let classes = Class::ALL
        .into_iter()
        .filter(|class| is_public || *class == Class::Create);
    Ok(classes.map(|class| (class, of_class(class))).collect())
}
