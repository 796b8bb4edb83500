//! The parts of Stripe's objects that we read, in API version `2026-10-28.endive`.

use serde::Deserialize;
use std::collections::HashMap;

/// A reference to another object: its ID, or the object itself if the call asked for it with `expand`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub(crate) enum Reference<T> {
    Id(String),
    Object(Box<T>),
}

impl<T> Reference<T> {
    /// Returns the object, if it was asked for.
    pub(crate) fn object(&self) -> Option<&T> {
        match self {
            Reference::Id(_) => None,
            Reference::Object(object) => Some(object),
        }
    }
}

impl<T: HasId> Reference<T> {
    pub(crate) fn id(&self) -> &str {
        match self {
            Reference::Id(id) => id,
            Reference::Object(object) => object.id(),
        }
    }
}

/// An object that can be referred to.
pub(crate) trait HasId {
    fn id(&self) -> &str;
}

macro_rules! has_id {
    ($($object:ident),*) => {
        $(impl HasId for $object {
            fn id(&self) -> &str {
                &self.id
            }
        })*
    };
}

has_id!(
    BalanceTransaction,
    Charge,
    Customer,
    Invoice,
    PaymentIntent,
    PaymentMethod,
    Subscription
);

/// Our own texts, which Stripe keeps with an object.
pub(crate) type Metadata = HashMap<String, String>;

/// A page of a list.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct List<T> {
    pub data: Vec<T>,
    /// Whether there are more after the last one.
    #[serde(default)]
    pub has_more: bool,
}

/// A URL to which Stripe sends events.
#[derive(Clone, Debug, Deserialize)]
pub struct WebhookEndpoint {
    pub url: String,
    /// `enabled` or `disabled`.
    pub status: String,
    /// The kinds of events, or `*` for nearly all of them.
    pub enabled_events: Vec<String>,
}

/// A visit of Stripe's payment page.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Session {
    pub id: String,
    /// The payment page. Absent once the session is no longer open.
    pub url: Option<String>,
    /// `open`, `complete` or `expired`.
    pub status: Option<String>,
    #[serde(default)]
    pub metadata: Metadata,
    /// `paid`, `unpaid` or `no_payment_required`.
    #[serde(default)]
    pub payment_status: String,
    pub payment_intent: Option<Reference<PaymentIntent>>,
    /// The subscription that it started, and the first invoice of that.
    pub subscription: Option<Reference<Subscription>>,
    pub invoice: Option<Reference<Invoice>>,
}

impl Session {
    /// Returns the payment page, if it can still be paid there.
    pub(crate) fn open_url(&self) -> Option<String> {
        self.url
            .clone()
            .filter(|_| self.status.as_deref() == Some("open"))
    }

    /// Returns whether the donor was done, and the payment failed afterwards. Only if the payment was asked for.
    pub(crate) fn was_refused(&self) -> bool {
        let intent = self.payment_intent.as_ref().and_then(Reference::object);
        self.status.as_deref() == Some("complete")
            && intent.is_some_and(|intent| {
                matches!(intent.status.as_str(), "requires_payment_method" | "canceled")
            })
    }
}

/// An attempt to collect an amount.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PaymentIntent {
    pub id: String,
    /// `succeeded`, `processing`, `requires_payment_method`, `canceled` and others.
    pub status: String,
    pub latest_charge: Option<Reference<Charge>>,
    /// Why the last attempt failed.
    pub last_payment_error: Option<CallError>,
}

/// A charge of a card or a bank account.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Charge {
    pub id: String,
    pub amount: i64,
    pub amount_refunded: i64,
    pub currency: String,
    /// The time in seconds.
    pub created: i64,
    pub livemode: bool,
    pub paid: bool,
    /// `succeeded`, `pending` or `failed`.
    pub status: String,
    #[serde(default)]
    pub metadata: Metadata,
    pub payment_intent: Option<Reference<PaymentIntent>>,
    /// Absent until Stripe knows its fee.
    pub balance_transaction: Option<Reference<BalanceTransaction>>,
    pub payment_method_details: Option<PaymentMethodDetails>,
}

