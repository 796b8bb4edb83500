//! The chart of calls over time, an SVG. The kinds of calls differ in pattern and label, so that the chart does not rely
//! on color.

use access::usage::store::Unit;
use access::usage::{Counts, DAY_MILLIS, HOUR_MILLIS};
use askama::Template;
use askama::filters::HtmlSafe;
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan, tz::TimeZone};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = 48.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 28.0;

/// The time range of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// 24 hours.
    Day,
    /// 30 days, in UTC.
    Month,
    /// 12 calendar months, in UTC.
    Year,
}

impl Span {
    pub const ALL: [Span; 3] = [Span::Day, Span::Month, Span::Year];

    pub const fn name(self) -> &'static str {
        match self {
            Span::Day => "24h",
            Span::Month => "30d",
            Span::Year => "12mo",
        }
    }

    /// Returns the span of a name, or a day for any other text.
    pub fn parse(name: &str) -> Span {
        let found = Span::ALL.into_iter().find(|span| span.name() == name);
        found.unwrap_or(Span::Day)
    }

    /// Returns the rows that the chart needs.
    pub const fn unit(self) -> Unit {
        match self {
            Span::Day => Unit::Hour,
            Span::Month | Span::Year => Unit::Day,
        }
    }

    /// Returns the start of the span in milliseconds since 1970.
    pub fn since(self, now: i64) -> i64 {
        self.starts(now)[0]
    }

    /// Returns the start of each bar, oldest first. The last bar contains `now`.
    fn starts(self, now: i64) -> Vec<i64> {
        let steps = |count: i64, width: i64| -> Vec<i64> {
            let last = now.div_euclid(width);
            (last + 1 - count..=last).map(|step| step * width).collect()
        };
        match self {
            Span::Day => steps(24, HOUR_MILLIS),
            Span::Month => steps(30, DAY_MILLIS),
            Span::Year => {
                let month = date(now).first_of_month();
                let start = |ago: i64| millis(month.saturating_sub(ago.months()));
                (0..12).rev().map(start).collect()
            }
        }
    }

    /// Returns the label below a bar.
    fn label(self, at: i64) -> String {
        let format = match self {
            Span::Day => "%H:%M",
            Span::Month => "%b %-d",
            Span::Year => "%b",
        };
        utc(at).strftime(format).to_string()
    }

    fn full_label(self, at: i64) -> String {
        let format = match self {
            Span::Day => "%B %-d, %Y, %H:%M UTC",
            Span::Month => "%B %-d, %Y",
            Span::Year => "%B %Y",
        };
        utc(at).strftime(format).to_string()
    }
}

fn utc(millis: i64) -> jiff::Zoned {
    let at = Timestamp::from_millisecond(millis).unwrap_or_default();
    at.to_zoned(TimeZone::UTC)
}

fn date(millis: i64) -> Date {
    utc(millis).date()
}

fn millis(date: Date) -> i64 {
    let start = date.to_zoned(TimeZone::UTC);
    start.map_or(0, |start| start.timestamp().as_millisecond())
}

/// A chart. In a template, `{{ chart }}` renders it.
#[derive(Clone, Debug, Template)]
#[template(path = "dashboard/usage/chart.svg", escape = "html")]
pub struct Chart {
    title: String,
    bars: Vec<Bar>,
    lines: Vec<(f64, u64)>,
}

impl HtmlSafe for Chart {}

/// A bar of the chart, and a row of the table below it.
#[derive(Clone, Debug)]
pub struct Bar {
    pub when: String,
    /// The exact time, if the bar is an hour, which pages can show in the time zone of the visitor.
    pub hour: Option<String>,
    pub counts: Counts,
    label: Option<String>,
    x: f64,
    width: f64,
    /// The parts with calls, from the bottom of the bar up.
    parts: Vec<Part>,
}

/// A part of a bar: the calls of one kind.
#[derive(Clone, Copy, Debug)]
struct Part {
    class: &'static str,
    top: f64,
    height: f64,
}

impl Chart {
    /// Creates the chart of the span before `now`. `periods` has the start of each hour or day in milliseconds, and its
    /// calls.
    pub fn new(title: String, span: Span, now: i64, periods: impl Iterator<Item = (i64, Counts)>) -> Chart {
        let starts = span.starts(now);
        let mut sums = vec![Counts::default(); starts.len()];
        for (start, counts) in periods {
            let after = starts.partition_point(|bar| *bar <= start);
            if let Some(sum) = after.checked_sub(1).and_then(|index| sums.get_mut(index)) {
                sum.add(counts);
            }
        }
        let max = round_up(sums.iter().map(Counts::calls).max().unwrap_or_default());
        let label_interval = (starts.len() / 6).max(1);
        let count = starts.len() as f64;
        let bars = starts
            .into_iter()
            .zip(sums)
            .enumerate()
            .map(|(index, (at, counts))| {
                let slot = (WIDTH - LEFT - RIGHT) / count;
                Bar {
                    when: span.full_label(at),
                    hour: (span == Span::Day).then(|| utc(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
                    counts,
                    label: index.is_multiple_of(label_interval).then(|| span.label(at)),
                    x: LEFT + index as f64 * slot + slot * 0.12,
                    width: slot * 0.76,
                    parts: parts(counts, max),
                }
            });
        let line = |part: u64| (y(max * part / 2, max), max * part / 2);
        Chart {
            title,
            bars: bars.collect(),
            lines: vec![line(0), line(1), line(2)],
        }
    }

    pub fn bars(&self) -> &[Bar] {
        &self.bars
    }

    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.bars.iter().for_each(|bar| total.add(bar.counts));
        total
    }
}

impl Bar {
    fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }
}

