//! Payments by Stripe: donors pay on its page, so no card number reaches us.

pub mod client;
pub mod form;
pub mod objects;
pub(crate) mod pacing;
pub mod settings;
pub mod signature;

/// The name that is stored with donations and events.
pub const NAME: &str = "stripe";

/// The kinds of events that an endpoint has to send.
pub const EVENT_KINDS: [&str; 21] = [
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "charge.succeeded",
    "charge.updated",
    "charge.failed",
    "refund.created",
    "refund.updated",
    "refund.failed",
    "charge.dispute.created",
    "charge.dispute.updated",
    "charge.dispute.closed",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.funds_reinstated",
    "invoice.paid",
    "invoice.payment_failed",
    "customer.subscription.updated",
    "customer.subscription.deleted",
    "customer.subscription.paused",
    "customer.subscription.resumed",
];