impl Charge {
    /// Returns the fingerprint of its card, which tells cards apart and says nothing about their numbers.
    pub(crate) fn card(&self) -> Option<&str> {
        let details = self.payment_method_details.as_ref()?;
        details.card.as_ref()?.fingerprint.as_deref()
    }
}

/// How a charge was paid.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PaymentMethodDetails {
    pub card: Option<Card>,
}

/// The card of a charge.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Card {
    pub fingerprint: Option<String>,
}

/// A payment that is collected every month. Its metadata has our texts.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Subscription {
    pub id: String,
    /// `active`, `past_due`, `unpaid`, `paused`, `canceled`, `incomplete` and others.
    pub status: String,
    #[serde(default)]
    pub metadata: Metadata,
    pub livemode: bool,
    /// The time in seconds.
    pub created: i64,
    pub customer: Reference<Customer>,
    pub items: List<SubscriptionItem>,
    pub latest_invoice: Option<Reference<Invoice>>,
    pub pause_collection: Option<PauseCollection>,
    /// In seconds.
    pub canceled_at: Option<i64>,
    pub cancellation_details: Option<CancellationDetails>,
    pub default_payment_method: Option<Reference<PaymentMethod>>,
}

/// What is collected, for which period.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SubscriptionItem {
    pub id: String,
    /// In seconds.
    pub current_period_end: i64,
    pub price: Price,
    pub quantity: Option<i64>,
}

/// An amount for each period.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Price {
    pub unit_amount: Option<i64>,
    pub product: String,
}

/// A pause in which invoices are void.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct PauseCollection {
    /// In seconds. Without it, the pause has no end.
    pub resumes_at: Option<i64>,
}

/// Why a subscription was canceled.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct CancellationDetails {
    /// `cancellation_requested`, `payment_failed` or `payment_disputed`.
    pub reason: Option<String>,
}

/// Whose card is charged.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Customer {
    pub id: String,
    pub invoice_settings: Option<InvoiceSettings>,
}

/// How the invoices of a customer are paid.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct InvoiceSettings {
    pub default_payment_method: Option<Reference<PaymentMethod>>,
}

/// A card or a bank account.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PaymentMethod {
    pub id: String,
    pub card: Option<SavedCard>,
}

/// When a saved card expires.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct SavedCard {
    pub exp_month: i8,
    pub exp_year: i16,
}

/// What a subscription collects once.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Invoice {
    pub id: String,
    /// `draft`, `open`, `paid`, `void` or `uncollectible`.
    pub status: Option<String>,
    /// `subscription_create` for the first one of a subscription.
    pub billing_reason: Option<String>,
    pub amount_paid: i64,
    pub currency: String,
    pub attempt_count: i64,
    /// In seconds.
    pub next_payment_attempt: Option<i64>,
    pub parent: Option<InvoiceParent>,
    /// If the call asked for them.
    pub payments: Option<List<InvoicePayment>>,
}

/// What an invoice belongs to.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct InvoiceParent {
    pub subscription_details: Option<SubscriptionDetails>,
}

/// The subscription of an invoice, with its metadata when the invoice was made.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SubscriptionDetails {
    pub subscription: Reference<Subscription>,
    pub metadata: Option<Metadata>,
}

/// A payment of an invoice.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct InvoicePayment {
    pub invoice: Reference<Invoice>,
    /// `open`, `paid` or `canceled`.
    pub status: String,
    pub payment: PaymentOfInvoice,
}

/// How an invoice is paid.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PaymentOfInvoice {
    pub payment_intent: Option<Reference<PaymentIntent>>,
}

/// A visit of the customer portal.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PortalSession {
    pub url: String,
}

/// A change of our balance at Stripe.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct BalanceTransaction {
    pub id: String,
    pub amount: i64,
    pub fee: i64,
    pub net: i64,
    /// What it is for accounting, such as `charge`, `refund`, `dispute`, `payout` or `fee`.
    pub reporting_category: String,
    /// The ID of the charge, refund, dispute or payout behind it.
    pub source: Option<String>,
    /// When the money is available, in seconds.
    #[serde(default)]
    pub available_on: Option<i64>,
}

