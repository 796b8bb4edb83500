//! `causeway import all --download`: fetches the current files of the IRS into a folder.
//!
//! A file is first asked for with HEAD, which says whether it changed and how large it is, so that the free space is known
//! before anything is fetched. It is written to a partial file, which the next attempt continues, and gets its name only
//! after its length and its content were verified.

mod bundles;
mod fetch;
mod manifest;
mod remote;
mod space;
mod target;
mod verify;

pub(super) use self::fetch::PARTIAL;
pub(super) use self::manifest::MANIFEST;

use self::fetch::{FetchedFile, Fetcher};
use self::manifest::Manifest;
use self::remote::{Remote, Version};
use self::space::check_space;
use self::target::Target;
use crate::config::ImportSettings;
use anyhow::{Context, bail};
use clap::ValueEnum;
use jiff::Timestamp;
use platform::clock::Clock;
use platform::progress::{Progress, Unit};
use serde::Serialize;
use std::fmt::Write;
use std::fs::{self, File, TryLockError};
use std::path::Path;

/// Which returns are downloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ReturnsChoice {
    /// Those of the last years
    Recent,
    /// None
    None,
}

/// What a download did.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DownloadSummary {
    pub folder: String,
    pub fetched: Vec<FetchedFile>,
    /// Files that did not change since they were fetched.
    pub unchanged: Vec<String>,
    /// Bundles of returns that the server does not have.
    pub missing: Vec<String>,
}

impl DownloadSummary {
    pub(super) fn text(&self) -> String {
        let bytes: u64 = self.fetched.iter().map(|file| file.bytes).sum();
        let mut text = format!(
            "download to {}: {} fetched ({:.1} MB), {} unchanged",
            self.folder,
            self.fetched.len(),
            bytes as f64 / 1e6,
            self.unchanged.len()
        );
        if !self.missing.is_empty() {
            let _ = write!(text, "\n  not on the server: {}", self.missing.join(", "));
        }
        text
    }
}

/// A file to fetch, as HEAD described it.
struct Planned {
    target: Target,
    version: Version,
    length: Option<u64>,
}

/// Fetches what changed. `years` is the number of years whose returns are fetched.
pub(super) async fn download(
    settings: &ImportSettings,
    clock: &Clock,
    folder: &Path,
    years: Option<i16>,
) -> anyhow::Result<DownloadSummary> {
    let cannot_use = || {
        format!(
            "cannot use the folder {}; check its permissions",
            folder.display()
        )
    };
    fs::create_dir_all(folder).with_context(cannot_use)?;
    let lock = File::open(folder).with_context(cannot_use)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => bail!(
            "another process is downloading to {}; wait until it has finished",
            folder.display()
        ),
        Err(TryLockError::Error(error)) => return Err(error).with_context(cannot_use),
    }
    let mut download = Download {
        remote: Remote::new(settings)?,
        manifest: Manifest::load(folder)?,
        folder,
        summary: DownloadSummary {
            folder: folder.display().to_string(),
            ..DownloadSummary::default()
        },
    };
    let this_year = Timestamp::from_millisecond(clock.millis())
        .unwrap_or_default()
        .to_zoned(jiff::tz::TimeZone::UTC)
        .year();
    let years: Vec<i16> = (0..years.unwrap_or(0)).map(|back| this_year - back).collect();
    let mut targets = target::fixed_targets(settings);
    targets.extend(years.iter().map(|year| target::index_target(settings, *year)));
    download.fetch_all(targets).await?;
    let mut bundles = Vec::new();
    for year in years {
        bundles.extend(download.find_bundles(settings, year).await?);
    }
    download.fetch_planned(bundles).await?;
    Ok(download.summary)
}

struct Download<'a> {
    remote: Remote,
    manifest: Manifest,
    folder: &'a Path,
    summary: DownloadSummary,
}

impl Download<'_> {
    /// Fetches those of the targets that changed.
    async fn fetch_all(&mut self, targets: Vec<Target>) -> anyhow::Result<()> {
        let mut planned = Vec::new();
        for target in targets {
            let is_optional = target.is_optional;
            let name = target.name.clone();
            if !self.plan(target, &mut planned).await? && !is_optional {
                bail!("the server does not have {name}; check import.irs_url and import.teos_url");
            }
        }
        self.fetch_planned(planned).await
    }

    /// Asks for a file, and adds it to `planned` if it changed. Returns whether the server has it.
    async fn plan(&mut self, target: Target, planned: &mut Vec<Planned>) -> anyhow::Result<bool> {
        let known = self.manifest.intact_version(self.folder, &target)?;
        match self.remote.head(&target.url, known.as_ref()).await? {
            remote::Head::Unchanged => {
                self.summary.unchanged.push(target.name);
                Ok(true)
            }
            remote::Head::Absent => Ok(false),
            remote::Head::Found { version, length } => {
                if known.is_some_and(|known| known.is_same(&version)) {
                    self.summary.unchanged.push(target.name);
                } else {
                    planned.push(Planned {
                        target,
                        version,
                        length,
                    });
                }
                Ok(true)
            }
        }
    }

    /// Finds the bundles of returns of a year that changed.
    async fn find_bundles(&mut self, settings: &ImportSettings, year: i16) -> anyhow::Result<Vec<Planned>> {
        let index = self.folder.join(target::index_target(settings, year).name);
        // The index of a year appears with its first bundle.
        if !index.exists() {
            return Ok(Vec::new());
        }
        let names = tokio::task::spawn_blocking(move || bundles::read_index(&index, year)).await??;
        let mut planned = Vec::new();
        for series in bundles::series(&names, year) {
            for (position, name) in series.names.into_iter().enumerate() {
                let target = target::bundle_target(settings, year, &name);
                if self.plan(target, &mut planned).await? {
                    continue;
                }
                if names.contains(&name) {
                    self.summary.missing.push(format!("{name}.zip"));
                } else if position >= series.indexed {
                    break;
                }
            }
        }
        Ok(planned)
    }

    /// Fetches files, after a check that there is enough space for all of them.
    async fn fetch_planned(&mut self, planned: Vec<Planned>) -> anyhow::Result<()> {
        let total: u64 = planned.iter().filter_map(|planned| planned.length).sum();
        let finished: u64 = planned
            .iter()
            .map(|planned| fetch::partial_length(self.folder, &planned.target))
            .sum();
        check_space(self.folder, total.saturating_sub(finished))?;
        let mut progress = Progress::start("downloading", total, Unit::Bytes);
        let mut done = 0;
        for planned in planned {
            let fetcher = Fetcher {
                remote: &self.remote,
                folder: self.folder,
                target: &planned.target,
                announced: (&planned.version, planned.length),
            };
            let fetched = fetcher
                .fetch(&mut self.manifest, |position| {
                    progress.set_position(done + position);
                })
                .await?;
            done += fetched.bytes;
            self.summary.fetched.push(fetched);
        }
        progress.finish();
        Ok(())
    }
}
