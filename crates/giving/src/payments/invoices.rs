//! The invoices of monthly gifts: each that is paid is one donation. The first is the donation that started the gift.

use super::Payments;
use super::error::Result;
use super::objects::CURRENCY;
use super::subscriptions::covered;
use crate::checkout::{Donation, store as checkout};
use crate::monthly::{MonthlyGift, store};
use crate::providers::stripe::objects::{Charge, Invoice, Metadata, Reference};
use crate::providers::stripe::pacing::Urgency;
use platform::money::Cents;
use uuid::Uuid;

/// The reason of the first invoice of a subscription.
const FIRST: &str = "subscription_create";

impl Payments<'_> {
    /// Enters what became of an invoice: it was paid, or could not be collected.
    pub(crate) async fn refresh_invoice(
        self,
        id: &str,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<()> {
        let invoice = self.stripe.find_invoice(id, account, urgency).await?;
        let Some((gift, subscription)) = self.own_gift(&invoice) else {
            return Ok(());
        };
        self.refresh_subscription(&subscription, account, urgency).await?;
        self.enter_invoice(gift, &invoice, account, urgency).await
    }

    /// Returns the gift and the subscription of an invoice, if this store wrote its metadata.
    fn own_gift(self, invoice: &Invoice) -> Option<(Uuid, String)> {
        let details = invoice.parent.as_ref()?.subscription_details.as_ref()?;
        let gift = self.own_donation(details.metadata.as_ref()?)?;
        Some((gift, details.subscription.id().to_owned()))
    }

    /// Returns the ID of the donation that an invoice pays.
    pub(crate) fn donation_of_invoice(self, gift: Uuid, invoice: &str, reason: Option<&str>) -> Uuid {
        if reason == Some(FIRST) {
            gift
        } else {
            self.settlement.renewal_id(invoice)
        }
    }

    /// Records the donation that an invoice paid, once.
    async fn enter_invoice(
        self,
        gift: Uuid,
        invoice: &Invoice,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<()> {
        let db = self.settlement.db;
        if invoice.status.as_deref() != Some("paid") || invoice.amount_paid <= 0 {
            return Ok(());
        }
        let Some(intent) = invoice.payment_intent() else {
            return Ok(());
        };
        let intent = self.stripe.find_payment_intent(intent, account, urgency).await?;
        let Some(charge) = intent.latest_charge.as_ref().and_then(Reference::object) else {
            return Ok(());
        };
        let id = self.donation_of_invoice(gift, &invoice.id, invoice.billing_reason.as_deref());
        if id != gift
            && invoice.currency == CURRENCY
            && let Some(first) = checkout::find(db, gift).await?
            && first.account.as_deref() == account
        {
            self.insert_donation(&first, invoice).await?;
        }
        self.apply_charge_to(id, charge, account, urgency).await
    }

    async fn insert_donation(self, first: &Donation, invoice: &Invoice) -> Result<()> {
        let details = invoice
            .parent
            .as_ref()
            .and_then(|parent| parent.subscription_details.as_ref());
        let metadata = details.and_then(|details| details.metadata.clone());
        let metadata: Metadata = metadata.unwrap_or_default();
        let covered = covered(&metadata, invoice.amount_paid);
        let amounts = (Cents::new(invoice.amount_paid), Cents::new(covered));
        self.settlement
            .insert_renewal(first, &invoice.id, amounts)
            .await?;
        Ok(())
    }

    /// Enters a charge whose event was lost. One that names no donation may have paid an invoice.
    pub(crate) async fn enter_charge(
        self,
        charge: &Charge,
        account: Option<&str>,
        urgency: Urgency,
    ) -> Result<()> {
        self.apply_charge(charge, account, urgency).await?;
        let is_known = checkout::find_by_charge(self.settlement.db, &charge.id)
            .await?
            .is_some();
        let Some(intent) = charge.payment_intent.as_ref().filter(|_| !is_known) else {
            return Ok(());
        };
        if self.own_donation(&charge.metadata).is_some() {
            return Ok(());
        }
        for payment in self
            .stripe
            .list_invoice_payments(intent.id(), account, urgency)
            .await?
            .data
        {
            self.refresh_invoice(payment.invoice.id(), account, urgency)
                .await?;
        }
        Ok(())
    }

    /// Enters the payments of a gift whose events were lost.
    pub(crate) async fn enter_missed_invoices(self, gift: &MonthlyGift, subscription: &str) -> Result<()> {
        let db = self.settlement.db;
        let account = gift.account.as_deref();
        let paid = self.stripe.list_paid_invoices(subscription, account).await?;
        // The newest is first; those up to the one that was last looked at are known.
        let known = gift.last_invoice.as_deref();
        let missed = paid
            .data
            .iter()
            .take_while(|invoice| Some(invoice.id.as_str()) != known);
        for invoice in missed {
            let id = self.donation_of_invoice(gift.id, &invoice.id, invoice.billing_reason.as_deref());
            let donation = checkout::find(db, id).await?;
            if donation.is_none_or(|donation| donation.entry.is_none()) {
                // Read again, with its payments.
                let invoice = self
                    .stripe
                    .find_invoice(&invoice.id, account, Urgency::Sweep)
                    .await?;
                self.enter_invoice(gift.id, &invoice, account, Urgency::Sweep)
                    .await?;
            }
        }
        if let Some(newest) = paid.data.first() {
            store::set_last_invoice(db, gift.id, &newest.id).await?;
        }
        Ok(())
    }
}
