//! Prepares a batch: one line for each nonprofit that can be paid, with everything that is due.

use super::collect::collect_all_in;
use super::store::{self, NewLine};
use super::{Batch, BatchState};
use crate::disbursement::holds::{Candidate, Verdict};
use crate::disbursement::plan::DueRule;
use crate::disbursement::{DisburseError, Disbursements};
use crate::ledger::batch::Batch as LedgerBatch;
use access::audit::{self, Action, Actor};
use platform::db::StoreError;
use platform::money::Cents;
use std::sync::Arc;

/// Lines of one batch, so that the ledger waits for a few seconds at most.
const MAX_LINES: usize = 5_000;

/// What a batch is made from. The nonprofits are those that can receive money today.
struct PrepareJob {
    candidates: Vec<Candidate>,
    rule: DueRule,
    minimum: Cents,
    mode: crate::ledger::entry::Mode,
    actor: Actor,
}

impl Disbursements<'_> {
    /// Prepares a batch with everything that is due. `until`: only donations made before then.
    pub async fn prepare(self, until: Option<i64>, actor: Actor) -> Result<Batch, DisburseError> {
        self.refresh_owed().await?;
        let job = Arc::new(PrepareJob {
            candidates: self.list_candidates().await?,
            rule: self.due_rule(until),
            minimum: self.settings.minimum,
            mode: self.mode,
            actor,
        });
        let work = self.recorder.run(move |batch| {
            let job = Arc::clone(&job);
            Box::pin(async move { job.write(batch).await })
        });
        work.await
    }
}

impl PrepareJob {
    async fn write(&self, batch: &mut LedgerBatch) -> Result<Batch, StoreError<DisburseError>> {
        collect_all_in(batch).await?;
        let overflow = |error| StoreError::Refused(DisburseError::Overflow(error));
        let mut lines: Vec<(NewLine, Vec<i64>)> = Vec::new();
        for candidate in &self.candidates {
            if lines.len() == MAX_LINES {
                break;
            }
            // Read again: another operator may have prepared a batch, and the payee may have changed.
            let entries = store::list_open_of(&mut batch.tx, self.mode, candidate.nonprofit).await?;
            let payee = store::find_payee(&mut batch.tx, candidate.nonprofit).await?;
            let verdict = Verdict::of(candidate, &entries, payee.as_ref(), &self.rule, self.minimum);
            let verdict = verdict.map_err(overflow)?;
            if let (Some(payee), true) = (payee, verdict.payable > Cents::ZERO) {
                let line = NewLine {
                    nonprofit: candidate.nonprofit,
                    amount: verdict.payable,
                    address: candidate.address_of(&payee.payee),
                    payee: payee.payee,
                };
                lines.push((line, verdict.included));
            }
        }
        if lines.is_empty() {
            return Err(StoreError::Refused(DisburseError::NothingToPay));
        }
        let amount = Cents::sum(lines.iter().map(|(line, _)| line.amount)).map_err(overflow)?;
        let number = store::find_next_number(&mut batch.tx).await?;
        let new = Batch {
            number,
            mode: self.mode,
            state: BatchState::Draft,
            until: self.rule.given_before,
            lines: lines.len() as i64,
            amount,
            prepared_at: self.rule.now,
            prepared_by: self.actor,
            approved_at: None,
            approved_by: None,
            exported_at: None,
            closed_at: None,
        };
        store::insert_batch(&mut batch.tx, &new).await?;
        store::insert_lines(&mut batch.tx, number, &lines).await?;
        for (line, (new, _)) in (1..).zip(&lines) {
            store::allocate(&mut batch.tx, (number, line), self.mode, new.nonprofit).await?;
        }
        let detail = format!("{} lines, {amount}", lines.len());
        let action = Action::new(self.actor, "disbursement prepare", &number.to_string(), detail);
        audit::store::record(&mut batch.tx, &action, self.rule.now).await?;
        Ok(new)
    }
}
