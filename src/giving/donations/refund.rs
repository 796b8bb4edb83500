//! A refund: an entry of its own that takes back a gift, or a part of it.

use super::{Label, Recorded, Refused};
use crate::app::App;
use crate::giving::donations::donation::{conflict, recorded};
use crate::giving::ledger::entry::{Draft, Entry, Kind, Leg, Party};
use crate::giving::ledger::writer::Batch;
use crate::platform::money::{Cents, Weights, split};
use std::sync::Arc;

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

/// Records a refund, and answers once it is on disk. Told again it is the same answer, and nothing is doubled.
pub async fn refund(app: &App, refund: Refund) -> Result<Recorded, Refused> {
    let refund = Arc::new(refund);
    let clock = app.clock.clone();
    let (outcome, fundraiser) = app
        .writer
        .run(move |batch| {
            let (refund, now) = (Arc::clone(&refund), clock.millis());
            Box::pin(async move { write(batch, &refund, now).await })
        })
        .await??;
    if let Some(id) = fundraiser {
        app.fundraisers.forget(id);
    }
    Ok(outcome)
}

type Written = (Recorded, Option<crate::platform::ids::FundraiserId>);

pub async fn write(batch: &mut Batch, refund: &Refund, now: i64) -> sqlx::Result<Result<Written, Refused>> {
    let (source, external_id) = (refund.source.as_str(), refund.external_id.as_str());
    let gift = batch.find(source, external_id).await?;
    let Some(gift) = gift.filter(|gift| gift.draft.kind == Kind::Gift) else {
        return Ok(Err(Refused::NoSuchGift {
            source_name: source.to_owned(),
            external_id: external_id.to_owned(),
        }));
    };
    let fundraiser = gift.draft.fundraiser;
    let held = batch.held(gift.sequence).await?;
    if let Some(known) = batch.find(source, &refund.own_id()).await? {
        let outcome = told_again(refund, &known, &gift, &held);
        return Ok(outcome.map(|recorded| (recorded, fundraiser)));
    }
    let draft = match draft(refund, &gift, &held, now) {
        Ok(draft) => draft,
        Err(refused) => return Ok(Err(refused)),
    };
    Ok(match batch.append(draft).await? {
        Ok(entry) => Ok((recorded(&entry, true), fundraiser)),
        Err(too_much) => Err(too_much.into()),
    })
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
    match is_same {
        true => Ok(recorded(known, false)),
        false => Err(conflict(known)),
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
