//! The books: where the money of donations is, what it cost, and which nonprofits it is owed to.
//!
//! Donations, refunds and disputes say who gave how much to whom. The entries of the books say what happened to the money,
//! one entry for each balance transaction of Stripe and for each payment of the operator. In a posting, an account with an
//! amount above zero gets money, so `owed` is below zero while a nonprofit has yet to receive its money:
//!
//! | Kind | Postings |
//! |---|---|
//! | settlement of a charge | `cash` +net, `fees` +fee, `owed` −share of the gross; where nonprofits pay the fee: `owed` +share of the fee, `operator` −fee |
//! | settlement of a refund or dispute | `cash` −amount −fee, `fees` +fee, `owed` +share; the reverse when it comes back |
//! | settlement of anything else | `cash` ±, `operator` ∓ |
//! | payout, or its failure | `cash` −, `bank` +, and `fees` if it cost something; the reverse |
//! | disbursement, or its return | `bank` −, `owed` +; the reverse |
//! | reassignment | `owed` of one nonprofit +, `owed` of another − |
//!
//! The `owed` postings of a settlement are the `nonprofit` postings of the entry that it settles, negated. So both sides of
//! the ledger agree to the cent for each nonprofit, however the amount was split. Refunds are split by what is left of a
//! donation, so the order of two partial refunds can decide which of several nonprofits returns a cent first; the sums over
//! all of them never depend on it.
//!
//! - [`Movement`] is what happened, as a caller says it; [`Recorder::enter`](crate::Recorder::enter) enters it once.
//! - `postings` has the table above as functions, and `audit` recomputes it for `causeway check`.
//! - [`Balances`](balances::Balances) adds up the accounts, and [`AccountSums`](sums::AccountSums) those of all nonprofits
//!   together.
//! - [`export`] writes the books as plain-text accounting.

pub(crate) mod audit;
pub mod balances;
pub mod export;
pub mod movement;
pub(crate) mod postings;
pub(crate) mod record;
pub mod sums;

pub use movement::{BooksError, EntryName, FeesPaidBy, Movement};
