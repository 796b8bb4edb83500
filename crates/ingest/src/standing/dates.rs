//! Dates in the lists.

use jiff::civil::Date;

/// Parses `YYYY/MM/DD`, `YYYY-MM-DD` or `MM/DD/YYYY`. A time after it is ignored.
pub(super) fn parse(text: &str) -> Option<Date> {
    let text = text.split([' ', 'T']).next()?;
    let mut parts = text.split(['/', '-']);
    let three = [parts.next()?, parts.next()?, parts.next()?];
    if parts.next().is_some() || three.iter().any(|part| !part.bytes().all(|b| b.is_ascii_digit())) {
        return None;
    }
    let [year, month, day] = match three.map(str::len) {
        [4, ..] => three,
        [_, _, 4] => [three[2], three[0], three[1]],
        _ => return None,
    };
    Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_notations_are_read_and_dates_that_do_not_exist_are_not() {
        for text in ["2026/08/05", "2026-08-05", "8/5/2026", "08/05/2026 00:00"] {
            assert_eq!(parse(text).unwrap().to_string(), "2026-08-05", "{text}");
        }
        for text in [
            "2026/02/30",
            "2026/13/01",
            "",
            "05-AUG-2026",
            "20260805",
            "2026/08/05/1",
            "26/08/05",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
