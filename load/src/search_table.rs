//! The figures of a search measurement and the table they make.

use std::time::Duration;

use crate::figures::{GIBIBYTE, grouped, latency, mebibytes, median, rate, ratio, seconds};
use crate::histogram::Histogram;
use crate::hostile::{Bounds, Outcome};
use crate::relevance::Line;
use crate::summary::INDEX_BOUND;
use crate::table::{Table, Verdict};

const SHARE_OF_HEALTHZ: f64 = 0.25;
const SHARE_WITH_CAUSE: f64 = 0.7;
const SHARE_WHEN_LARGE: f64 = 0.7;
const P99_TIMES: u32 = 10;
const WORST_TIMES: u32 = 100;
const RESIDENT: u64 = GIBIBYTE;
const RESIDENT_WHEN_LARGE: u64 = 10 * GIBIBYTE;

pub struct Figures {
    pub keystrokes: usize,
    pub rounds: u32,
    pub cause: String,
    pub index: Option<Duration>,
    pub memory: Memory,
    pub large_memory: Option<Memory>,
    pub rates: Rates,
    pub alone: OneClient,
    pub quality: Vec<Line>,
    pub hostile: Vec<Outcome>,
}

pub struct Memory {
    pub at_start: u64,
    pub after_load: u64,
}

/// Calls a second, one figure for each round.
#[derive(Default)]
pub struct Rates {
    pub healthz: Vec<f64>,
    pub log: Vec<f64>,
    pub filtered: Vec<f64>,
    pub large: Vec<f64>,
}

pub struct OneClient {
    pub healthz: Histogram,
    pub log: Histogram,
    /// The query whose quickest answer took longest, so that a disturbance does not name the wrong one.
    pub slowest: Option<(String, Duration)>,
}

/// One row; the cell of the large directory is there only when one was measured.
#[derive(Default)]
struct Row<'a> {
    what: &'a str,
    measured: String,
    large: String,
    ratio: String,
    to: &'a str,
    bound: String,
}

impl Figures {
    pub fn table(&self) -> Table {
        let title = format!(
            "Search, {} keystrokes over HTTP with a key, median of {}",
            grouped(self.keystrokes as u64),
            self.rounds
        );
        let mut columns = vec!["what", "measured", "large directory", "ratio", "to", "bound"];
        if self.large_memory.is_none() {
            columns.remove(2);
        }
        let mut table = Table::new(title, &columns);
        self.rate_rows(&mut table);
        self.latency_rows(&mut table);
        self.memory_rows(&mut table);
        self.quality_rows(&mut table);
        self.hostile_rows(&mut table);
        table
    }

    fn row(&self, table: &mut Table, row: &Row<'_>, verdict: Verdict) {
        let mut cells = vec![
            row.what,
            &row.measured,
            &row.large,
            &row.ratio,
            row.to,
            &row.bound,
        ];
        if self.large_memory.is_none() {
            cells.remove(2);
        }
        table.row(&cells, verdict);
    }

    fn rate_rows(&self, table: &mut Table) {
        let Rates {
            healthz,
            log,
            filtered,
            large,
        } = &self.rates;
        let spoken = |rates: &[f64]| {
            if rates.is_empty() {
                String::new()
            } else {
                rate(median(rates.iter().copied()))
            }
        };
        let times =
            |part: &[f64], whole: &[f64]| median(part.iter().zip(whole).map(|(part, whole)| part / whole));
        let row = Row {
            what: "/healthz",
            measured: spoken(healthz),
            ..Row::default()
        };
        self.row(table, &row, Verdict::Shown);
        let mut against = |what: &str, (measured, large), value: f64, to: &str, bound: f64| {
            let bound_text = format!(">= {}", ratio(bound));
            let row = Row {
                what,
                measured,
                large,
                ratio: ratio(value),
                to,
                bound: bound_text,
            };
            self.row(table, &row, Verdict::of(value >= bound));
        };
        let to_healthz = times(log, healthz);
        against(
            "the log",
            (spoken(log), String::new()),
            to_healthz,
            "/healthz",
            SHARE_OF_HEALTHZ,
        );
        let to_unfiltered = times(filtered, log);
        let name = format!("the log with causes={}", self.cause);
        against(
            &name,
            (spoken(filtered), String::new()),
            to_unfiltered,
            "the log",
            SHARE_WITH_CAUSE,
        );
        if !large.is_empty() {
            let value = times(large, log);
            let cells = (spoken(log), spoken(large));
            against(
                "the log on the large directory",
                cells,
                value,
                "the log",
                SHARE_WHEN_LARGE,
            );
        }
    }

    fn latency_rows(&self, table: &mut Table) {
        let OneClient {
            healthz,
            log,
            slowest,
        } = &self.alone;
        let figures = [
            ("p50", healthz.at(0.5), log.at(0.5), None),
            ("p99", healthz.at(0.99), log.at(0.99), Some(P99_TIMES)),
            ("worst", healthz.worst(), log.worst(), Some(WORST_TIMES)),
        ];
        for (name, healthz, log, bound) in figures {
            let times = log.as_secs_f64() / healthz.as_secs_f64();
            let row = Row {
                what: &format!("one client, {name}"),
                measured: latency(log),
                ratio: ratio(times),
                to: &format!("/healthz, {}", latency(healthz)),
                bound: bound.map_or_else(String::new, |bound| format!("<= {bound} x")),
                ..Row::default()
            };
            let verdict = bound.map_or(Verdict::Shown, |bound| Verdict::of(times <= f64::from(bound)));
            self.row(table, &row, verdict);
        }
        if let Some((query, took)) = slowest {
            let median = healthz.at(0.5);
            let row = Row {
                what: &format!("one client, slowest query {query:?}"),
                measured: latency(*took),
                ratio: ratio(took.as_secs_f64() / median.as_secs_f64()),
                to: &format!("/healthz p50, {}", latency(median)),
                ..Row::default()
            };
            self.row(table, &row, Verdict::Shown);
        }
    }

