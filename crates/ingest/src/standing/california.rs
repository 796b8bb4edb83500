//! The four lists of the registry of charities of California.

use super::dates;
use super::rows::Rows;
use super::state::{FileInfo, ReadState};
use crate::files::lines::RejectedLine;
use crate::values;
use anyhow::bail;
use directory::eligibility::california::{PARTS, part_of};
use directory::eligibility::store::Entry;
use std::collections::BTreeMap;
use std::io::BufRead;

/// The columns, in the order of the files. They may come in any order.
const HEADER: [&str; 11] = [
    "Registry Status",
    "State Charity Reg#",
    "FEIN",
    "SOS/FTB#",
    "Name",
    "City",
    "State",
    "Issue Date",
    "Last Renewal",
    "Date Status Set",
    "As-of Date",
];

const STATUS: usize = 0;
const REGISTRATION: usize = 1;
const FEIN: usize = 2;
const STATE_NUMBER: usize = 3;
const NAME: usize = 4;
const CITY: usize = 5;
const STATE: usize = 6;
const STATUS_SET: usize = 9;
const AS_OF: usize = 10;

/// Reads a file.
pub(super) fn read(input: impl BufRead, name: &str, state: &mut ReadState) -> anyhow::Result<FileInfo> {
    let (mut rows, names) = Rows::with_header(input, name)?;
    let mut columns = [0; HEADER.len()];
    for (column, title) in columns.iter_mut().zip(HEADER) {
        let found: Vec<usize> = (0..names.len())
            .filter(|index| names[*index].eq_ignore_ascii_case(title))
            .collect();
        match found[..] {
            [index] => *column = index,
            [] => bail!(
                "{name} is not a list of the registry of California: its header has no column {title}; \
                 use the four CSV files as the Attorney General publishes them"
            ),
            _ => bail!("{name} has the column {title} twice; download the file again"),
        }
    }
    let first = state.entries.len();
    let mut votes: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut as_of = None;
    while let Some(row) = rows.next_row()? {
        state.summary.lines += 1;
        let (line, has_line_ending) = match row {
            Ok(row) => row,
            Err(rejected) => {
                state.reject(name, rejected);
                continue;
            }
        };
        let field = |column: usize| rows.field(Some(columns[column]));
        let day = dates::parse(field(AS_OF));
        if !has_line_ending && day.is_none() {
            return Err(rows.truncated(line));
        }
        as_of = as_of.max(day);
        let status = field(STATUS);
        if status.is_empty() || field(NAME).is_empty() {
            let reason = "the status or the name is missing".to_owned();
            state.reject(name, RejectedLine { line, reason });
            continue;
        }
        let since = dates::parse(field(STATUS_SET));
        if since.is_none() && !field(STATUS_SET).is_empty() {
            // The row counts without its date: leaving it out could let a barred charity pass.
            let reason = "Date Status Set is not a date; the row was imported without it".to_owned();
            state.reject(name, RejectedLine { line, reason });
        }
        if let Some(part) = part_of(status) {
            *votes.entry(part).or_default() += 1;
        }
        let state_number = state_number(field(STATE_NUMBER));
        let entry = match (field(REGISTRATION), &state_number) {
            ("", Some(number)) => format!("SOS {number}"),
            ("", None) => format!("{}, {}", field(NAME), field(CITY)),
            (number, _) => number.to_owned(),
        };
        state.entries.push(Entry {
            entry,
            part: String::new(),
            ein: values::ein(field(FEIN)).map(|ein| i64::from(ein.value())),
            joined: 0,
            state_number,
            status: status.to_owned(),
            name: field(NAME).to_owned(),
            city: field(CITY).to_owned(),
            details: format!("state {}", field(STATE)),
            since: since.map(|date| date.to_string()),
        });
    }
    // A file may have a few rows with a status of another one.
    let by_status = votes
        .iter()
        .max_by_key(|(_, count)| **count)
        .map(|(part, _)| *part);
    let by_name = PARTS.into_iter().rev().find(|part| name.contains(part));
    let Some(part) = by_status.or(by_name) else {
        bail!(
            "cannot tell which of the four lists {name} is, because it has no known status; \
             keep its name, such as charities-may-not-operate.csv"
        );
    };
    for entry in &mut state.entries[first..] {
        part.clone_into(&mut entry.part);
    }
    Ok(FileInfo::new(part, as_of))
}

/// Normalizes a number of the Secretary of State or the tax board: digits and letters without leading zeros.
pub(super) fn state_number(text: &str) -> Option<String> {
    let number: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let number = number.trim_start_matches('0').to_ascii_uppercase();
    (!number.is_empty() && number.bytes().any(|b| b.is_ascii_digit())).then_some(number)
}
