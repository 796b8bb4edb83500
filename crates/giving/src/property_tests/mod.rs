//! Property tests of the ledger and of its writer.

mod entries;
mod writer;
