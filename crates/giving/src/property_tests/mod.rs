//! Property tests of the ledger and of its writer. `CAUSEWAY_TEST_CASES` sets how many cases those of the ledger try.

mod deliveries;
mod entries;
mod model;
mod writer;
