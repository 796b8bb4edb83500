//! Fundraisers, donations and their ledger, and the payments behind the checkout.

pub mod check;
pub mod donations;
pub mod error;
pub mod export;
pub mod fundraisers;
pub mod idempotency;
#[cfg(test)]
mod laws;
pub mod ledger;
pub mod payments;
pub mod recorder;

pub use error::Error;
pub use recorder::Recorder;
