//! Reads and writes many nonprofits at once, for imports.

pub mod store;
