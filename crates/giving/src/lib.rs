//! Fundraisers, donations and their ledger, and the payments behind the checkout.

pub mod check;
pub mod donations;
pub mod donors;
pub mod error;
pub mod export;
pub mod fundraisers;
pub mod idempotency;
pub mod ledger;
pub mod moderation;
pub mod payments;
#[cfg(test)]
mod property_tests;
pub mod recorder;
pub mod reports;

pub use error::Error;
pub use recorder::Recorder;
