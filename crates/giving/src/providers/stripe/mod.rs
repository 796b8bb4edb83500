//! Payments by Stripe: donors pay on its page, so no card number reaches us.

pub mod client;
pub mod form;
pub mod objects;
pub(crate) mod pacing;
pub mod settings;
pub mod signature;

/// The name that is stored with donations and events.
pub const NAME: &str = "stripe";
