//! Batches of payments: prepare, approve, export, mark and reassign.

mod approve;
mod collect;
mod export;
mod mark;
mod prepare;
mod reassign;
pub mod store;

pub use export::Exported;
pub use mark::Marked;
pub use reassign::Reassigned;

use super::payees::{Address, Method};
use crate::ledger::entry::Mode;
use access::audit::Actor;
use platform::ids::NonprofitId;
use platform::money::Cents;

/// The state of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchState {
    Draft,
    Approved,
    Exported,
    /// Every line is paid, returned or void.
    Closed,
}

impl BatchState {
    pub const fn as_str(self) -> &'static str {
        match self {
            BatchState::Draft => "draft",
            BatchState::Approved => "approved",
            BatchState::Exported => "exported",
            BatchState::Closed => "closed",
        }
    }

    fn find(name: &str) -> Option<BatchState> {
        [
            BatchState::Draft,
            BatchState::Approved,
            BatchState::Exported,
            BatchState::Closed,
        ]
        .into_iter()
        .find(|state| state.as_str() == name)
    }
}

/// The state of a line of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineState {
    Queued,
    /// It is in an exported file, and in the books.
    Sent,
    Paid,
    /// It came back, and its money can be paid again.
    Returned,
    /// It was withdrawn, and its money can be paid again.
    Void,
}

impl LineState {
    pub const fn as_str(self) -> &'static str {
        match self {
            LineState::Queued => "queued",
            LineState::Sent => "sent",
            LineState::Paid => "paid",
            LineState::Returned => "returned",
            LineState::Void => "void",
        }
    }

    fn find(name: &str) -> Option<LineState> {
        [
            LineState::Queued,
            LineState::Sent,
            LineState::Paid,
            LineState::Returned,
            LineState::Void,
        ]
        .into_iter()
        .find(|state| state.as_str() == name)
    }
}

/// What an operator says about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It was sent without a file, such as by wire.
    Sent,
    Paid,
    Returned,
    Void,
}

impl Mark {
    pub const fn as_str(self) -> &'static str {
        match self {
            Mark::Sent => "sent",
            Mark::Paid => "paid",
            Mark::Returned => "returned",
            Mark::Void => "void",
        }
    }

    pub fn find(name: &str) -> Option<Mark> {
        [Mark::Sent, Mark::Paid, Mark::Returned, Mark::Void]
            .into_iter()
            .find(|mark| mark.as_str() == name)
    }
}

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// The lines that are paid by ACH, for the bank.
    Nacha,
    /// The lines that are paid by check, as CSV.
    Checks,
    /// All lines, as CSV.
    Csv,
}

impl ExportFormat {
    pub const ALL: [ExportFormat; 3] = [ExportFormat::Nacha, ExportFormat::Checks, ExportFormat::Csv];

    pub const fn as_str(self) -> &'static str {
        match self {
            ExportFormat::Nacha => "nacha",
            ExportFormat::Checks => "checks",
            ExportFormat::Csv => "csv",
        }
    }

    pub fn find(name: &str) -> Option<ExportFormat> {
        ExportFormat::ALL
            .into_iter()
            .find(|format| format.as_str() == name)
    }

    pub(super) const fn includes(self, method: Method) -> bool {
        match self {
            ExportFormat::Nacha => matches!(method, Method::Ach),
            ExportFormat::Checks => matches!(method, Method::Check),
            ExportFormat::Csv => true,
        }
    }
}

/// A batch of payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub number: i64,
    pub mode: Mode,
    pub state: BatchState,
    /// Donations made before then are included.
    pub until: i64,
    pub lines: i64,
    pub amount: Cents,
    pub prepared_at: i64,
    pub prepared_by: Actor,
    pub approved_at: Option<i64>,
    pub approved_by: Option<Actor>,
    pub exported_at: Option<i64>,
    pub closed_at: Option<i64>,
}

/// A payment to one nonprofit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub batch: i64,
    pub number: i64,
    pub nonprofit: NonprofitId,
    pub amount: Cents,
    pub state: LineState,
    pub method: Method,
    /// The payee when the batch was prepared.
    pub payee_version: i64,
    pub payee_name: String,
    pub last_four: Option<String>,
    pub address: Address,
    pub reference: Option<String>,
    pub return_reference: Option<String>,
    pub sent_at: Option<i64>,
    pub finished_at: Option<i64>,
}

impl Line {
    /// The ID of its entry in the books.
    pub(super) fn external_id(&self) -> String {
        format!("{}-{}", self.batch, self.number)
    }
}
