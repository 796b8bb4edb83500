//! Marks a line as sent, paid, returned or void.

use super::{Batch, BatchState, Line, LineState, Mark, store};
use crate::books::{BooksError, Movement, record};
use crate::disbursement::{DisburseError, Disbursements};
use crate::donations::Label;
use crate::ledger::batch::Batch as LedgerBatch;
use access::audit::{self, Action, Actor};
use platform::db::StoreError;
use std::sync::Arc;

const MAX_REFERENCE_CHARS: usize = 100;

/// A line that was marked.
#[derive(Clone, Debug)]
pub struct Marked {
    pub batch: Batch,
    pub line: Line,
    /// Whether something changed. The same mark with the same reference changes nothing.
    pub is_new: bool,
}

struct MarkJob {
    batch: i64,
    line: i64,
    mark: Mark,
    reference: Option<String>,
    actor: Actor,
    now: i64,
}

impl Disbursements<'_> {
    /// Marks a line. The money of a line that was returned or is void can be paid again.
    pub async fn mark(
        self,
        (batch, line): (i64, i64),
        mark: Mark,
        reference: Option<&str>,
        actor: Actor,
    ) -> Result<Marked, DisburseError> {
        let reference = reference.map(str::trim).filter(|reference| !reference.is_empty());
        if reference.is_none() && matches!(mark, Mark::Paid | Mark::Returned) {
            return Err(DisburseError::NoReference { mark: mark.as_str() });
        }
        let is_valid = |reference: &str| {
            reference.chars().count() <= MAX_REFERENCE_CHARS && !reference.contains(char::is_control)
        };
        if !reference.is_none_or(is_valid) {
            return Err(DisburseError::InvalidReference);
        }
        let job = Arc::new(MarkJob {
            batch,
            line,
            mark,
            reference: reference.map(str::to_owned),
            actor,
            now: self.clock.millis(),
        });
        let work = self.recorder.run(move |batch| {
            let job = Arc::clone(&job);
            Box::pin(async move { job.write(batch).await })
        });
        work.await
    }
}

impl MarkJob {
    async fn write(&self, ledger: &mut LedgerBatch) -> Result<Marked, StoreError<DisburseError>> {
        let refuse = |error| Err(StoreError::Refused(error));
        let (number, mark) = (self.batch, self.mark);
        let Some(batch) = store::find_batch_in(&mut ledger.tx, number).await? else {
            return refuse(DisburseError::NoSuchBatch { batch: number });
        };
        let Some(mut line) = store::find_line(&mut ledger.tx, number, self.line).await? else {
            return refuse(DisburseError::NoSuchLine {
                batch: number,
                line: self.line,
            });
        };
        if self.is_repeated(&line) {
            let is_new = false;
            return Ok(Marked { batch, line, is_new });
        }
        if let Err(remedy) = admit(&batch, line.state, mark) {
            return refuse(DisburseError::WrongState {
                batch: number,
                line: line.number,
                state: line.state.as_str(),
                mark: mark.as_str(),
                remedy,
            });
        }
        if let Some(reference) = &self.reference
            && let Some((batch, line)) = store::find_reference(
                &mut ledger.tx,
                reference,
                mark == Mark::Returned,
                (number, line.number),
            )
            .await?
        {
            let reference = reference.clone();
            return refuse(DisburseError::ReferenceUsed {
                reference,
                batch,
                line,
            });
        }
        self.apply(ledger, batch, &mut line).await
    }

    /// Enters the mark, which was admitted.
    async fn apply(
        &self,
        ledger: &mut LedgerBatch,
        batch: Batch,
        line: &mut Line,
    ) -> Result<Marked, StoreError<DisburseError>> {
        let was_sent = matches!(line.state, LineState::Sent | LineState::Paid);
        match self.mark {
            Mark::Sent => send(ledger, line, batch.mode, self.now).await?,
            Mark::Paid => line.state = LineState::Paid,
            Mark::Returned | Mark::Void => {
                if was_sent {
                    let id = label(&line.external_id());
                    enter(ledger, &Movement::DisbursementReturned { id }, self.now).await?;
                }
                line.state = if self.mark == Mark::Void {
                    LineState::Void
                } else {
                    LineState::Returned
                };
                store::release(&mut ledger.tx, (line.batch, line.number)).await?;
            }
        }
        if self.mark != Mark::Sent {
            line.finished_at = Some(self.now);
        }
        match (&self.reference, self.mark) {
            (None, _) => {}
            (Some(reference), Mark::Returned) => line.return_reference = Some(reference.clone()),
            (Some(reference), _) => line.reference = Some(reference.clone()),
        }
        store::update_line(&mut ledger.tx, line).await?;
        let batch = close_if_done(ledger, batch, self.now).await?;
        let subject = line.external_id();
        let detail = self.reference.clone().unwrap_or_default();
        let name = match self.mark {
            Mark::Sent => "disbursement sent",
            Mark::Paid => "disbursement paid",
            Mark::Returned => "disbursement returned",
            Mark::Void => "disbursement void",
        };
        let action = Action::new(self.actor, name, &subject, detail);
        audit::store::record(&mut ledger.tx, &action, self.now).await?;
        let (line, is_new) = (line.clone(), true);
        Ok(Marked { batch, line, is_new })
    }