    fn memory_rows(&self, table: &mut Table) {
        let large = self.large_memory.as_ref();
        let pairs = [
            (
                "resident at start",
                self.memory.at_start,
                large.map(|memory| memory.at_start),
            ),
            (
                "resident after the load",
                self.memory.after_load,
                large.map(|memory| memory.after_load),
            ),
        ];
        for (what, measured, large) in pairs {
            let mut bound = format!("< {}", mebibytes(RESIDENT));
            if large.is_some() {
                bound = format!("{bound}; large < {}", mebibytes(RESIDENT_WHEN_LARGE));
            }
            let row = Row {
                what,
                measured: mebibytes(measured),
                large: large.map_or_else(String::new, mebibytes),
                ratio: ratio(measured as f64 / RESIDENT as f64),
                to: "the bound",
                bound,
            };
            let kept = measured < RESIDENT && large.is_none_or(|large| large < RESIDENT_WHEN_LARGE);
            self.row(table, &row, Verdict::of(kept));
        }
        if let Some(index) = self.index {
            let row = Row {
                what: "building the index",
                measured: seconds(index),
                ratio: ratio(index.as_secs_f64() / INDEX_BOUND.as_secs_f64()),
                to: "the bound",
                bound: format!("< {}", seconds(INDEX_BOUND)),
                ..Row::default()
            };
            self.row(table, &row, Verdict::of(index < INDEX_BOUND));
        }
    }

    fn quality_rows(&self, table: &mut Table) {
        for line in &self.quality {
            let (bound, ratio) = line.bound_and_ratio();
            let to = if bound.is_empty() { "" } else { "the bound" };
            let measured = format!("{:.3}", line.score);
            let row = Row {
                what: &line.what,
                measured,
                ratio,
                to,
                bound,
                ..Row::default()
            };
            self.row(table, &row, line.verdict());
        }
    }

    fn hostile_rows(&self, table: &mut Table) {
        let healthz = &self.alone.healthz;
        let bounds = Bounds {
            p99: healthz.at(0.99) * P99_TIMES,
            worst: healthz.worst() * WORST_TIMES,
        };
        for outcome in &self.hostile {
            let row = Row {
                what: &format!("hostile: {}", outcome.name),
                measured: outcome.spoken(),
                ratio: outcome.times(healthz.at(0.99)),
                to: "/healthz p99",
                bound: format!("p99 <= {P99_TIMES} x, worst <= {WORST_TIMES} x"),
                ..Row::default()
            };
            self.row(table, &row, outcome.verdict(&bounds));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relevance::Bound;

    fn histogram(micros: u64) -> Histogram {
        let mut histogram = Histogram::new();
        histogram.record(Duration::from_micros(micros));
        histogram
    }

    fn figures() -> Figures {
        Figures {
            keystrokes: 2,
            rounds: 2,
            cause: "animals".to_owned(),
            index: Some(Duration::from_secs(30)),
            memory: Memory {
                at_start: RESIDENT / 2,
                after_load: RESIDENT / 2,
            },
            large_memory: None,
            rates: Rates {
                healthz: vec![100_000.0, 50_000.0],
                log: vec![30_000.0, 15_000.0],
                filtered: vec![24_000.0, 12_000.0],
                large: Vec::new(),
            },
            alone: OneClient {
                healthz: histogram(20),
                log: histogram(100),
                slowest: Some(("a".to_owned(), Duration::from_micros(90))),
            },
            quality: Vec::new(),
            hostile: Vec::new(),
        }
    }

    #[test]
    fn a_search_within_all_bounds_misses_none() {
        let table = figures().table();
        assert_eq!(table.missed(), 0, "{table}");
        assert!(table.to_string().contains("0.30 x") && table.to_string().contains("0.80 x"));
        assert!(!table.to_string().contains("large"));
    }

    #[test]
    fn every_bound_can_be_missed_alone() {
        let changes: [fn(&mut Figures); 7] = [
            |figures| figures.rates.healthz = vec![200_000.0, 100_000.0],
            |figures| figures.rates.filtered = vec![20_000.0, 10_000.0],
            |figures| figures.memory.after_load = RESIDENT,
            |figures| figures.index = Some(INDEX_BOUND),
            |figures| {
                figures.large_memory = Some(Memory {
                    at_start: 0,
                    after_load: RESIDENT_WHEN_LARGE,
                });
            },
            |figures| figures.rates.large = vec![20_000.0, 10_000.0],
            |figures| {
                figures.quality = vec![Line {
                    what: String::new(),
                    score: 0.5,
                    bound: Some(Bound::AtLeast(0.56)),
                }];
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut figures = figures();
            change(&mut figures);
            assert_eq!(figures.table().missed(), 1, "change {number}");
        }
    }

    #[test]
    fn a_slow_tail_misses_its_bound() {
        let mut figures = figures();
        figures.alone.log = histogram(201);
        assert_eq!(figures.table().missed(), 1);
        figures.alone.log = histogram(2_001);
        assert_eq!(figures.table().missed(), 2);
    }
}
