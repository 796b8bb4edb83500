//! Measures the time and memory of an import of Form 990 returns, compared with unzipping the same bundles and reading them
//! with a pull parser that drops everything.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipArchive;

use crate::causeway::Causeway;
use crate::cleanup::ScratchDir;
use crate::format::{mebibytes, median, ratio, seconds, with_commas};
use crate::import_summary::ImportSummary;
use crate::interference::{self, CpuMonitor};
use crate::options::Options;
use crate::process::CompletedCommand;
use crate::table::{Table, Verdict};

const MAX_RATIO_TO_BASELINE: f64 = 3.0;
const MAX_PEAK_MEMORY: u64 = 512 << 20;

#[derive(Args)]
pub(crate) struct Returns {
    #[command(flatten)]
    pub options: Options,
    /// The number of returns to generate
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    generate: u64,
    /// A folder with ZIP bundles to import instead
    #[arg(long, value_name = "DIR", conflicts_with = "generate")]
    bundles: Option<PathBuf>,
    /// The number of nonprofits that the directory has before
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    nonprofits: u64,
    /// An empty PostgreSQL database in which to measure the same import
    #[arg(long, value_name = "URL")]
    postgres_url: Option<String>,
}

/// An import of returns.
struct Import {
    command: CompletedCommand,
    summary: ImportSummary,
    /// The mean of the baselines measured directly before and after the import, since the speed of a machine changes
    /// within minutes.
    baseline: Duration,
}

impl Import {
    fn ratio(&self) -> f64 {
        self.command.elapsed.as_secs_f64() / self.baseline.as_secs_f64()
    }
}

/// One round: an import into a directory without returns, and a repetition of that import.
struct Round {
    first: Import,
    repeated: Import,
}

/// Measures imports of the same bundles.
struct Measurement {
    bundles: Vec<PathBuf>,
    members: u64,
    bytes: u64,
    last_baseline: Duration,
}

impl Measurement {
    fn start(bundles: Vec<PathBuf>) -> Result<Measurement> {
        let mut measurement = Measurement {
            bundles,
            members: 0,
            bytes: 0,
            last_baseline: Duration::ZERO,
        };
        measurement.last_baseline = measurement.measure_baseline()?;
        Ok(measurement)
    }

    fn measure_baseline(&mut self) -> Result<Duration> {
        let start = Instant::now();
        (self.members, self.bytes) = read_and_drop(&self.bundles)?;
        let elapsed = start.elapsed();
        eprintln!("unzipping and parsing took {}", seconds(elapsed));
        Ok(elapsed)
    }

    fn import(&mut self, causeway: &Causeway, name: &str) -> Result<Import> {
        let (command, summary) = causeway.import_returns(&self.bundles)?;
        eprintln!("{name} took {}", seconds(command.elapsed));
        let before = self.last_baseline;
        self.last_baseline = self.measure_baseline()?;
        Ok(Import {
            command,
            summary,
            baseline: (before + self.last_baseline) / 2,
        })
    }
}

impl Returns {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let directory = scratch.path("eo.csv");
        let causeway = self.causeway(scratch)?;
        causeway.generate(self.nonprofits, &directory)?;
        let bundles = if let Some(folder) = &self.bundles {
            bundles(folder)?
        } else {
            eprintln!("generating {} returns", with_commas(self.generate));
            let folder = scratch.create_empty_dir("returns")?;
            causeway.generate_returns(self.generate, self.nonprofits, &folder)?;
            bundles(&folder)?
        };
        let monitor = CpuMonitor::for_machine();
        let mut measurement = Measurement::start(bundles)?;
        let mut rounds = Vec::new();
        for _ in 0..self.options.rounds {
            let causeway = self.causeway(scratch)?;
            causeway.import_irs(&directory)?;
            rounds.push(Round {
                first: measurement.import(&causeway, "the import")?,
                repeated: measurement.import(&causeway, "the repeated import")?,
            });
        }
        let postgres = match &self.postgres_url {
            Some(url) => {
                let causeway = self.causeway(scratch)?.with_database(url);
                causeway.import_irs(&directory)?;
                let import = measurement.import(&causeway, "the import on PostgreSQL")?;
                ensure!(
                    import.summary.new > 0,
                    "the PostgreSQL database already contains these returns: use an empty one"
                );
                Some(import)
            }
            None => None,
        };
        let mut table = table(measurement.members, measurement.bytes, &rounds, postgres.as_ref());
        table.add_note(interference::note(&monitor));
        Ok(table)
    }

    fn causeway<'a>(&self, scratch: &'a ScratchDir) -> Result<Causeway<'a>> {
        Causeway::new(
            &self.options.causeway,
            &scratch.create_empty_dir("data")?,
            scratch,
        )
    }
}

/// Lists the ZIP bundles in a folder.
fn bundles(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut bundles = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "zip") {
            bundles.push(path);
        }
    }
    bundles.sort();
    ensure!(
        !bundles.is_empty(),
        "there is no ZIP file in {}",
        folder.display()
    );
    Ok(bundles)
}

