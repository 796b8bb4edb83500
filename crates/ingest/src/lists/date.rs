//! Dates in the list files, packed into a number: YYYYMMDD.

use jiff::civil::Date;

const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];

/// A date as the number YYYYMMDD; 0 if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PackedDate(u32);

impl PackedDate {
    /// Reads a date such as `15-MAY-2019`, or an empty field.
    pub(crate) fn parse_day_month(text: &str) -> Option<PackedDate> {
        parse(text, |[day, month, year]| {
            let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))?;
            Some((year, month as i8 + 1, day))
        })
    }

    /// Reads a date such as `12-31-2025`, or an empty field.
    pub(crate) fn parse_month_day(text: &str) -> Option<PackedDate> {
        parse(text, |[month, day, year]| Some((year, number(month)?, day)))
    }

    pub(super) fn is_none(self) -> bool {
        self == PackedDate::default()
    }

    /// Returns the date as YYYY-MM-DD.
    pub(super) fn text(self) -> Option<String> {
        let PackedDate(date) = self;
        (date != 0).then(|| format!("{:04}-{:02}-{:02}", date / 10_000, date / 100 % 100, date % 100))
    }
}

fn parse<'a>(
    text: &'a str,
    order: impl FnOnce([&'a str; 3]) -> Option<(&'a str, i8, &'a str)>,
) -> Option<PackedDate> {
    if text.is_empty() {
        return Some(PackedDate::default());
    }
    let mut parts = text.split('-');
    let three = [parts.next()?, parts.next()?, parts.next()?];
    if parts.next().is_some() {
        return None;
    }
    let (year, month, day) = order(three)?;
    if year.len() != 4 {
        return None;
    }
    let date = Date::new(number(year)?, month, number(day)?).ok()?;
    Some(PackedDate(
        date.year() as u32 * 10_000 + date.month() as u32 * 100 + date.day() as u32,
    ))
}

fn number<T: std::str::FromStr>(digits: &str) -> Option<T> {
    digits
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_notations_are_read_and_an_empty_field_is_no_date() {
        let text = |date: Option<PackedDate>| date.map(|date| date.text().unwrap_or_default());
        let day_month = |written| text(PackedDate::parse_day_month(written));
        let month_day = |written| text(PackedDate::parse_month_day(written));
        assert_eq!(day_month("15-MAY-2019").unwrap(), "2019-05-15");
        assert_eq!(day_month("07-aug-2021").unwrap(), "2021-08-07");
        assert_eq!(month_day("12-31-2025").unwrap(), "2025-12-31");
        assert_eq!(day_month("").unwrap(), "");
        for invalid in [
            "2019-05-15",
            "31-FEB-2019",
            "15-MAI-2019",
            "15-MAY-19",
            "-",
            "15-MAY-2019-1",
            "x",
        ] {
            assert_eq!(day_month(invalid), None, "{invalid}");
        }
        for invalid in ["31-12-2025", "12-31-25", "+2-31-2025", "12/31/2025"] {
            assert_eq!(month_day(invalid), None, "{invalid}");
        }
    }
}
