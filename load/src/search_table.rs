//! The results of the search benchmark, and their table.

use std::time::Duration;

use crate::format::{GIBIBYTE, latency, mebibytes, median, rate, ratio, seconds, with_commas};
use crate::histogram::Histogram;
use crate::hostile_terms::{Bounds, Outcome};
use crate::import_summary::MAX_INDEX_TIME;
use crate::relevance::ScoreRow;
use crate::table::{Table, Verdict};

const MIN_RATIO_TO_HEALTHZ: f64 = 0.25;
const MIN_RATIO_WITH_CAUSE: f64 = 0.7;
const MIN_RATIO_WHEN_LARGE: f64 = 0.7;
const MAX_P99_RATIO: u32 = 10;
const MAX_WORST_RATIO: u32 = 100;
const MAX_MEMORY: u64 = GIBIBYTE;
const MAX_MEMORY_WHEN_LARGE: u64 = 10 * GIBIBYTE;

pub(crate) struct SearchResults {
    pub keystrokes: usize,
    pub rounds: u32,
    pub cause: String,
    pub index_time: Option<Duration>,
    pub memory: Memory,
    pub large_memory: Option<Memory>,
    pub rates: Rates,
    pub latencies: Latencies,
    pub relevance: Vec<ScoreRow>,
    pub hostile: Vec<Outcome>,
}

/// Resident memory, in bytes.
pub(crate) struct Memory {
    pub at_start: u64,
    pub after_load: u64,
}

/// Requests per second, one value per round.
#[derive(Default)]
pub(crate) struct Rates {
    pub healthz: Vec<f64>,
    pub log: Vec<f64>,
    pub filtered: Vec<f64>,
    pub large: Vec<f64>,
}

/// Latencies of a single client.
pub(crate) struct Latencies {
    pub healthz: Histogram,
    pub log: Histogram,
    /// The query whose fastest response was the slowest of all, so that a disturbance does not select the
    /// wrong one.
    pub slowest: Option<(String, Duration)>,
}

/// One row. The cell of the large directory is omitted if none was measured.
#[derive(Default)]
struct Row<'a> {
    name: &'a str,
    value: String,
    large: String,
    ratio: String,
    relative_to: &'a str,
    bound: String,
}

impl SearchResults {
    pub(crate) fn table(&self) -> Table {
        let title = format!(
            "Search, {} keystrokes over HTTP with a key, median of {}",
            with_commas(self.keystrokes as u64),
            self.rounds
        );
        let mut columns = vec![
            "measurement",
            "value",
            "large directory",
            "ratio",
            "relative to",
            "bound",
        ];
        if self.large_memory.is_none() {
            columns.remove(2);
        }
        let mut table = Table::new(title, &columns);
        self.add_rate_rows(&mut table);
        self.add_latency_rows(&mut table);
        self.add_memory_rows(&mut table);
        self.add_relevance_rows(&mut table);
        self.add_hostile_rows(&mut table);
        table
    }

    fn add_row(&self, table: &mut Table, row: &Row<'_>, verdict: Verdict) {
        let mut cells = vec![
            row.name,
            &row.value,
            &row.large,
            &row.ratio,
            row.relative_to,
            &row.bound,
        ];
        if self.large_memory.is_none() {
            cells.remove(2);
        }
        table.add_row(&cells, verdict);
    }

