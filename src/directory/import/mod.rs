//! Files in, directory out: what operators load, all of it or nothing.
//!
//! A file is read and judged first, while nothing is locked; then the rows that are new or changed are written in
//! one transaction. Readers see the directory before or after it, and a process that dies leaves the one before.

pub mod bmf;
pub mod enrichment;
pub mod irs;
pub mod lines;
pub mod nonprofits;
pub mod progress;
pub mod provenance;
mod record;
pub mod report;
mod slugs;
pub mod source;
mod spool;
pub mod store;
mod tally;
mod values;

use anyhow::bail;
use lines::Refused;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Over one line in two hundred refused, the file is taken for broken.
const MOST_REFUSED_IN_THOUSAND: u64 = 5;

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub revision: i64,
    pub files: Vec<FileRead>,
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
pub struct FileRead {
    pub name: String,
    pub sha256: String,
    pub lines: u64,
}

impl Summary {
    /// How many nonprofits look different after it.
    pub fn touched(&self) -> u64 {
        self.new + self.changed + self.gone
    }

    /// Refuses to go on where too many lines were bad; called before anything is written.
    fn admit(&self, refusals: &Refusals) -> anyhow::Result<()> {
        if self.lines == 0 {
            bail!("no rows were found; check that the right file was given");
        }
        if self.refused * 1_000 > self.lines * MOST_REFUSED_IN_THOUSAND {
            let (file, first) = refusals.list.first().expect("one was refused");
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

/// The lines that were refused, with the file of each. Very many are counted but not kept.
#[derive(Debug, Default)]
pub struct Refusals {
    list: Vec<(String, Refused)>,
    count: u64,
}

impl Refusals {
    const MOST_KEPT: usize = 100_000;

    fn add(&mut self, file: &str, refused: Refused) {
        self.count += 1;
        if self.list.len() < Self::MOST_KEPT {
            self.list.push((file.to_owned(), refused));
        }
    }
}
