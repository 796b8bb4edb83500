//! Failures: killed processes, full and failing disks, lost connections. The tests run the real binary on both databases.
//!
//! Every test that makes random choices prints its seed and accepts it again as `CAUSEWAY_FAULT_SEED`.
//! `CAUSEWAY_FAULT_ROUNDS` sets how often an import is killed, `CAUSEWAY_LEDGER_ROUNDS` how often a server that writes to
//! the ledger is killed, `CAUSEWAY_WEBHOOK_ROUNDS` how often one that sends events, after `CAUSEWAY_WEBHOOK_EVENTS` changes each, to `CAUSEWAY_WEBHOOK_ENDPOINTS` endpoints,
//! `CAUSEWAY_DISBURSE_ROUNDS` how many commands of disbursement are killed,
//! `CAUSEWAY_PAYMENT_ROUNDS` how often servers and Stripe are killed while donors pay,
//! `CAUSEWAY_BACKUP_ROUNDS` how many backups are taken under writes and killed, and
//! `CAUSEWAY_DISK_ROUNDS` how often a disk is filled. `CAUSEWAY_FAULT_SIZE` multiplies the rows of some of them. Targets of the
//! Makefile run many rounds.
#![allow(
    unreachable_pub,
    reason = "nothing outside can name what a test program contains"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests measure real time and are set up by the environment"
)]

mod away;
mod backup;
mod blob_store;
mod client;
mod concurrent;
mod damaged_ledger;
mod damaged_snapshot;
mod database;
mod disbursement;
mod disconnect;
mod donations;
mod failing_disk;
mod file_descriptors;
mod files;
mod full_disk;
mod full_disk_routes;
mod full_disk_writes;
mod hostile_receivers;
mod instance;
mod killed_builder;
mod killed_import;
mod killed_picture_import;
mod killed_returns_import;
mod ledger;
mod lost_commit;
mod offline;
mod outage;
mod payment_truth;
mod payments;
mod postgres_server;
mod power_loss;
mod previous_version;
mod proxy;
mod random;
mod redis_away;
#[path = "../redis_server.rs"]
mod redis_server;
mod reload;
mod restored_database;
mod running_server;
mod server;
mod several_servers;
mod simulator;
mod stale;
mod stop;
mod webhooks;
