//! Donations and refunds: each is recorded once, however often it is reported.

pub mod comments;
pub mod counters;
pub mod donation;
pub mod import;
pub mod label;
pub mod listing;
pub mod outcome;
pub mod recipient;
pub mod refund;
pub mod store;
pub mod summary;

pub use donation::NewDonation;
pub use label::{Label, OPERATOR, SITE};
pub use outcome::{DonationError, RecordedEntry};
pub use recipient::{Recipient, RecipientName, find_recipient};
pub use refund::Refund;
