//! The donation journal: append-only, double entry, numbered without gaps, each entry chained to the one before.
//!
//! Totals of a fundraiser stand in its last entry, so reading them takes one row, and every entry proves them.

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
