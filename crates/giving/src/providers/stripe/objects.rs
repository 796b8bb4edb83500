//! The parts of Stripe's objects that we read, in API version `2026-10-28.endive`.

use serde::Deserialize;
use std::collections::HashMap;

/// A reference to another object: its ID, or the object itself if the call asked for it with `expand`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Reference<T> {
    Id(String),
    Object(Box<T>),
}

impl<T> Reference<T> {
    /// Returns the object, if it was asked for.
    pub fn object(&self) -> Option<&T> {
        match self {
            Reference::Id(_) => None,
            Reference::Object(object) => Some(object),
        }
    }
}

impl<T: HasId> Reference<T> {
    pub fn id(&self) -> &str {
        match self {
            Reference::Id(id) => id,
            Reference::Object(object) => object.id(),
        }
    }
}

/// An object that can be referred to.
pub trait HasId {
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
    Session,
    Subscription
);

/// Our own texts, which Stripe keeps with an object.
pub type Metadata = HashMap<String, String>;

/// A page of a list.
#[derive(Clone, Debug, Deserialize)]
pub struct List<T> {
    pub data: Vec<T>,
    /// Whether there are more after the last one.
    #[serde(default)]
    pub has_more: bool,
}

/// A visit of Stripe's payment page.
#[derive(Clone, Debug, Deserialize)]
pub struct Session {
    pub id: String,
    /// The payment page. Absent once the session is no longer open.
    pub url: Option<String>,
    /// `open`, `complete` or `expired`.
    pub status: Option<String>,
    /// `paid`, `unpaid` or `no_payment_required`.
    pub payment_status: String,
    pub amount_total: Option<i64>,
    pub currency: Option<String>,
    pub client_reference_id: Option<String>,
    #[serde(default)]
    pub metadata: Metadata,
    pub livemode: bool,
    pub customer: Option<Reference<Customer>>,
    pub invoice: Option<Reference<Invoice>>,
    pub payment_intent: Option<Reference<PaymentIntent>>,
    pub subscription: Option<Reference<Subscription>>,
}

/// A person whose card Stripe keeps.
#[derive(Clone, Debug, Deserialize)]
pub struct Customer {
    pub id: String,
}

/// An attempt to collect an amount.
#[derive(Clone, Debug, Deserialize)]
pub struct PaymentIntent {
    pub id: String,
    /// `succeeded`, `processing`, `requires_payment_method`, `canceled` and others.
    pub status: String,
    pub amount: i64,
    pub currency: String,
    pub livemode: bool,
    #[serde(default)]
    pub metadata: Metadata,
    pub latest_charge: Option<Reference<Charge>>,
    pub last_payment_error: Option<CallError>,
}

