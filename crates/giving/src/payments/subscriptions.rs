//! Monthly gifts by Stripe: each is a subscription, whose metadata names the donation that started it.
//!
//! A subscription is always read again, because an old event of it would be misleading. So everything here can be repeated, and
//! the outcome depends on what the subscription is now.

use super::Payments;
use super::error::Result;
use super::objects::{CAUSE, COVERED, CURRENCY};
use crate::checkout::store as checkout;
use crate::monthly::manage::Change;
use crate::monthly::{Cause, Failure, MonthlyGift, State, Status, dates, store};
use crate::providers::stripe::NAME;
use crate::providers::stripe::form::Form;
use crate::providers::stripe::objects::{
    CallError, Customer, Invoice, InvoicePayment, PaymentMethod, Reference, Subscription,
};
use crate::providers::stripe::pacing::Urgency;
use platform::money::Cents;
use uuid::Uuid;

/// Gifts that one sweep asks about.
const MAX_BATCH: i64 = 100;
const HOUR_MILLIS: i64 = 3_600_000;

impl Payments<'_> {
    /// Stores what a subscription is now, and uses the card that its donor has entered since. Returns the gift, if the
    /// subscription is one of ours.
    pub(crate) async fn refresh_subscription(
        self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<Option<MonthlyGift>> {
        let mut at = self.settlement.clock.millis();
        let mut subscription = self.stripe.find_subscription(id, account, urgency).await?;
        let Some(gift) = self.own_donation(&subscription.metadata) else {
            return Ok(None);
        };
        let is_same_mode = subscription.livemode != self.mode.is_test();
        let first = checkout::find(self.settlement.db, gift).await?;
        let first = first.filter(|first| first.account.as_deref() == account && first.starts_monthly_gift());
        let Some(first) = first.filter(|_| is_same_mode) else {
            return Ok(None);
        };
        if self.use_new_card(&subscription, account, urgency).await? {
            at = self.settlement.clock.millis();
            subscription = self.stripe.find_subscription(id, account, urgency).await?;
        }
        let known = store::find(self.settlement.db, gift).await?;
        let status = self.status_of(&subscription, account, urgency).await?;
        let gift = MonthlyGift {
            id: gift,
            provider: NAME.to_owned(),
            mode: self.mode,
            nonprofit: first.nonprofit,
            fundraiser: first.fundraiser,
            account: first.account,
            started_at: subscription.created.saturating_mul(1_000),
            status,
            last_invoice: known.and_then(|known| known.last_invoice),
        };
        self.settlement.see_gift(gift.clone(), at).await?;
        Ok(Some(gift))
    }

    /// Charges the card that the donor has entered on Stripe's page from now on, and the open invoice with it. Stripe's page
    /// may change only the card of the customer, who has none before. Returns whether something may have changed.
    async fn use_new_card(
        self,
        subscription: &Subscription,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<bool> {
        let own = subscription.default_payment_method.as_ref().map(Reference::id);
        let Some(card) = customers_card(subscription).filter(|_| subscription.status != "canceled") else {
            return Ok(false);
        };
        let is_new = Some(card.id.as_str()) != own;
        // If Stripe's page has changed both cards, the donor who returns from it is the reason to try the card.
        if !is_new && urgency != Urgency::Donor {
            return Ok(false);
        }
        if let Some(invoice) = latest_invoice(subscription).filter(|invoice| is_failed(subscription, invoice))
        {
            // The same card is tried once for an invoice, whatever is repeated.
            let key = format!("{}-{}", invoice.id, card.id);
            let form = Form::new().set("payment_method", &card.id);
            match self.stripe.pay_invoice(&invoice.id, account, form, key).await {
                Err(error) if error.is_refused() => {
                    tracing::info!(%error, invoice = invoice.id, "a new card was declined");
                }
                paid => paid?,
            }
        }
        if !is_new {
            return Ok(latest_invoice(subscription).is_some_and(|invoice| is_failed(subscription, invoice)));
        }
        let form = Form::new().set("default_payment_method", &card.id);
        let key = format!("{}-{}", subscription.id, card.id);
        let id = &subscription.id;
        self.stripe
            .update_subscription(id, account, form, key, Urgency::Donor)
            .await?;
        Ok(true)
    }

    async fn status_of(
        self,
        subscription: &Subscription,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<Status> {
        let (state, cause) = state_of(subscription);
        let item = subscription.items.data.first();
        let amount = item.map_or(0, |item| {
            item.price.unit_amount.unwrap_or(0) * item.quantity.unwrap_or(1)
        });
        let covered = covered(&subscription.metadata, amount);
        let card = subscription
            .default_payment_method
            .as_ref()
            .and_then(Reference::object)
            .or_else(|| customers_card(subscription))
            .and_then(|method| method.card);
        Ok(Status {
            state,
            cause,
            amount: Cents::new(amount),
            covered: Cents::new(covered),
            subscription: Some(subscription.id.clone()),
            customer: Some(subscription.customer.id().to_owned()),
            next_at: item.map(|item| item.current_period_end.saturating_mul(1_000)),
            resumes_at: subscription
                .pause_collection
                .and_then(|pause| pause.resumes_at)
                .map(|seconds| seconds.saturating_mul(1_000)),
            canceled_at: subscription
                .canceled_at
                .map(|seconds| seconds.saturating_mul(1_000)),
            failure: self.failure_of(subscription, account, urgency).await?,
            card_expires_at: card.and_then(|card| dates::card_expiry(card.exp_year, card.exp_month)),
        })
    }

    /// Returns why the latest invoice could not be collected. A bank debit that is not confirmed yet may still be.
    async fn failure_of(
        self,
        subscription: &Subscription,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<Option<Failure>> {
        let Some(invoice) = latest_invoice(subscription).filter(|invoice| is_failed(subscription, invoice))
        else {
            return Ok(None);
        };
        let mut reason = String::new();
        if let Some(intent) = invoice.payment_intent() {
            let intent = self.stripe.find_payment_intent(intent, account, urgency).await?;
            if intent.status == "processing" {
                return Ok(None);
            }
            let error = intent.last_payment_error;
            reason = error
                .and_then(|error: CallError| error.message)
                .unwrap_or_default();
        }
        Ok(Some(Failure {
            invoice: invoice.id.clone(),
            attempts: invoice.attempt_count,
            reason,
            next_attempt_at: invoice
                .next_payment_attempt
                .map(|seconds| seconds.saturating_mul(1_000)),
        }))
    }

    /// Ends a gift whose first payment failed, unless Stripe will try again by itself or the donor's bank has yet to confirm.
    pub(crate) async fn give_up_gift(self, subscription: &str, account: Option<&str>) -> Result<()> {
        let gift = self
            .refresh_subscription(subscription, account, Urgency::Sweep)
            .await?;
        let gift = gift.filter(|gift| gift.status.state != State::Canceled);
        let failure = gift.and_then(|gift| gift.status.failure);
        if failure.is_none_or(|failure| failure.next_attempt_at.is_some()) {
            return Ok(());
        }
        // The reason goes first: nothing can be changed afterwards.
        let form = Form::new().set(&format!("metadata[{CAUSE}]"), Cause::Payment.as_str());
        let key = format!("{subscription}-give-up");
        self.stripe
            .update_subscription(subscription, account, form, key, Urgency::Sweep)
            .await?;
        Ok(self.stripe.cancel_subscription(subscription, account).await?)
    }

    /// Changes a gift as its donor asks, and stores what it is then.
    pub(crate) async fn change_subscription(self, gift: &MonthlyGift, change: Change) -> Result<()> {
        let Some(id) = &gift.status.subscription else {
            return Ok(());
        };
        let account = gift.account.as_deref();
        match change {
            Change::Amount { amount, covered } => {
                let subscription = self.stripe.find_subscription(id, account, Urgency::Donor).await?;
                if let Some(item) = subscription.items.data.first() {
                    let form = Form::new()
                        .set("items[0][id]", &item.id)
                        .set("items[0][quantity]", 1)
                        .set("items[0][price_data][currency]", CURRENCY)
                        .set("items[0][price_data][product]", &item.price.product)
                        .set("items[0][price_data][recurring][interval]", "month")
                        .set("items[0][price_data][unit_amount]", amount.get())
                        .set("proration_behavior", "none")
                        .set(&format!("metadata[{COVERED}]"), covered.get());
                    self.update_subscription(id, account, form).await?;
                }
            }
            Change::Pause { months } => {
                let next_at = gift
                    .status
                    .next_at
                    .unwrap_or_else(|| self.settlement.clock.millis());
                let resumes_at = dates::pause_end(next_at, months) / 1_000;
                let form = Form::new()
                    .set("pause_collection[behavior]", "void")
                    .set("pause_collection[resumes_at]", resumes_at)
                    .set(&format!("metadata[{CAUSE}]"), "");
                self.update_subscription(id, account, form).await?;
            }
            Change::Resume => {
                let form = Form::new()
                    .set("pause_collection", "")
                    .set(&format!("metadata[{CAUSE}]"), "");
                self.update_subscription(id, account, form).await?;
                let subscription = self.stripe.find_subscription(id, account, Urgency::Donor).await?;
                if subscription.status == "paused" {
                    self.stripe.resume_subscription(id, account, new_key()).await?;
                }
            }
            Change::Cancel => self.stripe.cancel_subscription(id, account).await?,
        }
        self.refresh_subscription(id, account, Urgency::Donor).await?;
        Ok(())
    }

    async fn update_subscription(self, id: &str, account: Option<&str>, form: Form) -> Result<()> {
        let updated = self
            .stripe
            .update_subscription(id, account, form, new_key(), Urgency::Donor);
        Ok(updated.await?)
    }

    /// Returns the URL of the page where a donor enters a new card.
    pub(crate) async fn open_portal(
        self,
        customer: &str,
        account: Option<&str>,
        return_url: &str,
    ) -> Result<String> {
        let form = Form::new()
            .set("customer", customer)
            .set("return_url", return_url)
            .set("flow_data[type]", "payment_method_update")
            .set("flow_data[after_completion][type]", "redirect")
            .set("flow_data[after_completion][redirect][return_url]", return_url);
        let session = self
            .stripe
            .create_portal_session(form, new_key(), account)
            .await?;
        Ok(session.url)
    }

    /// Asks about the gifts that are due: whether they changed, whether a payment was missed, and whether they still have a
    /// recipient. One that fails does not hold up the others; the first error is returned.
    pub(crate) async fn check_monthly_gifts(self) -> Result<()> {
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        let mut outcome = Ok(());
        for gift in store::list_to_check(db, now, MAX_BATCH).await? {
            if gift.provider == NAME && gift.mode == self.mode {
                // First, so that an error does not stop others from being asked about.
                store::set_check(db, gift.id, Some(now + HOUR_MILLIS)).await?;
                outcome = outcome.and(self.check_monthly_gift(gift).await);
            }
        }
        outcome
    }

    async fn check_monthly_gift(self, gift: MonthlyGift) -> Result<()> {
        let Some(id) = gift.status.subscription.clone() else {
            return Ok(());
        };
        let account = gift.account.as_deref();
        let may_charge = matches!(gift.status.state, State::Active | State::PastDue);
        if may_charge && !self.settlement.can_receive(&gift).await? {
            let form = Form::new()
                .set("pause_collection[behavior]", "void")
                .set(&format!("metadata[{CAUSE}]"), Cause::Recipient.as_str());
            self.stripe
                .update_subscription(&id, account, form, new_key(), Urgency::Sweep)
                .await?;
        }
        if self
            .refresh_subscription(&id, account, Urgency::Sweep)
            .await?
            .is_some()
        {
            self.enter_missed_invoices(&gift, &id).await?;
        }
        Ok(())
    }
}

/// Returns a new idempotency key: a retry within a call has the same, and another change has another.
fn new_key() -> String {
    Uuid::now_v7().to_string()
}

/// Returns the state of a subscription, and what put it there.
fn state_of(subscription: &Subscription) -> (State, Option<Cause>) {
    let reason = subscription
        .cancellation_details
        .as_ref()
        .and_then(|details| details.reason.as_deref());
    let cause = subscription.metadata.get(CAUSE).map(String::as_str);
    let cause = cause.and_then(Cause::find);
    match subscription.status.as_str() {
        "canceled" | "incomplete_expired" => {
            let is_failed = reason == Some("payment_failed") || cause == Some(Cause::Payment);
            (State::Canceled, is_failed.then_some(Cause::Payment))
        }
        // What Stripe does after the last attempt depends on the operator's settings.
        "paused" => (State::Paused, Some(Cause::Payment)),
        _ if subscription.pause_collection.is_some() => (State::Paused, cause),
        "unpaid" => (State::PastDue, Some(Cause::Payment)),
        "past_due" => (State::PastDue, None),
        _ => (State::Active, None),
    }
}

/// Returns the part of an amount that covers the fee, from the metadata of its subscription.
pub(crate) fn covered(metadata: &crate::providers::stripe::objects::Metadata, amount: i64) -> i64 {
    let covered = metadata.get(COVERED).and_then(|text| text.parse().ok());
    covered
        .filter(|covered| (0..amount).contains(covered))
        .unwrap_or(0)
}

fn latest_invoice(subscription: &Subscription) -> Option<&Invoice> {
    subscription.latest_invoice.as_ref().and_then(Reference::object)
}

/// Returns whether an invoice could not be collected. A bank debit that is not confirmed yet was tried too, but then the
/// subscription is active.
fn is_failed(subscription: &Subscription, invoice: &Invoice) -> bool {
    matches!(
        subscription.status.as_str(),
        "past_due" | "unpaid" | "paused" | "canceled"
    ) && invoice.status.as_deref() == Some("open")
        && invoice.attempt_count > 0
}

fn customers_card(subscription: &Subscription) -> Option<&PaymentMethod> {
    let customer: &Customer = subscription.customer.object()?;
    let method = customer
        .invoice_settings
        .as_ref()?
        .default_payment_method
        .as_ref();
    method.and_then(Reference::object)
}

impl Invoice {
    /// Returns the payment intent that pays it: the one that succeeded, or else the latest.
    pub(crate) fn payment_intent(&self) -> Option<&str> {
        let payments = &self.payments.as_ref()?.data;
        let paid = payments.iter().find(|payment| payment.status == "paid");
        let payment: &InvoicePayment = paid.or(payments.last())?;
        payment.payment.payment_intent.as_ref().map(Reference::id)
    }
}
