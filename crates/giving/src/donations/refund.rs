//! A refund: an entry of its own that takes back a gift, or a part of it.

use super::label::Label;
use super::outcome::{Recorded, Refused};
use crate::ledger::batch::Batch;
use crate::ledger::entry::{Draft, Entry, Kind, Leg, Party};
use platform::db::StoreError;
use platform::ids::FundraiserId;
use platform::money::{Cents, Weights, split};

/// A refund as it is told to us.
#[derive(Clone, Debug)]
pub struct Refund {
    /// With `external_id` the name of the gift.
    pub source: Label,
    pub external_id: Label,
    /// All that is left, where none is given.
    pub amount: Option<Cents>,
    /// The name of the refund itself; a second refund of one gift needs one.
    pub refund_id: Option<Label>,
}

impl Refund {
    /// The external id of the entry.
    fn own_id(&self) -> String {
        match &self.refund_id {
            Some(id) => id.as_str().to_owned(),
            None => format!("refund of {}", self.external_id),
        }
    }
}

/// Adds a refund to a batch, or finds the entry it already has. Also returns the fundraiser of the donation.
pub async fn write(
    batch: &mut Batch,
    refund: &Refund,
    now: i64,
) -> Result<(Recorded, Option<FundraiserId>), StoreError<Refused>> {
    let (source, external_id) = (refund.source.as_str(), refund.external_id.as_str());
    let gift = batch.find(source, external_id).await?;
    let Some(gift) = gift.filter(|gift| gift.draft.kind == Kind::Gift) else {
        return Err(StoreError::Refused(Refused::NoSuchGift {
            source_name: source.to_owned(),
            external_id: external_id.to_owned(),
        }));
    };
    let fundraiser = gift.draft.fundraiser;
    let held = batch.held(gift.sequence).await?;
    if let Some(known) = batch.find(source, &refund.own_id()).await? {
        let recorded = told_again(refund, &known, &gift, &held).map_err(StoreError::Refused)?;
        return Ok((recorded, fundraiser));
    }
    let draft = draft(refund, &gift, &held, now).map_err(StoreError::Refused)?;
    let entry = batch.append(draft).await;
    let entry = entry.map_err(|error| error.map_refused(Refused::from))?;
    Ok((Recorded::new(&entry, true), fundraiser))
}

/// The answer to a refund whose name is taken. All that is left was given back before only where nothing is left.
fn told_again(
    refund: &Refund,
    known: &Entry,
    gift: &Entry,
    held: &[(Party, Cents)],
) -> Result<Recorded, Refused> {
    let left = Cents::sum(held.iter().map(|(_, cents)| *cents))?;
    let is_same = match refund.amount {
        _ if known.draft.refunds != Some(gift.sequence) => false,
        Some(amount) => known.draft.amount == amount.reversed(),
        None if left > Cents::ZERO => return Err(Refused::PartlyRefunded { left }),
        None => true,
    };
    if is_same {
        Ok(Recorded::new(known, false))
    } else {
        Err(Refused::conflict(known))
    }
}

/// Every nonprofit gives back by what it holds, so that none gives more than it got.
pub fn draft(refund: &Refund, gift: &Entry, held: &[(Party, Cents)], now: i64) -> Result<Draft, Refused> {
    let balances: Vec<Cents> = held.iter().map(|(_, cents)| *cents).collect();
    let left = Cents::sum(balances.iter().copied())?;
    let amount = refund.amount.unwrap_or(left);
    let weights = Weights::of_balances(&balances).filter(|_| amount <= left);
    let weights = weights.ok_or(Refused::MoreThanLeft { left })?;
    let donor = gift.draft.donor.clone().unwrap_or_default();
    let back = held
        .iter()
        .zip(split(amount, &weights))
        .map(|((party, _), back)| Leg {
            party: party.clone(),
            amount: back.reversed(),
        });
    Ok(Draft {
        kind: Kind::Refund,
        source: gift.draft.source.clone(),
        external_id: refund.own_id(),
        nonprofit: gift.draft.nonprofit,
        fundraiser: gift.draft.fundraiser,
        donor: Some(donor.clone()),
        amount: amount.reversed(),
        refunds: Some(gift.sequence),
        legs: std::iter::once(Leg {
            party: Party::Donor(donor),
            amount,
        })
        .chain(back)
        .collect(),
        recorded_at: now,
    })
}
