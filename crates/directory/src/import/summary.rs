//! What an import reports when it ends.

use super::report::RejectedLines;
use anyhow::bail;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The share of refused lines, in thousandths, above which a file is considered broken.
const MAX_REFUSED_PER_THOUSAND: u64 = 5;

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub revision: i64,
    pub files: Vec<ImportedFile>,
    /// Lines that held a row, refused ones included.
    pub lines: u64,
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub gone: u64,
    pub refused: u64,
    /// Where the refused lines are listed; none where none were.
    pub report: Option<PathBuf>,
}

/// One file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedFile {
    pub name: String,
    pub sha256: String,
    pub lines: u64,
}

impl Summary {
    /// How many nonprofits look different after it.
    pub fn total_changes(&self) -> u64 {
        self.new + self.changed + self.gone
    }

    /// Refuses to go on where too many lines were bad; called before anything is written.
    pub fn admit(&self, rejected_lines: &RejectedLines) -> anyhow::Result<()> {
        if self.lines == 0 {
            bail!("no rows were found; check that the right file was given");
        }
        if self.refused * 1_000 > self.lines * MAX_REFUSED_PER_THOUSAND {
            let (file, first) = rejected_lines.first().expect("one was refused");
            let report = self.report.as_deref().unwrap_or(Path::new("the report"));
            bail!(
                "{} of {} lines are bad, more than 0.5 %; nothing was imported. The first is {file}, {first}. \
                 Correct the file or get it again; all are listed in {}",
                self.refused,
                self.lines,
                report.display()
            );
        }
        Ok(())
    }
}
