//! Property tests of the ledger, of its writer, of payments and of disbursement. `CAUSEWAY_TEST_CASES` sets how many cases they
//! try, except those of the writer.

mod bank;
mod deliveries;
mod disbursement;
mod entries;
mod model;
mod payments;
mod writer;
