//! Accepts the charge that paid a donation.

use super::Payments;
use super::differences::{Difference, DifferenceKind};
use super::error::Result;
use super::objects::{CURRENCY, entry_name, label};
use crate::books::Movement;
use crate::checkout::store::{self, ChargeOutcome};
use crate::checkout::{Donation, State};
use crate::providers::stripe::form::Form;
use crate::providers::stripe::objects::{BalanceTransaction, Charge, PaymentIntent, Reference, Session};
use crate::providers::stripe::pacing::Urgency;
use platform::money::Cents;

/// When Stripe is asked for the fee of a new charge, if no event has told it.
const FEE_CHECK_MILLIS: i64 = 60_000;

/// What a donor can do about a payment that failed.
const DECLINED: &str = "The payment was declined.";

impl Payments<'_> {
    /// Enters what became of a session: it was paid, the bank has yet to confirm, the payment failed, or it has expired.
    pub(crate) async fn apply_session(self, session: Session, urgency: Urgency) -> Result<()> {
        let Some(id) = self.own_donation(&session.metadata) else {
            return Ok(());
        };
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        match session.status.as_deref() {
            Some("expired") => store::expire(db, id, now).await?,
            Some("complete") => {
                let session = match &session.payment_intent {
                    Some(Reference::Id(_)) => self.stripe.find_session(&session.id, None, urgency).await?,
                    _ => session,
                };
                let intent = session.payment_intent.as_ref().and_then(Reference::object);
                self.apply_payment_intent(intent, &session).await?;
            }
            _ => {}
        }
        Ok(())
    }

    async fn apply_payment_intent(self, intent: Option<&PaymentIntent>, session: &Session) -> Result<()> {
        let Some(id) = self.own_donation(&session.metadata) else {
            return Ok(());
        };
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        match intent {
            Some(intent) if intent.status == "succeeded" => {
                if let Some(charge) = intent.latest_charge.as_ref().and_then(Reference::object) {
                    self.apply_charge(charge, Urgency::Donor).await?;
                }
            }
            Some(intent) if intent.status == "processing" => store::process(db, id, now).await?,
            _ => store::fail(db, id, DECLINED, now).await?,
        }
        Ok(())
    }

    /// Enters a charge: accepts it for its donation, and enters its fee once Stripe knows it.
    pub(crate) async fn apply_charge(self, charge: &Charge, urgency: Urgency) -> Result<()> {
        let Some(id) = self.own_donation(&charge.metadata) else {
            return Ok(());
        };
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        if !charge.paid || charge.status != "succeeded" {
            if charge.status == "failed" {
                store::fail(db, id, DECLINED, now).await?;
            }
            return Ok(());
        }
        let Some(donation) = store::find(db, id).await? else {
            return self
                .list_charge(charge, DifferenceKind::NoDonation, Cents::ZERO)
                .await;
        };
        let is_same_mode = charge.livemode != donation.mode.is_test();
        if charge.currency != CURRENCY || charge.amount != donation.amount.get() || !is_same_mode {
            return self
                .list_charge(charge, DifferenceKind::Amount, donation.amount)
                .await;
        }
        let paid = (charge.id.as_str(), charge.created.saturating_mul(1_000));
        let check_at = Some(now + FEE_CHECK_MILLIS);
        match store::accept_charge(db, id, paid, check_at, now).await? {
            ChargeOutcome::Accepted => self.settle_charge(id, charge, urgency).await,
            ChargeOutcome::Second => self.refund_second(&donation, charge).await,
        }
    }

    /// Records the donation that a charge paid, and the balance transaction of the charge.
    async fn settle_charge(self, id: uuid::Uuid, charge: &Charge, urgency: Urgency) -> Result<()> {
        let db = self.settlement.db;
        let Some(donation) = store::find(db, id).await? else {
            return Ok(());
        };
        let donation = self.settlement.settle(donation).await?;
        if donation.payment.charge.as_deref() != Some(&charge.id) {
            return Ok(());
        }
        let fetched;
        let transaction = match &charge.balance_transaction {
            None => return Ok(()),
            Some(Reference::Object(transaction)) => transaction,
            Some(Reference::Id(_)) => {
                fetched = self.stripe.find_charge(&charge.id, None, urgency).await?;
                match &fetched.balance_transaction {
                    Some(Reference::Object(transaction)) => transaction,
                    _ => return Ok(()),
                }
            }
        };
        self.enter_settlement(&donation.id.to_string(), transaction)
            .await?;
        store::set_check(db, id, None, 0).await?;
        Ok(())
    }

    /// Enters the balance transaction of an entry about a donation.
    pub(crate) async fn enter_settlement(self, entry: &str, transaction: &BalanceTransaction) -> Result<()> {
        let movement = Movement::Settlement {
            transaction: label(&transaction.id),
            settles: entry_name(entry),
            amount: Cents::new(transaction.amount),
            fee: Cents::new(transaction.fee),
            fees_paid_by: self.fees_paid_by,
        };
        self.settlement.recorder.enter(movement).await?;
        Ok(())
    }

    /// Refunds a charge for a donation that another charge has paid, and lists it.
    async fn refund_second(self, donation: &Donation, charge: &Charge) -> Result<()> {
        let form = Form::new().set("charge", &charge.id).set("reason", "duplicate");
        if charge.amount_refunded < charge.amount {
            let key = format!("{}-second", charge.id);
            self.stripe.create_refund(form, key, None).await?;
            tracing::warn!(donation = %donation.id, charge = charge.id, "refunded a second charge");
        }
        let amount = Cents::new(charge.amount);
        let kind = DifferenceKind::SecondCharge;
        self.list_charge(charge, kind, amount).await
    }

    async fn list_charge(self, charge: &Charge, kind: DifferenceKind, expected: Cents) -> Result<()> {
        let donation = self.own_donation(&charge.metadata);
        self.add_difference(&Difference {
            kind,
            object: charge.id.clone(),
            livemode: charge.livemode,
            donation,
            amount: Cents::new(charge.amount),
            detail: format!(
                "{} {} was charged, {expected} was expected",
                Cents::new(charge.amount),
                charge.currency
            ),
        })
        .await
    }

    /// Asks Stripe what became of a donation that is not settled, and enters it.
    pub async fn refresh(self, donation: Donation) -> Result<Donation> {
        let is_open = donation.is_open() || donation.state == State::Processing;
        if let (true, Some(session)) = (is_open, &donation.payment.session) {
            let session = self.stripe.find_session(session, None, Urgency::Donor).await?;
            self.apply_session(session, Urgency::Donor).await?;
        }
        let found = store::find(self.settlement.db, donation.id).await?;
        Ok(found.unwrap_or(donation))
    }
}
