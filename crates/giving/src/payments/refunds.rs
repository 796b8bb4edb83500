//! Refunds: from our page, our command and Stripe's dashboard alike. Each is entered when Stripe has confirmed it.

use super::Payments;
use super::error::{PaymentError, Result};
use super::objects::{DONATION, REQUEST, STORE, label};
use super::store::{self, RefundRequest};
use crate::checkout::{Donation, store as checkout};
use crate::donations::{self, Reversal, SITE};
use crate::ledger::store as ledger;
use crate::providers::stripe::NAME;
use crate::providers::stripe::client::StripeError;
use crate::providers::stripe::form::Form;
use crate::providers::stripe::objects::{Reference, Refund};
use crate::providers::stripe::pacing::Urgency;
use platform::money::Cents;

/// When a call whose answer was lost is repeated.
const REPEAT_AFTER_MILLIS: i64 = 60_000;
/// Stripe repeats its answer to a lost call for at least 24 hours.
const MAX_REPEAT_MILLIS: i64 = 23 * 3_600_000;

/// A refund that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedRefund {
    /// Stripe's ID of it.
    pub id: String,
    pub amount: Cents,
    /// Whether Stripe has confirmed it. Otherwise, it is entered once Stripe does.
    pub is_confirmed: bool,
}

impl Payments<'_> {
    /// Refunds a donation or a part of it at Stripe, and enters it. Without an amount, everything that is left.
    ///
    /// What is asked for is stored first, and its ID is the idempotency key. If the answer is lost, asking again repeats the
    /// same call, and so does the sweep.
    pub async fn refund(self, donation: Donation, amount: Option<Cents>) -> Result<AskedRefund> {
        let db = self.settlement.db;
        let is_paid_here = donation.provider == NAME && donation.payment.charge.is_some();
        let Some(entry) = donation.entry.filter(|_| is_paid_here) else {
            return Err(PaymentError::NotPaidHere);
        };
        if store::has_open_dispute(db, donation.id).await? {
            return Err(PaymentError::Disputed);
        }
        let request = match store::find_open_refund_request(db, donation.id).await? {
            Some(open) if amount.is_none_or(|amount| amount == open.amount) => open,
            Some(open) => return Err(PaymentError::RefundInProgress { amount: open.amount }),
            None => {
                let left = ledger::find_remaining(db, entry).await?.amount;
                let amount = amount.unwrap_or(left);
                if amount > left || amount <= Cents::ZERO {
                    return Err(PaymentError::MoreThanLeft { left });
                }
                let now = self.settlement.clock.millis();
                store::ask_for_refund(db, donation.id, amount, now).await?
            }
        };
        self.send_refund_request(request, &donation).await
    }

    /// Sends a refund that was asked for to Stripe, and enters it.
    async fn send_refund_request(self, request: RefundRequest, donation: &Donation) -> Result<AskedRefund> {
        let db = self.settlement.db;
        let charge = donation.payment.charge.as_deref().unwrap_or_default();
        let account = donation.account.as_deref();
        let form = Form::new()
            .set("charge", charge)
            .set("amount", request.amount.get())
            .set("reason", "requested_by_customer")
            .set(&format!("metadata[{DONATION}]"), request.donation)
            .set(&format!("metadata[{STORE}]"), self.store)
            .set(&format!("metadata[{REQUEST}]"), request.id);
        let sent = self
            .stripe
            .create_refund(form, request.id.to_string(), account)
            .await;
        let now = self.settlement.clock.millis();
        let refund = match sent {
            // Stripe repeats an error of its own for a day, even if it has refunded the charge.
            Err(error @ StripeError::Unknown(_)) => {
                let requested = self.find_requested(&request, charge, account).await?;
                requested.ok_or(error)?
            }
            Err(error) if error.is_refused() => {
                store::answer_refund_request(db, request.id, Err(&error.to_string()), now).await?;
                return Err(error.into());
            }
            sent => sent?,
        };
        // Before it is answered: until then no other refund of this donation can be asked for.
        self.refresh_refund(&refund.id, account, Urgency::Donor).await?;
        store::answer_refund_request(db, request.id, Ok(&refund.id), now).await?;
        Ok(AskedRefund {
            is_confirmed: refund.status.as_deref() == Some("succeeded"),
            id: refund.id,
            amount: request.amount,
        })
    }

    /// Finds the refund that a request has led to.
    async fn find_requested(
        self,
        request: &RefundRequest,
        charge: &str,
        account: Option<&str>,
    ) -> Result<Option<Refund>> {
        let refunds = self
            .stripe
            .list_refunds(charge, account, Urgency::Donor)
            .await?
            .data;
        let id = request.id.to_string();
        Ok(refunds
            .into_iter()
            .find(|refund| refund.metadata.get(REQUEST) == Some(&id)))
    }

    /// Sends the refunds again whose answer was lost.
    pub(crate) async fn repeat_refund_requests(self) -> Result<()> {
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        let mut outcome = Ok(());
        for request in store::list_open_refund_requests(db, now - REPEAT_AFTER_MILLIS).await? {
            if request.asked_at < now - MAX_REPEAT_MILLIS {
                let reason = "Stripe did not answer for a day; look for the refund in its dashboard";
                store::answer_refund_request(db, request.id, Err(reason), now).await?;
                continue;
            }
            let donation = checkout::find(db, request.donation).await?;
            if let Some(donation) = donation.filter(|donation| donation.payment.charge.is_some()) {
                outcome = outcome.and(self.send_refund_request(request, &donation).await.map(drop));
            }
        }
        outcome
    }

    /// Enters what became of a refund at Stripe.
    pub(crate) async fn refresh_refund(
        self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<()> {
        let refund = self.stripe.find_refund(id, account, urgency).await?;
        match &refund.charge {
            Some(charge) => self.refresh_withdrawals(charge.id(), account, urgency).await,
            None => Ok(()),
        }
    }

    /// Enters all refunds and disputes of a charge.
    ///
    /// Those whose money came back are entered before the others: at Stripe they made room for them, so after them there would
    /// be too little left of the donation to enter them at all.
    pub(crate) async fn refresh_withdrawals(
        self,
        charge: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<()> {
        let Some(donation) = self.find_charged(charge, account, urgency).await? else {
            return Ok(());
        };
        let refunds = self.stripe.list_refunds(charge, account, urgency).await?.data;
        let disputes = self.stripe.list_disputes(charge, account, urgency).await?.data;
        for came_back in [true, false] {
            for refund in refunds.iter().filter(|refund| refund.has_failed() == came_back) {
                self.apply_refund(refund, &donation).await?;
            }
            for dispute in disputes
                .iter()
                .filter(|dispute| dispute.is_returned() == came_back)
            {
                self.apply_dispute(dispute, &donation).await?;
            }
        }
        self.settlement.settle(donation).await?;
        Ok(())
    }

    /// Finds the donation that a charge paid. Its refund or dispute may be reported before the charge is.
    pub(crate) async fn find_charged(
        self,
        charge: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<Option<Donation>> {
        let db = self.settlement.db;
        let is_entered =
            |donation: &Donation| donation.entry.is_some() && donation.account.as_deref() == account;
        if let Some(donation) = checkout::find_by_charge(db, charge).await?.filter(is_entered) {
            return Ok(Some(donation));
        }
        let charge = self.stripe.find_charge(charge, account, urgency).await?;
        self.enter_charge(&charge, account, urgency).await?;
        let donation = checkout::find_by_charge(db, &charge.id).await?;
        Ok(donation.filter(is_entered))
    }

    async fn apply_refund(self, refund: &Refund, donation: &Donation) -> Result<()> {
        let object =
            |reference: &Option<Reference<_>>| reference.as_ref().and_then(Reference::object).cloned();
        let transaction = object(&refund.balance_transaction);
        let returned = object(&refund.failure_balance_transaction);
        let is_settled_here = donation.account.is_none();
        let has_failed = refund.has_failed();
        // A refund that failed before any money moved was never one.
        if transaction.is_none() && (has_failed || refund.status.as_deref() != Some("succeeded")) {
            return Ok(());
        }
        let recorder = self.settlement.recorder;
        let new = donations::Refund {
            source: label(SITE),
            external_id: label(&donation.id.to_string()),
            amount: Some(Cents::new(refund.amount)),
            refund_id: Some(label(&refund.id)),
        };
        recorder.refund(new).await?;
        if let Some(transaction) = transaction.filter(|_| is_settled_here) {
            self.enter_settlement(&refund.id, &transaction).await?;
        }
        if has_failed {
            let reversal = Reversal {
                source: label(SITE),
                external_id: label(&refund.id),
            };
            recorder.reverse(reversal).await?;
            if let Some(returned) = returned.filter(|_| is_settled_here) {
                self.enter_settlement(&format!("{} failed", refund.id), &returned)
                    .await?;
            }
        }
        Ok(())
    }
}