    /// Returns whether the line has this mark and this reference.
    fn is_repeated(&self, line: &Line) -> bool {
        let (state, reference) = match self.mark {
            Mark::Sent => (LineState::Sent, &line.reference),
            Mark::Paid => (LineState::Paid, &line.reference),
            Mark::Returned => (LineState::Returned, &line.return_reference),
            Mark::Void => (LineState::Void, &line.reference),
        };
        line.state == state && (self.reference.is_none() || *reference == self.reference)
    }
}

/// Decides whether a line in this state can be marked. The error says what to do instead.
fn admit(batch: &Batch, state: LineState, mark: Mark) -> Result<(), &'static str> {
    let is_approved = matches!(batch.state, BatchState::Approved | BatchState::Exported);
    match (state, mark) {
        (LineState::Queued, Mark::Sent) if is_approved => Ok(()),
        (LineState::Queued, Mark::Sent) => Err("approve the batch first"),
        (LineState::Queued, Mark::Void)
        | (LineState::Sent, Mark::Paid | Mark::Returned | Mark::Void)
        | (LineState::Paid, Mark::Returned) => Ok(()),
        (LineState::Queued, Mark::Paid | Mark::Returned) => Err("export the batch first, which sends it"),
        (LineState::Paid, Mark::Void) => Err("mark it returned if the money came back"),
        (LineState::Returned | LineState::Void, _) => Err("its money is paid by a line of a later batch"),
        (LineState::Sent | LineState::Paid, _) => Err("check the number of the line"),
    }
}

/// Enters the payment of a line in the books. Nothing is written if it is refused.
pub(super) async fn send(
    ledger: &mut LedgerBatch,
    line: &mut Line,
    mode: crate::ledger::entry::Mode,
    now: i64,
) -> Result<(), StoreError<DisburseError>> {
    let movement = Movement::Disbursement {
        id: label(&line.external_id()),
        mode,
        nonprofit: line.nonprofit,
        amount: line.amount,
    };
    let entered = record::write(ledger, &movement, now).await;
    entered.map_err(|error| error.map_refused(|error| refused(error, line)))?;
    (line.state, line.sent_at) = (LineState::Sent, Some(now));
    Ok(())
}

fn refused(error: BooksError, line: &Line) -> DisburseError {
    match error {
        BooksError::MoreThanOwed { owed } => DisburseError::MoreThanOwed {
            batch: line.batch,
            line: line.number,
            amount: line.amount,
            owed,
        },
        error => error.into(),
    }
}

async fn enter(
    ledger: &mut LedgerBatch,
    movement: &Movement,
    now: i64,
) -> Result<(), StoreError<DisburseError>> {
    let entered = record::write(ledger, movement, now).await;
    entered
        .map(|_| ())
        .map_err(|error| error.map_refused(DisburseError::from))
}

fn label(text: &str) -> Label {
    Label::parse(text).expect("numbers are a label")
}

/// Closes a batch in which nothing is left to do.
pub(super) async fn close_if_done(
    ledger: &mut LedgerBatch,
    mut batch: Batch,
    now: i64,
) -> Result<Batch, StoreError<DisburseError>> {
    if batch.state != BatchState::Closed && store::count_open_lines(&mut ledger.tx, batch.number).await? == 0
    {
        (batch.state, batch.closed_at) = (BatchState::Closed, Some(now));
        store::update_batch(&mut ledger.tx, &batch).await?;
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::entry::Mode;
    use platform::money::Cents;

    fn batch(state: BatchState) -> Batch {
        Batch {
            number: 1,
            mode: Mode::Live,
            state,
            until: 0,
            lines: 1,
            amount: Cents::ZERO,
            prepared_at: 0,
            prepared_by: Actor::Command,
            approved_at: None,
            approved_by: None,
            exported_at: None,
            closed_at: None,
        }
    }

    #[test]
    fn only_what_was_sent_can_be_paid_or_come_back() {
        use BatchState::{Approved, Draft, Exported};
        let marks = [Mark::Sent, Mark::Paid, Mark::Returned, Mark::Void];
        let admitted = |state, line| {
            let batch = batch(state);
            marks.map(|mark| admit(&batch, line, mark).is_ok())
        };
        assert_eq!(admitted(Draft, LineState::Queued), [false, false, false, true]);
        assert_eq!(admitted(Approved, LineState::Queued), [true, false, false, true]);
        assert_eq!(admitted(Exported, LineState::Sent), [false, true, true, true]);
        assert_eq!(admitted(Exported, LineState::Paid), [false, false, true, false]);
        assert_eq!(admitted(Exported, LineState::Returned), [false; 4]);
        assert_eq!(admitted(Exported, LineState::Void), [false; 4]);
    }
}
