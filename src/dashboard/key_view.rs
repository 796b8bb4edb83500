//! A key as its owner, or an operator, sees it on a page.

use crate::http::error::{Error, Result};
use crate::web::moment::Moment;
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

/// What a page shows of a key; of a private key never the key.
#[derive(Clone, Debug)]
pub struct KeyView {
    pub id: Uuid,
    pub username: String,
    pub name: String,
    pub is_public: bool,
    pub public_key: Option<String>,
    pub state: State,
    pub made: Moment,
    /// When a key that was rolled ends.
    pub ends: Option<Moment>,
    pub last_used: Option<Moment>,
    /// Is it older than what is known of its calls?
    is_old: bool,
    /// Calls in the last 24 hours.
    pub calls: u64,
    pub exposed: Option<Moment>,
    /// Why the operator blocked it.
    pub reason: Option<String>,
}

/// How often keys were called of late, and when last.
#[derive(Debug, Default)]
pub struct Used {
    calls: HashMap<Uuid, u64>,
    last: HashMap<Uuid, i64>,
}

impl Used {
    /// Of the keys of an account, or of all.
    pub async fn load(db: &Db, account: Option<AccountId>, now: i64) -> sqlx::Result<Used> {
        let totals = usage::list_totals(db, account, now - DAY).await?;
        let last = usage::list_last_used(db, account).await?;
        Ok(Used {
            calls: totals
                .into_iter()
                .map(|(KeyId(id), counts)| (id, counts.calls))
                .collect(),
            last: last.into_iter().map(|(KeyId(id), at)| (id, at)).collect(),
        })
    }
}

impl KeyView {
    pub fn new(key: StoredKey, used: &Used, now: i64) -> KeyView {
        let moment = |at: i64| Moment::new(at, now);
        KeyView {
            id: key.id,
            is_public: key.public_key.is_some(),
            state: key.state_at(now),
            made: moment(key.created_at),
            ends: key.ends_at.map(moment),
            last_used: used.last.get(&key.id).copied().map(moment),
            is_old: key.created_at < now - RETENTION_MILLIS,
            calls: used.calls.get(&key.id).copied().unwrap_or_default(),
            exposed: key.exposed_at.map(moment),
            name: key.title(),
            reason: key.block_reason.filter(|_| key.blocked_at.is_some()),
            username: key.username,
            public_key: key.public_key,
        }
    }

    pub fn is_active(&self) -> bool {
        self.state == State::Active
    }

    pub fn is_blocked(&self) -> bool {
        self.state == State::Blocked
    }

    /// Has it stopped working for ever?
    pub fn is_over(&self) -> bool {
        self.state == State::Revoked
    }

    /// A key that ends by itself has been rolled already.
    pub fn can_be_rolled(&self) -> bool {
        self.is_active() && self.ends.is_none()
    }

    pub fn state_text(&self, t: &Keys) -> &'static str {
        match (self.state, &self.ends) {
            (State::Active, None) => t.active,
            (State::Active, Some(_)) => t.expiring,
            (State::Blocked, _) => t.blocked,
            (State::Revoked, None) => t.revoked,
            (State::Revoked, Some(_)) => t.expired,
        }
    }

    /// The class of its badge.
    pub fn state_badge(&self) -> &'static str {
        match (self.state, &self.ends) {
            (State::Active, None) => "badge badge-good",
            (State::Active, Some(_)) => "badge badge-warn",
            (State::Blocked, _) => "badge badge-bad",
            (State::Revoked, _) => "badge",
        }
    }

    /// What is told of the last use of a key where none is known.
    pub fn unused_text(&self, t: &Keys) -> &'static str {
        match self.is_old {
            true => t.long_unused,
            false => t.never_used,
        }
    }

    pub fn kind_text(&self, t: &Keys) -> &'static str {
        match self.is_public {
            true => t.public,
            false => t.private,
        }
    }
}

/// A key of this account; a key of another is not there.
pub async fn own(db: &Db, who: &SignedIn, id: &str) -> Result<StoredKey> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    let keys = store::list(db, Some(&who.username)).await?;
    keys.into_iter().find(|key| key.id == id).ok_or(Error::NotFound)
}

/// Calls a minute of a key. Creating takes a private key too, so that is what a private key can be limited in.
pub async fn limits_of(db: &Db, defaults: &Limits, id: KeyId, is_public: bool) -> Result<Vec<(Class, u32)>> {
    let own = store::list_limits(db).await?;
    let of_class = |class: Class| {
        let set = own.iter().find(|(key, of, _)| *key == id && *of == class);
        set.map_or(defaults.of_class(class), |(.., per_minute)| *per_minute)
    };
    let classes = Class::ALL
        .into_iter()
        .filter(|class| is_public || *class == Class::Create);
    Ok(classes.map(|class| (class, of_class(class))).collect())
}
