//! The donation ledger: append-only, double-entry, numbered without gaps, each entry chained to the one before.
//!
//! The last entry of a fundraiser holds its totals, so reading them takes one row.

pub mod audit;
pub mod batch;
pub mod entry;
pub mod outbox;
pub mod pending;
pub mod prefetch;
pub mod rows;
pub mod state;
pub mod store;
pub mod writer;
