//! The inbox of events: each is stored before it is acknowledged, and handled once.
//!
//! An event says that an object of Stripe has changed. Sessions and charges are taken from the event itself, because they only
//! ever move forward; everything else is read again, because an old event of it would be misleading. An event that
//! could not be handled is tried again by reading its object.

use super::Payments;
use super::error::{PaymentError, Result};
use super::store::{self, ReceivedEvent};
use crate::checkout::{Donation, store as checkout};
use crate::providers::stripe::NAME;
use crate::providers::stripe::objects::{Event, Metadata};
use crate::providers::stripe::pacing::Urgency;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use uuid::Uuid;

/// The pauses before an event is tried again, in milliseconds. The last one repeats.
const RETRY_PAUSES: [i64; 4] = [10_000, 60_000, 600_000, 3_600_000];
/// Events that one sweep handles.
const MAX_BATCH: i64 = 100;
/// How long events are kept once they are handled.
const RETENTION_MILLIS: i64 = 90 * 24 * 3_600_000;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Session,
    Charge,
    Refund,
    Dispute,
    Invoice,
    Subscription,
}

impl Topic {
    /// Returns what events of this type are about, if they concern us.
    fn of_kind(kind: &str) -> Option<Topic> {
        match kind {
            "checkout.session.completed"
            | "checkout.session.async_payment_succeeded"
            | "checkout.session.async_payment_failed"
            | "checkout.session.expired" => Some(Topic::Session),
            "charge.succeeded" | "charge.updated" | "charge.failed" => Some(Topic::Charge),
            "refund.created" | "refund.updated" | "refund.failed" => Some(Topic::Refund),
            "invoice.paid" | "invoice.payment_failed" => Some(Topic::Invoice),
            kind if kind.starts_with("charge.dispute.") => Some(Topic::Dispute),
            kind if kind.starts_with("customer.subscription.") => Some(Topic::Subscription),
            _ => None,
        }
    }
}

/// The ID of an object, with the connected account that it belongs to: `acct_1/re_2`.
struct ObjectId<'a> {
    account: Option<&'a str>,
    id: &'a str,
}

impl ObjectId<'_> {
    fn parse(text: &str) -> ObjectId<'_> {
        match text.split_once('/') {
            Some((account, id)) => ObjectId {
                account: Some(account),
                id,
            },
            None => ObjectId {
                account: None,
                id: text,
            },
        }
    }
}

impl fmt::Display for ObjectId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.account {
            Some(account) => write!(f, "{account}/{}", self.id),
            None => f.write_str(self.id),
        }
    }
}

