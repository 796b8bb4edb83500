//! `causeway import`

mod all;
mod download;
mod snapshot;
mod standing;
mod summary_text;

use self::all::All;
use self::snapshot::build_snapshot;
use self::standing::{follow_directory, import_standing};
use self::summary_text::summary_text;
use super::output::Output;
use crate::app::App;
use clap::{Args, Subcommand};
use directory::eligibility::store::StandingList;
use directory::history::imports;
use ingest::{ListKind, Summary};
use platform::clock::Stopwatch;
use serde_json::json;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(super) enum Import {
    /// Import IRS EO BMF files (.csv, .csv.gz or .zip); pass all of them at once
    #[command(after_help = "Example:\n  causeway import irs eo1.csv eo2.csv eo3.csv eo4.csv")]
    Irs {
        /// EO BMF files: .csv, .csv.gz or .zip
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Import even if more than 5% of the directory is missing from the files
        #[arg(long)]
        force: bool,
    },
    /// Import Publication 78 of the IRS (.txt, .txt.gz or .zip): who can receive tax-deductible donations
    #[command(after_help = "Example:\n  causeway import pub78 data-download-pub78.zip")]
    Pub78(ListFile),
    /// Import the automatic revocation list of the IRS (.txt, .txt.gz or .zip)
    #[command(after_help = "Example:\n  causeway import revocations data-download-revocation.zip")]
    Revocations(ListFile),
    /// Import the Form 990-N list of the IRS (.txt, .txt.gz or .zip): websites of the smallest nonprofits
    #[command(
        name = "990n",
        after_help = "Example:\n  causeway import 990n data-download-epostcard.zip"
    )]
    Epostcards(ListFile),
    /// Import the four lists of the registry of charities of California (.csv, .csv.gz or .zip); pass all of them at once
    #[command(
        after_help = "Example:\n  causeway import california charities-may-operate.csv charities-may-not-operate.csv charities-undetermined-status.csv charities-not-operating.csv"
    )]
    California(StandingFiles),
    /// Import the list of organizations whose exemption the tax board of California revoked (.csv, .csv.gz or .zip)
    #[command(after_help = "Example:\n  causeway import tax-board revoked-exempt.csv")]
    TaxBoard(StandingFiles),
    /// Import the sanctions list of the United States: sdn.csv, alt.csv and add.csv
    #[command(after_help = "Example:\n  causeway import sanctions sdn.csv alt.csv add.csv")]
    Sanctions(StandingFiles),
    /// Import JSON Lines: names, descriptions, websites, causes and pictures by EIN or ID, and new nonprofits
    #[command(
        after_help = "Example:\n  echo '{\"ein\":\"530196605\",\"websiteUrl\":\"https://www.redcross.org\"}' > more.jsonl\n  causeway import nonprofits more.jsonl"
    )]
    Nonprofits {
        /// Files of JSON Lines, one nonprofit per line
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Import Form 990, 990-EZ and 990-PF returns: XML files, gzip, and the ZIP bundles of the IRS
    #[command(
        name = "990",
        after_help = "Example:\n  causeway import 990 2026_TEOS_XML_01A.zip 2026_TEOS_XML_02A.zip"
    )]
    Returns {
        /// Returns in XML, compressed with gzip or not, and ZIP bundles of the IRS
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Import all files in a folder, each recognized by its content, in the right order
    #[command(
        after_help = "Subfolders are not searched.\n\nExamples:\n  causeway import all irs-files\n  causeway import all --download"
    )]
    All(All),
}

/// A list file of the IRS.
#[derive(Args)]
pub(super) struct ListFile {
    /// The list as the IRS publishes it, or its .zip
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Import even if more than 5% of the stored rows are missing from the file
    #[arg(long)]
    force: bool,
}

/// The files of a list that tells whether nonprofits are in good standing.
#[derive(Args)]
pub(super) struct StandingFiles {
    /// The files as they are published
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Import even if more than 20% of the stored rows are missing from the files
    #[arg(long)]
    force: bool,
}

impl StandingFiles {
    async fn import(&self, app: &App, list: StandingList) -> anyhow::Result<Summary> {
        import_standing(app, list, &self.files, self.force).await
    }
}

impl ListFile {
    async fn import(&self, app: &App, kind: ListKind) -> anyhow::Result<Summary> {
        app.importer().import_list(kind, &self.file, self.force).await
    }
}

impl Import {
    /// Imports, and records for operators whether that failed.
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let command = self.name();
        let result = self.import(app, output).await;
        let error = result.as_ref().err().map(|error| format!("{error:#}"));
        let recorded =
            imports::store::record_outcome(&app.db, command, error.as_deref(), app.clock.millis()).await;
        // If the database is the reason, the error of the import says so.
        if let (Err(error), Ok(())) = (recorded, &result) {
            return Err(error.into());
        }
        result
    }

    fn name(&self) -> &'static str {
        match self {
            Import::Irs { .. } => "irs",
            Import::Pub78(_) => "pub78",
            Import::Revocations(_) => "revocations",
            Import::Epostcards(_) => "990n",
            Import::California(_) => "california",
            Import::TaxBoard(_) => "tax-board",
            Import::Sanctions(_) => "sanctions",
            Import::Nonprofits { .. } => "nonprofits",
            Import::Returns { .. } => "990",
            Import::All(_) => "all",
        }
    }

    async fn import(self, app: &App, output: Output) -> anyhow::Result<()> {
        let stopwatch = Stopwatch::start();
        let importer = app.importer();
        let summary = match &self {
            Import::Irs { files, force } => importer.import_irs(files, *force).await?,
            Import::Pub78(list) => list.import(app, ListKind::Publication78).await?,
            Import::Revocations(list) => list.import(app, ListKind::Revocations).await?,
            Import::Epostcards(list) => list.import(app, ListKind::Epostcards).await?,
            Import::California(list) => list.import(app, StandingList::California).await?,
            Import::TaxBoard(list) => list.import(app, StandingList::TaxBoard).await?,
            Import::Sanctions(list) => list.import(app, StandingList::Sanctions).await?,
            Import::Nonprofits { files } => importer.import_nonprofits(files).await?,
            Import::Returns { files } => importer.import_returns(files).await?,
            Import::All(all) => return all.run(app, output).await,
        };
        let stored = stopwatch.elapsed();
        let built = build_snapshot(app, summary.total_changes()).await?;
        follow_directory(app).await?;
        let mut value = serde_json::to_value(&summary)?;
        value["storeSeconds"] = json!(stored.as_secs_f64());
        built.add_to(&mut value);
        output.print(&value, || summary_text(&summary, stored, built.duration))
    }
}
