//! The charts on a profile: revenue and expenses by period, and how the latest expenses are divided.
//!
//! They are SVG with numbers in attributes, which works without scripts and under a strict Content-Security-Policy. The
//! same numbers are in a table and a list next to them.

use crate::site::profile::facts::{format_dollars, format_dollars_short};
use crate::site::profile::sources::format_month;
use crate::web::texts::{ProfileTexts, fill};
use directory::returns::years::FinancialYear;

// In units of the SVG, whose width is 400.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 396.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 172.0;
const MAX_BAR_WIDTH: f64 = 30.0;
const MIN_LABEL_DISTANCE: f64 = 34.0;
/// The width of the bar of expenses.
const SPLIT_WIDTH: f64 = 400.0;
/// The number of lines above zero.
const MAX_LINES: u64 = 4;

/// Revenue and expenses by period, oldest first.
#[derive(Debug, PartialEq)]
pub struct Chart {
    pub groups: Vec<Group>,
    /// The height of each line and its amount.
    pub lines: Vec<(f64, String)>,
}

/// The bars of a period.
#[derive(Debug, PartialEq)]
pub struct Group {
    pub label: String,
    pub middle: f64,
    pub bars: Vec<ChartBar>,
}

/// A bar, with its name for people who point at it.
#[derive(Debug, PartialEq)]
pub struct ChartBar {
    pub class: &'static str,
    pub title: String,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Chart {
    /// Draws the periods of which revenue or expenses are known, newest first in `years`. `None` if there is only one.
    pub fn new(years: &[FinancialYear], t: &ProfileTexts) -> Option<Chart> {
        let amounts = |year: &FinancialYear| {
            let amounts = &year.filed.facts.amounts;
            (year.filed.period, amounts.revenue, amounts.expenses)
        };
        let mut periods: Vec<_> = years.iter().map(amounts).collect();
        periods.retain(|(_, revenue, expenses)| revenue.is_some() || expenses.is_some());
        periods.reverse();
        Chart::of_periods(&periods, t)
    }

    fn of_periods(periods: &[(u32, Option<i64>, Option<i64>)], t: &ProfileTexts) -> Option<Chart> {
        let amounts = periods
            .iter()
            .flat_map(|(_, revenue, expenses)| [*revenue, *expenses]);
        let largest = amounts
            .flatten()
            .max()
            .filter(|largest| *largest > 0)?
            .unsigned_abs();
        if periods.len() < 2 {
            return None;
        }
        let step = line_step(largest);
        let count = largest.div_ceil(step);
        let scale = (BOTTOM - TOP) / (count * step) as f64;
        let height = |amount: i64| round(amount.max(0) as f64 * scale);
        let lines = (0..=count).map(|line| {
            let amount = i64::try_from(line * step).unwrap_or(i64::MAX);
            (round(BOTTOM - height(amount)), format_dollars_short(amount, t))
        });
        // The axis is one of time: a missing year is a gap, and two periods of one year are close to each other.
        let months: Vec<i64> = periods.iter().map(|(period, ..)| month_number(*period)).collect();
        let nearest = months.windows(2).map(|pair| (pair[1] - pair[0]).max(1)).min();
        let (first, last) = (months[0], months[months.len() - 1]);
        let nearest = nearest.unwrap_or(1) as f64;
        let per_month = (RIGHT - LEFT) / ((last - first) as f64 + nearest);
        let width = per_month * nearest;
        let bar_width = round((width * 0.36).min(MAX_BAR_WIDTH));
        let mut groups: Vec<Group> = Vec::new();
        for ((period, revenue, expenses), month) in periods.iter().zip(&months) {
            let middle = round(LEFT + per_month * ((month - first) as f64 + nearest / 2.0));
            let kinds = [
                ("bar-revenue", t.revenue, *revenue, middle - bar_width),
                ("bar-expenses", t.expenses, *expenses, middle),
            ];
            let bars = kinds.into_iter().filter_map(|(class, label, amount, x)| {
                let amount = amount?;
                let values = [
                    ("label", label),
                    ("amount", &*format_dollars(amount, t)),
                    ("period", &*format_month(*period)),
                ];
                Some(ChartBar {
                    class,
                    title: fill(t.bar_title, &values),
                    x: round(x),
                    y: round(BOTTOM - height(amount)),
                    width: bar_width,
                    height: height(amount),
                })
            });
            let year = (period / 100).to_string();
            // Labels of close periods would cover each other; the table and the titles have their months.
            let is_covered = groups
                .iter()
                .rev()
                .find(|group| !group.label.is_empty())
                .is_some_and(|group| group.label == year || middle - group.middle < MIN_LABEL_DISTANCE);
            groups.push(Group {
                label: if is_covered { String::new() } else { year },
                middle,
                bars: bars.collect(),
            });
        }
        Some(Chart {
            groups,
            lines: lines.collect(),
        })
    }
}

/// Returns the number of a month that is stored as YYYYMM, counted from the beginning of the calendar.
fn month_number(period: u32) -> i64 {
    i64::from(period / 100) * 12 + i64::from(period % 100)
}

/// Returns the distance between the lines of a chart: a round number of which at most [`MAX_LINES`] reach `largest`.
fn line_step(largest: u64) -> u64 {
    let mut power = 1;
    loop {
        for step in [power, power * 2, power * 5] {
            if largest.div_ceil(step) <= MAX_LINES {
                return step;
            }
        }
        power *= 10;
    }
}

fn round(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// How expenses are divided.
#[derive(Debug, Default, PartialEq)]
pub struct ExpenseSplit {
    pub parts: Vec<ExpensePart>,
    /// The period, in words.
    pub period: String,
}

/// A part of the expenses.
#[derive(Debug, PartialEq)]
pub struct ExpensePart {
    pub class: &'static str,
    pub label: &'static str,
    pub amount: String,
    pub percent: u32,
    pub x: f64,
    pub width: f64,
}

impl ExpenseSplit {
    /// Returns the parts of the expenses of a period, if the return states more than their sum.
    pub fn new(year: Option<&FinancialYear>, t: &ProfileTexts) -> ExpenseSplit {
        let Some(year) = year else {
            return ExpenseSplit::default();
        };
        let amounts = &year.filed.facts.amounts;
        let stated = [
            amounts.program_expenses,
            amounts.management_expenses,
            amounts.fundraising_expenses,
        ];
        let period = fill(t.split_of, &[("period", &format_month(year.filed.period))]);
        ExpenseSplit {
            parts: split(amounts.expenses, stated, t),
            period,
        }
    }
}

fn split(total: Option<i64>, stated: [Option<i64>; 3], t: &ProfileTexts) -> Vec<ExpensePart> {
    let [programs, management, fundraising] = stated.map(|amount| amount.filter(|amount| *amount > 0));
    let sum = [programs, management, fundraising]
        .into_iter()
        .flatten()
        .try_fold(0_i64, i64::checked_add);
    let (Some(total), Some(sum)) = (total.filter(|total| *total > 0), sum) else {
        return Vec::new();
    };
    // Without the programs, or with parts that are more than the whole, the bar would mislead.
    if programs.is_none() || sum > total {
        return Vec::new();
    }
    let parts = [
        ("part-programs", t.part_programs, programs),
        ("part-management", t.part_management, management),
        ("part-fundraising", t.part_fundraising, fundraising),
        (
            "part-other",
            t.part_other,
            Some(total - sum).filter(|rest| *rest > 0),
        ),
    ];
    let mut x = 0.0;
    let parts = parts.into_iter().filter_map(|(class, label, amount)| {
        let amount = amount?;
        let share = amount as f64 / total as f64;
        let part = ExpensePart {
            class,
            label,
            amount: format_dollars(amount, t),
            percent: (share * 100.0).round() as u32,
            x: round(x),
            width: round(share * SPLIT_WIDTH),
        };
        x += share * SPLIT_WIDTH;
        Some(part)
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::texts::PUBLIC_EN;
    use proptest::prelude::*;

    const T: &ProfileTexts = &PUBLIC_EN.profile;

    #[test]
    fn a_chart_has_round_lines_and_two_bars_for_each_period() {
        let periods = [
            (202_206, Some(3_200_000), Some(3_000_000)),
            (202_306, Some(3_700_000), None),
        ];
        let chart = Chart::of_periods(&periods, T).unwrap();
        let lines: Vec<&str> = chart.lines.iter().map(|(_, amount)| amount.as_str()).collect();
        assert_eq!(lines, ["$0", "$1M", "$2M", "$3M", "$4M"]);
        let bars: Vec<usize> = chart.groups.iter().map(|group| group.bars.len()).collect();
        assert_eq!(bars, [2, 1]);
        assert_eq!(chart.groups[0].label, "2022");
        assert_eq!(chart.groups[0].bars[0].title, "Revenue, June 2022: $3.2 million");
        assert!((chart.groups[0].bars[0].height - 128.0).abs() < 0.1);
        assert_eq!(Chart::of_periods(&periods[..1], T), None);
        assert_eq!(
            Chart::of_periods(&[(202_206, Some(0), None), (202_306, Some(-5), None)], T),
            None
        );
    }

    #[test]
    fn the_distance_of_two_periods_is_the_time_between_them() {
        let period = |month| (month, Some(100), Some(90));
        let chart = Chart::of_periods(&[period(201_906), period(202_206), period(202_306)], T).unwrap();
        let middles: Vec<f64> = chart.groups.iter().map(|group| group.middle).collect();
        let gap = (middles[1] - middles[0]) / (middles[2] - middles[1]);
        assert!((gap - 3.0).abs() < 0.01, "{middles:?}");
        let labels: Vec<&str> = chart.groups.iter().map(|group| group.label.as_str()).collect();
        assert_eq!(labels, ["2019", "2022", "2023"]);
        // A short period, since the nonprofit changed its year.
        let chart = Chart::of_periods(&[period(202_206), period(202_212), period(202_312)], T).unwrap();
        let labels: Vec<&str> = chart.groups.iter().map(|group| group.label.as_str()).collect();
        assert_eq!(labels, ["2022", "", "2023"]);
    }

    #[test]
    fn parts_of_expenses_add_up_or_are_not_shown() {
        let parts = split(Some(1_000), [Some(800), Some(150), None], T);
        let shown: Vec<_> = parts.iter().map(|part| (part.label, part.percent)).collect();
        assert_eq!(
            shown,
            [("Programs", 80), ("Management and general", 15), ("Other", 5)]
        );
        for (total, stated) in [
            (None, [Some(1), None, None]),
            (Some(0), [Some(1), None, None]),
            (Some(100), [Some(90), Some(20), None]),
            (Some(100), [None, Some(20), None]),
        ] {
            assert_eq!(split(total, stated, T), []);
        }
    }

    proptest! {
        #[test]
        fn every_bar_fits(
            months in proptest::collection::btree_set(1_900u32 * 12..2_100 * 12, 2..6),
            amounts in proptest::collection::vec((any::<Option<i64>>(), any::<Option<i64>>()), 6),
        ) {
            let periods: Vec<_> = months
                .into_iter()
                .zip(amounts)
                .map(|(month, (revenue, expenses))| (month / 12 * 100 + month % 12 + 1, revenue, expenses))
                .collect();
            if let Some(chart) = Chart::of_periods(&periods, T) {
                prop_assert!(chart.lines.len() <= MAX_LINES as usize + 1);
                for bar in chart.groups.iter().flat_map(|group| &group.bars) {
                    prop_assert!(bar.y >= TOP - 0.1 && bar.height >= 0.0 && bar.y + bar.height <= BOTTOM + 0.11);
                    prop_assert!(bar.x >= LEFT && bar.x + bar.width <= RIGHT);
                }
            }
        }

        #[test]
        fn every_part_fits(total in any::<Option<i64>>(), stated in any::<[Option<i64>; 3]>()) {
            let parts = split(total, stated, T);
            for part in &parts {
                prop_assert!(part.x >= 0.0 && part.x + part.width <= SPLIT_WIDTH + 0.2);
            }
        }
    }
}