impl Payments<'_> {
    /// Stores an event. `is_connected` says that it was signed as one of a connected account. Returns `false` if it needs no
    /// handling: it is known, or it does not concern us.
    pub async fn receive(self, event: &Event, is_connected: bool) -> Result<bool> {
        let topic = Topic::of_kind(&event.kind);
        let donation = self.find_donation_of(&event.data.object).await?;
        let is_of_account = donation
            .as_ref()
            .is_none_or(|donation| donation.account == event.account);
        let ignored = if event.livemode == self.mode.is_test() {
            Some("of the other mode")
        } else if event.account.is_some() != is_connected || !is_of_account {
            Some("of another account")
        } else if topic.is_none() {
            Some("of no concern")
        } else {
            None
        };
        let text = |name: &str| event.data.object[name].as_str().unwrap_or_default();
        let received = ReceivedEvent {
            id: event.id.clone(),
            kind: event.kind.clone(),
            object: ObjectId {
                account: event.account.as_deref(),
                id: text("id"),
            }
            .to_string(),
            donation: donation
                .map(|donation| donation.id)
                .or_else(|| self.find_invoiced(&event.data.object)),
            livemode: event.livemode,
            created_at: event.created.saturating_mul(1_000),
            ignored,
        };
        let now = self.settlement.clock.millis();
        let retry_at = now + RETRY_PAUSES[0];
        let is_new = store::add_event(self.settlement.db, NAME, &received, retry_at, now).await?;
        Ok(is_new && ignored.is_none())
    }

    /// Returns the donation that an object is about: the one that its metadata names, or the one that its charge paid.
    async fn find_donation_of(self, object: &Value) -> Result<Option<Donation>> {
        let db = self.settlement.db;
        let metadata: Metadata = serde_json::from_value(object["metadata"].clone()).unwrap_or_default();
        if let Some(donation) = self.own_donation(&metadata) {
            return Ok(checkout::find(db, donation).await?);
        }
        let Some(charge) = object["charge"].as_str() else {
            return Ok(None);
        };
        Ok(checkout::find_by_charge(db, charge).await?)
    }

    /// Returns the donation that an invoice is about, which may not exist yet.
    fn find_invoiced(self, object: &Value) -> Option<Uuid> {
        let metadata = object["parent"]["subscription_details"]["metadata"].clone();
        let gift = self.own_donation(&serde_json::from_value(metadata).ok()?)?;
        let reason = object["billing_reason"].as_str();
        Some(self.donation_of_invoice(gift, object["id"].as_str()?, reason))
    }

    /// Handles an event that was received, and notes the outcome.
    pub async fn handle(self, event: Event) -> Result<()> {
        let id = event.id.clone();
        let outcome = self
            .apply(&event.kind, event.data.object, event.account.as_deref())
            .await;
        self.note_outcome(&id, outcome, 0).await
    }

    async fn apply(self, kind: &str, object: Value, account: Option<&str>) -> Result<()> {
        let id = object["id"].as_str().unwrap_or_default().to_owned();
        match Topic::of_kind(kind) {
            Some(Topic::Session) => self.apply_session(parse(object)?, account, Urgency::Sweep).await,
            Some(Topic::Charge) => self.apply_charge(&parse(object)?, account, Urgency::Sweep).await,
            Some(Topic::Refund) => self.refresh_refund(&id, account, Urgency::Sweep).await,
            Some(Topic::Dispute) => self.refresh_dispute(&id, account, Urgency::Sweep).await,
            Some(Topic::Invoice) => self.refresh_invoice(&id, account, Urgency::Sweep).await,
            Some(Topic::Subscription) => self
                .refresh_subscription(&id, account, Urgency::Sweep)
                .await
                .map(drop),
            None => Ok(()),
        }
    }

    /// Handles the events that could not be handled when they were received, and removes old ones.
    pub async fn handle_open_events(self) -> Result<()> {
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        for open in store::list_open_events(db, NAME, now, MAX_BATCH).await? {
            let outcome = self.apply_by_id(&open.kind, ObjectId::parse(&open.object)).await;
            self.note_outcome(&open.id, outcome, open.tries).await?;
        }
        store::remove_old_events(db, now - RETENTION_MILLIS).await?;
        Ok(())
    }

    async fn apply_by_id(self, kind: &str, object: ObjectId<'_>) -> Result<()> {
        let ObjectId { account, id } = object;
        let urgency = Urgency::Sweep;
        match Topic::of_kind(kind) {
            Some(Topic::Session) => {
                let session = self.stripe.find_session(id, account, urgency).await?;
                self.apply_session(session, account, urgency).await
            }
            Some(Topic::Charge) => {
                let charge = self.stripe.find_charge(id, account, urgency).await?;
                self.apply_charge(&charge, account, urgency).await
            }
            Some(Topic::Refund) => self.refresh_refund(id, account, urgency).await,
            Some(Topic::Dispute) => self.refresh_dispute(id, account, urgency).await,
            Some(Topic::Invoice) => self.refresh_invoice(id, account, urgency).await,
            Some(Topic::Subscription) => self.refresh_subscription(id, account, urgency).await.map(drop),
            None => Ok(()),
        }
    }

    /// Notes that an event was handled, or when it is tried again. Only an error of the store is returned.
    async fn note_outcome(self, id: &str, outcome: Result<()>, tries: i64) -> Result<()> {
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        match outcome {
            Ok(()) => store::finish_event(db, NAME, id, now).await?,
            Err(error) => {
                let pause = RETRY_PAUSES[(tries.max(0) as usize).min(RETRY_PAUSES.len() - 1)];
                tracing::warn!(event = id, %error, "an event of Stripe is tried again later");
                store::postpone_event(db, (NAME, id), &error.to_string(), now + pause).await?;
            }
        }
        Ok(())
    }
}

fn parse<T: DeserializeOwned>(object: Value) -> Result<T> {
    serde_json::from_value(object).map_err(PaymentError::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::stripe::EVENT_KINDS;

    #[test]
    fn every_event_that_an_endpoint_has_to_send_is_handled() {
        for kind in EVENT_KINDS {
            assert!(Topic::of_kind(kind).is_some(), "{kind}");
        }
    }
}