/// A charge of a card or a bank account.
#[derive(Clone, Debug, Deserialize)]
pub struct Charge {
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

/// What was charged.
#[derive(Clone, Debug, Deserialize)]
pub struct PaymentMethodDetails {
    pub card: Option<Card>,
}

/// A card, as far as Stripe shows it.
#[derive(Clone, Debug, Deserialize)]
pub struct Card {
    /// Equal for equal card numbers.
    pub fingerprint: Option<String>,
    pub last4: Option<String>,
    pub exp_month: Option<i64>,
    pub exp_year: Option<i64>,
}

/// A change of our balance at Stripe.
#[derive(Clone, Debug, Deserialize)]
pub struct BalanceTransaction {
    pub id: String,
    pub amount: i64,
    pub fee: i64,
    pub net: i64,
    pub currency: String,
    /// The time in seconds.
    pub created: i64,
    /// When it can be paid out, in seconds.
    pub available_on: i64,
    /// What it is for accounting, such as `charge`, `refund`, `dispute`, `payout` or `fee`.
    pub reporting_category: String,
    /// The ID of the charge, refund, dispute or payout behind it.
    pub source: Option<String>,
}

/// Money that goes back to a donor.
#[derive(Clone, Debug, Deserialize)]
pub struct Refund {
    pub id: String,
    pub amount: i64,
    pub currency: String,
    /// `pending`, `succeeded`, `failed`, `requires_action` or `canceled`.
    pub status: Option<String>,
    pub charge: Option<Reference<Charge>>,
    pub payment_intent: Option<Reference<PaymentIntent>>,
    pub balance_transaction: Option<Reference<BalanceTransaction>>,
    pub failure_balance_transaction: Option<Reference<BalanceTransaction>>,
    pub failure_reason: Option<String>,
    #[serde(default)]
    pub metadata: Metadata,
}

/// A donor's objection to a charge at the bank.
#[derive(Clone, Debug, Deserialize)]
pub struct Dispute {
    pub id: String,
    pub amount: i64,
    pub currency: String,
    pub charge: Reference<Charge>,
    pub livemode: bool,
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

/// What the operator has to send to the bank.
#[derive(Clone, Debug, Deserialize)]
pub struct EvidenceDetails {
    /// By when, in seconds.
    pub due_by: Option<i64>,
}

impl Dispute {
    /// Returns whether it is only a question: no money is withdrawn.
    pub fn is_inquiry(&self) -> bool {
        self.status.starts_with("warning_")
    }
}

/// A monthly gift, as Stripe keeps it.
#[derive(Clone, Debug, Deserialize)]
pub struct Subscription {
    pub id: String,
    /// `active`, `past_due`, `canceled`, `unpaid`, `paused`, `incomplete` and others.
    pub status: String,
    pub customer: Reference<Customer>,
    pub livemode: bool,
    #[serde(default)]
    pub metadata: Metadata,
    pub items: List<SubscriptionItem>,
    pub pause_collection: Option<PauseCollection>,
}

/// What a subscription charges for.
#[derive(Clone, Debug, Deserialize)]
pub struct SubscriptionItem {
    pub id: String,
    pub price: Price,
    /// When the next invoice is due, in seconds.
    pub current_period_end: Option<i64>,
}

/// An amount that is charged.
#[derive(Clone, Debug, Deserialize)]
pub struct Price {
    pub id: String,
    pub product: String,
    pub unit_amount: Option<i64>,
}

/// A pause of a subscription.
#[derive(Clone, Debug, Deserialize)]
pub struct PauseCollection {
    /// In seconds. Absent if it is paused until somebody resumes it.
    pub resumes_at: Option<i64>,
}

/// The bill of one month.
#[derive(Clone, Debug, Deserialize)]
pub struct Invoice {
    pub id: String,
    /// `subscription_create` for the first one, `subscription_cycle` for the others.
    pub billing_reason: Option<String>,
    pub amount_paid: i64,
    pub currency: String,
    pub livemode: bool,
    /// `draft`, `open`, `paid`, `uncollectible` or `void`.
    pub status: Option<String>,
    #[serde(default)]
    pub attempt_count: i64,
    /// The time of the next attempt to charge, in seconds. Absent after the last one.
    pub next_payment_attempt: Option<i64>,
    pub parent: Option<InvoiceParent>,
    pub payments: Option<List<InvoicePayment>>,
}

impl Invoice {
    /// Returns the subscription that it is a bill of.
    pub fn subscription(&self) -> Option<&SubscriptionDetails> {
        self.parent.as_ref()?.subscription_details.as_ref()
    }
}

/// What an invoice was made for.
#[derive(Clone, Debug, Deserialize)]
pub struct InvoiceParent {
    pub subscription_details: Option<SubscriptionDetails>,
}

/// The subscription of an invoice.
#[derive(Clone, Debug, Deserialize)]
pub struct SubscriptionDetails {
    pub subscription: Reference<Subscription>,
    /// The texts of the subscription when the invoice was made.
    #[serde(default)]
    pub metadata: Option<Metadata>,
}

/// A payment of an invoice.
#[derive(Clone, Debug, Deserialize)]
pub struct InvoicePayment {
    /// `open`, `paid` or `canceled`.
    pub status: String,
    pub payment: InvoicePaymentSource,
}

/// How an invoice was paid.
#[derive(Clone, Debug, Deserialize)]
pub struct InvoicePaymentSource {
    pub payment_intent: Option<Reference<PaymentIntent>>,
}

/// A transfer of our balance to the bank.
#[derive(Clone, Debug, Deserialize)]
pub struct Payout {
    pub id: String,
    pub amount: i64,
    pub currency: String,
    /// `paid`, `pending`, `in_transit`, `canceled` or `failed`.
    pub status: String,
    pub balance_transaction: Option<Reference<BalanceTransaction>>,
    pub failure_balance_transaction: Option<Reference<BalanceTransaction>>,
}

/// Our balance at Stripe.
#[derive(Clone, Debug, Deserialize)]
pub struct Balance {
    pub available: Vec<BalanceAmount>,
    pub pending: Vec<BalanceAmount>,
    pub livemode: bool,
}

impl Balance {
    /// Returns everything that is ours in a currency, in its smallest unit.
    pub fn total(&self, currency: &str) -> i64 {
        let amounts = self.available.iter().chain(&self.pending);
        amounts
            .filter(|amount| amount.currency == currency)
            .map(|amount| amount.amount)
            .sum()
    }
}

/// An amount of one currency.
#[derive(Clone, Debug, Deserialize)]
pub struct BalanceAmount {
    pub amount: i64,
    pub currency: String,
}

/// A visit of Stripe's page where donors replace their card.
#[derive(Clone, Debug, Deserialize)]
pub struct PortalSession {
    pub url: String,
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
