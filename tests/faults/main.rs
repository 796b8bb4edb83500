//! What happens when things break: the real binary, real processes, both databases.
//!
//! Every test that draws draws from a seed, prints it when it fails, and takes it back from `CAUSEWAY_FAULT_SEED`.
//! `CAUSEWAY_FAULT_ROUNDS` sets how often an import is killed; `make faults` does it many times.

mod client;

mod dice;

mod files;
mod kill;

mod place;

mod server;

mod store;
