//! Reads the files of a list into sorted rows.

use super::rows::column_names;
use super::sanctions::{self, Detail, Part};
use super::state::{FileInfo, ReadState, title};
use super::{california, tax_board};
use crate::files::source::{Format, Source};
use crate::report::RejectedLines;
use crate::summary::{ImportedFile, Summary};
use anyhow::bail;
use directory::eligibility::store::{Entry, StandingList, outcome_of};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// The rows of all files.
pub(super) struct ReadResult {
    pub summary: Summary,
    pub rejected_lines: RejectedLines,
    /// Sorted by their numbers, which are unique.
    pub entries: Vec<Entry>,
    pub files: Vec<FileInfo>,
}

impl ReadResult {
    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.part.as_str())
    }
}

/// Reads files.
pub(super) fn read_files(list: StandingList, paths: &[PathBuf]) -> anyhow::Result<ReadResult> {
    let mut state = ReadState::default();
    let mut files: Vec<FileInfo> = Vec::new();
    let mut details = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let mut source = Source::open(path, Format::Csv)?;
        let lines = state.summary.lines;
        let mut found = Vec::new();
        while let Some(part) = source.next_part()? {
            let name = part.name.clone();
            found.push(match list {
                StandingList::California => california::read(part, &name, &mut state)?,
                StandingList::TaxBoard => tax_board::read(part, &name, &mut state)?,
                StandingList::Sanctions => sanctions::read(part, &name, &mut state, &mut details)?,
            });
        }
        let sha256 = source.finish()?;
        let lines = state.summary.lines - lines;
        // The members of an archive share its hash.
        for info in found {
            if files.iter().any(|other| other.part == info.part) {
                bail!(
                    "two files are the part {} of {}; import each part once",
                    info.part,
                    title(list)
                );
            }
            files.push(info);
            state.summary.files.push(ImportedFile {
                name: name.clone(),
                sha256: sha256.clone(),
                lines,
            });
        }
    }
    if list == StandingList::Sanctions && !files.iter().any(|file| file.part == Part::Names.name()) {
        bail!(
            "the names of the sanctions list are missing; import sdn.csv together with alt.csv and add.csv"
        );
    }
    add_details(&mut state.entries, details);
    let entries = unique(list, state.entries);
    Ok(ReadResult {
        summary: state.summary,
        rejected_lines: state.rejected_lines,
        entries,
        files,
    })
}

/// Adds other names and addresses to the rows that they belong to.
fn add_details(entries: &mut [Entry], details: Vec<Detail>) {
    if details.is_empty() {
        return;
    }
    let mut by_number: HashMap<String, Vec<String>> = HashMap::new();
    for (number, line) in details {
        by_number.entry(number).or_default().push(line);
    }
    for entry in entries {
        if let Some(lines) = by_number.remove(&entry.entry) {
            entry.details = lines.join("\n");
        }
    }
}

/// Sorts rows. Of several with the same number, the one with the worst status stays.
fn unique(list: StandingList, entries: Vec<Entry>) -> Vec<Entry> {
    let mut sorted: BTreeMap<String, Entry> = BTreeMap::new();
    let severity = |entry: &Entry| (outcome_of(list, &entry.part, &entry.status), entry.since.clone());
    for entry in entries {
        match sorted.get(&entry.entry) {
            Some(other) if severity(other) >= severity(&entry) => {}
            _ => {
                sorted.insert(entry.entry.clone(), entry);
            }
        }
    }
    sorted.into_values().collect()
}

/// Recognizes a list by the beginning of a file.
pub(crate) fn recognize_head(text: &str) -> Option<StandingList> {
    let line = text.lines().next()?;
    let names = column_names(line);
    if names.iter().any(|name| name == "registry status") {
        Some(StandingList::California)
    } else if tax_board::is_header(&names) {
        Some(StandingList::TaxBoard)
    } else if Part::of_line(line).is_some() {
        Some(StandingList::Sanctions)
    } else {
        None
    }
}
