//! `causeway import`

use super::output::Output;
use crate::app::App;
use anyhow::anyhow;
use clap::Subcommand;
use directory::import::Summary;
use directory::import::progress::wait_with_spinner;
use platform::clock::Stopwatch;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Subcommand)]
pub enum Import {
    /// Import IRS EO BMF files (.csv, .csv.gz or .zip); pass all of them at once
    #[command(after_help = "Example:\n  causeway import irs eo1.csv eo2.csv eo3.csv eo4.csv")]
    Irs {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Import even if more than 5% of the directory is missing from the files
        #[arg(long)]
        force: bool,
    },
    /// Import JSON Lines: names, descriptions, websites, causes and pictures by EIN or ID, and new nonprofits
    #[command(
        after_help = "Example:\n  echo '{\"ein\":\"530196605\",\"websiteUrl\":\"https://www.redcross.org\"}' > more.jsonl\n  causeway import nonprofits more.jsonl"
    )]
    Nonprofits {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Import Form 990, 990-EZ and 990-PF returns: XML files, gzip, and the ZIP bundles of the IRS
    #[command(
        name = "990",
        after_help = "Example:\n  causeway import 990 2026_TEOS_XML_01A.zip 2026_TEOS_XML_02A.zip"
    )]
    Returns {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

impl Import {
    pub async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let stopwatch = Stopwatch::start();
        let summary = match &self {
            Import::Irs { files, force } => app.importer().import_irs(files, *force).await?,
            Import::Nonprofits { files } => app.importer().import_nonprofits(files).await?,
            Import::Returns { files } => app.importer().import_returns(files).await?,
        };
        let stored = stopwatch.elapsed();
        // Running servers add a small change to their overlay. Only a large one needs a new snapshot.
        let needs_building = summary.total_changes() > app.config.directory.overlay_limit as u64
            || app.directory.view().snapshot.is_none();
        let stopwatch = Stopwatch::start();
        let built = if needs_building {
            wait_with_spinner("building the snapshot", app.directory.build_after_import())
                .await
                .map_err(|error| without_snapshot(&error))?
        } else {
            None
        };
        // Another server may have built it; then this is how long it took to get it.
        let snapshot = needs_building.then(|| {
            let duration = built.as_ref().map(|built| built.duration);
            duration.unwrap_or_else(|| stopwatch.elapsed())
        });
        let mut value = serde_json::to_value(&summary)?;
        value["storeSeconds"] = json!(stored.as_secs_f64());
        value["snapshotSeconds"] = json!(snapshot.map(|duration| duration.as_secs_f64()));
        value["indexSeconds"] = json!(built.as_ref().map(|built| built.index_duration.as_secs_f64()));
        output.print(&value, || text(&summary, stored, snapshot))
    }
}

/// Explains that the rows are committed, so importing again does not help.
fn without_snapshot(error: &anyhow::Error) -> anyhow::Error {
    anyhow!(
        "the import is stored, but the directory snapshot could not be built ({error:#}); free disk space, \
         and a running server or the next import will build it"
    )
}

fn text(summary: &Summary, stored: Duration, built: Option<Duration>) -> String {
    let mut text = match summary.total_changes() {
        _ if summary.returns.is_some() => returns_text(summary),
        0 => format!("nothing changed; {} rows are unchanged", summary.unchanged),
        _ => format!(
            "{} new, {} changed, {} gone, {} unchanged",
            summary.new, summary.changed, summary.gone, summary.unchanged
        ),
    };
    if summary.refused > 0 && summary.returns.is_none() {
        let _ = write!(text, ", {} refused", summary.refused);
    }
    let _ = write!(text, "; {:.1} s", stored.as_secs_f64());
    if let Some(built) = built {
        let _ = write!(text, ", snapshot {:.1} s", built.as_secs_f64());
    }
    if let Some(report) = &summary.report {
        let rows = if summary.returns.is_some() {
            "returns"
        } else {
            "lines"
        };
        let _ = write!(text, "\n  the refused {rows} are listed in {}", report.display());
    }
    text
}

fn returns_text(summary: &Summary) -> String {
    let counts = summary.returns.unwrap_or_default();
    let mut text = format!(
        "{} returns read: {} new, {} changed, {} unchanged",
        summary.lines, summary.new, summary.changed, summary.unchanged
    );
    for (count, what) in [
        (counts.outdated, "outdated"),
        (counts.other_forms, "of other forms"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    if summary.refused > 0 {
        let _ = write!(text, ", {} refused", summary.refused);
    }
    let _ = write!(text, "; {} nonprofits changed", counts.nonprofits_changed);
    text
}
