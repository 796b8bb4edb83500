//! What the processor behind a payment link reports, so that any processor can be attached.
//!
//! Its messages are the only report of a payment, so each is handled before it is acknowledged; a sender that gets no answer
//! sends it again.

use super::differences::{Difference, DifferenceKind};
use super::error::Result;
use super::objects::label;
use super::store::{self, ReceivedEvent};
use crate::checkout::settle::Settlement;
use crate::checkout::store::ChargeOutcome;
use crate::checkout::{Donation, store as checkout};
use crate::donations::{Refund, SITE};
use jiff::Timestamp;
use platform::money::Cents;
use uuid::Uuid;

/// The provider's name, which is stored with donations and events.
const NAME: &str = "link";
/// Why a donation was not paid.
const DECLINED: &str = "The payment was declined.";

/// A message of the processor.
#[derive(Clone, Debug)]
pub struct LinkEvent {
    /// `payment.succeeded`, `payment.failed` or `payment.refunded`.
    pub kind: String,
    pub payment: LinkPayment,
}

/// The payment that a message is about.
#[derive(Clone, Debug)]
pub struct LinkPayment {
    /// The ID of the donation, which was in the URL of the payment link.
    pub donation: Uuid,
    /// What was paid or refunded, in cents.
    pub amount: i64,
    /// The processor's own ID of the payment or refund.
    pub external_id: String,
    /// When it was paid. Without it, now.
    pub paid_at: Option<Timestamp>,
    pub livemode: bool,
}

impl Settlement<'_> {
    /// Enters what the processor behind a payment link reports in the message with this ID. A repeated message changes
    /// nothing.
    pub async fn handle_link_event(self, id: &str, event: &LinkEvent) -> Result<()> {
        let (db, now, payment) = (self.db, self.clock.millis(), &event.payment);
        let is_known = matches!(
            event.kind.as_str(),
            "payment.succeeded" | "payment.failed" | "payment.refunded"
        );
        let received = ReceivedEvent {
            id: id.to_owned(),
            kind: event.kind.clone(),
            object: payment.external_id.clone(),
            donation: Some(payment.donation),
            livemode: payment.livemode,
            created_at: now,
            ignored: (!is_known).then_some("of no concern"),
        };
        store::add_event(db, NAME, &received, now, now).await?;
        if is_known && !store::is_event_handled(db, NAME, id).await? {
            self.apply_link_event(event).await?;
            store::finish_event(db, NAME, id, now).await?;
        }
        Ok(())
    }

    async fn apply_link_event(self, event: &LinkEvent) -> Result<()> {
        let (db, now, payment) = (self.db, self.clock.millis(), &event.payment);
        let donation = checkout::find(db, payment.donation).await?;
        let Some(donation) = donation.filter(|donation| donation.provider == NAME) else {
            return self.list_link_payment(payment, DifferenceKind::NoDonation).await;
        };
        if payment.livemode == donation.mode.is_test() {
            return self.list_link_payment(payment, DifferenceKind::Amount).await;
        }
        match event.kind.as_str() {
            "payment.succeeded" => self.accept_link_payment(donation, payment).await,
            "payment.refunded" => {
                let refund = Refund {
                    source: label(SITE),
                    external_id: label(&donation.id.to_string()),
                    amount: Some(Cents::new(payment.amount)),
                    refund_id: Some(label(&payment.external_id)),
                };
                self.recorder.refund(refund).await?;
                self.settle(donation).await?;
                Ok(())
            }
            _ => Ok(checkout::fail(db, donation.id, DECLINED, now).await?),
        }
    }

    async fn accept_link_payment(self, donation: Donation, payment: &LinkPayment) -> Result<()> {
        let (db, now) = (self.db, self.clock.millis());
        if payment.amount != donation.amount.get() {
            return self.list_link_payment(payment, DifferenceKind::Amount).await;
        }
        let paid_at = payment.paid_at.map_or(now, Timestamp::as_millisecond);
        let paid = (payment.external_id.as_str(), paid_at);
        if checkout::accept_charge(db, donation.id, paid, None, now).await? == ChargeOutcome::Second {
            return self
                .list_link_payment(payment, DifferenceKind::SecondCharge)
                .await;
        }
        if let Some(donation) = checkout::find(db, donation.id).await? {
            self.settle(donation).await?;
        }
        Ok(())
    }

    async fn list_link_payment(self, payment: &LinkPayment, kind: DifferenceKind) -> Result<()> {
        let difference = Difference {
            kind,
            object: payment.external_id.clone(),
            livemode: payment.livemode,
            donation: Some(payment.donation),
            amount: Cents::new(payment.amount),
            detail: "reported by the processor behind the payment link".to_owned(),
        };
        if store::add_difference(self.db, &difference, self.clock.millis()).await? {
            tracing::error!(
                kind = kind.as_str(),
                object = payment.external_id,
                "a payment differs from the ledger"
            );
        }
        Ok(())
    }
}
