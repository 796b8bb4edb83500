//! Reads from Stripe's objects what concerns us.

use super::Payments;
use crate::books::EntryName;
use crate::donations::{Label, SITE};
use crate::providers::stripe::objects::Metadata;
use uuid::Uuid;

/// The currency of every donation.
pub(crate) const CURRENCY: &str = "usd";
/// The names of our texts in the metadata of Stripe's objects.
pub(crate) const DONATION: &str = "donation";
pub(crate) const STORE: &str = "store";
pub(crate) const REQUEST: &str = "request";
/// The part of a monthly gift that covers the fee, and what paused it.
pub(crate) const COVERED: &str = "covered";
pub(crate) const CAUSE: &str = "cause";

impl Payments<'_> {
    /// Returns the donation that an object names, if this store wrote its metadata.
    pub(crate) fn own_donation(&self, metadata: &Metadata) -> Option<Uuid> {
        let store = Uuid::try_parse(metadata.get(STORE)?).ok()?;
        let donation = Uuid::try_parse(metadata.get(DONATION)?).ok()?;
        (store == self.store).then_some(donation)
    }
}

/// Returns an ID of Stripe as a label of the ledger.
pub(crate) fn label(id: &str) -> Label {
    Label::parse(id).unwrap_or_else(|_| Label::parse("invalid ID").expect("a valid label"))
}

/// The name of an entry about a donation at our checkout.
pub(crate) fn entry_name(external_id: &str) -> EntryName {
    EntryName {
        source: label(SITE),
        external_id: label(external_id),
    }
}
