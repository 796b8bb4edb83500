//! The chart of calls over time, an SVG. Served, refused and failed calls differ in pattern and label, so that the chart
//! does not rely on color.

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::{Timestamp, tz::TimeZone};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = 48.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 28.0;

const HOUR: i64 = 60 * 60 * 1000;

/// The time range of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    Day,
    Week,
    Quarter,
}

impl Span {
    pub const ALL: [Span; 3] = [Span::Day, Span::Week, Span::Quarter];

    pub const fn name(self) -> &'static str {
        match self {
            Span::Day => "24h",
            Span::Week => "7d",
            Span::Quarter => "90d",
        }
    }

    /// Returns the span of a name, or a day for any other text.
    pub fn parse(name: &str) -> Span {
        let found = Span::ALL.into_iter().find(|span| span.name() == name);
        found.unwrap_or(Span::Day)
    }

    /// Returns the number of bars, and the hours of each.
    const fn bars(self) -> (i64, i64) {
        match self {
            Span::Day => (24, 1),
            Span::Week => (28, 6),
            Span::Quarter => (90, 24),
        }
    }

    /// Returns the start of the span in milliseconds since 1970.
    pub fn since(self, now: i64) -> i64 {
        let (bars, hours) = self.bars();
        let width = hours * HOUR;
        (now / width + 1 - bars) * width
    }

    fn label(self, at: i64) -> String {
        let at = Timestamp::from_millisecond(at).unwrap_or_default();
        let format = match self {
            Span::Day => "%H:%M",
            Span::Week | Span::Quarter => "%b %-d",
        };
        at.to_zoned(TimeZone::UTC).strftime(format).to_string()
    }

    fn full_label(self, at: i64) -> String {
        let at = Timestamp::from_millisecond(at).unwrap_or_default();
        let format = match self {
            Span::Quarter => "%B %-d, %Y",
            Span::Day | Span::Week => "%B %-d, %H:%M",
        };
        at.to_zoned(TimeZone::UTC).strftime(format).to_string()
    }
}

/// The number of calls in a period of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub served: u64,
    pub refused: u64,
    pub failed: u64,
}

impl Calls {
    pub fn total(&self) -> u64 {
        self.served + self.refused + self.failed
    }

    fn add(&mut self, other: Calls) {
        self.served += other.served;
        self.refused += other.refused;
        self.failed += other.failed;
    }
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
    pub calls: Calls,
    label: Option<String>,
    x: f64,
    width: f64,
    /// The top and the height of each part, from the bottom of the bar up.
    served: (f64, f64),
    refused: (f64, f64),
    failed: (f64, f64),
}

impl Chart {
    /// Creates the chart of the span before `now`. `hours` has the start of each hour in milliseconds, and its calls.
    pub fn new(title: String, span: Span, now: i64, hours: impl Iterator<Item = (i64, Calls)>) -> Chart {
        let (count, width) = span.bars();
        let (since, width) = (span.since(now), width * HOUR);
        let mut sums = vec![Calls::default(); count as usize];
        for (hour, calls) in hours {
            let index = (hour - since).div_euclid(width);
            if let Some(sum) = usize::try_from(index).ok().and_then(|index| sums.get_mut(index)) {
                sum.add(calls);
            }
        }
        let max = round_up(sums.iter().map(Calls::total).max().unwrap_or_default());
        let label_interval = (count / 6).max(1);
        let bars = (0_i64..).zip(sums).map(|(index, calls)| {
            let at = since + index * width;
            let label = (index % label_interval == 0).then(|| span.label(at));
            Bar::new(span.full_label(at), label, calls, index as f64, count as f64, max)
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

    pub fn total(&self) -> Calls {
        let mut total = Calls::default();
        self.bars.iter().for_each(|bar| total.add(bar.calls));
        total
    }
}

impl Bar {
    fn new(when: String, label: Option<String>, calls: Calls, index: f64, count: f64, max: u64) -> Bar {
        let slot = (WIDTH - LEFT - RIGHT) / count;
        let part = |below: u64, own: u64| {
            let top = y(below + own, max);
            (top, y(below, max) - top)
        };
        Bar {
            when,
            label,
            calls,
            x: LEFT + index * slot + slot * 0.12,
            width: slot * 0.76,
            served: part(0, calls.served),
            refused: part(calls.served, calls.refused),
            failed: part(calls.served + calls.refused, calls.failed),
        }
    }

    fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }
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

    fn calls(served: u64, refused: u64, failed: u64) -> Calls {
        Calls {
            served,
            refused,
            failed,
        }
    }

    #[test]
    fn the_current_hour_is_the_last_bar() {
        let hour = NOW / HOUR * HOUR;
        let hours = [(hour, calls(5, 1, 0)), (hour - 24 * HOUR, calls(9, 9, 9))];
        let chart = Chart::new("Calls".to_owned(), Span::Day, NOW, hours.into_iter());
        assert_eq!(chart.bars().len(), 24);
        assert_eq!(chart.bars()[23].calls, calls(5, 1, 0));
        assert_eq!(chart.total(), calls(5, 1, 0));
    }

    #[test]
    fn kinds_of_calls_differ_in_pattern() {
        let hours = [(NOW, calls(5, 2, 1))];
        let chart = Chart::new("Calls <b>".to_owned(), Span::Week, NOW, hours.into_iter());
        let svg = chart.render().unwrap();
        assert!(svg.contains("refused-lines") && svg.contains("failed-dots"));
        assert!(svg.contains("role=\"img\"") && !svg.contains("<b>"), "{svg}");
    }

    proptest! {
        #[test]
        fn every_call_of_the_span_is_counted(
            ago in proptest::collection::vec(0_i64..24 * 60, 0..40),
            served in 0_u64..1_000_000,
        ) {
            for span in Span::ALL {
                let hours = ago.iter().map(|hours| (NOW - hours * HOUR, calls(served, 1, 2)));
                let inside = ago.iter().filter(|hours| NOW - *hours * HOUR >= span.since(NOW)).count() as u64;
                let chart = Chart::new(String::new(), span, NOW, hours);
                prop_assert_eq!(chart.total(), calls(served * inside, inside, 2 * inside));
                prop_assert!(chart.bars().iter().all(|bar| bar.failed.0 >= TOP - 0.01));
            }
        }

        #[test]
        fn the_top_line_is_not_below_the_highest_bar(value: u32) {
            let max = round_up(u64::from(value));
            prop_assert!(max >= u64::from(value) && max.is_multiple_of(2));
        }
    }
}
