//! Enters a movement in the books, once, however often it is reported.

use super::movement::{BooksError, DISBURSEMENT, EntryName, FeesPaidBy, Movement, STRIPE};
use super::postings;
use crate::donations::RecordedEntry;
use crate::ledger::batch::Batch;
use crate::ledger::entry::{Draft, Entry, Kind, Mode, Posting};
use platform::db::StoreError;
use platform::money::Cents;
use std::sync::Arc;

/// Adds a movement to a batch, or finds the entry it already has.
pub(crate) async fn write(
    batch: &mut Batch,
    movement: &Movement,
    now: i64,
) -> Result<RecordedEntry, StoreError<BooksError>> {
    let (source, external_id) = entry_name(movement);
    let existing = match batch.find(source, &external_id).await? {
        None => None,
        Some(found) => Some(with_postings(batch, &found).await?),
    };
    let origin = find_origin(batch, movement).await?;
    let payer = existing
        .as_ref()
        .map(|entry| postings::fees_paid_by(&entry.draft.postings));
    let draft = draft(movement, origin.as_ref(), payer, now).map_err(StoreError::Refused)?;
    if let Some(existing) = existing {
        let repeated = Draft {
            recorded_at: existing.draft.recorded_at,
            ..draft
        };
        return if existing.draft == repeated {
            Ok(RecordedEntry::new(&existing, false))
        } else {
            Err(StoreError::Refused(BooksError::conflict(&existing)))
        };
    }
    if let Some(origin) = draft.origin
        && let Some(settled_by) = batch.find_follower(origin, draft.kind).await?
    {
        return Err(StoreError::Refused(BooksError::AlreadySettled {
            sequence: origin,
            external_id: settled_by,
        }));
    }
    admit_amount(batch, movement).await?;
    let entry = batch.append(draft).await;
    let entry = entry.map_err(|error| error.map_refused(BooksError::from))?;
    Ok(RecordedEntry::new(&entry, true))
}

/// The source and the external ID of the entry of a movement.
fn entry_name(movement: &Movement) -> (&'static str, String) {
    match movement {
        Movement::Settlement { transaction, .. }
        | Movement::OtherSettlement { transaction, .. }
        | Movement::Payout { transaction, .. } => (STRIPE, transaction.to_string()),
        Movement::Disbursement { id, .. } | Movement::Reassignment { id, .. } => {
            (DISBURSEMENT, id.to_string())
        }
        Movement::DisbursementReturned { id } => (DISBURSEMENT, format!("{id} returned")),
    }
}

/// Finds the entry that a movement follows from, with its postings. `None` if it follows from none.
async fn find_origin(
    batch: &mut Batch,
    movement: &Movement,
) -> Result<Option<Entry>, StoreError<BooksError>> {
    let (source, external_id) = match movement {
        Movement::Settlement { settles, .. } => {
            let EntryName { source, external_id } = settles;
            (source.as_str(), external_id.as_str())
        }
        Movement::DisbursementReturned { id } => (DISBURSEMENT, id.as_str()),
        _ => return Ok(None),
    };
    match batch.find(source, external_id).await? {
        Some(found) => Ok(Some(with_postings(batch, &found).await?)),
        None => Err(StoreError::Refused(BooksError::NoSuchEntry {
            source_name: source.to_owned(),
            external_id: external_id.to_owned(),
        })),
    }
}

async fn with_postings(batch: &mut Batch, found: &Arc<Entry>) -> sqlx::Result<Entry> {
    let mut entry = Entry::clone(found);
    entry.draft.postings = batch.find_postings(found).await?;
    Ok(entry)
}

/// Refuses to pay or reassign more than is owed to a nonprofit.
async fn admit_amount(batch: &mut Batch, movement: &Movement) -> Result<(), StoreError<BooksError>> {
    let (mode, nonprofit, amount) = match movement {
        Movement::Disbursement {
            mode,
            nonprofit,
            amount,
            ..
        } => (*mode, *nonprofit, *amount),
        Movement::Reassignment {
            mode, from, amount, ..
        } => (*mode, *from, *amount),
        _ => return Ok(()),
    };
    let owed = batch.find_owed(mode, nonprofit).await?;
    if amount > owed {
        return Err(StoreError::Refused(BooksError::MoreThanOwed { owed }));
    }
    Ok(())
}

