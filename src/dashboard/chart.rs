//! The chart of calls: bars over time, drawn on the server. Served, refused and failed calls are told apart by
//! pattern and by words, so that nobody needs to see the colours.

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

/// How far the chart looks back.
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

    /// The span of a name; a day for any other.
    pub fn find(name: &str) -> Span {
        let found = Span::ALL.into_iter().find(|span| span.name() == name);
        found.unwrap_or(Span::Day)
    }

    /// How many bars, and the hours of each.
    const fn bars(self) -> (i64, i64) {
        match self {
            Span::Day => (24, 1),
            Span::Week => (28, 6),
            Span::Quarter => (90, 24),
        }
    }

    /// The first millisecond that is shown.
    pub fn since(self, now: i64) -> i64 {
        let (bars, hours) = self.bars();
        let width = hours * HOUR;
        (now / width + 1 - bars) * width
    }

    fn label(self, at: i64) -> String {
        let at = Timestamp::from_millisecond(at).unwrap_or_default();
        let form = match self {
            Span::Day => "%H:%M",
            Span::Week | Span::Quarter => "%b %-d",
        };
        at.to_zoned(TimeZone::UTC).strftime(form).to_string()
    }

    fn full_label(self, at: i64) -> String {
        let at = Timestamp::from_millisecond(at).unwrap_or_default();
        let form = match self {
            Span::Quarter => "%B %-d, %Y",
            Span::Day | Span::Week => "%B %-d, %H:%M",
        };
        at.to_zoned(TimeZone::UTC).strftime(form).to_string()
    }
}

/// The calls of one stretch of time.
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

/// A chart, ready to be drawn: `{{ chart }}` in a template.
#[derive(Clone, Debug, Template)]
#[template(path = "dashboard/usage/chart.svg", escape = "html")]
pub struct Chart {
    title: String,
    bars: Vec<Bar>,
    lines: Vec<(f64, u64)>,
}

impl HtmlSafe for Chart {}

/// One bar, and the same as words.
#[derive(Clone, Debug)]
pub struct Bar {
    pub when: String,
    pub calls: Calls,
    label: Option<String>,
    x: f64,
    width: f64,
    /// From the ground up: where each part begins, and how high it is.
    served: (f64, f64),
    refused: (f64, f64),
    failed: (f64, f64),
}

impl Chart {
    /// Draws what happened in the span before `now`, from the calls of each hour (its beginning in milliseconds).
    pub fn new(title: String, span: Span, now: i64, hours: impl Iterator<Item = (i64, Calls)>) -> Chart {
        let (count, width) = span.bars();
        let (since, width) = (span.since(now), width * HOUR);
        let mut sums = vec![Calls::default(); count as usize];
        for (hour, calls) in hours {
            let place = (hour - since).div_euclid(width);
            if let Some(sum) = usize::try_from(place).ok().and_then(|place| sums.get_mut(place)) {
                sum.add(calls);
            }
        }
        let most = round_up(sums.iter().map(Calls::total).max().unwrap_or_default());
        let every = (count / 6).max(1);
        let bars = (0_i64..).zip(sums).map(|(place, calls)| {
            let at = since + place * width;
            let label = (place % every == 0).then(|| span.label(at));
            Bar::new(
                span.full_label(at),
                label,
                calls,
                place as f64,
                count as f64,
                most,
            )
        });
        let line = |part: u64| (y(most * part / 2, most), most * part / 2);
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
    fn new(when: String, label: Option<String>, calls: Calls, place: f64, count: f64, most: u64) -> Bar {
        let room = (WIDTH - LEFT - RIGHT) / count;
        let part = |below: u64, own: u64| {
            let top = y(below + own, most);
            (top, y(below, most) - top)
        };
        Bar {
            when,
            label,
            calls,
            x: LEFT + place * room + room * 0.12,
            width: room * 0.76,
            served: part(0, calls.served),
            refused: part(calls.served, calls.refused),
            failed: part(calls.served + calls.refused, calls.failed),
        }
    }

    fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }
}

fn y(value: u64, most: u64) -> f64 {
    let room = HEIGHT - TOP - BOTTOM;
    TOP + room - room * value as f64 / most as f64
}

/// An even number with few digits that is not below `value`.
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
    fn the_hour_that_runs_is_the_last_bar() {
        let hour = NOW / HOUR * HOUR;
        let hours = [(hour, calls(5, 1, 0)), (hour - 24 * HOUR, calls(9, 9, 9))];
        let chart = Chart::new("Calls".to_owned(), Span::Day, NOW, hours.into_iter());
        assert_eq!(chart.bars().len(), 24);
        assert_eq!(chart.bars()[23].calls, calls(5, 1, 0));
        assert_eq!(chart.total(), calls(5, 1, 0));
    }

    #[test]
    fn kinds_of_calls_are_told_apart_by_pattern() {
        let hours = [(NOW, calls(5, 2, 1))];
        let chart = Chart::new("Calls <b>".to_owned(), Span::Week, NOW, hours.into_iter());
        let svg = chart.render().unwrap();
        assert!(svg.contains("refused-lines") && svg.contains("failed-dots"));
        assert!(svg.contains("role=\"img\"") && !svg.contains("<b>"), "{svg}");
    }

    proptest! {
        #[test]
        fn no_call_of_the_span_is_lost(
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
            let most = round_up(u64::from(value));
            prop_assert!(most >= u64::from(value) && most.is_multiple_of(2));
        }
    }
}
