//! The table that a benchmark prints, as aligned Markdown that reads well both on a terminal and in a file.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};

/// Whether a measurement is within its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    Missed,
    /// The measurement has no bound and is shown for information.
    Unbounded,
}

impl Verdict {
    pub(crate) fn of(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::Missed }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::Missed => "MISSED",
            Self::Unbounded => "",
        })
    }
}

pub(crate) struct Table {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
    missed_bounds: usize,
}

impl Table {
    /// Creates an empty table with the given columns, followed by a verdict column.
    pub(crate) fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns
            .iter()
            .copied()
            .chain(["verdict"])
            .map(String::from)
            .collect();
        Self {
            title: title.into(),
            columns,
            rows: Vec::new(),
            notes: Vec::new(),
            missed_bounds: 0,
        }
    }

    pub(crate) fn add_row(&mut self, cells: &[&str], verdict: Verdict) {
        assert_eq!(
            cells.len() + 1,
            self.columns.len(),
            "a row needs one cell per column"
        );
        let mut row: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        row.push(verdict.to_string());
        self.rows.push(row);
        self.missed_bounds += usize::from(verdict == Verdict::Missed);
    }

    /// Adds a paragraph below the table.
    pub(crate) fn add_note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Returns the number of rows that missed their bound.
    pub(crate) fn missed_bounds(&self) -> usize {
        self.missed_bounds
    }

    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        std::fs::write(file, self.to_string()).with_context(|| format!("cannot write {}", file.display()))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self
                .rows
                .iter()
                .chain([&self.columns])
                .map(|row| row[column].chars().count());
            cells.max().unwrap_or(0).max(3)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |f: &mut fmt::Formatter<'_>, cells: &[String]| {
            for (column, cell) in cells.iter().enumerate() {
                let width = widths[column];
                if column == 0 {
                    write!(f, "| {cell:<width$} ")?;
                } else {
                    write!(f, "| {cell:>width$} ")?;
                }
            }
            writeln!(f, "|")
        };
        writeln!(f, "## {}\n", self.title)?;
        line(f, &self.columns)?;
        for (column, width) in widths.iter().enumerate() {
            let dashes = "-".repeat(width + 1);
            if column == 0 {
                write!(f, "|:{dashes}")?;
            } else {
                write!(f, "|{dashes}:")?;
            }
        }
        writeln!(f, "|")?;
        self.rows.iter().try_for_each(|row| line(f, row))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "\n{note}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_markdown_with_a_verdict_column() {
        let mut table = Table::new("Import", &["what", "seconds"]);
        table.add_row(&["causeway", "12.5"], Verdict::Met);
        table.add_row(&["a|b", "1"], Verdict::Missed);
        table.add_row(&["note", "-"], Verdict::Unbounded);
        table.add_note("All on one machine.".to_owned());
        assert_eq!(table.missed_bounds(), 1);
        let expected = "## Import\n\n\
            | what     | seconds | verdict |\n\
            |:---------|--------:|--------:|\n\
            | causeway |    12.5 |     met |\n\
            | a\\|b     |       1 |  MISSED |\n\
            | note     |       - |         |\n\n\
            All on one machine.\n";
        assert_eq!(table.to_string(), expected);
    }
}