    fn add_rate_rows(&self, table: &mut Table) {
        let Rates {
            healthz,
            log,
            filtered,
            large,
        } = &self.rates;
        let median_rate = |rates: &[f64]| {
            if rates.is_empty() {
                String::new()
            } else {
                rate(median(rates.iter().copied()))
            }
        };
        let median_ratio = |rates: &[f64], baseline: &[f64]| {
            median(rates.iter().zip(baseline).map(|(rate, baseline)| rate / baseline))
        };
        let row = Row {
            name: "/healthz",
            value: median_rate(healthz),
            ..Row::default()
        };
        self.add_row(table, &row, Verdict::Unbounded);
        let mut add = |name: &str, (value, large), relative: f64, relative_to: &str, bound: f64| {
            let row = Row {
                name,
                value,
                large,
                ratio: ratio(relative),
                relative_to,
                bound: format!(">= {}", ratio(bound)),
            };
            self.add_row(table, &row, Verdict::of(relative >= bound));
        };
        let to_healthz = median_ratio(log, healthz);
        add(
            "the log",
            (median_rate(log), String::new()),
            to_healthz,
            "/healthz",
            MIN_RATIO_TO_HEALTHZ,
        );
        let to_unfiltered = median_ratio(filtered, log);
        let name = format!("the log with causes={}", self.cause);
        add(
            &name,
            (median_rate(filtered), String::new()),
            to_unfiltered,
            "the log",
            MIN_RATIO_WITH_CAUSE,
        );
        if !large.is_empty() {
            let value = median_ratio(large, log);
            let cells = (median_rate(log), median_rate(large));
            add(
                "the log on the large directory",
                cells,
                value,
                "the log",
                MIN_RATIO_WHEN_LARGE,
            );
        }
    }

    fn add_latency_rows(&self, table: &mut Table) {
        let Latencies {
            healthz,
            log,
            slowest,
        } = &self.latencies;
        let percentiles = [
            ("p50", healthz.percentile(0.5), log.percentile(0.5), None),
            (
                "p99",
                healthz.percentile(0.99),
                log.percentile(0.99),
                Some(MAX_P99_RATIO),
            ),
            ("max", healthz.max(), log.max(), Some(MAX_WORST_RATIO)),
        ];
        for (name, healthz, log, bound) in percentiles {
            let relative = log.as_secs_f64() / healthz.as_secs_f64();
            let row = Row {
                name: &format!("single client, {name}"),
                value: latency(log),
                ratio: ratio(relative),
                relative_to: &format!("/healthz, {}", latency(healthz)),
                bound: bound.map_or_else(String::new, |bound| format!("<= {bound} x")),
                ..Row::default()
            };
            let verdict = bound.map_or(Verdict::Unbounded, |bound| {
                Verdict::of(relative <= f64::from(bound))
            });
            self.add_row(table, &row, verdict);
        }
        if let Some((query, slowest)) = slowest {
            let median = healthz.percentile(0.5);
            let row = Row {
                name: &format!("single client, slowest query {query:?}"),
                value: latency(*slowest),
                ratio: ratio(slowest.as_secs_f64() / median.as_secs_f64()),
                relative_to: &format!("/healthz p50, {}", latency(median)),
                ..Row::default()
            };
            self.add_row(table, &row, Verdict::Unbounded);
        }
    }

    fn add_memory_rows(&self, table: &mut Table) {
        let large = self.large_memory.as_ref();
        let pairs = [
            (
                "resident memory at start",
                self.memory.at_start,
                large.map(|memory| memory.at_start),
            ),
            (
                "resident memory after the load",
                self.memory.after_load,
                large.map(|memory| memory.after_load),
            ),
        ];
        for (name, value, large) in pairs {
            let mut bound = format!("< {}", mebibytes(MAX_MEMORY));
            if large.is_some() {
                bound = format!("{bound}; large < {}", mebibytes(MAX_MEMORY_WHEN_LARGE));
            }
            let row = Row {
                name,
                value: mebibytes(value),
                large: large.map_or_else(String::new, mebibytes),
                ratio: ratio(value as f64 / MAX_MEMORY as f64),
                relative_to: "the bound",
                bound,
            };
            let is_met = value < MAX_MEMORY && large.is_none_or(|large| large < MAX_MEMORY_WHEN_LARGE);
            self.add_row(table, &row, Verdict::of(is_met));
        }
        if let Some(index_time) = self.index_time {
            let row = Row {
                name: "building the index",
                value: seconds(index_time),
                ratio: ratio(index_time.as_secs_f64() / MAX_INDEX_TIME.as_secs_f64()),
                relative_to: "the bound",
                bound: format!("< {}", seconds(MAX_INDEX_TIME)),
                ..Row::default()
            };
            self.add_row(table, &row, Verdict::of(index_time < MAX_INDEX_TIME));
        }
    }

