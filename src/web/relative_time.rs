//! Times on pages, relative to now for people and exact for machines.

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Renders as a `<time>` element: "2 hours ago", with the exact time as a tooltip. A script shows exact times in the time
/// zone of the visitor; without it, they are in UTC.
#[derive(Clone, Debug, Template)]
#[template(
    source = r#"<time datetime="{{ exact }}" title="{{ title }}"{% if is_exact %} data-local{% endif %}>{{ text }}</time>"#,
    ext = "html"
)]
pub struct RelativeTime {
    /// For machines.
    exact: String,
    /// For people, in UTC.
    title: String,
    text: String,
    /// Whether the text is a time, and not relative to now.
    is_exact: bool,
}

impl HtmlSafe for RelativeTime {}

impl RelativeTime {
    /// Creates the time `at`, seen from `now`, both in milliseconds since 1970.
    pub fn new(at: i64, now: i64) -> RelativeTime {
        let timestamp = Timestamp::from_millisecond(at).unwrap_or_default();
        let title = timestamp.strftime("%B %-d, %Y, %H:%M UTC").to_string();
        let text = relative((now - at).div_euclid(1000));
        RelativeTime {
            exact: timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            is_exact: text.is_none(),
            text: text.unwrap_or_else(|| title.clone()),
            title,
        }
    }
}

/// Returns the text of a time in the last two weeks.
fn relative(seconds_ago: i64) -> Option<String> {
    let count = |number: i64, unit: &str| match number {
        1 => format!("1 {unit} ago"),
        _ => format!("{number} {unit}s ago"),
    };
    match seconds_ago {
        0..MINUTE => Some("just now".to_owned()),
        MINUTE..HOUR => Some(count(seconds_ago / MINUTE, "minute")),
        HOUR..DAY => Some(count(seconds_ago / HOUR, "hour")),
        DAY.. if seconds_ago < 14 * DAY => Some(count(seconds_ago / DAY, "day")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_times_are_relative_and_others_name_utc() {
        let at = 1_800_000_000_000;
        for (seconds_later, expected) in [
            (0, "just now"),
            (60, "1 minute ago"),
            (2 * HOUR, "2 hours ago"),
            (DAY, "1 day ago"),
            (30 * DAY, "January 15, 2027, 08:00 UTC"),
            (-60, "January 15, 2027, 08:00 UTC"),
        ] {
            let time = RelativeTime::new(at, at + seconds_later * 1000);
            assert_eq!(time.text, expected);
            let html = time.render().unwrap();
            assert_eq!(html.contains("data-local"), expected.ends_with("UTC"), "{html}");
            assert!(html.contains("title=\"January 15, 2027, 08:00 UTC\""), "{html}");
        }
    }
}
