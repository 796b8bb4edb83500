//! Property tests of the ledger, of its writer and of payments. `CAUSEWAY_TEST_CASES` sets how many cases those of the ledger
//! and of payments try.

mod bank;
mod deliveries;
mod entries;
mod model;
mod payments;
mod writer;
