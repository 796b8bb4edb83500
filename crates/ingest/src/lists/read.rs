//! Reads a list file into memory, sorted by EIN.

use super::list::List;
use super::reader::ListReader;
use crate::files::lines::RejectedLine;
use crate::files::source::{Format, Source};
use crate::report::RejectedLines;
use crate::summary::{ImportedFile, Summary};
use directory::nonprofits::ein::Ein;
use directory::nonprofits::sources::SourceId;
use platform::progress::{Progress, Unit};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::Ordering;

/// The number of rows between two updates of the progress bar.
const ROWS_PER_UPDATE: u64 = 4_096;

/// The result of reading a file.
pub(super) struct ReadResult<L: List> {
    pub summary: Summary,
    pub rejected_lines: RejectedLines,
    /// EINs of rejected rows.
    pub rejected_eins: HashSet<u32>,
    list: L,
    /// Sorted by EIN, each of which is there once.
    rows: Vec<(u32, L::Compact)>,
}

impl<L: List> ReadResult<L> {
    /// Returns the number of EINs.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the EIN of a row.
    pub(super) fn ein(&self, index: usize) -> u32 {
        self.rows[index].0
    }

    /// Returns a row as it is stored.
    pub(super) fn row(&self, index: usize, source: SourceId) -> L::Row {
        let (ein, compact) = &self.rows[index];
        self.list.row(*ein, compact, source.number())
    }
}

/// Reads a file.
pub(crate) fn read_file<L: List>(path: &Path) -> anyhow::Result<ReadResult<L>> {
    let mut source = Source::open(path, Format::Text)?;
    let consumed = source.consumed();
    let mut progress = Progress::start("reading", source.length().unwrap_or_default(), Unit::Bytes);
    let mut list = L::default();
    let mut summary = Summary::default();
    let mut rejected_lines = RejectedLines::default();
    let mut rejected_eins = HashSet::new();
    let mut rows = Vec::new();
    while let Some(part) = source.next_part()? {
        let name = part.name.clone();
        let mut reader = ListReader::new(part, name.clone(), L::KIND);
        while let Some(row) = reader.next_row()? {
            summary.lines += 1;
            let read = row.fields.and_then(|fields| {
                let line = fields.line;
                let read = fields.with(|fields| list.read(fields));
                read.map_err(|reason| RejectedLine {
                    line,
                    reason: reason.to_owned(),
                })
            });
            match (row.ein, read) {
                (Some(ein), Ok(compact)) => rows.push((ein.value(), compact)),
                (ein, Err(rejected)) => {
                    rejected_eins.extend(ein.map(Ein::value));
                    rejected_lines.add(&name, rejected);
                }
                (None, Ok(_)) => unreachable!("a row without an EIN is rejected"),
            }
            if summary.lines.is_multiple_of(ROWS_PER_UPDATE) {
                progress.set_position(consumed.load(Ordering::Relaxed));
            }
        }
    }
    progress.finish();
    summary.files.push(ImportedFile {
        name: path.display().to_string(),
        sha256: source.finish()?,
        lines: summary.lines,
    });
    summary.refused = rejected_lines.count();
    Ok(ReadResult {
        summary,
        rejected_lines,
        rejected_eins,
        rows: merge_rows(&mut list, rows),
        list,
    })
}

/// Sorts the rows and merges those with the same EIN.
fn merge_rows<L: List>(list: &mut L, mut rows: Vec<(u32, L::Compact)>) -> Vec<(u32, L::Compact)> {
    rows.sort_by_key(|(ein, _)| *ein);
    let mut merged: Vec<(u32, L::Compact)> = Vec::with_capacity(rows.len());
    for (ein, row) in rows {
        let row = match merged.pop_if(|(last, _)| *last == ein) {
            Some((_, first)) => list.merge(first, row),
            None => row,
        };
        merged.push((ein, row));
    }
    merged
}
