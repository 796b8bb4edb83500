//! `causeway import irs`: imports EO BMF files, which together list all nonprofits that the IRS knows.
//!
//! Each row is compared with the store, and new and changed rows are put in a temporary file. Then new nonprofits get their
//! slugs, the most prominent first, and everything is written in one transaction. The store is locked only while rows are
//! written, which is short for a monthly update.

pub(crate) mod bmf;
mod read;
mod row_file;
mod write;

use self::read::read_files;
use self::write::write;
use crate::importer::Importer;
use crate::summary::Summary;
use anyhow::{Context, bail};
use directory::nonprofits::bulk::store;
use std::path::PathBuf;

/// The share of missing nonprofits, in percent, above which the files are considered incomplete.
const MAX_GONE_PERCENT: u64 = 5;

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
            .context("cannot write the report file; free disk space and import again")?;
        summary.validate(&read.rejected_lines)?;
        let gone = read.gone();
        summary.gone = gone.len() as u64;
        if summary.gone * 100 > read.listed * MAX_GONE_PERCENT && !force {
            bail!(
                "{} of {} nonprofits are not in these files, more than 5%; nothing was imported. \
             Import all IRS files at once, or use --force if the nonprofits are really gone",
                summary.gone,
                read.listed
            );
        }
        write(self, read, &names, &gone, revision, started_at, &mut summary).await?;
        Ok(summary)
    }
}
