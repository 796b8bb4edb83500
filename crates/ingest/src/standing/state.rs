//! What reading a list has found so far.

use crate::files::lines::RejectedLine;
use crate::report::RejectedLines;
use crate::summary::Summary;
use directory::eligibility::store::{Entry, StandingList};
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// What reading has found so far.
#[derive(Default)]
pub(super) struct ReadState {
    pub summary: Summary,
    pub rejected_lines: RejectedLines,
    pub entries: Vec<Entry>,
}

impl ReadState {
    pub(super) fn reject(&mut self, name: &str, line: RejectedLine) {
        self.summary.refused += 1;
        self.rejected_lines.add(name, line);
    }
}

/// Which part of a list a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileInfo {
    pub part: String,
    /// The day that the file states, in milliseconds since 1970.
    pub as_of: Option<i64>,
}

impl FileInfo {
    pub(super) fn new(part: &str, as_of: Option<Date>) -> FileInfo {
        let as_of = as_of.and_then(|date| date.to_zoned(TimeZone::UTC).ok());
        FileInfo {
            part: part.to_owned(),
            as_of: as_of.map(|time| time.timestamp().as_millisecond()),
        }
    }
}

/// Returns what a list is called in sentences.
pub(super) fn title(list: StandingList) -> &'static str {
    match list {
        StandingList::California => "the registry of California",
        StandingList::TaxBoard => "the revoked list of the tax board of California",
        StandingList::Sanctions => "the sanctions list",
    }
}
