//! The audit log: every action of an operator on a key, a limit or an account, recorded in the same transaction.

pub mod store;

use platform::ids::AccountId;
use uuid::Uuid;

/// Who performed an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The command line.
    Command,
    /// A signed-in operator.
    Account(AccountId),
}

/// An action to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub actor: Actor,
    /// Such as `key block`.
    pub name: &'static str,
    /// The ID of the key or the username of the account.
    pub subject: String,
    /// Such as the reason for a block or the new limits. Never a secret.
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

/// An action in the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub id: Uuid,
    pub at: i64,
    pub actor: Actor,
    /// The username of the operator, unless the account has been deleted.
    pub username: Option<String>,
    pub name: String,
    pub subject: String,
    pub detail: String,
}
