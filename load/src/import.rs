//! How long an import takes and how much memory it holds, beside what `sqlite3` needs to read the same rows
//! into one indexed table.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;

use crate::baseline::{sqlite_import, unpack};
use crate::causeway::Causeway;
use crate::cleanup::Workplace;
use crate::disturbance::{self, Watch};
use crate::figures::{GIBIBYTE, grouped, mebibytes, median, ratio, seconds};
use crate::options::{Options, file_or_generated};
use crate::process::Finished;
use crate::summary::{INDEX_BOUND, Summary};
use crate::table::{Table, Verdict};

const TIMES_BASELINE: f64 = 3.0;
const TIMES_SQLITE: f64 = 2.0;
const PEAK: u64 = GIBIBYTE + GIBIBYTE / 2;
#[derive(Args)]
pub struct Import {
    #[command(flatten)]
    pub options: Options,
    /// An EO BMF file, .csv or .csv.gz
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// In place of a file: N made-up nonprofits
    #[arg(long, value_name = "N", conflicts_with = "file")]
    generate: Option<u64>,
    /// An empty PostgreSQL database; the same import is measured there
    #[arg(long, value_name = "URL")]
    postgres_url: Option<String>,
}

/// One round: the baseline, an import into an empty folder, and the same import once more.
struct Round {
    baseline: Duration,
    first: (Finished, Summary),
    again: (Finished, Summary),
}

impl Import {
    pub fn measure(&self, workplace: &Workplace) -> Result<Table> {
        let causeway = self.causeway(workplace)?;
        let file = file_or_generated(self.file.as_deref(), self.generate, &causeway, workplace)?;
        unpack(&file, workplace)?;
        let watch = Watch::machine();
        let mut rows = 0;
        let mut rounds = Vec::new();
        for number in 1..=self.options.rounds {
            eprintln!("round {number}: sqlite3 .import");
            let baseline;
            (baseline, rows) = sqlite_import(workplace)?;
            eprintln!("round {number}: {}, now causeway import irs", seconds(baseline));
            let causeway = self.causeway(workplace)?;
            let first = causeway.import_irs(&file)?;
            eprintln!("round {number}: {}, now the same again", seconds(first.0.elapsed));
            let again = causeway.import_irs(&file)?;
            rounds.push(Round {
                baseline,
                first,
                again,
            });
        }
        let postgres = self
            .postgres_url
            .as_deref()
            .map(|url| self.postgres(url, &file, workplace))
            .transpose()?;
        let mut table = Figures {
            rows,
            rounds: &rounds,
        }
        .table(postgres.as_ref());
        table.note(disturbance::note(&watch));
        Ok(table)
    }

    fn causeway<'a>(&self, workplace: &'a Workplace) -> Result<Causeway<'a>> {
        Causeway::new(
            &self.options.causeway,
            &workplace.fresh_folder("data")?,
            workplace,
        )
    }

    fn postgres(&self, url: &str, file: &Path, workplace: &Workplace) -> Result<(Finished, Summary)> {
        eprintln!("the same import on PostgreSQL");
        let (finished, summary) = self.causeway(workplace)?.with_database(url).import_irs(file)?;
        ensure!(
            summary.new > 0,
            "the PostgreSQL database already held this directory: give an empty one"
        );
        Ok((finished, summary))
    }
}

/// What was measured, as rows of the table. Times are medians, memory is the highest of all rounds.
struct Figures<'a> {
    rows: u64,
    rounds: &'a [Round],
}

