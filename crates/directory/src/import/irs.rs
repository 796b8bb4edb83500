//! `causeway import irs`: EO BMF files, which together are the whole directory of the IRS.
//!
//! Reading compares each row with what the store holds and spools what is new or changed. Then the more prominent
//! of the new bodies choose their slugs first, and everything is written in one transaction: the lock is held for
//! the writing alone, which for a monthly update is short.

mod read;
mod write;

use self::read::read_files;
use self::write::write;
use super::importer::Importer;
use super::store;
use super::summary::Summary;
use anyhow::{Context, bail};
use std::path::PathBuf;

/// An import that would lose more than one body in twenty is taken for incomplete.
const MOST_GONE_IN_HUNDRED: u64 = 5;

impl Importer<'_> {
    /// Imports EO BMF files.
    pub async fn import_irs(&self, files: &[PathBuf], force: bool) -> anyhow::Result<Summary> {
        let started_at = self.clock.millis();
        let contents = store::load_contents(self.db).await?;
        let names = store::list_profile_names(self.db).await?;
        let revision = contents.revision;
        let (paths, data) = (files.to_owned(), self.data.to_owned());
        let read = tokio::task::spawn_blocking(move || read_files(&paths, &data, contents)).await??;
        let mut summary = read.summary.clone();
        summary.report = read
            .rejected_lines
            .write(self.data, "irs", started_at)
            .context("the report file cannot be written; make room on the disk and import again")?;
        summary.admit(&read.rejected_lines)?;
        let gone = read.gone();
        summary.gone = gone.len() as u64;
        if summary.gone * 100 > read.listed * MOST_GONE_IN_HUNDRED && !force {
            bail!(
                "{} of {} nonprofits are not in these files, more than 5 %; nothing was imported. \
             Give all files of the IRS at once, or --force if they are really gone",
                summary.gone,
                read.listed
            );
        }
        write(self, read, &names, &gone, revision, started_at, &mut summary).await?;
        Ok(summary)
    }
}
