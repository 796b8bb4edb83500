//! Accepts the charge that paid a donation.

use super::Payments;
use super::differences::{Difference, DifferenceKind};
use super::error::Result;
use super::objects::{CURRENCY, entry_name, label};
use crate::books::Movement;
use crate::checkout::store::{self, ChargeOutcome};
use crate::checkout::{Donation, State};
use crate::monthly;
use crate::providers::stripe::form::Form;
use crate::providers::stripe::objects::{BalanceTransaction, Charge, PaymentIntent, Reference, Session};
use crate::providers::stripe::pacing::Urgency;
use platform::money::Cents;
use uuid::Uuid;

/// When Stripe is asked for the fee of a new charge, if no event has told it.
const FEE_CHECK_MILLIS: i64 = 60_000;

/// What a donor can do about a payment that failed.
const DECLINED: &str = "The payment was declined.";

impl Payments<'_> {
    /// Enters what became of a session: it was paid, the bank has yet to confirm, the payment failed, or it has expired.
    pub(crate) async fn apply_session(
        self,
        session: Session,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<()> {
        let Some(id) = self.own_donation(&session.metadata) else {
            return Ok(());
        };
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        match session.status.as_deref() {
            Some("expired") if self.is_current(id, &session).await? => store::expire(db, id, now).await?,
            // The donor can still pay, and may have been declined before.
            Some("open") => {
                let intent = session.payment_intent.as_ref().and_then(Reference::object);
                let charge = intent.and_then(|intent| intent.latest_charge.as_ref()?.object());
                let found = store::find(db, id).await?;
                let is_started = found.is_some_and(|donation| donation.state == State::Started);
                if let Some(charge) = charge.filter(|_| is_started) {
                    self.apply_charge(charge, account, urgency).await?;
                }
            }
            Some("complete") if session.subscription.is_some() => {
                self.apply_monthly_session(id, &session, account, urgency).await?;
            }
            Some("complete") => {
                let session = match &session.payment_intent {
                    Some(Reference::Id(_)) => self.stripe.find_session(&session.id, account, urgency).await?,
                    _ => session,
                };
                let intent = session.payment_intent.as_ref().and_then(Reference::object);
                self.apply_payment_intent(intent, &session, account).await?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Enters the monthly gift that a session started. Its first invoice is the donation.
    async fn apply_monthly_session(
        self,
        id: Uuid,
        session: &Session,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<()> {
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        match (&session.invoice, &session.subscription) {
            (Some(invoice), _) if session.payment_status == "paid" => {
                self.refresh_invoice(invoice.id(), account, urgency).await?;
            }
            (_, Some(subscription)) => {
                let gift = self
                    .refresh_subscription(subscription.id(), account, urgency)
                    .await?;
                let is_over = gift
                    .as_ref()
                    .is_some_and(|gift| gift.status.state == monthly::State::Canceled);
                match gift.and_then(|gift| gift.status.failure) {
                    Some(failure) => {
                        store::fail(db, id, &failure.reason, now).await?;
                        if is_over {
                            store::expire(db, id, now).await?;
                        }
                    }
                    None => store::process(db, id, now).await?,
                }
            }
            _ => {}
        }
        Ok(())
    }

    async fn apply_payment_intent(
        self,
        intent: Option<&PaymentIntent>,
        session: &Session,
        account: Option<&str>,
    ) -> Result<()> {
        let Some(id) = self.own_donation(&session.metadata) else {
            return Ok(());
        };
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        match intent {
            Some(intent) if intent.status == "succeeded" => {
                if let Some(charge) = intent.latest_charge.as_ref().and_then(Reference::object) {
                    self.apply_charge(charge, account, Urgency::Donor).await?;
                }
            }
            // What became of an earlier attempt says nothing about the next one.
            _ if !self.is_current(id, session).await? => {}
            Some(intent) if intent.status == "processing" => store::process(db, id, now).await?,
            _ => store::fail(db, id, DECLINED, now).await?,
        }
        Ok(())
    }

    /// Returns whether a session is that of the last attempt to pay a donation.
    async fn is_current(self, donation: uuid::Uuid, session: &Session) -> Result<bool> {
        let found = store::find(self.settlement.db, donation).await?;
        Ok(found.is_some_and(|donation| match &donation.payment.session {
            Some(current) => *current == session.id,
            // The answer that named it may have been lost.
            None => donation.payment.attempted_at.is_none(),
        }))
    }

    /// Enters a charge on our account or on a connected one: accepts it for its donation, and enters its fee once Stripe knows it.
    pub(crate) async fn apply_charge(
        self,
        charge: &Charge,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<()> {
        if let Some(id) = self.own_donation(&charge.metadata) {
            return self.apply_charge_to(id, charge, account, urgency).await;
        }
        // The charge of an invoice names no donation; once it is entered, the donation names the charge.
        match store::find_by_charge(self.settlement.db, &charge.id).await? {
            Some(donation) => self.apply_charge_to(donation.id, charge, account, urgency).await,
            None => Ok(()),
        }
    }

    /// Enters a charge for a donation.
    pub(crate) async fn apply_charge_to(
        self,
        id: Uuid,
        charge: &Charge,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<()> {
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        if !charge.paid || charge.status != "succeeded" {
            if charge.status == "failed" {
                Box::pin(self.apply_declined(id, charge)).await?;
            }
            return Ok(());
        }
        let Some(donation) = store::find(db, id).await? else {
            return self
                .list_charge(charge, DifferenceKind::NoDonation, Cents::ZERO)
                .await;
        };
        if donation.account.as_deref() != account {
            return self
                .list_charge(charge, DifferenceKind::NoDonation, Cents::ZERO)
                .await;
        }
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

    /// Counts a declined charge, and closes the payment page if too many cards were tried there. While a bank debit is in
    /// progress, its session says what became of it.
    async fn apply_declined(self, id: uuid::Uuid, charge: &Charge) -> Result<()> {
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        let Some(donation) = store::find(db, id).await? else {
            return Ok(());
        };
        let declined_at = charge.created.saturating_mul(1_000);
        let is_suspicious = self
            .guard
            .count_decline(&donation, &charge.id, charge.card(), declined_at)
            .await?;
        if donation.state == State::Processing {
            self.refresh(donation).await?;
            return Ok(());
        }
        store::fail(db, id, DECLINED, now).await?;
        if let (true, true, Some(session)) = (is_suspicious, donation.is_open(), &donation.payment.session) {
            let account = donation.account.as_deref();
            match self.stripe.expire_session(session, account).await {
                Ok(session) => Box::pin(self.apply_session(session, account, Urgency::Sweep)).await?,
                // It was paid or has expired.
                Err(error) if error.is_refused() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Records the donation that a charge paid, and the balance transaction of the charge.
    async fn settle_charge(self, id: Uuid, charge: &Charge, urgency: Urgency) -> Result<()> {
        let db = self.settlement.db;
        let Some(donation) = store::find(db, id).await? else {
            return Ok(());
        };
        let donation = self.settlement.settle(donation).await?;
        if donation.payment.charge.as_deref() != Some(&charge.id) {
            return Ok(());
        }
        if donation.account.is_some() {
            // The money is the nonprofit's own, so our books have no settlement.
            store::set_check(db, id, None, 0).await?;
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
        let available_at = transaction
            .available_on
            .map(|seconds| seconds.saturating_mul(1_000));
        store::finish_check(db, id, available_at).await?;
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
        let kind = DifferenceKind::SecondCharge;
        self.list_charge(charge, kind, Cents::new(charge.amount)).await?;
        if charge.amount_refunded >= charge.amount {
            return Ok(());
        }
        let form = Form::new().set("charge", &charge.id).set("reason", "duplicate");
        let key = format!("{}-second", charge.id);
        let account = donation.account.as_deref();
        match self.stripe.create_refund(form, key, account).await {
            Ok(_) => tracing::warn!(donation = %donation.id, charge = charge.id, "refunded a second charge"),
            // It was refunded since, or is disputed: the operator sees it in the list.
            Err(error) if error.is_refused() => {
                tracing::warn!(%error, charge = charge.id, "could not refund a second charge");
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
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
            let account = donation.account.as_deref();
            let session = self.stripe.find_session(session, account, Urgency::Donor).await?;
            Box::pin(self.apply_session(session, account, Urgency::Donor)).await?;
        }
        let found = store::find(self.settlement.db, donation.id).await?;
        Ok(found.unwrap_or(donation))
    }
}
