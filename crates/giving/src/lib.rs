//! Fundraisers, donations and their ledger, and the checkout with its payment providers.
//!
//! Everything that changes money, fundraisers or moderation is written by one task, which combines all waiting work into
//! one transaction. So entries are numbered without gaps, and the events of the outbox are in the order of the entries.
//! Rules are pure functions; SQL is in the `store.rs` of each module.
//!
//! # Where to start reading
//!
//! Start with [`Recorder`], the only way to write, and follow a donation:
//!
//! - [`checkout`]: turns a submitted form into a started donation, and settles it when it is paid.
//! - [`providers`]: how donations are paid.
//! - [`payments`]: payments by Stripe, from the session to the ledger.
//! - [`donations`]: the rules of donations and refunds, and lists of them.
//! - [`ledger`]: entries and their postings, the task that writes them, checkpoints, anchors and the outbox.
//! - [`books`]: where the money is, and which nonprofits it is owed to.
//! - [`disbursement`]: passes on to nonprofits what is owed to them, in batches of payments.
//! - [`fundraisers`]: typed inputs, rules, a cache, and decisions of operators.
//! - [`notices`]: emails about fundraisers and donations, derived from the outbox.
//! - [`thanks`]: emails with which organizers thank donors.
//! - [`webhooks`]: tells partners about all of this.
//! - [`yearly`]: statements of a year for donors.
//! - [`check`] and [`export`]: verify and export the whole ledger.
//!
//! # The way of a donation's amount
//!
//! 1. The form of the site parses the amount into [`Cents`](platform::money::Cents). It keeps this type from here on.
//! 2. [`StartDonation`](checkout::start::StartDonation) holds the form; the IDs of the donation are an HMAC of its fields.
//! 3. `checkout::store` inserts the donation, which stays as it is while the donor is on the payment page.
//! 4. The provider charges the amount, and the donation becomes pending.
//! 5. [`Settlement::settle`](checkout::settle::Settlement::settle) finds the recipient and makes a
//!    [`NewDonation`](donations::NewDonation).
//! 6. [`Recorder`] sends it to the [`writer`](ledger::writer), which returns the existing entry if it was recorded before.
//! 7. `donations::donation` drafts an entry: the donor gives the amount, and each nonprofit receives its share by weight.
//! 8. The batch appends the draft with a sequence number, the running totals and the hash of the entry before it.
//! 9. `ledger::pending` inserts entries, postings and outbox rows; the caller continues once the commit is on disk.
//! 10. [`check`] computes all sums again and compares them with the entries and totals.

pub mod books;
pub mod check;
pub mod checkout;
pub mod disbursement;
pub mod donations;
pub mod donors;
pub mod error;
pub mod export;
pub mod fundraisers;
pub mod guard;
pub mod idempotency;
pub mod ledger;
pub mod moderation;
pub mod monthly;
pub mod notices;
pub mod payments;
#[cfg(test)]
mod property_tests;
pub mod providers;
pub mod recorder;
pub mod reports;
pub mod thanks;
pub mod webhooks;
pub mod yearly;

pub use error::Error;
pub use recorder::Recorder;
