//! A gift: recorded once for each source and external id, however often it is delivered.

use super::label::Label;
use super::outcome::{Recorded, Refused};
use super::recipient::Recipient;
use crate::ledger::batch::Batch;
use crate::ledger::entry::{Draft, Entry, Kind, Leg, Party};
use crate::ledger::prefetch::Asks;
use platform::db::StoreError;
use platform::money::Cents;

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

/// What recording the donation reads from the ledger.
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

/// Adds a donation to a batch, or finds the entry it already has.
pub async fn write(batch: &mut Batch, gift: &Gift, now: i64) -> Result<Recorded, StoreError<Refused>> {
    let (source, external_id) = (gift.source.as_str(), gift.external_id.as_str());
    if let Some(known) = batch.find(source, external_id).await? {
        return if is_same(&known, gift) {
            Ok(Recorded::new(&known, false))
        } else {
            Err(StoreError::Refused(Refused::conflict(&known)))
        };
    }
    let entry = batch.append(draft(gift, now)).await;
    let entry = entry.map_err(|error| error.map_refused(Refused::from))?;
    if let Some(name) = &gift.name {
        let consented_at = gift.is_public.then_some(now);
        batch.keep_name(entry.sequence, name.as_str(), consented_at);
    }
    Ok(Recorded::new(&entry, true))
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
