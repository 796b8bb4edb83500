//! The objects of the API, one module for each.

pub(crate) mod accounts;
pub(crate) mod catalog;
pub(crate) mod charges;
pub(crate) mod customers;
pub(crate) mod disputes;
pub(crate) mod invoice_items;
pub(crate) mod invoices;
pub(crate) mod payment_intents;
pub(crate) mod payment_methods;
pub(crate) mod payouts;
pub(crate) mod portal;
pub(crate) mod refunds;
pub(crate) mod renewals;
pub(crate) mod sessions;
pub(crate) mod setup_intents;
pub(crate) mod subscription_items;
pub(crate) mod subscriptions;
pub(crate) mod test_clocks;
pub(crate) mod webhook_endpoints;
