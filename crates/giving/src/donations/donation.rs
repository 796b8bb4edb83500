//! A donation: recorded once for each source and external ID, however often it is delivered.

use super::label::{Label, SITE};
use super::outcome::{DonationError, RecordedEntry};
use super::recipient::Recipient;
use crate::ledger::batch::Batch;
use crate::ledger::entry::{Draft, Entry, Kind, Mode, OFFLINE, Party, Posting};
use crate::ledger::prefetch::Prefetch;
use platform::db::StoreError;
use platform::money::Cents;

/// A donation to record.
#[derive(Clone, Debug)]
pub struct NewDonation {
    /// The system where the payment was made. Identifies the payment together with `external_id`.
    pub source: Label,
    pub external_id: Label,
    pub mode: Mode,
    pub to: Recipient,
    /// Greater than zero.
    pub amount: Cents,
    /// The ID of the donor, which reveals nothing about the person.
    pub donor: Label,
    /// Stored outside the ledger.
    pub name: Option<Label>,
    /// Whether the donor consented to show the name.
    pub is_public: bool,
}

/// Rejects the sources that only Causeway itself uses.
pub(crate) fn admit_source(source: &Label) -> Result<(), DonationError> {
    let (name, purpose) = match source.as_str() {
        OFFLINE => (OFFLINE, "amounts that creators of fundraisers report"),
        SITE => (SITE, "donations made at our own checkout"),
        _ => return Ok(()),
    };
    Err(DonationError::ReservedSource { name, purpose })
}

/// Returns what recording a donation reads from the ledger.
pub(crate) fn prefetch(donation: &NewDonation) -> Prefetch {
    Prefetch {
        key: Some((
            donation.source.as_str().to_owned(),
            donation.external_id.as_str().to_owned(),
        )),
        fundraiser: donation.to.fundraiser,
        mode: donation.mode,
        donor: Some(donation.donor.as_str().to_owned()),
    }
}

/// Adds a donation to a batch, or finds the entry it already has.
pub(crate) async fn write(
    batch: &mut Batch,
    donation: &NewDonation,
    now: i64,
) -> Result<RecordedEntry, StoreError<DonationError>> {
    let (source, external_id) = (donation.source.as_str(), donation.external_id.as_str());
    if let Some(existing) = batch.find(source, external_id).await? {
        return if is_same(&existing, donation) {
            Ok(RecordedEntry::new(&existing, false))
        } else {
            Err(StoreError::Refused(DonationError::conflict(&existing)))
        };
    }
    let entry = batch.append(draft(donation, now)).await;
    let entry = entry.map_err(|error| error.map_refused(DonationError::from))?;
    if let Some(name) = &donation.name {
        let consented_at = donation.is_public.then_some(now);
        batch.add_donor_name(entry.sequence, name.as_str(), consented_at);
    }
    Ok(RecordedEntry::new(&entry, true))
}

/// Drafts the entry of a donation: the donor gives the amount, and every nonprofit receives its share.
pub(crate) fn draft(donation: &NewDonation, now: i64) -> Draft {
    let donor = Posting {
        party: Party::Donor(donation.donor.as_str().to_owned()),
        amount: donation.amount.reversed(),
    };
    let shares = donation.to.beneficiaries.shares(donation.amount);
    let shares = shares
        .into_iter()
        .map(|(party, amount)| Posting { party, amount });
    Draft {
        kind: Kind::Donation,
        mode: donation.mode,
        source: donation.source.as_str().to_owned(),
        external_id: donation.external_id.as_str().to_owned(),
        nonprofit: Some(donation.to.nonprofit),
        fundraiser: donation.to.fundraiser,
        donor: Some(donation.donor.as_str().to_owned()),
        amount: donation.amount,
        refunds: None,
        origin: None,
        note: None,
        postings: std::iter::once(donor).chain(shares).collect(),
        recorded_at: now,
    }
}

fn is_same(existing: &Entry, donation: &NewDonation) -> bool {
    let draft = &existing.draft;
    draft.kind == Kind::Donation
        && draft.mode == donation.mode
        && draft.amount == donation.amount
        && draft.nonprofit == Some(donation.to.nonprofit)
        && draft.fundraiser == donation.to.fundraiser
        && draft.donor.as_deref() == Some(donation.donor.as_str())
}
