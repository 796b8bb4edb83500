//! The row of a key, and the query for it.

use crate::keys::{Key, Kind, State};
use platform::db::from_row;
use platform::ids::{AccountId, KeyId};
use uuid::Uuid;

/// Builds a query for [`StoredKey`]s.
macro_rules! keys {
    ($rest:literal) => {
        concat!(
            "select k.id, k.account_id, a.username, k.kind, k.name, k.public_key, k.last_four, k.hash, k.address_limit, k.created_at, ",
            "k.revoked_at, k.blocked_at, k.block_reason, k.exposed_at, k.exposed_mailed_at, k.ends_at, ",
            "a.operator as is_operator, a.suspended_at ",
            "from keys k join accounts a on a.id = k.account_id ",
            $rest
        )
    };
}

pub(crate) use keys;

/// A key in the database, with its metadata. Times are in milliseconds since the Unix epoch.
#[derive(Clone, Debug)]
pub struct StoredKey {
    pub id: Uuid,
    pub account_id: Uuid,
    pub username: String,
    pub kind: String,
    pub name: String,
    /// The key itself, for public keys only.
    pub public_key: Option<String>,
    /// The last four characters, for private keys only.
    pub last_four: Option<String>,
    pub hash: Vec<u8>,
    /// The calls per minute that its owner allows one address.
    pub address_limit: Option<i64>,
    pub created_at: i64,
    pub revoked_at: Option<i64>,
    pub blocked_at: Option<i64>,
    /// The operator's message to the owner.
    pub block_reason: Option<String>,
    pub exposed_at: Option<i64>,
    pub exposed_mailed_at: Option<i64>,
    /// When a rotated key expires.
    pub ends_at: Option<i64>,
    /// Whether its account is an operator.
    pub is_operator: bool,
    /// When an operator suspended its account.
    pub suspended_at: Option<i64>,
}

from_row!(StoredKey {
    id,
    account_id,
    username,
    kind,
    name,
    public_key,
    last_four,
    hash,
    address_limit,
    created_at,
    revoked_at,
    blocked_at,
    block_reason,
    exposed_at,
    exposed_mailed_at,
    ends_at,
    is_operator,
    suspended_at,
});

impl StoredKey {
    /// Returns the name of the key, or its ID if it has no name.
    pub fn title(&self) -> String {
        if self.name.is_empty() {
            self.id.to_string()
        } else {
            self.name.clone()
        }
    }

    /// Returns the state of the key at a time.
    pub fn state_at(&self, now: i64) -> State {
        self.key().state_at(|| now)
    }

    pub fn key(&self) -> Key {
        Key {
            id: KeyId(self.id),
            account: AccountId(self.account_id),
            kind: self.kind.parse().unwrap_or(Kind::Private),
            is_operator: self.is_operator,
            state: match (self.revoked_at, self.blocked_at.or(self.suspended_at)) {
                (Some(_), _) => State::Revoked,
                (None, Some(_)) => State::Blocked,
                (None, None) => State::Active,
            },
            exposed: self.exposed_at.is_some(),
            ends_at: self.ends_at,
            limits: Default::default(),
            address_limit: self.address_limit.and_then(|limit| u32::try_from(limit).ok()),
        }
    }
}
