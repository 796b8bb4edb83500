//! A gift: recorded once for each source and external id, however often it is delivered.

use super::{Label, OFFLINE, Recipient, Recorded, Refused};
use crate::app::App;
use crate::giving::ledger::entry::{Draft, Entry, Kind, Leg, Party};
use crate::giving::ledger::state::Asks;
use crate::giving::ledger::writer::Batch;
use crate::platform::money::Cents;
use std::sync::Arc;

/// A gift as it is told to us.
#[derive(Clone, Debug)]
pub struct Gift {
    /// With `external_id` the name of the payment where it was made.
    pub source: Label,
    pub external_id: Label,
    pub to: Recipient,
    /// Above zero.
    pub amount: Cents,
    /// Who gave, by an id that says nothing about the person.
    pub donor: Label,
    /// Kept apart from the journal.
    pub name: Option<Label>,
    /// Did the donor agree that the name is shown?
    pub is_public: bool,
}

/// Records a gift, and answers once it is on disk. Delivered again it is the same answer, and nothing is doubled.
pub async fn record(app: &App, gift: Gift) -> Result<Recorded, Refused> {
    if gift.source.as_str() == OFFLINE {
        return Err(Refused::ReservedSource);
    }
    let fundraiser = gift.to.fundraiser;
    let asks = asks(&gift);
    let gift = Arc::new(gift);
    let clock = app.clock.clone();
    let outcome = app
        .writer
        .run_asking(asks, move |batch| {
            let (gift, now) = (Arc::clone(&gift), clock.millis());
            Box::pin(async move { write(batch, &gift, now).await })
        })
        .await;
    // Also where nobody knows whether it stands.
    if let Some(id) = fundraiser {
        app.fundraisers.forget(id);
    }
    outcome?
}

pub fn asks(gift: &Gift) -> Asks {
    Asks {
        fact: Some((
            gift.source.as_str().to_owned(),
            gift.external_id.as_str().to_owned(),
        )),
        fundraiser: gift.to.fundraiser,
        donor: Some(gift.donor.as_str().to_owned()),
    }
}

pub async fn write(batch: &mut Batch, gift: &Gift, now: i64) -> sqlx::Result<Result<Recorded, Refused>> {
    let (source, external_id) = (gift.source.as_str(), gift.external_id.as_str());
    if let Some(known) = batch.find(source, external_id).await? {
        return Ok(match is_same(&known, gift) {
            true => Ok(recorded(&known, false)),
            false => Err(conflict(&known)),
        });
    }
    let entry = match batch.append(draft(gift, now)).await? {
        Ok(entry) => entry,
        Err(too_much) => return Ok(Err(too_much.into())),
    };
    if let Some(name) = &gift.name {
        let consented_at = gift.is_public.then_some(now);
        batch.keep_name(entry.sequence, name.as_str(), consented_at);
    }
    Ok(Ok(recorded(&entry, true)))
}

/// The donor gives; every nonprofit gets its share.
pub fn draft(gift: &Gift, now: i64) -> Draft {
    let donor = Leg {
        party: Party::Donor(gift.donor.as_str().to_owned()),
        amount: gift.amount.reversed(),
    };
    let shares = gift.to.beneficiaries.shares(gift.amount);
    let shares = shares.into_iter().map(|(party, amount)| Leg { party, amount });
    Draft {
        kind: Kind::Gift,
        source: gift.source.as_str().to_owned(),
        external_id: gift.external_id.as_str().to_owned(),
        nonprofit: gift.to.nonprofit,
        fundraiser: gift.to.fundraiser,
        donor: Some(gift.donor.as_str().to_owned()),
        amount: gift.amount,
        refunds: None,
        legs: std::iter::once(donor).chain(shares).collect(),
        recorded_at: now,
    }
}

fn is_same(known: &Entry, gift: &Gift) -> bool {
    let draft = &known.draft;
    draft.kind == Kind::Gift
        && draft.amount == gift.amount
        && draft.nonprofit == gift.to.nonprofit
        && draft.fundraiser == gift.to.fundraiser
        && draft.donor.as_deref() == Some(gift.donor.as_str())
}

pub fn recorded(entry: &Entry, is_new: bool) -> Recorded {
    Recorded {
        sequence: entry.sequence,
        amount: entry.draft.amount,
        is_new,
        totals: entry.totals,
    }
}

pub fn conflict(known: &Entry) -> Refused {
    let draft = &known.draft;
    let amount = match draft.kind {
        Kind::Refund => draft.amount.reversed(),
        Kind::Gift | Kind::Offline => draft.amount,
    };
    Refused::Conflict {
        source_name: draft.source.clone(),
        external_id: draft.external_id.clone(),
        known: format!("entry {}, a {} of {amount}", known.sequence, draft.kind.as_str()),
    }
}
