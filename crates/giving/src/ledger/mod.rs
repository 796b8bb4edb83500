//! The donation ledger: append-only, double-entry, numbered without gaps, each entry chained to the one before.
//!
//! Every entry has a mode: live, or test if no money was charged. The last entry of a fundraiser in a mode holds its totals
//! in that mode, so reading them takes one row per mode.

pub mod anchors;
pub mod audit;
pub mod batch;
pub mod checkpoints;
pub mod comments;
pub mod entry;
pub mod outbox;
pub mod pending;
pub mod prefetch;
pub mod rows;
pub mod state;
pub mod store;
pub mod writer;
