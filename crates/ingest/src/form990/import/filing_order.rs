//! Which of two filings for the same period is the newer one.

use jiff::Timestamp;
use jiff::civil::DateTime;
use std::cmp::Ordering;

/// What decides about the order of two filings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilingOrder {
    /// The year and the day of the year when the IRS processed it, from the ID of the filing.
    processed: Option<(u16, u16)>,
    /// In seconds since 1970.
    filed_at: Option<i64>,
    is_amended: bool,
}

impl FilingOrder {
    pub(super) fn new(object_id: &str, filed_at: Option<&str>, is_amended: bool) -> FilingOrder {
        FilingOrder {
            processed: processing_day(object_id),
            filed_at: filed_at.and_then(seconds),
            is_amended,
        }
    }

    /// Compares by the day of processing, then by the time of filing, as far as both are known. Of two that are equal, an
    /// amended return is newer.
    pub(super) fn compare(&self, other: &FilingOrder) -> Ordering {
        let by = |values: Option<Ordering>| values.unwrap_or(Ordering::Equal);
        by(self.processed.zip(other.processed).map(|(a, b)| a.cmp(&b)))
            .then(by(self.filed_at.zip(other.filed_at).map(|(a, b)| a.cmp(&b))))
            .then(self.is_amended.cmp(&other.is_amended))
    }
}

/// Reads the year and the day in an ID such as `202301319349302585`: four digits, one more, then three.
fn processing_day(object_id: &str) -> Option<(u16, u16)> {
    if object_id.len() != 18 || !object_id.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((object_id[..4].parse().ok()?, object_id[5..8].parse().ok()?))
}

/// Parses a time with an offset. Old returns can lack the offset; then it counts as UTC.
fn seconds(text: &str) -> Option<i64> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_second());
    }
    let time = text.parse::<DateTime>().ok()?;
    Some(
        time.to_zoned(jiff::tz::TimeZone::UTC)
            .ok()?
            .timestamp()
            .as_second(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLY: &str = "202320319349300001";
    const LATE: &str = "202313199349300001";

    fn order(object_id: &str, filed_at: Option<&str>, is_amended: bool) -> FilingOrder {
        FilingOrder::new(object_id, filed_at, is_amended)
    }

    #[test]
    fn the_day_of_processing_decides_first() {
        let (january, june) = ("2023-01-05T10:00:00-05:00", "2023-06-05T10:00:00-05:00");
        let early = order(EARLY, Some(june), true);
        let late = order(LATE, Some(january), false);
        assert_eq!(late.compare(&early), Ordering::Greater, "day 319 after day 31");
        let next_year = order("202400019349300001", None, false);
        assert_eq!(next_year.compare(&late), Ordering::Greater);
    }

    #[test]
    fn the_time_of_filing_decides_next() {
        let early = order(EARLY, Some("2023-05-05T23:30:00-05:00"), true);
        let late = order("", Some("2023-05-06T05:00:00Z"), false);
        assert_eq!(late.compare(&early), Ordering::Greater);
        let without_offset = order(EARLY, Some("2023-05-06T06:00:00"), false);
        assert_eq!(without_offset.compare(&late), Ordering::Greater);
    }

    #[test]
    fn an_amended_return_is_newer_than_one_that_is_equal_otherwise() {
        let original = order(EARLY, Some("2023-05-05T10:00:00Z"), false);
        let amended = order(EARLY, Some("2023-05-05T10:00:00Z"), true);
        assert_eq!(amended.compare(&original), Ordering::Greater);
        assert_eq!(original.compare(&original), Ordering::Equal);
        let unknown = order("12", Some("yesterday"), false);
        assert_eq!(unknown.compare(&original), Ordering::Equal);
    }
}
