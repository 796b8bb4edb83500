//! `causeway import all`: imports all files in a folder, each recognized by its content, in the right order.

use super::download::{self, DownloadSummary, ReturnsChoice};
use super::snapshot::build_snapshot;
use super::standing::{follow_directory, import_standing};
use super::summary_text::summary_text;
use crate::app::App;
use crate::cli::output::Output;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use directory::eligibility::store::StandingList;
use ingest::{FileKind, recognize};
use ingest::{ListKind, Summary};
use platform::clock::Stopwatch;
use platform::progress::Step;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder in the data folder for downloads, unless another one is given.
const DOWNLOADS: &str = "downloads";

#[derive(Args)]
pub(crate) struct All {
    /// A folder with any of: EO BMF files, Publication 78, the revocation list, the Form 990-N list, Form 990 returns, JSON Lines
    #[arg(value_name = "DIR", required_unless_present = "download")]
    folder: Option<PathBuf>,
    /// Download the current files of the IRS into the folder first; without DIR, to "downloads" in the data folder
    #[arg(long)]
    download: bool,
    /// Download the returns that the IRS processed in this many years, counted back from this year
    #[arg(long, value_name = "N", default_value_t = 2, requires = "download", value_parser = clap::value_parser!(i16).range(1..=20))]
    years: i16,
    /// Which Form 990 returns to download
    #[arg(long, default_value = "recent", requires = "download")]
    returns: ReturnsChoice,
    /// Import even if more than 5% of the stored rows are missing from a file
    #[arg(long)]
    force: bool,
}

/// The imports, in the order in which they run: first who exists, then the facts about them, last what operators add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ImportKind {
    Irs,
    List(ListKind),
    Returns,
    Nonprofits,
    Standing(StandingList),
}

impl ImportKind {
    fn of(kind: FileKind) -> ImportKind {
        match kind {
            FileKind::Irs => ImportKind::Irs,
            FileKind::List(kind) => ImportKind::List(kind),
            FileKind::Returns | FileKind::ReturnIndex => ImportKind::Returns,
            FileKind::Nonprofits => ImportKind::Nonprofits,
            FileKind::Standing(list) => ImportKind::Standing(list),
        }
    }

    /// Returns the name of the command that imports only this kind.
    fn name(self) -> &'static str {
        match self {
            ImportKind::Irs => "irs",
            ImportKind::List(kind) => kind.name(),
            ImportKind::Returns => "990",
            ImportKind::Nonprofits => "nonprofits",
            ImportKind::Standing(list) => list.name(),
        }
    }

    fn title(self) -> &'static str {
        match self {
            ImportKind::Irs => "the EO BMF files",
            ImportKind::List(kind) => kind.title(),
            ImportKind::Returns => "Form 990 returns",
            ImportKind::Nonprofits => "JSON Lines",
            ImportKind::Standing(StandingList::California) => "the registry of California",
            ImportKind::Standing(StandingList::TaxBoard) => "the tax board of California",
            ImportKind::Standing(StandingList::Sanctions) => "the sanctions list",
        }
    }
}

/// Which files are imported how.
#[derive(Debug, Default)]
struct Plan {
    steps: BTreeMap<ImportKind, Vec<PathBuf>>,
    skipped: Vec<SkippedFile>,
}

/// A file that is not imported.
#[derive(Debug, Serialize)]
struct SkippedFile {
    file: String,
    reason: &'static str,
}

/// What one step did.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StepSummary {
    kind: &'static str,
    #[serde(skip)]
    title: &'static str,
    store_seconds: f64,
    #[serde(flatten)]
    summary: Summary,
}

