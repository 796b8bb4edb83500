//! Times on pages, relative to now for people and exact for machines.

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Renders as a `<time>` element: "2 hours ago", with the exact time as a tooltip.
#[derive(Clone, Debug, Template)]
#[template(
    source = r#"<time datetime="{{ exact }}" title="{{ exact }}">{{ text }}</time>"#,
    ext = "html"
)]
pub struct RelativeTime {
    exact: String,
    text: String,
}

impl HtmlSafe for RelativeTime {}

impl RelativeTime {
    /// Creates the time `at`, seen from `now`, both in milliseconds since 1970.
    pub fn new(at: i64, now: i64) -> RelativeTime {
        let timestamp = Timestamp::from_millisecond(at).unwrap_or_default();
        RelativeTime {
            exact: timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            text: relative(timestamp, (now - at) / 1000),
        }
    }
}

fn relative(at: Timestamp, seconds_ago: i64) -> String {
    let count = |number: i64, unit: &str| match number {
        1 => format!("1 {unit} ago"),
        _ => format!("{number} {unit}s ago"),
    };
    match seconds_ago {
        ..0 => at.strftime("%B %-d, %Y, %H:%M UTC").to_string(),
        0..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => count(seconds_ago / MINUTE, "minute"),
        HOUR..DAY => count(seconds_ago / HOUR, "hour"),
        _ if seconds_ago < 14 * DAY => count(seconds_ago / DAY, "day"),
        _ => at.strftime("%B %-d, %Y").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_times_are_relative_and_others_are_dates() {
        let at = 1_800_000_000_000;
        for (seconds_later, expected) in [
            (0, "just now"),
            (60, "1 minute ago"),
            (2 * HOUR, "2 hours ago"),
            (DAY, "1 day ago"),
            (30 * DAY, "January 15, 2027"),
            (-60, "January 15, 2027, 08:00 UTC"),
        ] {
            assert_eq!(RelativeTime::new(at, at + seconds_later * 1000).text, expected);
        }
    }
}
