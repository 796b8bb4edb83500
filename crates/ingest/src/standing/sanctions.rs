//! The sanctions list of the Office of Foreign Assets Control: three files without headers, joined by number.

use super::rows::Rows;
use super::state::{FileInfo, ReadState};
use crate::files::lines::RejectedLine;
use crate::files::record::Record;
use anyhow::bail;
use directory::eligibility::store::Entry;
use std::io::BufRead;

/// What a blank field contains.
const BLANK: &str = "-0-";

/// A file of the list, by its number of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Names.
    Names,
    /// Other names.
    OtherNames,
    Addresses,
}

impl Part {
    pub(super) fn name(self) -> &'static str {
        match self {
            Part::Names => "sdn",
            Part::OtherNames => "alt",
            Part::Addresses => "add",
        }
    }

    fn columns(self) -> usize {
        match self {
            Part::Names => 12,
            Part::OtherNames => 5,
            Part::Addresses => 6,
        }
    }

    /// Tells which file a line is from.
    pub(super) fn of_line(line: &str) -> Option<Part> {
        [Part::Names, Part::OtherNames, Part::Addresses]
            .into_iter()
            .find(|part| {
                let mut record = Record::new(part.columns());
                let is_split = record.split(line.as_bytes()).is_ok();
                let number = if is_split { record.field(0).trim() } else { "" };
                !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
            })
    }
}

/// A row of a file besides the names: the number that it belongs to, and a line of details.
pub(super) type Detail = (String, String);

/// Reads a file. Rows of other names and addresses go to `details`.
pub(super) fn read(
    mut input: impl BufRead,
    name: &str,
    state: &mut ReadState,
    details: &mut Vec<Detail>,
) -> anyhow::Result<FileInfo> {
    let head = String::from_utf8_lossy(input.fill_buf()?).into_owned();
    let first = head
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let Some(part) = Part::of_line(first) else {
        bail!(
            "{name} is no file of the sanctions list: its first line has neither 12, 5 nor 6 columns after a number; \
             use sdn.csv, alt.csv and add.csv as the Treasury publishes them"
        );
    };
    let mut rows = Rows::without_header(input, name, part.columns());
    while let Some(row) = rows.next_row()? {
        state.summary.lines += 1;
        let line = match row {
            Ok((line, _)) => line,
            Err(rejected) => {
                state.reject(name, rejected);
                continue;
            }
        };
        let field = |column| match rows.field(Some(column)) {
            BLANK => "",
            text => text,
        };
        let number = field(0);
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let text = if part == Part::Names { field(1) } else { field(3) };
        if !is_number || part == Part::Names && text.is_empty() {
            let reason = "the number or the name is missing".to_owned();
            state.reject(name, RejectedLine { line, reason });
            continue;
        }
        match part {
            Part::Names => state.entries.push(Entry {
                entry: number.to_owned(),
                part: part.name().to_owned(),
                ein: None,
                joined: 0,
                state_number: None,
                status: field(3).to_owned(),
                name: text.to_owned(),
                // The list has no city here; the type tells people from organizations.
                city: field(2).to_ascii_lowercase(),
                details: String::new(),
                since: None,
            }),
            Part::OtherNames if !text.is_empty() => {
                details.push((number.to_owned(), format!("aka {text}")));
            }
            Part::Addresses => {
                let address: Vec<&str> = [2, 3, 4]
                    .into_iter()
                    .map(field)
                    .filter(|text| !text.is_empty())
                    .collect();
                if !address.is_empty() {
                    details.push((number.to_owned(), format!("address {}", address.join(", "))));
                }
            }
            Part::OtherNames => {}
        }
    }
    Ok(FileInfo::new(part.name(), None))
}
