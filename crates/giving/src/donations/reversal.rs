//! Reversals: a refund that failed, or a dispute that was won. What the donor had got back returns to the nonprofits.

use super::label::Label;
use super::outcome::{DonationError, RecordedEntry};
use crate::ledger::batch::Batch;
use crate::ledger::entry::{Draft, Entry, Kind, Posting};
use platform::db::StoreError;
use platform::ids::FundraiserId;

/// A reversal to record.
#[derive(Clone, Debug)]
pub struct Reversal {
    /// Identifies the refund or dispute, together with `external_id`.
    pub source: Label,
    pub external_id: Label,
}

/// Adds a reversal to a batch, or finds the entry it already has. Also returns the fundraiser of the donation.
pub(crate) async fn write(
    batch: &mut Batch,
    reversal: &Reversal,
    now: i64,
) -> Result<(RecordedEntry, Option<FundraiserId>), StoreError<DonationError>> {
    let (source, external_id) = (reversal.source.as_str(), reversal.external_id.as_str());
    let reversed = batch.find(source, external_id).await?;
    let named = reversed.and_then(|entry| Some((entry_name(&entry)?, entry)));
    let Some(((kind, entry_id), reversed)) = named else {
        return Err(StoreError::Refused(DonationError::NoSuchRefund {
            source_name: source.to_owned(),
            external_id: external_id.to_owned(),
        }));
    };
    let fundraiser = reversed.draft.fundraiser;
    if let Some(existing) = batch.find(source, &entry_id).await? {
        let is_same = (existing.draft.kind, existing.draft.origin) == (kind, Some(reversed.sequence));
        return if is_same {
            Ok((RecordedEntry::new(&existing, false), fundraiser))
        } else {
            Err(StoreError::Refused(DonationError::conflict(&existing)))
        };
    }
    let postings = batch.find_postings(&reversed).await?;
    let draft = draft(&reversed, kind, entry_id, &postings, now);
    let entry = batch.append(draft).await;
    let entry = entry.map_err(|error| error.map_refused(DonationError::from))?;
    Ok((RecordedEntry::new(&entry, true), fundraiser))
}

/// The kind and the external ID of the entry that reverses this one. `None` if it is neither a refund nor a dispute.
pub(crate) fn entry_name(reversed: &Entry) -> Option<(Kind, String)> {
    let id = &reversed.draft.external_id;
    match reversed.draft.kind {
        Kind::Refund => Some((Kind::RefundFailed, format!("{id} failed"))),
        Kind::Dispute => Some((Kind::DisputeWon, format!("{id} won"))),
        _ => None,
    }
}

/// Drafts the entry of a reversal: everyone gets exactly what the refund or dispute took from them.
pub(crate) fn draft(
    reversed: &Entry,
    kind: Kind,
    external_id: String,
    postings: &[Posting],
    now: i64,
) -> Draft {
    Draft {
        kind,
        external_id,
        amount: reversed.draft.amount.reversed(),
        origin: Some(reversed.sequence),
        postings: postings.iter().map(Posting::reversed).collect(),
        recorded_at: now,
        ..reversed.draft.clone()
    }
}
