//! Measures the time and memory of an import, compared with `sqlite3` reading the same rows into one indexed
//! table.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;

use crate::baseline::{decompress, sqlite_import};
use crate::causeway::Causeway;
use crate::cleanup::ScratchDir;
use crate::format::{GIBIBYTE, mebibytes, median, ratio, seconds, with_commas};
use crate::import_summary::{ImportSummary, MAX_INDEX_TIME};
use crate::interference::{self, CpuMonitor};
use crate::options::{Options, file_or_generated};
use crate::process::CompletedCommand;
use crate::table::{Table, Verdict};

const MAX_RATIO_TO_BASELINE: f64 = 3.0;
const MAX_RATIO_TO_SQLITE_IMPORT: f64 = 2.0;
const MAX_PEAK_MEMORY: u64 = GIBIBYTE + GIBIBYTE / 2;

#[derive(Args)]
pub(crate) struct Import {
    #[command(flatten)]
    pub options: Options,
    /// An EO BMF file, .csv or .csv.gz
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Generate N nonprofits instead of reading a file
    #[arg(long, value_name = "N", conflicts_with = "file")]
    generate: Option<u64>,
    /// An empty PostgreSQL database in which to measure the same import
    #[arg(long, value_name = "URL")]
    postgres_url: Option<String>,
}

/// One round: the baseline, an import into an empty folder, and a repetition of that import.
struct Round {
    baseline: Duration,
    first: (CompletedCommand, ImportSummary),
    repeated: (CompletedCommand, ImportSummary),
}

impl Import {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let causeway = self.causeway(scratch)?;
        let file = file_or_generated(self.file.as_deref(), self.generate, &causeway, scratch)?;
        decompress(&file, scratch)?;
        let monitor = CpuMonitor::for_machine();
        let mut rows = 0;
        let mut rounds = Vec::new();
        for number in 1..=self.options.rounds {
            eprintln!("round {number}: sqlite3 .import");
            let baseline;
            (baseline, rows) = sqlite_import(scratch)?;
            eprintln!(
                "round {number}: {}, starting causeway import irs",
                seconds(baseline)
            );
            let causeway = self.causeway(scratch)?;
            let first = causeway.import_irs(&file)?;
            eprintln!(
                "round {number}: {}, repeating the import",
                seconds(first.0.elapsed)
            );
            let repeated = causeway.import_irs(&file)?;
            rounds.push(Round {
                baseline,
                first,
                repeated,
            });
        }
        let postgres = self
            .postgres_url
            .as_deref()
            .map(|url| self.import_to_postgres(url, &file, scratch))
            .transpose()?;
        let mut table = Measurements {
            rows,
            rounds: &rounds,
        }
        .table(postgres.as_ref());
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

    fn import_to_postgres(
        &self,
        url: &str,
        file: &Path,
        scratch: &ScratchDir,
    ) -> Result<(CompletedCommand, ImportSummary)> {
        eprintln!("the same import on PostgreSQL");
        let (import, summary) = self.causeway(scratch)?.with_database(url).import_irs(file)?;
        ensure!(
            summary.new > 0,
            "the PostgreSQL database already contains this directory: use an empty one"
        );
        Ok((import, summary))
    }
}

/// The measurements of all rounds. The table shows median times and the highest peak memory.
struct Measurements<'a> {
    rows: u64,
    rounds: &'a [Round],
}

