//! A time on a page: how long ago for people, the exact moment for machines and for the pointer.

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Draws itself as a `<time>` element.
#[derive(Clone, Debug, Template)]
#[template(
    source = r#"<time datetime="{{ exact }}" title="{{ exact }}">{{ words }}</time>"#,
    ext = "html"
)]
pub struct Moment {
    exact: String,
    words: String,
}

impl HtmlSafe for Moment {}

impl Moment {
    /// Both in milliseconds since 1970.
    pub fn new(at: i64, now: i64) -> Moment {
        let timestamp = Timestamp::from_millisecond(at).unwrap_or_default();
        Moment {
            exact: timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            words: words(timestamp, (now - at) / 1000),
        }
    }
}

fn words(at: Timestamp, seconds_ago: i64) -> String {
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
    fn times_are_told_as_people_tell_them() {
        let at = 1_800_000_000_000;
        for (later, words) in [
            (0, "just now"),
            (60, "1 minute ago"),
            (2 * HOUR, "2 hours ago"),
            (DAY, "1 day ago"),
            (30 * DAY, "January 15, 2027"),
            (-60, "January 15, 2027, 08:00 UTC"),
        ] {
            assert_eq!(Moment::new(at, at + later * 1000).words, words);
        }
    }
}
