//! Approves a batch, by another operator than the one who prepared it.

use super::{Batch, BatchState, store};
use crate::disbursement::{DisburseError, Disbursements};
use access::audit::{self, Action, Actor};
use platform::db::StoreError;

impl Disbursements<'_> {
    /// Approves a draft, so that it can be exported.
    pub async fn approve(self, number: i64, actor: Actor) -> Result<Batch, DisburseError> {
        let (now, needs_second) = (self.clock.millis(), self.settings.second_operator);
        let work = self.recorder.run(move |batch| {
            Box::pin(async move {
                let tx = &mut batch.tx;
                let refuse = |error| Err(StoreError::Refused(error));
                let Some(mut found) = store::find_batch_in(tx, number).await? else {
                    return refuse(DisburseError::NoSuchBatch { batch: number });
                };
                if found.state != BatchState::Draft {
                    let state = found.state.as_str();
                    return refuse(DisburseError::NotDraft { batch: number, state });
                }
                if needs_second && found.prepared_by == actor {
                    return refuse(DisburseError::SameOperator { batch: number });
                }
                found.state = BatchState::Approved;
                (found.approved_at, found.approved_by) = (Some(now), Some(actor));
                store::update_batch(tx, &found).await?;
                let detail = format!("{} lines, {}", found.lines, found.amount);
                let action = Action::new(actor, "disbursement approve", &number.to_string(), detail);
                audit::store::record(tx, &action, now).await?;
                Ok(found)
            })
        });
        work.await
    }
}
