//! Endpoints: the URLs to which the events of an account are sent, with their secrets.

mod error;
pub mod input;
pub(super) mod manage;
pub mod store;

use super::schedule::{Health, Status};
use super::{EventKind, Format};
use access::audit::Actor;
use platform::ids::AccountId;
use uuid::Uuid;

pub use error::EndpointError;

/// An endpoint, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub id: Uuid,
    pub account: AccountId,
    pub url: String,
    pub description: String,
    pub events: Vec<EventKind>,
    pub format: Format,
    /// The public token of donate links whose donations belong to the account.
    pub token: String,
    pub has_bearer: bool,
    /// When the secret before the current one ends.
    pub old_secret_ends: Option<i64>,
    pub health: Health,
    /// Why it is disabled.
    pub reason: String,
    pub disabled_at: Option<i64>,
    pub created_at: i64,
}

impl Endpoint {
    /// Returns whether it gets events of a kind.
    pub(crate) fn wants(&self, kind: EventKind) -> bool {
        match self.format {
            Format::Partner => kind == EventKind::DonationSucceeded,
            Format::Standard => self.events.contains(&kind),
        }
    }
}

/// An endpoint with its secret, which is shown once.
#[derive(Debug)]
pub struct WithSecret {
    pub endpoint: Endpoint,
    pub secret: String,
}

/// An endpoint as operators see it.
#[derive(Debug)]
pub struct Backlog {
    pub endpoint: Endpoint,
    pub username: String,
    /// When the oldest event that waits was queued.
    pub oldest_queued_at: Option<i64>,
}

/// The name of an account in the audit log and in commands: its ID tells which endpoints it may use.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    pub account: AccountId,
    pub actor: Actor,
}

impl Owner {
    /// The owner itself, at the dashboard or with its keys.
    pub fn of_account(account: AccountId) -> Owner {
        Owner {
            account,
            actor: Actor::Account(account),
        }
    }

    /// The command line, on behalf of an account.
    pub fn of_command(account: AccountId) -> Owner {
        Owner {
            account,
            actor: Actor::Command,
        }
    }
}

/// Refuses what makes no sense for a disabled endpoint.
pub(super) fn require_enabled(endpoint: &Endpoint) -> Result<(), EndpointError> {
    if endpoint.health.status == Status::Disabled {
        let detail = "the endpoint is disabled; enable it first";
        return Err(EndpointError::invalid(error::EndpointField::Status, detail));
    }
    Ok(())
}
