//! Dates as pages show them: `November 16, 2026`.

use directory::nonprofits::tax_facts::Day;
use jiff::Timestamp;

/// Formats the day of a time in milliseconds since 1970, in UTC.
pub fn format_time(millis: i64) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    time.strftime("%B %-d, %Y").to_string()
}

/// Formats a day.
pub fn format_day(day: Day) -> String {
    let date = day.date();
    date.map_or_else(|| day.to_string(), |date| date.strftime("%B %-d, %Y").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_out() {
        assert_eq!(format_time(1_794_816_000_000), "November 16, 2026");
        assert_eq!(format_day(Day::parse("2015-05-01").unwrap()), "May 1, 2015");
    }
}