impl Measurements<'_> {
    fn table(&self, postgres: Option<&(CompletedCommand, ImportSummary)>) -> Table {
        let title = format!(
            "Import of {} rows, median of {}",
            with_commas(self.rows),
            self.rounds.len()
        );
        let columns = [
            "measurement",
            "time",
            "ratio",
            "relative to",
            "peak memory",
            "rows",
            "bound",
        ];
        let mut table = Table::new(title, &columns);
        let baseline = seconds(self.time(|round| round.baseline));
        let rows = with_commas(self.rows);
        let cells = [
            "sqlite3 .import, one indexed table",
            &baseline,
            "1.00 x",
            "",
            "",
            &rows,
            "",
        ];
        table.add_row(&cells, Verdict::Unbounded);
        self.first_row(&mut table);
        self.index_row(&mut table);
        self.repeated_row(&mut table);
        if let Some((import, summary)) = postgres {
            self.postgres_row(&mut table, import, summary);
        }
        table
    }

    fn first_row(&self, table: &mut Table) {
        let relative = self.ratio_to_baseline(|round| round.first.0.elapsed);
        let peak = self.peak_memory(|round| &round.first.0);
        let cells = [
            "import irs",
            &seconds(self.time(|round| round.first.0.elapsed)),
            &ratio(relative),
            "sqlite3",
            &mebibytes(peak),
            &row_counts(&self.rounds[0].first.1),
            &format!(
                "<= {}, < {}",
                ratio(MAX_RATIO_TO_BASELINE),
                mebibytes(MAX_PEAK_MEMORY)
            ),
        ];
        table.add_row(
            &cells,
            Verdict::of(relative <= MAX_RATIO_TO_BASELINE && peak < MAX_PEAK_MEMORY),
        );
    }

    fn index_row(&self, table: &mut Table) {
        if self.rounds.iter().all(|round| round.first.1.index_time.is_some()) {
            let index = |round: &Round| round.first.1.index_time.unwrap_or_default();
            let (time, bound) = (self.time(index), format!("< {}", seconds(MAX_INDEX_TIME)));
            let relative = ratio(self.ratio_to_baseline(index));
            let cells = [
                "building the index (included)",
                &seconds(time),
                &relative,
                "sqlite3",
                "",
                "",
                &bound,
            ];
            table.add_row(&cells, Verdict::of(time < MAX_INDEX_TIME));
        }
    }

    fn repeated_row(&self, table: &mut Table) {
        let ImportSummary {
            new, changed, gone, ..
        } = &self.rounds[self.rounds.len() - 1].repeated.1;
        let cells = [
            "repeated import",
            &seconds(self.time(|round| round.repeated.0.elapsed)),
            &ratio(self.ratio_to_baseline(|round| round.repeated.0.elapsed)),
            "sqlite3",
            &mebibytes(self.peak_memory(|round| &round.repeated.0)),
            &format!(
                "{} new, {} changed, {} gone",
                with_commas(*new),
                with_commas(*changed),
                with_commas(*gone)
            ),
            "nothing changed",
        ];
        table.add_row(
            &cells,
            Verdict::of(self.rounds.iter().all(|round| round.repeated.1.is_unchanged())),
        );
    }

    fn postgres_row(&self, table: &mut Table, import: &CompletedCommand, summary: &ImportSummary) {
        let sqlite = self.time(|round| round.first.0.elapsed);
        let relative = import.elapsed.as_secs_f64() / sqlite.as_secs_f64();
        let cells = [
            "import irs on PostgreSQL",
            &seconds(import.elapsed),
            &ratio(relative),
            "import irs",
            &mebibytes(import.peak_memory),
            &row_counts(summary),
            &format!("<= {}", ratio(MAX_RATIO_TO_SQLITE_IMPORT)),
        ];
        table.add_row(&cells, Verdict::of(relative <= MAX_RATIO_TO_SQLITE_IMPORT));
    }

    /// Returns the median time.
    fn time(&self, of: impl Fn(&Round) -> Duration) -> Duration {
        Duration::from_secs_f64(median(self.rounds.iter().map(|round| of(round).as_secs_f64())))
    }

    /// Returns the median ratio to the baseline of the same round.
    fn ratio_to_baseline(&self, of: impl Fn(&Round) -> Duration) -> f64 {
        median(
            self.rounds
                .iter()
                .map(|round| of(round).as_secs_f64() / round.baseline.as_secs_f64()),
        )
    }

    fn peak_memory(&self, of: impl Fn(&Round) -> &CompletedCommand) -> u64 {
        self.rounds
            .iter()
            .map(|round| of(round).peak_memory)
            .max()
            .unwrap_or(0)
    }
}

fn row_counts(summary: &ImportSummary) -> String {
    format!(
        "{} new, {} refused",
        with_commas(summary.new),
        with_commas(summary.refused)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(tenths: u64, mebibytes: u64, new: u64) -> (CompletedCommand, ImportSummary) {
        let elapsed = Duration::from_millis(100 * tenths);
        let command = CompletedCommand {
            elapsed,
            peak_memory: mebibytes << 20,
            stdout: String::new(),
        };
        (
            command,
            ImportSummary {
                new,
                changed: 0,
                gone: 0,
                refused: 0,
                index_time: None,
            },
        )
    }

    fn round(
        baseline: u64,
        first: (CompletedCommand, ImportSummary),
        repeated: (CompletedCommand, ImportSummary),
    ) -> Round {
        Round {
            baseline: Duration::from_millis(100 * baseline),
            first,
            repeated,
        }
    }

    #[test]
    fn an_import_is_compared_with_the_baseline_of_its_round() {
        let rounds = [
            round(10, completed(29, 900, 5), completed(8, 300, 0)),
            round(20, completed(58, 1000, 5), completed(9, 300, 0)),
            round(40, completed(100, 900, 5), completed(7, 300, 0)),
        ];
        let table = Measurements {
            rows: 5,
            rounds: &rounds,
        }
        .table(Some(&completed(110, 200, 5)));
        assert_eq!(table.missed_bounds(), 0);
        assert!(table.to_string().contains("2.90 x"), "{table}");
        assert!(table.to_string().contains("1.90 x"), "{table}");
    }

    #[test]
    fn a_slow_large_or_changing_import_misses_its_bound() {
        for (first, repeated) in [
            (completed(31, 900, 5), completed(8, 300, 0)),
            (completed(20, 1536, 5), completed(8, 300, 0)),
            (completed(20, 900, 5), completed(8, 300, 1)),
        ] {
            let rounds = [round(10, first, repeated)];
            assert_eq!(
                Measurements {
                    rows: 5,
                    rounds: &rounds
                }
                .table(None)
                .missed_bounds(),
                1
            );
        }
    }
}
