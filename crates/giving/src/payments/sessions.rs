//! The session of a donation: one visit of Stripe's payment page.
//!
//! The idempotency key of a session is the donation and the number of attempts that created none. So a call whose answer was
//! lost can be repeated, and two calls for one donation return the same session. The attempt grows only after an answer that
//! nothing was created, because Stripe repeats saved errors for 24 hours.

use super::Payments;
use super::error::{PaymentError, Result};
use super::objects::{COVERED, CURRENCY, DONATION, STORE};
use super::sweep::FIRST_CHECK_MILLIS;
use crate::checkout::{Donation, store};
use crate::providers::stripe::form::Form;
use crate::providers::stripe::objects::Session;
use crate::providers::stripe::pacing::Urgency;
use platform::email_address::EmailAddress;
use platform::text::cut;

/// The most that Stripe shows of the name of what is paid.
const MAX_NAME_CHARS: usize = 120;

impl Payments<'_> {
    /// Returns the URL of the page where a donation is paid. The same donation leads to the same page while that is open.
    pub async fn open_session(self, donation: &Donation) -> Result<String> {
        if donation.screening.is_held() {
            return Err(PaymentError::Held);
        }
        let session = self.find_or_create_session(donation).await?;
        if let Some(url) = session.open_url() {
            return Ok(url);
        }
        let (id, was_refused) = (session.id.clone(), session.was_refused());
        self.apply_session(session, donation.account.as_deref(), Urgency::Donor)
            .await?;
        if !was_refused {
            return Err(PaymentError::Closed);
        }
        // The donor was done, and the bank refused days later. That session stays closed, so there is another one.
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        store::begin_attempt(db, donation.id, &id, now).await?;
        let again = store::find(db, donation.id).await?;
        let again = again.filter(Donation::is_open).ok_or(PaymentError::Closed)?;
        let session = self.find_or_create_session(&again).await?;
        session.open_url().ok_or(PaymentError::Closed)
    }

    async fn find_or_create_session(self, donation: &Donation) -> Result<Session> {
        let account = donation.account.as_deref();
        match &donation.payment.session {
            Some(id) => Ok(self.stripe.find_session(id, account, Urgency::Donor).await?),
            None => self.create_session(donation).await,
        }
    }

    /// Creates the session of a donation, or finds the one that a lost call created.
    pub(crate) async fn create_session(self, donation: &Donation) -> Result<Session> {
        let (db, attempt) = (self.settlement.db, donation.payment.attempt);
        let check_at = self.settlement.clock.millis() + FIRST_CHECK_MILLIS;
        // Before the call: if its answer is lost, the sweep asks for it.
        store::set_check(db, donation.id, Some(check_at), 0).await?;
        let key = format!("{}-{attempt}", donation.id);
        let form = self.session_form(donation).await?;
        match self
            .stripe
            .create_session(form, key, donation.account.as_deref())
            .await
        {
            Ok(session) => {
                store::set_session(db, donation.id, &session.id, check_at).await?;
                Ok(session)
            }
            Err(error) => {
                if error.is_refused() {
                    store::end_attempt(db, donation.id, attempt).await?;
                }
                Err(error.into())
            }
        }
    }

    /// Returns the parameters of a session. They depend on the donation alone, because Stripe refuses a repeated call that
    /// differs from the first.
    async fn session_form(self, donation: &Donation) -> Result<Form> {
        let (id, store) = (donation.id, self.store);
        let page = format!("{}/donations/{}", self.settlement.public_url, donation.receipt_id);
        let email = donation.email.as_ref().map(EmailAddress::as_str);
        let name = self
            .settlement
            .recipient_name(donation.nonprofit, donation.fundraiser)
            .await?;
        // Both the payment and a subscription name the donation, because events can be about either.
        let (mode, data) = if donation.starts_monthly_gift() {
            ("subscription", "subscription_data")
        } else {
            ("payment", "payment_intent_data")
        };
        let form = Form::new()
            .set("mode", mode)
            .set("submit_type", "donate")
            .set("client_reference_id", format!("{}_{id}", store.simple()))
            .set(&format!("metadata[{DONATION}]"), id)
            .set(&format!("metadata[{STORE}]"), store)
            .set(&format!("{data}[metadata][{DONATION}]"), id)
            .set(&format!("{data}[metadata][{STORE}]"), store)
            .set("line_items[0][quantity]", 1)
            .set("line_items[0][price_data][currency]", CURRENCY)
            .set("line_items[0][price_data][unit_amount]", donation.amount.get())
            .set(
                "line_items[0][price_data][product_data][name]",
                format!("Donation to {}", cut(&name, MAX_NAME_CHARS)),
            )
            .set_some("customer_email", email)
            .set("success_url", format!("{page}?paid=true"))
            .set("cancel_url", &page);
        if !donation.starts_monthly_gift() {
            return Ok(form);
        }
        Ok(form
            .set("line_items[0][price_data][recurring][interval]", "month")
            .set(
                &format!("subscription_data[metadata][{COVERED}]"),
                donation.covered.get(),
            ))
    }
}