impl Figures<'_> {
    fn table(&self, postgres: Option<&(Finished, Summary)>) -> Table {
        let title = format!(
            "Import of {} rows, median of {}",
            grouped(self.rows),
            self.rounds.len()
        );
        let columns = ["what", "time", "ratio", "to", "peak memory", "rows", "bound"];
        let mut table = Table::new(title, &columns);
        let baseline = seconds(self.time(|round| round.baseline));
        let rows = grouped(self.rows);
        let cells = [
            "sqlite3 .import, one indexed table",
            &baseline,
            "1.00 x",
            "",
            "",
            &rows,
            "",
        ];
        table.row(&cells, Verdict::Shown);
        self.first_row(&mut table);
        self.index_row(&mut table);
        self.again_row(&mut table);
        if let Some((finished, summary)) = postgres {
            self.postgres_row(&mut table, finished, summary);
        }
        table
    }

    fn first_row(&self, table: &mut Table) {
        let times = self.times(|round| round.first.0.elapsed);
        let peak = self.peak(|round| &round.first.0);
        let cells = [
            "import irs",
            &seconds(self.time(|round| round.first.0.elapsed)),
            &ratio(times),
            "sqlite3",
            &mebibytes(peak),
            &new_and_refused(&self.rounds[0].first.1),
            &format!("<= {}, < {}", ratio(TIMES_BASELINE), mebibytes(PEAK)),
        ];
        table.row(&cells, Verdict::of(times <= TIMES_BASELINE && peak < PEAK));
    }

    fn index_row(&self, table: &mut Table) {
        if self.rounds.iter().all(|round| round.first.1.index.is_some()) {
            let index = |round: &Round| round.first.1.index.unwrap_or_default();
            let (time, bound) = (self.time(index), format!("< {}", seconds(INDEX_BOUND)));
            let times = ratio(self.times(index));
            let cells = [
                "of it, building the index",
                &seconds(time),
                &times,
                "sqlite3",
                "",
                "",
                &bound,
            ];
            table.row(&cells, Verdict::of(time < INDEX_BOUND));
        }
    }

    fn again_row(&self, table: &mut Table) {
        let Summary {
            new, changed, gone, ..
        } = &self.rounds[self.rounds.len() - 1].again.1;
        let cells = [
            "the same again",
            &seconds(self.time(|round| round.again.0.elapsed)),
            &ratio(self.times(|round| round.again.0.elapsed)),
            "sqlite3",
            &mebibytes(self.peak(|round| &round.again.0)),
            &format!(
                "{} new, {} changed, {} gone",
                grouped(*new),
                grouped(*changed),
                grouped(*gone)
            ),
            "nothing changed",
        ];
        table.row(
            &cells,
            Verdict::of(self.rounds.iter().all(|round| round.again.1.changes_nothing())),
        );
    }

    fn postgres_row(&self, table: &mut Table, finished: &Finished, summary: &Summary) {
        let sqlite = self.time(|round| round.first.0.elapsed);
        let times = finished.elapsed.as_secs_f64() / sqlite.as_secs_f64();
        let cells = [
            "import irs on PostgreSQL",
            &seconds(finished.elapsed),
            &ratio(times),
            "import irs",
            &mebibytes(finished.peak),
            &new_and_refused(summary),
            &format!("<= {}", ratio(TIMES_SQLITE)),
        ];
        table.row(&cells, Verdict::of(times <= TIMES_SQLITE));
    }

    fn time(&self, of: impl Fn(&Round) -> Duration) -> Duration {
        Duration::from_secs_f64(median(self.rounds.iter().map(|round| of(round).as_secs_f64())))
    }

    /// As multiples of the baseline of the same round.
    fn times(&self, of: impl Fn(&Round) -> Duration) -> f64 {
        median(
            self.rounds
                .iter()
                .map(|round| of(round).as_secs_f64() / round.baseline.as_secs_f64()),
        )
    }

    fn peak(&self, of: impl Fn(&Round) -> &Finished) -> u64 {
        self.rounds.iter().map(|round| of(round).peak).max().unwrap_or(0)
    }
}

fn new_and_refused(summary: &Summary) -> String {
    format!(
        "{} new, {} refused",
        grouped(summary.new),
        grouped(summary.refused)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(tenths: u64, mebibytes: u64, new: u64) -> (Finished, Summary) {
        let elapsed = Duration::from_millis(100 * tenths);
        let finished = Finished {
            elapsed,
            peak: mebibytes << 20,
            output: String::new(),
        };
        (
            finished,
            Summary {
                new,
                changed: 0,
                gone: 0,
                refused: 0,
                index: None,
            },
        )
    }

    fn round(baseline: u64, first: (Finished, Summary), again: (Finished, Summary)) -> Round {
        Round {
            baseline: Duration::from_millis(100 * baseline),
            first,
            again,
        }
    }

    #[test]
    fn an_import_is_judged_by_the_baseline_of_its_own_round() {
        let rounds = [
            round(10, ran(29, 900, 5), ran(8, 300, 0)),
            round(20, ran(58, 1000, 5), ran(9, 300, 0)),
            round(40, ran(100, 900, 5), ran(7, 300, 0)),
        ];
        let table = Figures {
            rows: 5,
            rounds: &rounds,
        }
        .table(Some(&ran(110, 200, 5)));
        assert_eq!(table.missed(), 0);
        assert!(table.to_string().contains("2.90 x"), "{table}");
        assert!(table.to_string().contains("1.90 x"), "{table}");
    }

    #[test]
    fn too_slow_too_large_and_changed_again_are_missed() {
        for (first, again) in [
            (ran(31, 900, 5), ran(8, 300, 0)),
            (ran(20, 1536, 5), ran(8, 300, 0)),
            (ran(20, 900, 5), ran(8, 300, 1)),
        ] {
            let rounds = [round(10, first, again)];
            assert_eq!(
                Figures {
                    rows: 5,
                    rounds: &rounds
                }
                .table(None)
                .missed(),
                1
            );
        }
    }
}
