//! Reads the rows of a CSV file, with a header in any order or without one.

use crate::files::lines::{Line, Lines, RejectedLine, Text};
use crate::files::record::Record;
use anyhow::bail;
use std::io::BufRead;

/// A row has a few hundred bytes; remarks on the sanctions list have up to a thousand.
const MAX_LINE_LENGTH: usize = 64 * 1024;

pub(super) struct Rows<R> {
    name: String,
    lines: Lines<R>,
    record: Record,
}

impl<R: BufRead> Rows<R> {
    /// Opens a file with a header. Returns the names of its columns in lowercase, and the number of its line.
    pub(super) fn with_header(input: R, name: &str) -> anyhow::Result<(Rows<R>, Vec<String>)> {
        let mut lines = Lines::new(input, MAX_LINE_LENGTH);
        loop {
            let Some(line) = lines.next_line()? else {
                bail!("{name} has no header line; download the file again");
            };
            match line.text {
                Text::Complete(text) if is_blank(text) => {}
                Text::Complete(text) => {
                    let names = column_names(&String::from_utf8_lossy(text));
                    let record = Record::new(names.len());
                    let rows = Rows {
                        name: name.to_owned(),
                        lines,
                        record,
                    };
                    return Ok((rows, names));
                }
                Text::TooLong => bail!(
                    "{name} has no header: line {} is longer than {MAX_LINE_LENGTH} bytes; download the file again",
                    line.number
                ),
            }
        }
    }

    /// Opens a file without a header.
    pub(super) fn without_header(input: R, name: &str, columns: usize) -> Rows<R> {
        Rows {
            name: name.to_owned(),
            lines: Lines::new(input, MAX_LINE_LENGTH),
            record: Record::new(columns),
        }
    }

    /// Reads the next row into the record. Returns its line, and whether a line ending followed.
    pub(super) fn next_row(&mut self) -> anyhow::Result<Option<Result<(u64, bool), RejectedLine>>> {
        loop {
            let Some(Line {
                number,
                text,
                has_line_ending,
            }) = self.lines.next_line()?
            else {
                return Ok(None);
            };
            let split = match text {
                Text::Complete(text) if is_blank(text) => continue,
                Text::Complete(text) => self.record.split(text),
                Text::TooLong => Err(format!("the line is longer than {MAX_LINE_LENGTH} bytes")),
            };
            return match split {
                Ok(()) => Ok(Some(Ok((number, has_line_ending)))),
                Err(_) if !has_line_ending => Err(self.truncated(number)),
                Err(reason) => Ok(Some(Err(RejectedLine { line: number, reason }))),
            };
        }
    }

    /// Returns the error of a file that ends inside a line.
    pub(super) fn truncated(&self, line: u64) -> anyhow::Error {
        anyhow::anyhow!(
            "{} is truncated in line {line}; download the file again",
            self.name
        )
    }

    /// Returns a field of the row, without surrounding spaces. A column that the file does not have is empty.
    pub(super) fn field(&self, column: Option<usize>) -> &str {
        column.map_or("", |column| self.record.field(column).trim())
    }
}

/// Returns the names of columns in lowercase, without quotes and a byte order mark.
pub(super) fn column_names(header: &str) -> Vec<String> {
    let header = header.trim_start_matches('\u{feff}').trim_end();
    header
        .split(',')
        .map(|name| name.trim().trim_matches('"').trim().to_lowercase())
        .collect()
}

/// Files of the sanctions list end with a byte that marked the end of a file in DOS.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|b| b.is_ascii_whitespace() || *b == 0x1A)
}
