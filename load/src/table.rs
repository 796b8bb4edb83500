//! The one table a program prints: aligned Markdown, so that the terminal and the file show the same text.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};

/// Whether a measured figure keeps the bound that stands beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Kept,
    Missed,
    /// A figure to read, with no bound of its own.
    Shown,
}

impl Verdict {
    pub fn of(kept: bool) -> Self {
        if kept { Self::Kept } else { Self::Missed }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept",
            Self::Missed => "MISSED",
            Self::Shown => "",
        })
    }
}

pub struct Table {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
    missed: usize,
}

impl Table {
    /// The last column, the verdict, is added by the table itself.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
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
            missed: 0,
        }
    }

    pub fn row(&mut self, cells: &[&str], verdict: Verdict) {
        assert_eq!(
            cells.len() + 1,
            self.columns.len(),
            "a row has one cell for each column"
        );
        let mut row: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        row.push(verdict.to_string());
        self.rows.push(row);
        self.missed += usize::from(verdict == Verdict::Missed);
    }

    /// A sentence under the table.
    pub fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    pub fn missed(&self) -> usize {
        self.missed
    }

    pub fn write(&self, file: &Path) -> Result<()> {
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
        table.row(&["causeway", "12.5"], Verdict::Kept);
        table.row(&["a|b", "1"], Verdict::Missed);
        table.row(&["note", "-"], Verdict::Shown);
        table.note("All on one machine.".to_owned());
        assert_eq!(table.missed(), 1);
        let expected = "## Import\n\n\
            | what     | seconds | verdict |\n\
            |:---------|--------:|--------:|\n\
            | causeway |    12.5 |    kept |\n\
            | a\\|b     |       1 |  MISSED |\n\
            | note     |       - |         |\n\n\
            All on one machine.\n";
        assert_eq!(table.to_string(), expected);
    }
}
