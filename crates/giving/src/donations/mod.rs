//! Donations, refunds and disputes: each is recorded once, however often it is reported.

pub mod comments;
pub mod counters;
pub(crate) mod donation;
pub mod import;
pub(crate) mod label;
pub mod listing;
pub(crate) mod outcome;
pub mod receipts;
pub(crate) mod recipient;
pub(crate) mod refund;
pub(crate) mod reversal;
pub mod store;
pub mod summary;

pub use donation::NewDonation;
pub(crate) use label::SITE;
pub use label::{Label, OPERATOR};
pub use outcome::{DonationError, RecordedEntry};
pub use recipient::{Recipient, RecipientName, find_recipient};
pub use refund::{Dispute, Refund};
pub use reversal::Reversal;