impl All {
    pub(crate) async fn run(&self, app: &App, output: Output) -> anyhow::Result<()> {
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => app.config.data.join(DOWNLOADS),
        };
        let downloaded = if self.download {
            let years = (self.returns == ReturnsChoice::Recent).then_some(self.years);
            Some(download::download(&app.config.import, &app.clock, &folder, years).await?)
        } else {
            None
        };
        let plan = {
            let folder = folder.clone();
            tokio::task::spawn_blocking(move || Plan::make(&folder)).await??
        };
        let mut done = Vec::new();
        let outcome = self.run_steps(app, &plan, &mut done).await;
        // What was imported is shown, even if a later step failed.
        let changes = done.iter().map(|step| step.summary.total_changes()).sum();
        let built = if done.is_empty() && outcome.is_err() {
            Err(anyhow!("nothing was imported"))
        } else {
            build_snapshot(app, changes).await
        };
        outcome?;
        let built = built?;
        if !done.is_empty() {
            follow_directory(app).await?;
        }
        let mut value = json!({"steps": done, "skipped": plan.skipped, "download": downloaded});
        built.add_to(&mut value);
        output.print(&value, || {
            let mut lines: Vec<String> = downloaded.iter().map(DownloadSummary::text).collect();
            lines.extend(done.iter().map(StepSummary::text));
            for skipped in &plan.skipped {
                lines.push(format!("skipped {}: {}", skipped.file, skipped.reason));
            }
            if let Some(duration) = built.duration {
                lines.push(format!("snapshot: {:.1} s", duration.as_secs_f64()));
            }
            lines.join("\n")
        })
    }

    /// Runs the steps and adds their summaries to `done`, until one fails.
    async fn run_steps(&self, app: &App, plan: &Plan, done: &mut Vec<StepSummary>) -> anyhow::Result<()> {
        let count = plan.steps.len();
        for (number, (kind, files)) in (1..).zip(&plan.steps) {
            let _step = Step::start(number, count, kind.title());
            let stopwatch = Stopwatch::start();
            let importer = app.importer();
            let outcome = match kind {
                ImportKind::Irs => importer.import_irs(files, self.force).await,
                ImportKind::List(list) => importer.import_list(*list, &files[0], self.force).await,
                ImportKind::Returns => importer.import_returns(files).await,
                ImportKind::Nonprofits => importer.import_nonprofits(files).await,
                ImportKind::Standing(list) => import_standing(app, *list, files, self.force).await,
            };
            let summary = outcome.map_err(|error| {
                let step = format!("step {number} of {count} ({})", kind.title());
                step_error(&step, &error, done)
            })?;
            done.push(StepSummary {
                kind: kind.name(),
                title: kind.title(),
                store_seconds: stopwatch.elapsed().as_secs_f64(),
                summary,
            });
        }
        Ok(())
    }
}

/// Names the step that failed, and what was imported before it.
fn step_error(step: &str, error: &anyhow::Error, done: &[StepSummary]) -> anyhow::Error {
    let text = format!("{error:#}");
    let (problem, advice) = text
        .split_once("; ")
        .unwrap_or((&text, "correct this and run it again"));
    let advice = advice.trim_end_matches('.');
    let before = if done.is_empty() {
        "Nothing was imported before it".to_owned()
    } else {
        let titles: Vec<&str> = done.iter().map(|step| step.title).collect();
        format!("Imported before it: {}", titles.join(", "))
    };
    anyhow!("{step} failed: {problem}; {advice}. {before}")
}

impl StepSummary {
    fn text(&self) -> String {
        let duration = std::time::Duration::from_secs_f64(self.store_seconds);
        format!("{}: {}", self.title, summary_text(&self.summary, duration, None))
    }
}

impl Plan {
    /// Recognizes the files in a folder.
    fn make(folder: &Path) -> anyhow::Result<Plan> {
        let cannot_read = || {
            let folder = folder.display();
            format!("cannot read the folder {folder}; check the path and its permissions")
        };
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).with_context(cannot_read)? {
            paths.push(entry.with_context(cannot_read)?.path());
        }
        paths.sort();
        let mut plan = Plan::default();
        let mut has_returns = false;
        for path in paths {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name.starts_with('.') || name == download::MANIFEST {
                continue;
            }
            let mut skip = |reason| {
                plan.skipped.push(SkippedFile {
                    file: name.clone(),
                    reason,
                });
            };
            if path.is_dir() {
                skip("it is a folder");
                continue;
            }
            if path
                .extension()
                .is_some_and(|extension| extension == download::PARTIAL)
            {
                skip("it is an unfinished download");
                continue;
            }
            let kind = recognize(&path).with_context(|| {
                format!(
                    "cannot read {}; check the permissions of the file",
                    path.display()
                )
            })?;
            match kind {
                Some(kind) => {
                    has_returns |= kind == FileKind::Returns;
                    plan.steps.entry(ImportKind::of(kind)).or_default().push(path);
                }
                None => skip("it is none of the files that can be imported"),
            }
        }
        if !has_returns && let Some(indexes) = plan.steps.remove(&ImportKind::Returns) {
            for index in indexes {
                let file = index
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let reason = "it is an index without returns";
                plan.skipped.push(SkippedFile { file, reason });
            }
        }
        plan.check(folder)?;
        Ok(plan)
    }

    fn check(&self, folder: &Path) -> anyhow::Result<()> {
        for (kind, files) in &self.steps {
            if let (ImportKind::List(list), [first, second, ..]) = (kind, files.as_slice()) {
                bail!(
                    "{} and {} are both {}, of which each file is complete; keep only the newer one",
                    first.display(),
                    second.display(),
                    list.title()
                );
            }
        }
        if self.steps.is_empty() {
            bail!(
                "{} contains no file that can be imported; put files of the IRS there, or use --download",
                folder.display()
            );
        }
        Ok(())
    }
}
