//! Reads the rows of a list file: fields separated by `|`, without a header or quotes, with blank lines at both ends.
//!
//! The number of fields is the only check that the format has. A row with another number is rejected, because a `|` inside
//! a field shifts all fields after it.

use super::kind::ListKind;
use crate::files::lines::{Lines, RejectedLine, Text};
use crate::files::source::SourceError;
use directory::nonprofits::ein::Ein;
use std::io::{self, BufRead};
use thiserror::Error;

/// A row of the IRS has at most a few hundred bytes.
const MAX_LINE_LENGTH: usize = 64 * 1024;
/// The number of fields in the widest list.
const MAX_FIELDS: usize = 26;

/// The reason why reading a list file stopped.
#[derive(Debug, Error)]
pub(super) enum ListError {
    #[error("{name} is {found}, not {expected}; import it with causeway import {command}")]
    OtherList {
        name: String,
        found: &'static str,
        expected: &'static str,
        command: &'static str,
    },
    #[error("{name} is truncated: line {line} has no line ending; download the file again")]
    Truncated { name: String, line: u64 },
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("{0}")]
    Read(#[from] io::Error),
}

/// Reads one list file.
pub(super) struct ListReader<R> {
    name: String,
    kind: ListKind,
    lines: Lines<R>,
    has_rows: bool,
    /// The current line.
    text: String,
}

/// The EIN of a row and its fields. A rejected row may have a valid EIN.
pub(super) struct ListLine<'a> {
    pub ein: Option<Ein>,
    pub fields: Result<Fields<'a>, RejectedLine>,
}

/// The fields of a row.
pub(super) struct Fields<'a> {
    pub line: u64,
    text: &'a str,
    count: usize,
}

impl Fields<'_> {
    /// Passes the fields to `then`, without surrounding spaces.
    pub(super) fn with<T>(&self, then: impl FnOnce(&[&str]) -> T) -> T {
        let mut fields = [""; MAX_FIELDS];
        for (field, text) in fields.iter_mut().zip(self.text.split('|')) {
            *field = text.trim();
        }
        then(&fields[..self.count])
    }
}

impl<R: BufRead> ListReader<R> {
    /// Creates a reader. `name` is the name of the file in errors.
    pub(super) fn new(input: R, name: impl Into<String>, kind: ListKind) -> ListReader<R> {
        ListReader {
            name: name.into(),
            kind,
            lines: Lines::new(input, MAX_LINE_LENGTH),
            has_rows: false,
            text: String::new(),
        }
    }

    /// Reads the next row. Returns `None` at the end of the file.
    pub(super) fn next_row(&mut self) -> Result<Option<ListLine<'_>>, ListError> {
        let (line, is_complete) = loop {
            let Some(line) = self.lines.next_line()? else {
                return Ok(None);
            };
            let is_complete = match line.text {
                Text::Complete(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => continue,
                Text::Complete(bytes) => {
                    self.text.clear();
                    self.text.push_str(&String::from_utf8_lossy(bytes));
                    true
                }
                Text::TooLong => false,
            };
            // The files end with blank lines. Without a line ending, the last field may be incomplete.
            if !line.has_line_ending {
                return Err(ListError::Truncated {
                    name: self.name.clone(),
                    line: line.number,
                });
            }
            break (line.number, is_complete);
        };
        let reject = |ein: Option<Ein>, reason: String| {
            let fields = Err(RejectedLine { line, reason });
            Ok(Some(ListLine { ein, fields }))
        };
        if !is_complete {
            return reject(None, format!("the line is longer than {MAX_LINE_LENGTH} bytes"));
        }
        let is_first = !std::mem::replace(&mut self.has_rows, true);
        let text = self.text.trim_start_matches('\u{FEFF}');
        let count = memchr::memchr_iter(b'|', text.as_bytes()).count() + 1;
        let ein = text.split('|').next().and_then(|field| Ein::parse(field.trim()));
        if count != self.kind.fields() {
            if is_first
                && ein.is_some()
                && let Some(found) = ListKind::with_fields(count)
            {
                return Err(ListError::OtherList {
                    name: self.name.clone(),
                    found: found.title(),
                    expected: self.kind.title(),
                    command: found.name(),
                });
            }
            let expected = self.kind.fields();
            return reject(
                ein,
                format!("the number of fields is {count} instead of {expected}"),
            );
        }
        if ein.is_none() {
            return reject(None, "EIN is not nine digits".to_owned());
        }
        let fields = Ok(Fields { line, text, count });
        Ok(Some(ListLine { ein, fields }))
    }
}
