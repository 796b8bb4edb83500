//! Decisions of operators about fundraisers. Each is one transaction with its history, audit entry and
//! outbox row.

use super::change::Change;
use super::write::write_change;
use super::{Fundraiser, store};
use crate::error::Error;
use crate::ledger::batch::Batch;
use access::audit::{self, Action, Actor};
use platform::db::StoreError;
use platform::ids::{AccountId, FundraiserId};

/// A decision of an operator about a fundraiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Hide it, for a reason that its creator sees.
    Hide(String),
    /// Show it to everybody: approve one that is in review, or show one again that was hidden.
    Show,
}

/// A fundraiser before and after a decision.
#[derive(Clone, Debug)]
pub struct Decided {
    pub before: Fundraiser,
    pub after: Fundraiser,
}

/// Adds a decision about a fundraiser to a batch. Nothing is written if nothing differs.
pub async fn write_decision(
    batch: &mut Batch,
    id: FundraiserId,
    decision: &Decision,
    actor: Actor,
    now: i64,
) -> Result<Decided, StoreError<Error>> {
    let Some(before) = store::find_in(&mut batch.tx, id).await? else {
        return Err(StoreError::Refused(Error::NotFound));
    };
    let (change, kind, action, detail) = match decision {
        Decision::Hide(reason) => (
            Change::hide(&before, reason, now),
            "fundraiser_hidden",
            "fundraiser hide",
            reason.as_str(),
        ),
        Decision::Show => (Change::show(), "fundraiser_shown", "fundraiser show", ""),
    };
    let after = write_change(batch, before.clone(), &change, account_of(actor), kind, now).await?;
    if after != before {
        let action = Action::new(actor, action, &id.to_string(), detail);
        audit::store::record(&mut batch.tx, &action, now).await?;
    }
    Ok(Decided { before, after })
}

/// Closes all fundraisers of an account, and returns which were open.
pub async fn close_all_of(
    batch: &mut Batch,
    account: AccountId,
    by: Option<AccountId>,
    now: i64,
) -> Result<Vec<FundraiserId>, StoreError<Error>> {
    let open = store::list_open_of_account(&mut batch.tx, account).await?;
    for id in &open {
        if let Some(existing) = store::find_in(&mut batch.tx, *id).await? {
            let change = Change::close(&existing, now);
            write_change(batch, existing, &change, by, "fundraiser_closed", now).await?;
        }
    }
    Ok(open)
}

/// Returns the account of an operator, or `None` for the command line.
pub fn account_of(actor: Actor) -> Option<AccountId> {
    match actor {
        Actor::Command => None,
        Actor::Account(account) => Some(account),
    }
}
