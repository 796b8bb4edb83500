//! Payments by Stripe: donors pay on its page, so no card number reaches us.

pub mod client;
pub mod form;
pub mod objects;
pub mod pacing;
pub mod signature;
