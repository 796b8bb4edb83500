//! Days, and business days: Monday to Friday without the holidays of the federal government.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use std::collections::BTreeSet;
use std::sync::LazyLock;

const FILE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../data/federal-holidays.csv"
));

static HOLIDAYS: LazyLock<BTreeSet<Date>> = LazyLock::new(|| {
    let lines = FILE.lines().skip(1).filter_map(|line| line.split(',').next());
    lines.filter_map(|date| date.parse().ok()).collect()
});

/// Returns whether offices of the federal government are open on a day.
pub(crate) fn is_business_day(date: Date) -> bool {
    !matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday) && !HOLIDAYS.contains(&date)
}

/// Returns the business day that is `days` business days after a date. Zero days after a date is the date itself.
pub(crate) fn add_business_days(date: Date, days: u32) -> Date {
    let mut date = date;
    let mut left = days;
    while left > 0 {
        let Ok(next) = date.checked_add(1.day()) else {
            return date;
        };
        date = next;
        left -= u32::from(is_business_day(date));
    }
    date
}

/// The day of a time, in UTC.
pub fn day_of(millis: i64) -> Date {
    Timestamp::from_millisecond(millis)
        .unwrap_or(Timestamp::UNIX_EPOCH)
        .to_zoned(TimeZone::UTC)
        .date()
}

/// Returns the first millisecond after a day, in UTC.
pub(crate) fn end_of_day(date: Date) -> Option<i64> {
    let start = date.tomorrow().ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(start.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn weekends_and_holidays_do_not_count() {
        // Thanksgiving Day is November 26, 2026.
        assert_eq!(add_business_days(date("2026-11-20"), 5), date("2026-11-30"));
        assert_eq!(add_business_days(date("2026-08-05"), 5), date("2026-08-12"));
        assert_eq!(add_business_days(date("2026-08-08"), 1), date("2026-08-10"));
        assert_eq!(add_business_days(date("2026-08-08"), 0), date("2026-08-08"));
        // July 4, 2026 is a Saturday, so offices close the day before.
        assert!(!is_business_day(date("2026-07-03")));
        assert_eq!(HOLIDAYS.len(), FILE.lines().count() - 1);
    }

    proptest! {
        #[test]
        fn days_can_be_added_one_after_another(offset in 0i32..7_000, first in 0u32..15, second in 0u32..15) {
            let start = date("2021-01-01").checked_add(offset.days()).unwrap();
            let once = add_business_days(start, first + second);
            prop_assert_eq!(add_business_days(add_business_days(start, first), second), once);
            prop_assert!(first + second == 0 || is_business_day(once));
            prop_assert!(once >= start);
        }
    }
}
