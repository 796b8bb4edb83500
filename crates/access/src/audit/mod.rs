//! What operators did: every act on a key, a limit or an account of somebody, written with the act itself.

pub mod store;

use platform::ids::AccountId;
use uuid::Uuid;

/// Who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// Somebody with a shell on the server.
    Command,
    /// An operator who was signed in.
    Account(AccountId),
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub actor: Actor,
    /// As in `key block`.
    pub name: &'static str,
    /// The id of the key, or the name of the account.
    pub subject: String,
    /// The reason of a block, the limits that were set. Nothing secret.
    pub detail: String,
}

impl Action {
    pub fn new(actor: Actor, name: &'static str, subject: &str, detail: impl Into<String>) -> Action {
        Action {
            actor,
            name,
            subject: subject.to_owned(),
            detail: detail.into(),
        }
    }
}

/// An act as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub id: Uuid,
    pub at: i64,
    pub actor: Actor,
    /// The name of the account that acted, where it still exists.
    pub username: Option<String>,
    pub name: String,
    pub subject: String,
    pub detail: String,
}
