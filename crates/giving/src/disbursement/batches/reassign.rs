//! Reassigns what is owed to one nonprofit to another, because the first can no longer receive it.

use super::collect::collect_all_in;
use super::store;
use crate::books::movement::DISBURSEMENT;
use crate::books::{Movement, record};
use crate::disbursement::{DisburseError, Disbursements};
use crate::donations::Label;
use access::audit::{self, Action, Actor};
use directory::NonprofitRef;
use platform::db::StoreError;
use platform::ids::NonprofitId;
use platform::money::Cents;
use std::sync::Arc;
use uuid::Uuid;

/// What was reassigned.
#[derive(Clone, Debug)]
pub struct Reassigned {
    pub from: String,
    pub to: String,
    pub amount: Cents,
    /// The number of the entry in the ledger.
    pub entry: i64,
}

struct ReassignJob {
    mode: crate::ledger::entry::Mode,
    from: NonprofitId,
    to: NonprofitId,
    amount: Option<Cents>,
    reason: Label,
    id: Label,
    actor: Actor,
    now: i64,
}

impl Disbursements<'_> {
    /// Reassigns an amount, or all that is owed to `from` and in no batch. `id` makes it happen once, however often it is sent.
    pub async fn reassign(
        self,
        (from, to): (&str, &str),
        amount: Option<Cents>,
        reason: &str,
        (id, actor): (Uuid, Actor),
    ) -> Result<Reassigned, DisburseError> {
        self.refresh_owed().await?;
        let (from, to) = (self.resolve(from).await?, self.resolve(to).await?);
        let reason = Label::parse(reason).map_err(|_| DisburseError::InvalidReassignment)?;
        if from.0 == to.0 || amount.is_some_and(|amount| amount <= Cents::ZERO) {
            return Err(DisburseError::InvalidReassignment);
        }
        if !self.find_candidate(to.0).await?.is_eligible {
            return Err(DisburseError::NotEligible { name: to.1 });
        }
        let job = Arc::new(ReassignJob {
            mode: self.mode,
            from: from.0,
            to: to.0,
            amount,
            reason,
            id: Label::parse(&format!("reassignment {id}")).expect("an ID is a label"),
            actor,
            now: self.clock.millis(),
        });
        let work = self.recorder.run(move |batch| {
            let job = Arc::clone(&job);
            Box::pin(async move { job.write(batch).await })
        });
        let (amount, entry) = work.await?;
        self.refresh_owed().await?;
        Ok(Reassigned {
            from: from.1,
            to: to.1,
            amount,
            entry,
        })
    }

    /// Finds a nonprofit by its EIN, ID or slug, with its name.
    pub async fn resolve(self, text: &str) -> Result<(NonprofitId, String), DisburseError> {
        let found = self.directory.resolve_lenient(text.trim()).await.ok();
        let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
        nonprofit
            .map(|nonprofit| (nonprofit.id, nonprofit.name.to_owned()))
            .ok_or_else(|| DisburseError::NoSuchNonprofit {
                text: text.to_owned(),
            })
    }
}

impl ReassignJob {
    async fn write(
        &self,
        batch: &mut crate::ledger::batch::Batch,
    ) -> Result<(Cents, i64), StoreError<DisburseError>> {
        if let Some(known) = batch.find(DISBURSEMENT, self.id.as_str()).await? {
            return Ok((known.draft.amount, known.sequence));
        }
        collect_all_in(batch).await?;
        let free = store::sum_open_of(&mut batch.tx, self.mode, self.from).await?;
        let amount = self.amount.unwrap_or(free);
        if amount <= Cents::ZERO || amount > free {
            return Err(StoreError::Refused(DisburseError::NotFree { free }));
        }
        let movement = Movement::Reassignment {
            id: self.id.clone(),
            mode: self.mode,
            from: self.from,
            to: self.to,
            amount,
            reason: self.reason.clone(),
        };
        let entered = record::write(batch, &movement, self.now).await;
        let entered = entered.map_err(|error| error.map_refused(DisburseError::from))?;
        let detail = format!("{amount} to {}: {}", self.to, self.reason);
        let action = Action::new(
            self.actor,
            "disbursement reassign",
            &self.from.to_string(),
            detail,
        );
        audit::store::record(&mut batch.tx, &action, self.now).await?;
        Ok((amount, entered.sequence))
    }
}
