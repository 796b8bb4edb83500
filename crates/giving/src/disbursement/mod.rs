//! Disbursement: passes on to nonprofits what is owed to them.
//!
//! The settlements and reassignments of the books say what is owed. Each of them, for each nonprofit, is a row of
//! `owed_entries`, which names the line of a batch that pays it. A row has one such column, so no money is in two batches,
//! and every step runs in the task that writes the ledger, so operators and servers take turns. A step is one transaction,
//! or it can be repeated until it is complete.
//!
//! | Step | Batch | Lines | Books |
//! |---|---|---|---|
//! | prepare | `draft` | `queued`, with what is due | |
//! | approve | `approved` | | |
//! | export | `exported` | `sent` | `disbursement` |
//! | mark | `closed` with the last line | `paid`; `returned` or `void`, whose money can be paid again | `disbursement_returned` |
//!
//! - [`payees`]: how nonprofits are paid, and the import of them.
//! - `plan`: which entries are due, a pure function.
//! - [`holds`]: what is owed to each nonprofit, and why it is not paid.
//! - [`batches`]: prepare, approve, export, mark and reassign.
//! - `nacha`: the file for ACH payments, and a reader that verifies it.
//! - [`statements`]: what a payment consists of, for its nonprofit.
//! - [`reports`]: what was owed, given and paid in a month or a year.

pub mod audit;
pub mod bank_account;
pub mod batches;
mod error;
pub mod holds;
mod nacha;
pub mod payees;
mod plan;
pub mod reports;
mod settings;
pub mod statements;

pub use error::DisburseError;
pub use settings::{AchSettings, DisburseSettings};

use crate::ledger::entry::Mode;
use crate::recorder::Recorder;
use directory::Directory;
use jiff::tz::TimeZone;
use platform::clock::Clock;
use platform::db::Db;
use platform::mail::Mailer;
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;

/// The parts that disbursement needs.
#[derive(Clone, Copy, Debug)]
pub struct Disbursements<'a> {
    pub db: &'a Db,
    pub directory: &'a Directory,
    pub recorder: &'a Recorder,
    pub clock: &'a Clock,
    pub secret: &'a StoreSecret,
    pub settings: &'a DisburseSettings,
    /// The entries that are paid: on a server in test mode, those of test mode.
    pub mode: Mode,
    pub time_zone: &'a TimeZone,
    pub mailer: &'a Mailer,
    pub public_url: &'a PublicUrl,
    /// Who pays, in statements.
    pub operator: &'a str,
}