/// Drafts the entry of a movement. `payer` is who paid the fee when the movement was entered before: a setting that changed
/// since then does not change the books.
pub(crate) fn draft(
    movement: &Movement,
    origin: Option<&Entry>,
    payer: Option<FeesPaidBy>,
    now: i64,
) -> Result<Draft, BooksError> {
    let (source, external_id) = entry_name(movement);
    let mut nonprofit = None;
    let mut note = None;
    let (kind, mode, postings): (Kind, Mode, Vec<Posting>) = match movement {
        Movement::Settlement {
            settles,
            amount,
            fee,
            fees_paid_by,
            ..
        } => {
            let settled = origin.ok_or_else(|| BooksError::NoSuchEntry {
                source_name: settles.source.to_string(),
                external_id: settles.external_id.to_string(),
            })?;
            admit_settlement(settled, *amount)?;
            let payer = payer.unwrap_or(*fees_paid_by);
            let postings = postings::settlement(&settled.draft, *fee, payer)?;
            (Kind::Settlement, settled.draft.mode, postings)
        }
        Movement::OtherSettlement { mode, net, .. } => (Kind::Settlement, *mode, postings::other(*net)),
        Movement::Payout {
            mode, amount, fee, ..
        } => (Kind::Payout, *mode, postings::payout(*amount, *fee)?),
        Movement::Disbursement {
            mode,
            nonprofit: paid,
            amount,
            ..
        } => {
            admit_positive(*amount)?;
            nonprofit = Some(*paid);
            (Kind::Disbursement, *mode, postings::disbursement(*paid, *amount))
        }
        Movement::DisbursementReturned { id } => {
            let returned = origin.ok_or_else(|| BooksError::NoSuchEntry {
                source_name: DISBURSEMENT.to_owned(),
                external_id: id.to_string(),
            })?;
            if returned.draft.kind != Kind::Disbursement {
                return Err(wrong_kind(returned));
            }
            nonprofit = returned.draft.nonprofit;
            let postings = returned.draft.postings.iter().map(Posting::reversed).collect();
            (Kind::DisbursementReturned, returned.draft.mode, postings)
        }
        Movement::Reassignment {
            mode,
            from,
            to,
            amount,
            reason,
            ..
        } => {
            admit_positive(*amount)?;
            if from == to {
                return Err(BooksError::Invalid);
            }
            note = Some(reason.to_string());
            (
                Kind::Reassignment,
                *mode,
                postings::reassignment(*from, *to, *amount),
            )
        }
    };
    Ok(Draft {
        kind,
        mode,
        source: source.to_owned(),
        external_id,
        nonprofit,
        fundraiser: None,
        donor: None,
        amount: postings.first().map_or(Cents::ZERO, |first| first.amount),
        refunds: None,
        origin: origin.map(|origin| origin.sequence),
        note,
        postings,
        recorded_at: now,
    })
}

/// Refuses a settlement of an entry that moves no money at Stripe, and one of another amount.
fn admit_settlement(settled: &Entry, amount: Cents) -> Result<(), BooksError> {
    if !postings::is_settled(settled.draft.kind) {
        return Err(wrong_kind(settled));
    }
    if settled.draft.amount != amount {
        return Err(BooksError::AmountDiffers {
            sequence: settled.sequence,
            expected: settled.draft.amount,
            found: amount,
        });
    }
    Ok(())
}

fn admit_positive(amount: Cents) -> Result<(), BooksError> {
    Cents::positive(amount.get())
        .map(|_| ())
        .ok_or(BooksError::Invalid)
}

fn wrong_kind(entry: &Entry) -> BooksError {
    BooksError::WrongKind {
        sequence: entry.sequence,
        kind: entry.draft.kind.title(),
    }
}