/// Money that goes back to a donor.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Refund {
    pub id: String,
    pub amount: i64,
    /// `pending`, `succeeded`, `failed`, `requires_action` or `canceled`.
    pub status: Option<String>,
    #[serde(default)]
    pub metadata: Metadata,
    pub charge: Option<Reference<Charge>>,
    pub balance_transaction: Option<Reference<BalanceTransaction>>,
    pub failure_balance_transaction: Option<Reference<BalanceTransaction>>,
}

impl Refund {
    /// Returns whether its money came back, or never left.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.status.as_deref(), Some("failed" | "canceled"))
    }
}

/// A donor's objection to a charge at the bank.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Dispute {
    pub id: String,
    pub amount: i64,
    pub charge: Reference<Charge>,
    /// The time in seconds.
    pub created: i64,
    pub evidence_details: Option<EvidenceDetails>,
    pub reason: String,
    /// `needs_response`, `under_review`, `won`, `lost`, `warning_…` for an inquiry, and others.
    pub status: String,
    /// None for an inquiry, one after the withdrawal, two if the money came back.
    #[serde(default)]
    pub balance_transactions: Vec<BalanceTransaction>,
}

impl Dispute {
    /// Returns whether the bank returned what it had withdrawn.
    pub(crate) fn is_returned(&self) -> bool {
        self.balance_transactions
            .iter()
            .any(|transaction| transaction.amount > 0)
    }
}

/// What the operator has to send to the bank.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EvidenceDetails {
    /// By when, in seconds.
    pub due_by: Option<i64>,
}

/// Our balance at Stripe.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Balance {
    pub available: Vec<BalanceAmount>,
    pub pending: Vec<BalanceAmount>,
}

impl Balance {
    /// Returns everything that is ours in a currency, in its smallest unit.
    pub(crate) fn total(&self, currency: &str) -> i64 {
        let amounts = self.available.iter().chain(&self.pending);
        amounts
            .filter(|amount| amount.currency == currency)
            .map(|amount| amount.amount)
            .sum()
    }
}

/// An amount of one currency.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct BalanceAmount {
    pub amount: i64,
    pub currency: String,
}

/// Our account.
#[derive(Clone, Debug, Deserialize)]
pub struct Account {
    pub id: String,
    #[serde(default)]
    pub charges_enabled: bool,
}

/// Something that happened at Stripe. `data.object` depends on the type.
#[derive(Clone, Debug, Deserialize)]
pub struct Event {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// The time in seconds.
    pub created: i64,
    pub livemode: bool,
    /// The connected account that it is about, if it is not ours.
    pub account: Option<String>,
    pub data: EventData,
}

/// The object that an event is about.
#[derive(Clone, Debug, Deserialize)]
pub struct EventData {
    pub object: serde_json::Value,
}

/// The answer to a call that failed.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CallError {
    /// `card_error`, `invalid_request_error`, `idempotency_error`, `api_error`.
    #[serde(rename = "type", default)]
    pub kind: String,
    pub code: Option<String>,
    pub decline_code: Option<String>,
    pub param: Option<String>,
    pub message: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_an_id_or_an_object() {
        let charge = |json: &str| serde_json::from_str::<PaymentIntent>(json).unwrap().latest_charge;
        let json = r#"{"id":"pi_1","status":"succeeded","amount":1,"currency":"usd","livemode":false,"latest_charge":"ch_1"}"#;
        let reference = charge(json).unwrap();
        assert_eq!(reference.id(), "ch_1");
        assert!(reference.object().is_none());
        let object = r#"{"id":"ch_1","amount":1,"amount_refunded":0,"currency":"usd","created":5,"livemode":false,
            "paid":true,"status":"succeeded","balance_transaction":null}"#;
        let reference = charge(&json.replace("\"ch_1\"", object)).unwrap();
        assert_eq!(reference.id(), "ch_1");
        assert_eq!(reference.object().map(|charge| charge.created), Some(5));
    }

    #[test]
    fn the_balance_counts_what_is_pending_too() {
        let balance: Balance = serde_json::from_str(
            r#"{"livemode":true,"available":[{"amount":5,"currency":"usd"},{"amount":9,"currency":"eur"}],
                "pending":[{"amount":-2,"currency":"usd"}]}"#,
        )
        .unwrap();
        assert_eq!(balance.total("usd"), 3);
    }
}
