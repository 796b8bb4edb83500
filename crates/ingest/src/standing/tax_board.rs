//! The list of organizations whose exemption the Franchise Tax Board of California revoked. Its columns are found by their
//! names, because sources differ about them.

use super::california::state_number;
use super::dates;
use super::rows::Rows;
use super::state::{FileInfo, ReadState};
use crate::files::lines::RejectedLine;
use crate::values;
use anyhow::bail;
use directory::eligibility::store::Entry;
use std::io::BufRead;

const EIN: [&str; 5] = [
    "fein",
    "ein",
    "federal ein",
    "federal employer identification number",
    "tax id",
];
const NUMBER: [&str; 13] = [
    "entity number",
    "entity no",
    "entity id",
    "entity identification number",
    "entityid",
    "entity",
    "sos/ftb#",
    "sos/ftb number",
    "corporation number",
    "california corporation number",
    "corp number",
    "ftb id",
    "ftb number",
];
const NAME: [&str; 5] = [
    "name",
    "entity name",
    "organization name",
    "organization",
    "legal name",
];
const CITY: [&str; 2] = ["city", "entity city"];
const DATE: [&str; 6] = [
    "revoked date",
    "revocation date",
    "date revoked",
    "effective date",
    "effective date of revocation",
    "date",
];
const AS_OF: [&str; 3] = ["as-of date", "as of date", "as of"];

/// Returns whether a header may be that of this list.
pub(super) fn is_header(names: &[String]) -> bool {
    let has = |known: &[&str]| find(names, known).is_some();
    has(&NUMBER) && (has(&NAME) || has(&DATE)) || has(&EIN) && has(&DATE[..3])
}

fn find(names: &[String], known: &[&str]) -> Option<usize> {
    known.iter().find_map(|known| {
        names
            .iter()
            .position(|name| name.replace(['_', '.'], " ").trim() == *known)
    })
}

/// Reads a file.
pub(super) fn read(input: impl BufRead, name: &str, state: &mut ReadState) -> anyhow::Result<FileInfo> {
    let (mut rows, names) = Rows::with_header(input, name)?;
    let column = |known: &[&str]| find(&names, known);
    let (ein, number) = (column(&EIN), column(&NUMBER));
    if ein.is_none() && number.is_none() {
        bail!(
            "{name} has no column with entity numbers or EINs; name one of them \"Entity Number\" or \"FEIN\" in the header"
        );
    }
    if names.iter().any(|name| name == "registry status") {
        bail!("{name} is a list of the registry of California; import it with causeway import california");
    }
    let (title, city, date, day) = (column(&NAME), column(&CITY), column(&DATE), column(&AS_OF));
    let mut as_of = None;
    while let Some(row) = rows.next_row()? {
        state.summary.lines += 1;
        let line = match row {
            Ok((line, _)) => line,
            Err(rejected) => {
                state.reject(name, rejected);
                continue;
            }
        };
        let found = values::ein(rows.field(ein));
        let state_number = state_number(rows.field(number));
        let entry = match (&state_number, found) {
            (Some(number), _) => number.clone(),
            (None, Some(ein)) => format!("EIN {ein}"),
            (None, None) => {
                let reason = "the row has neither an entity number nor an EIN".to_owned();
                state.reject(name, RejectedLine { line, reason });
                continue;
            }
        };
        let since = dates::parse(rows.field(date));
        if since.is_none() && !rows.field(date).is_empty() {
            let reason = "the date is not a date; the row was imported without it".to_owned();
            state.reject(name, RejectedLine { line, reason });
        }
        as_of = as_of.max(dates::parse(rows.field(day)));
        state.entries.push(Entry {
            entry,
            part: "revoked".to_owned(),
            ein: found.map(|ein| i64::from(ein.value())),
            joined: 0,
            state_number,
            status: "Revoked".to_owned(),
            name: rows.field(title).to_owned(),
            city: rows.field(city).to_owned(),
            details: "state CA".to_owned(),
            since: since.map(|date| date.to_string()),
        });
    }
    Ok(FileInfo::new("revoked", as_of))
}
