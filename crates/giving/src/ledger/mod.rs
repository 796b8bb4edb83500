//! The donation ledger: append-only, double-entry, numbered without gaps, each entry chained to the previous one.
//!
//! Every entry has a mode: live, or test if no money was charged. The last entry of a fundraiser in a mode holds its totals
//! in that mode, so reading them takes one row per mode.
//!
//! Only this folder writes `ledger_head`, `ledger_entries`, `ledger_postings`, `donor_names` and `outbox`. A batch of the
//! [`writer`] inserts into all five at once (`pending/store.rs`), because they must agree and SQLite takes the statements
//! as one text. Names are erased in `store.rs`, and old events in `outbox/store.rs`; entries and postings never change.
//!
//! There is no index by time, because every donation would pay for it. Entries are in the order in which they were
//! recorded, so a time is found by bisection (`donations/summary.rs`).

pub mod anchors;
pub(crate) mod audit;
pub(crate) mod batch;
pub mod checkpoints;
pub mod entry;
pub mod outbox;
pub(crate) mod pending;
pub(crate) mod prefetch;
pub(crate) mod rows;
pub(crate) mod state;
pub mod store;
pub mod writer;
