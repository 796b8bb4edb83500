//! What happens when things break: the real binary, real processes, both databases.
//!
//! Every test that draws prints its seed and takes it back from `CAUSEWAY_FAULT_SEED`. `CAUSEWAY_FAULT_ROUNDS`
//! sets how often an import is killed, `CAUSEWAY_JOURNAL_ROUNDS` how often a server that writes the journal is;
//! `make faults` and `make fault-journal` do it many times.
#![expect(
    clippy::disallowed_methods,
    reason = "tests measure real time and are set up by the environment"
)]

mod client;
mod damage;
mod device;
mod dice;
mod disk;
mod files;
mod giving;
mod journal;
mod journal_damage;
mod journal_disk;
mod kill;
mod live;
mod outage;
mod pictures;
mod place;
mod power;
mod proxy;
mod server;
mod silence;
mod stop;
mod store;
mod together;
