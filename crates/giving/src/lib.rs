//! Fundraisers, donations and their ledger, and the checkout with its payment providers.

pub mod check;
pub mod checkout;
pub mod donations;
pub mod donors;
pub mod error;
pub mod export;
pub mod fundraisers;
pub mod idempotency;
pub mod ledger;
pub mod moderation;
#[cfg(test)]
mod property_tests;
pub mod providers;
pub mod recorder;
pub mod reports;

pub use error::Error;
pub use recorder::Recorder;
