//! The result of an import.

use crate::report::RejectedLines;
use anyhow::bail;
use directory::history::imports::{self, ImportRecord, NamedFile};
use platform::db::Tx;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The share of rejected lines, in thousandths, above which an import is stopped.
const MAX_REJECTED_PER_THOUSAND: u64 = 5;

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub revision: i64,
    pub files: Vec<ImportedFile>,
    /// The number of lines with a row, or of returns, including rejected ones.
    pub lines: u64,
    /// The number of new nonprofits, or returns; the next two count the same.
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub gone: u64,
    /// The number of rejected lines.
    pub refused: u64,
    /// The file that lists the rejected lines, if there are any.
    pub report: Option<PathBuf>,
    /// Only an import of returns has these.
    #[serde(flatten)]
    pub returns: Option<ReturnCounts>,
    /// Only for lists that tell whether nonprofits are in good standing.
    #[serde(flatten)]
    pub standing: Option<StandingCounts>,
}

/// How rows of a list are joined to nonprofits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StandingCounts {
    /// Rows with an EIN.
    pub by_ein: u64,
    /// Rows with the EIN of another row with the same state number.
    pub by_state_number: u64,
    /// Pairs of similar names in all lists, which a person has to compare.
    pub similar_names: u64,
    /// The nonprofits that may receive donations now and could not before, or the reverse.
    pub verdicts_changed: u64,
}

/// What an import of returns counts besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReturnCounts {
    /// Returns of forms that have no facts for the directory, such as 990-T.
    pub other_forms: u64,
    /// Returns that are not stored, because there is a newer filing for the period or there are enough newer periods.
    pub outdated: u64,
    /// Nonprofits in the directory for which a return is new or changed.
    pub nonprofits_changed: u64,
}

/// A file that was imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedFile {
    pub name: String,
    pub sha256: String,
    pub lines: u64,
}

impl Summary {
    /// Returns the number of nonprofits that the import added, changed or marked as gone.
    pub fn total_changes(&self) -> u64 {
        self.nonprofits().into_iter().sum()
    }

    /// Returns the number of nonprofits that the import added, changed and marked as gone.
    pub fn nonprofits(&self) -> [u64; 3] {
        if let Some(counts) = &self.standing {
            return [0, counts.verdicts_changed, 0];
        }
        match &self.returns {
            Some(counts) => [0, counts.nonprofits_changed, 0],
            None => [self.new, self.changed, self.gone],
        }
    }

    /// Records the import in the log of the directory.
    pub async fn record(
        &self,
        tx: &mut Tx,
        kind: &str,
        started_at: i64,
        finished_at: i64,
    ) -> sqlx::Result<()> {
        let [added, changed, gone] = self.nonprofits();
        let files: Vec<NamedFile> = self
            .files
            .iter()
            .map(|file| NamedFile {
                name: file.name.clone(),
                sha256: file.sha256.clone(),
                lines: file.lines as i64,
            })
            .collect();
        let import = ImportRecord {
            revision: self.revision,
            kind,
            started_at,
            finished_at,
            lines: self.lines,
            added,
            changed,
            gone,
            refused: self.refused,
        };
        imports::store::insert_import(tx, import, &files).await
    }

    /// Returns an error if there are no rows or too many rejected lines. Called before anything is committed.
    pub fn validate(&self, rejected_lines: &RejectedLines) -> anyhow::Result<()> {
        if self.lines == 0 {
            bail!("the files contain no rows; check that they are the right files");
        }
        if self.refused * 1_000 > self.lines * MAX_REJECTED_PER_THOUSAND {
            let (file, first) = rejected_lines.first().expect("a line was rejected");
            let report = self.report.as_deref().unwrap_or(Path::new("the report"));
            bail!(
                "{} of {} lines are invalid, more than 0.5%; nothing was imported. The first is {file}, {first}. \
                 Correct the file or download it again; all invalid lines are listed in {}",
                self.refused,
                self.lines,
                report.display()
            );
        }
        Ok(())
    }
}
