//! `causeway import 990`: imports Form 990, 990-EZ and 990-PF returns.
//!
//! The facts of all returns are put in a temporary file, without a lock. Then they are merged with the stored returns of
//! their EIN, in order of EIN and in one transaction: of several filings for a period only the newest is kept, and only
//! the last periods are. What the page of a nonprofit shows is taken from the returns that are kept.
//!
//! Memory holds only which filing is the newest for each EIN and period. Returns that are stored with the same ID and
//! digest are skipped, and files can be imported in any order. The table `return_profiles` has what a page shows, so
//! building a snapshot reads one small row per nonprofit.

mod filing_order;
mod merge;
pub(crate) mod profile;
mod read;
mod write;

use self::read::{ReadReturns, read_returns};
use self::write::write;
use crate::importer::Importer;
use crate::summary::{ReturnCounts, Summary};
use anyhow::{Context, bail};
use std::path::PathBuf;

impl Importer<'_> {
    /// Imports returns: XML files, ZIP bundles and index files, in any order.
    ///
    /// A return that cannot be read is reported and skipped, however many there are: a bundle is imported as far as it can
    /// be read. It is an error if nothing can be read.
    pub async fn import_returns(&self, files: &[PathBuf]) -> anyhow::Result<Summary> {
        let started_at = self.clock.millis();
        if files.len() > usize::from(u16::MAX) {
            bail!(
                "{} files are too many for one import; import at most 65,535 at once",
                files.len()
            );
        }
        let (paths, data) = (files.to_owned(), self.data.to_owned());
        let read = tokio::task::spawn_blocking(move || read_returns(&paths, &data)).await??;
        let mut summary = Summary {
            files: read.files.clone(),
            lines: read.documents,
            refused: read.rejected.count(),
            returns: Some(ReturnCounts {
                other_forms: read.other_forms,
                outdated: read.outdated,
                nonprofits_changed: 0,
            }),
            ..Summary::default()
        };
        summary.report = read
            .rejected
            .write(self.data, "990", started_at)
            .context("cannot write the report file; free disk space and import again")?;
        validate(&read, &summary)?;
        write(self, read, started_at, &mut summary).await?;
        Ok(summary)
    }
}

/// Returns an error if no return could be read.
fn validate(read: &ReadReturns, summary: &Summary) -> anyhow::Result<()> {
    if read.documents == 0 {
        bail!("the files contain no returns; check that they are the right files");
    }
    if read.documents == read.rejected.count() {
        let (file, reason) = read.rejected.first().context("a return was rejected")?;
        let advice = match &summary.report {
            Some(report) if summary.refused > 1 => {
                format!(
                    "download the files again; all reasons are listed in {}",
                    report.display()
                )
            }
            _ => "download the file again".to_owned(),
        };
        bail!("no return could be read, and nothing was imported ({file}: {reason}); {advice}");
    }
    Ok(())
}
