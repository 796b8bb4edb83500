//! Refunds and disputes: each is an entry of its own that reverses a donation or a part of it.

use super::label::Label;
use super::outcome::{DonationError, RecordedEntry};
use crate::ledger::batch::Batch;
use crate::ledger::entry::{Draft, Entry, Kind, Party, Posting};
use platform::db::StoreError;
use platform::ids::FundraiserId;
use platform::money::{Cents, Weights, split};

/// A refund to record.
#[derive(Clone, Debug)]
pub struct Refund {
    /// Identifies the donation, together with `external_id`.
    pub source: Label,
    pub external_id: Label,
    /// `None` refunds everything that is left.
    pub amount: Option<Cents>,
    /// The ID of the refund itself, required for a second refund of the same donation.
    pub refund_id: Option<Label>,
}

/// A dispute to record: the donor's bank withdrew a donation or a part of it.
#[derive(Clone, Debug)]
pub struct Dispute {
    /// Identifies the donation, together with `external_id`.
    pub source: Label,
    pub external_id: Label,
    pub amount: Cents,
    /// The ID of the dispute itself.
    pub dispute_id: Label,
}

impl From<Dispute> for Refund {
    /// A dispute moves money as a refund does.
    fn from(dispute: Dispute) -> Refund {
        Refund {
            source: dispute.source,
            external_id: dispute.external_id,
            amount: Some(dispute.amount),
            refund_id: Some(dispute.dispute_id),
        }
    }
}

impl Refund {
    /// The external ID of the entry.
    fn entry_id(&self) -> String {
        match &self.refund_id {
            Some(id) => id.as_str().to_owned(),
            None => format!("refund of {}", self.external_id),
        }
    }
}

/// Adds a refund or a dispute to a batch, or finds the entry it already has. Also returns the fundraiser of the donation.
pub(crate) async fn write(
    batch: &mut Batch,
    kind: Kind,
    refund: &Refund,
    now: i64,
) -> Result<(RecordedEntry, Option<FundraiserId>), StoreError<DonationError>> {
    let (source, external_id) = (refund.source.as_str(), refund.external_id.as_str());
    let donation = batch.find(source, external_id).await?;
    let Some(donation) = donation.filter(|donation| donation.draft.kind == Kind::Donation) else {
        return Err(StoreError::Refused(DonationError::NoSuchDonation {
            source_name: source.to_owned(),
            external_id: external_id.to_owned(),
        }));
    };
    let fundraiser = donation.draft.fundraiser;
    let held = batch.find_held(donation.sequence).await?;
    if let Some(existing) = batch.find(source, &refund.entry_id()).await? {
        let recorded =
            repeat_outcome(kind, refund, &existing, &donation, &held).map_err(StoreError::Refused)?;
        return Ok((recorded, fundraiser));
    }
    let draft = draft(kind, refund, &donation, &held, now).map_err(StoreError::Refused)?;
    let entry = batch.append(draft).await;
    let entry = entry.map_err(|error| error.map_refused(DonationError::from))?;
    Ok((RecordedEntry::new(&entry, true), fundraiser))
}

/// Returns the outcome of a refund whose ID is already recorded. A refund of everything that is left is the same refund only
/// if nothing is left.
fn repeat_outcome(
    kind: Kind,
    refund: &Refund,
    existing: &Entry,
    donation: &Entry,
    held: &[(Party, Cents)],
) -> Result<RecordedEntry, DonationError> {
    let left = Cents::sum(held.iter().map(|(_, cents)| *cents))?;
    let is_same = match refund.amount {
        _ if (existing.draft.kind, existing.draft.refunds) != (kind, Some(donation.sequence)) => false,
        Some(amount) => existing.draft.amount == amount.reversed(),
        None if left > Cents::ZERO => return Err(DonationError::PartlyRefunded { left }),
        None => true,
    };
    if is_same {
        Ok(RecordedEntry::new(existing, false))
    } else {
        Err(DonationError::conflict(existing))
    }
}

/// Drafts the entry of a refund or dispute: every nonprofit returns a share in proportion to what it holds, so none returns more than
/// it received.
pub(crate) fn draft(
    kind: Kind,
    refund: &Refund,
    donation: &Entry,
    held: &[(Party, Cents)],
    now: i64,
) -> Result<Draft, DonationError> {
    let balances: Vec<Cents> = held.iter().map(|(_, cents)| *cents).collect();
    let left = Cents::sum(balances.iter().copied())?;
    let amount = refund.amount.unwrap_or(left);
    let weights = Weights::of_balances(&balances).filter(|_| amount <= left);
    let weights = weights.ok_or(DonationError::MoreThanLeft { left })?;
    let donor = donation.draft.donor.clone().unwrap_or_default();
    let back = held
        .iter()
        .zip(split(amount, &weights))
        .map(|((party, _), back)| Posting {
            party: party.clone(),
            amount: back.reversed(),
        });
    Ok(Draft {
        kind,
        mode: donation.draft.mode,
        source: donation.draft.source.clone(),
        external_id: refund.entry_id(),
        nonprofit: donation.draft.nonprofit,
        fundraiser: donation.draft.fundraiser,
        donor: Some(donor.clone()),
        amount: amount.reversed(),
        refunds: Some(donation.sequence),
        origin: None,
        note: None,
        postings: std::iter::once(Posting {
            party: Party::Donor(donor),
            amount,
        })
        .chain(back)
        .collect(),
        recorded_at: now,
    })
}
