//! Decisions of operators and nonprofits about fundraisers. Each is written in one transaction with its history, audit entry and outbox
//! row.

use super::write::{close, write_change};
use super::{Fundraiser, store};
use crate::error::Error;
use crate::ledger::batch::Batch;
use access::audit::{self, Action, Actor};
use platform::db::StoreError;
use platform::ids::{AccountId, FundraiserId};

/// The reason that the owner of a fundraiser sees if its nonprofit declined it.
const DECLINED: &str = "The nonprofit declined it.";

/// A decision about a fundraiser, of an operator or of its nonprofit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Hide it from everyone except its owner and operators, for a reason that its owner sees.
    Hide(String),
    /// Make it public: approve one that is in review, or show one again that was hidden.
    Show,
    /// Approve one that is in review, on behalf of its nonprofit. One that an operator has hidden stays hidden.
    Approve,
    /// Decline it, on behalf of its nonprofit: hide it, unless it is hidden already.
    Decline,
}

impl Decision {
    /// Returns the fundraiser after the decision. Either decision ends a review.
    fn apply(&self, existing: &Fundraiser, now: i64) -> Fundraiser {
        let is_hidden = existing.hidden_at.is_some();
        let (hidden_at, hidden_reason) = match self {
            Decision::Approve | Decision::Decline if is_hidden => return existing.clone(),
            Decision::Approve if existing.in_review_since.is_none() => return existing.clone(),
            // A new reason replaces the old one.
            Decision::Hide(reason) => (existing.hidden_at.or(Some(now)), Some(reason.clone())),
            Decision::Show | Decision::Approve => (None, None),
            Decision::Decline => (Some(now), Some(DECLINED.to_owned())),
        };
        Fundraiser {
            hidden_at,
            hidden_reason,
            in_review_since: None,
            ..existing.clone()
        }
    }
}

/// A fundraiser before and after a decision.
#[derive(Clone, Debug)]
pub struct Decided {
    pub before: Fundraiser,
    pub after: Fundraiser,
}

/// Adds a decision about a fundraiser to a batch. Nothing is written if nothing differs.
pub(crate) async fn write_decision(
    batch: &mut Batch,
    id: FundraiserId,
    decision: &Decision,
    actor: Actor,
    now: i64,
) -> Result<Decided, StoreError<Error>> {
    let Some(before) = store::find_in(&mut batch.tx, id).await? else {
        return Err(StoreError::Refused(Error::NotFound));
    };
    let (kind, action, detail) = match decision {
        Decision::Hide(reason) => ("fundraiser_hidden", "fundraiser hide", reason.as_str()),
        Decision::Show => ("fundraiser_shown", "fundraiser show", ""),
        Decision::Approve => ("fundraiser_shown", "fundraiser approve", "by its nonprofit"),
        Decision::Decline => ("fundraiser_hidden", "fundraiser decline", "by its nonprofit"),
    };
    let after = decision.apply(&before, now);
    let after = write_change(batch, before.clone(), after, account_of(actor), kind, now).await?;
    if after != before {
        let action = Action::new(actor, action, &id.to_string(), detail);
        audit::store::record(&mut batch.tx, &action, now).await?;
    }
    Ok(Decided { before, after })
}

/// Closes all fundraisers of an account, and returns those that were open.
pub(crate) async fn close_all_of(
    batch: &mut Batch,
    account: AccountId,
    by: Option<AccountId>,
    now: i64,
) -> Result<Vec<FundraiserId>, StoreError<Error>> {
    let open = store::list_open_of_account(&mut batch.tx, account).await?;
    for id in &open {
        if let Some(existing) = store::find_in(&mut batch.tx, *id).await? {
            let closed = close(&existing, now);
            write_change(batch, existing, closed, by, "fundraiser_closed", now).await?;
        }
    }
    Ok(open)
}

/// Returns the account of an operator, or `None` for the command line.
pub(crate) fn account_of(actor: Actor) -> Option<AccountId> {
    match actor {
        Actor::Command => None,
        Actor::Account(account) => Some(account),
    }
}