    fn add_relevance_rows(&self, table: &mut Table) {
        for score in &self.relevance {
            let (bound, ratio) = score.bound_and_ratio();
            let relative_to = if bound.is_empty() { "" } else { "the bound" };
            let row = Row {
                name: &score.name,
                value: format!("{:.3}", score.score),
                ratio,
                relative_to,
                bound,
                ..Row::default()
            };
            self.add_row(table, &row, score.verdict());
        }
    }

    fn add_hostile_rows(&self, table: &mut Table) {
        let healthz = &self.latencies.healthz;
        let bounds = Bounds {
            p99: healthz.percentile(0.99) * MAX_P99_RATIO,
            max: healthz.max() * MAX_WORST_RATIO,
        };
        for outcome in &self.hostile {
            let row = Row {
                name: &format!("hostile: {}", outcome.name),
                value: outcome.summary(),
                ratio: outcome.ratio_to(healthz.percentile(0.99)),
                relative_to: "/healthz p99",
                bound: format!("p99 <= {MAX_P99_RATIO} x, max <= {MAX_WORST_RATIO} x"),
                ..Row::default()
            };
            self.add_row(table, &row, outcome.verdict(&bounds));
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

    fn results() -> SearchResults {
        SearchResults {
            keystrokes: 2,
            rounds: 2,
            cause: "animals".to_owned(),
            index_time: Some(Duration::from_secs(30)),
            memory: Memory {
                at_start: MAX_MEMORY / 2,
                after_load: MAX_MEMORY / 2,
            },
            large_memory: None,
            rates: Rates {
                healthz: vec![100_000.0, 50_000.0],
                log: vec![30_000.0, 15_000.0],
                filtered: vec![24_000.0, 12_000.0],
                large: Vec::new(),
            },
            latencies: Latencies {
                healthz: histogram(20),
                log: histogram(100),
                slowest: Some(("a".to_owned(), Duration::from_micros(90))),
            },
            relevance: Vec::new(),
            hostile: Vec::new(),
        }
    }

    #[test]
    fn results_within_all_bounds_miss_none() {
        let table = results().table();
        assert_eq!(table.missed_bounds(), 0, "{table}");
        assert!(table.to_string().contains("0.30 x") && table.to_string().contains("0.80 x"));
        assert!(!table.to_string().contains("large"));
    }

    #[test]
    fn each_bound_is_checked() {
        let changes: [fn(&mut SearchResults); 7] = [
            |results| results.rates.healthz = vec![200_000.0, 100_000.0],
            |results| results.rates.filtered = vec![20_000.0, 10_000.0],
            |results| results.memory.after_load = MAX_MEMORY,
            |results| results.index_time = Some(MAX_INDEX_TIME),
            |results| {
                results.large_memory = Some(Memory {
                    at_start: 0,
                    after_load: MAX_MEMORY_WHEN_LARGE,
                });
            },
            |results| results.rates.large = vec![20_000.0, 10_000.0],
            |results| {
                results.relevance = vec![ScoreRow {
                    name: String::new(),
                    score: 0.5,
                    mrr: None,
                    bound: Some(Bound::AtLeast(0.56)),
                }];
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut results = results();
            change(&mut results);
            assert_eq!(results.table().missed_bounds(), 1, "change {number}");
        }
    }

    #[test]
    fn a_slow_tail_misses_its_bound() {
        let mut results = results();
        results.latencies.log = histogram(201);
        assert_eq!(results.table().missed_bounds(), 1);
        results.latencies.log = histogram(2_001);
        assert_eq!(results.table().missed_bounds(), 2);
    }
}