/// Unzips every member and reads all events of its XML. Returns the number of members and of bytes.
fn read_and_drop(bundles: &[PathBuf]) -> Result<(u64, u64)> {
    let (mut members, mut bytes) = (0, 0);
    let mut xml = Vec::new();
    for bundle in bundles {
        let mut archive = ZipArchive::new(BufReader::new(File::open(bundle)?))
            .with_context(|| format!("cannot read {}", bundle.display()))?;
        for index in 0..archive.len() {
            xml.clear();
            archive.by_index(index)?.read_to_end(&mut xml)?;
            members += 1;
            bytes += xml.len() as u64;
            let mut reader = Reader::from_reader(xml.as_slice());
            while !matches!(reader.read_event()?, Event::Eof) {}
        }
    }
    Ok((members, bytes))
}

fn table(members: u64, bytes: u64, rounds: &[Round], postgres: Option<&Import>) -> Table {
    let title = format!(
        "Import of {} returns ({} of XML), median of {}",
        with_commas(members),
        mebibytes(bytes),
        rounds.len()
    );
    let columns = ["measurement", "time", "ratio", "peak memory", "returns", "bound"];
    let mut table = Table::new(title, &columns);
    let time = |of: fn(&Round) -> Duration| {
        Duration::from_secs_f64(median(rounds.iter().map(|round| of(round).as_secs_f64())))
    };
    let relative = |of: fn(&Round) -> &Import| median(rounds.iter().map(|round| of(round).ratio()));
    let peak = |of: fn(&Round) -> u64| rounds.iter().map(of).max().unwrap_or(0);
    let bound = format!(
        "<= {}, < {}",
        ratio(MAX_RATIO_TO_BASELINE),
        mebibytes(MAX_PEAK_MEMORY)
    );
    let is_met =
        |relative: f64, peak: u64| Verdict::of(relative <= MAX_RATIO_TO_BASELINE && peak < MAX_PEAK_MEMORY);
    table.add_row(
        &[
            "unzip, parse and drop, one thread",
            &seconds(time(|round| round.first.baseline)),
            "1.00 x",
            "",
            &with_commas(members),
            "",
        ],
        Verdict::Unbounded,
    );
    let (first, first_peak) = (
        relative(|round| &round.first),
        peak(|round| round.first.command.peak_memory),
    );
    table.add_row(
        &[
            "import 990",
            &seconds(time(|round| round.first.command.elapsed)),
            &ratio(first),
            &mebibytes(first_peak),
            &counts(&rounds[0].first.summary),
            &bound,
        ],
        is_met(first, first_peak),
    );
    table.add_row(
        &[
            "repeated import",
            &seconds(time(|round| round.repeated.command.elapsed)),
            &ratio(relative(|round| &round.repeated)),
            &mebibytes(peak(|round| round.repeated.command.peak_memory)),
            &counts(&rounds[0].repeated.summary),
            "nothing changed",
        ],
        Verdict::of(rounds.iter().all(|round| round.repeated.summary.is_unchanged())),
    );
    if let Some(import) = postgres {
        table.add_row(
            &[
                "import 990 on PostgreSQL",
                &seconds(import.command.elapsed),
                &ratio(import.ratio()),
                &mebibytes(import.command.peak_memory),
                &counts(&import.summary),
                &bound,
            ],
            is_met(import.ratio(), import.command.peak_memory),
        );
    }
    table
}

fn counts(summary: &ImportSummary) -> String {
    format!(
        "{} new, {} changed, {} refused",
        with_commas(summary.new),
        with_commas(summary.changed),
        with_commas(summary.refused)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(tenths: u64, mebibytes: u64, new: u64) -> Import {
        let command = CompletedCommand {
            elapsed: Duration::from_millis(100 * tenths),
            peak_memory: mebibytes << 20,
            stdout: String::new(),
        };
        let summary = ImportSummary {
            new,
            changed: 0,
            gone: 0,
            refused: 0,
            index_time: None,
        };
        Import {
            command,
            summary,
            baseline: Duration::from_secs(1),
        }
    }

    fn missed_bounds(first: Import, repeated: Import, postgres: &Import) -> usize {
        let rounds = [Round { first, repeated }];
        table(5, 9, &rounds, Some(postgres)).missed_bounds()
    }

    #[test]
    fn a_slow_large_or_changing_import_misses_its_bound() {
        let good = || (import(30, 511, 5), import(9, 300, 0), import(30, 100, 5));
        let (first, repeated, postgres) = good();
        assert_eq!(missed_bounds(first, repeated, &postgres), 0);
        let (_, repeated, postgres) = good();
        assert_eq!(missed_bounds(import(31, 100, 5), repeated, &postgres), 1);
        let (_, repeated, postgres) = good();
        assert_eq!(missed_bounds(import(20, 512, 5), repeated, &postgres), 1);
        let (first, _, postgres) = good();
        assert_eq!(missed_bounds(first, import(9, 300, 1), &postgres), 1);
        let (first, repeated, _) = good();
        assert_eq!(missed_bounds(first, repeated, &import(31, 100, 5)), 1);
    }
}