fn parts(counts: Counts, max: u64) -> Vec<Part> {
    let mut below = 0;
    let mut parts = Vec::new();
    for (class, own) in [
        ("served", counts.succeeded),
        ("failed", counts.client_errors),
        ("refused", counts.refused),
        ("broken", counts.server_errors),
    ] {
        let top = y(below + own, max);
        if own > 0 {
            parts.push(Part {
                class,
                top,
                height: y(below, max) - top,
            });
        }
        below += own;
    }
    parts
}

fn y(value: u64, max: u64) -> f64 {
    let height = HEIGHT - TOP - BOTTOM;
    TOP + height - height * value as f64 / max as f64
}

/// Rounds up to an even number with few significant digits.
fn round_up(value: u64) -> u64 {
    let mut step = 1;
    loop {
        for factor in [2, 4, 10] {
            if step * factor >= value {
                return step * factor;
            }
        }
        step *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: i64 = 1_800_000_000_000;

    fn calls(succeeded: u64, client_errors: u64, refused: u64, server_errors: u64) -> Counts {
        Counts {
            succeeded,
            client_errors,
            refused,
            server_errors,
        }
    }

    #[test]
    fn the_current_hour_is_the_last_bar() {
        let hour = NOW / HOUR_MILLIS * HOUR_MILLIS;
        let hours = [
            (hour, calls(5, 1, 0, 2)),
            (hour - 24 * HOUR_MILLIS, calls(9, 9, 9, 9)),
        ];
        let chart = Chart::new("Calls".to_owned(), Span::Day, NOW, hours.into_iter());
        assert_eq!(chart.bars().len(), 24);
        assert_eq!(chart.bars()[23].counts, calls(5, 1, 0, 2));
        assert_eq!(chart.bars()[23].when, "January 15, 2027, 08:00 UTC");
        assert_eq!(chart.total(), calls(5, 1, 0, 2));
    }

    #[test]
    fn a_year_has_twelve_calendar_months() {
        // 1_800_000_000 is January 15, 2027.
        let starts = Span::Year.starts(NOW);
        let months: Vec<String> = starts.iter().map(|at| Span::Year.full_label(*at)).collect();
        assert_eq!(months.len(), 12);
        assert_eq!(
            (months[0].as_str(), months[11].as_str()),
            ("February 2026", "January 2027")
        );
        let days = [(starts[1] - 1, calls(1, 0, 0, 0)), (starts[1], calls(2, 0, 0, 0))];
        let chart = Chart::new(String::new(), Span::Year, NOW, days.into_iter());
        let sums: Vec<u64> = chart.bars().iter().map(|bar| bar.counts.succeeded).collect();
        assert_eq!(sums[..3], [1, 2, 0]);
    }

    #[test]
    fn kinds_of_calls_differ_in_pattern() {
        let days = [(NOW, calls(5, 2, 1, 1))];
        let chart = Chart::new("Calls <b>".to_owned(), Span::Month, NOW, days.into_iter());
        let svg = chart.render().unwrap();
        for pattern in ["refused-lines", "failed-dots", "broken-grid"] {
            assert!(svg.contains(pattern), "{svg}");
        }
        assert!(svg.contains("role=\"img\"") && !svg.contains("<b>"), "{svg}");
    }

    proptest! {
        #[test]
        fn every_call_of_the_span_is_counted(
            ago in proptest::collection::vec(0_i64..400 * 24, 0..40),
            succeeded in 0_u64..1_000_000,
        ) {
            for span in Span::ALL {
                let at = |hours: &i64| NOW - hours * HOUR_MILLIS;
                let periods = ago.iter().map(|hours| (at(hours), calls(succeeded, 1, 2, 3)));
                let inside = ago.iter().filter(|hours| at(hours) >= span.since(NOW)).count() as u64;
                let chart = Chart::new(String::new(), span, NOW, periods);
                prop_assert_eq!(chart.total(), calls(succeeded * inside, inside, 2 * inside, 3 * inside));
                prop_assert!(chart.bars().iter().flat_map(|bar| &bar.parts).all(|part| part.top >= TOP - 0.01));
            }
        }

        #[test]
        fn the_top_line_is_not_below_the_highest_bar(value: u32) {
            let max = round_up(u64::from(value));
            prop_assert!(max >= u64::from(value) && max.is_multiple_of(2));
        }
    }
}
