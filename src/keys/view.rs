//! A key as its owner sees it on a page.

use super::State;
use super::store::StoredKey;
use crate::web::moment::Moment;
use crate::web::texts::Keys;
use uuid::Uuid;

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
    pub exposed: Option<Moment>,
}

impl KeyView {
    pub fn new(key: StoredKey, now: i64) -> KeyView {
        KeyView {
            id: key.id,
            is_public: key.public_key.is_some(),
            state: key.state(),
            made: Moment::new(key.created_at, now),
            exposed: key.exposed_at.map(|at| Moment::new(at, now)),
            username: key.username,
            name: key.name,
            public_key: key.public_key,
        }
    }

    pub fn is_active(&self) -> bool {
        self.state == State::Active
    }

    pub fn state_text(&self, t: &Keys) -> &'static str {
        match self.state {
            State::Active => t.active,
            State::Blocked => t.blocked,
            State::Revoked => t.revoked,
        }
    }

    /// The class of its badge.
    pub fn state_badge(&self) -> &'static str {
        match self.state {
            State::Active => "badge badge-good",
            State::Blocked => "badge badge-bad",
            State::Revoked => "badge",
        }
    }

    pub fn kind_text(&self, t: &Keys) -> &'static str {
        match self.is_public {
            true => t.public,
            false => t.private,
        }
    }
}
