//! Parses the values of EO BMF columns, as the IRS writes them and as tools that convert its files do.

use directory::nonprofits::ein::Ein;

/// Amounts above ten trillion dollars are errors.
const MAX_AMOUNT: i64 = 10_000_000_000_000;

/// Second name lines that are placeholders.
const PLACEHOLDERS: [&str; 13] = [
    "SAME",
    "SAME AS ABOVE",
    "NONE",
    "NA",
    "N A",
    "N/A",
    "UNKNOWN",
    "GROUP RETURN",
    "POTENTIAL FAB EIN",
    "TREASURER",
    "INC",
    "CHURCH",
    "NULL",
];

/// Trims a value. Returns an empty text for the placeholders that tools write for a missing value.
pub(crate) fn clean(value: &str) -> &str {
    // Most values need no trimming, and looking at both ends is faster.
    let is_trimmed = matches!(value.as_bytes(), [b'!'..=b'~'] | [b'!'..=b'~', .., b'!'..=b'~']);
    let value = if is_trimmed { value } else { value.trim() };
    let is_missing = value.len() <= 4
        && ["NA", "N/A", "NAN", "NULL"]
            .iter()
            .any(|placeholder| value.eq_ignore_ascii_case(placeholder));
    if is_missing { "" } else { value }
}

/// Parses an EIN with or without a dash. Leading zeros may be missing, because some tools convert EINs to numbers.
pub(crate) fn ein(value: &str) -> Option<Ein> {
    let value = value.strip_suffix(".0").unwrap_or(value);
    let number = match value.split_once('-') {
        Some((front, back)) if front.len() == 2 && back.len() == 7 => {
            digits(front)? * 10_000_000 + digits(back)?
        }
        Some(_) => return None,
        None => digits(value)?,
    };
    if number == 0 { None } else { Ein::new(number) }
}

fn digits(text: &str) -> Option<u32> {
    let is_valid = (1..=9).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_valid.then(|| {
        text.bytes()
            .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
    })
}

/// Parses a whole number up to `max`, also if it is written as `3.0` or `2e+05`.
pub(crate) fn code(value: &str, max: u32) -> Option<u32> {
    let number = digits(value).or_else(|| {
        let number = float(value)?;
        (number <= f64::from(u32::MAX) && number.fract() == 0.0).then_some(number as u32)
    })?;
    (number <= max).then_some(number)
}

/// Parses a month as YYYYMM. Returns 0 for a month that does not exist.
pub(crate) fn month(value: &str) -> Option<u32> {
    let number = code(value, u32::MAX)?;
    let exists = (1800..=2199).contains(&(number / 100)) && (1..=12).contains(&(number % 100));
    Some(if exists { number } else { 0 })
}

/// The error for text in a column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotANumber;

/// Parses an amount in whole dollars, without cents. Returns `None` for an impossible amount.
pub(crate) fn amount(value: &str) -> Result<Option<i64>, NotANumber> {
    let (is_negative, magnitude) = match value.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, value),
    };
    let number = match digits(magnitude) {
        Some(number) => i64::from(number),
        // The conversion saturates, so a number that is too large stays too large. Up to 2^53 it is exact.
        None => float(magnitude).ok_or(NotANumber)? as i64,
    };
    Ok((number <= MAX_AMOUNT).then_some(if is_negative { -number } else { number }))
}

fn float(value: &str) -> Option<f64> {
    if value.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        value.parse().ok()
    } else {
        None
    }
}

/// Writes the five digits of a US ZIP code into `five`. Leaves it empty for `00000` and for anything else.
pub(crate) fn zip(value: &str, five: &mut String) {
    five.clear();
    let front = value.split('-').next().unwrap_or_default();
    let front = front.strip_suffix(".0").unwrap_or(front);
    if front.is_empty() || !front.bytes().all(|b| b.is_ascii_digit()) {
        return;
    }
    // Nine digits without a dash are ZIP+4. Fewer than five have lost their leading zeros.
    let width = if front.len() > 5 { 9 } else { 5 };
    if front.len() > width {
        return;
    }
    five.extend(std::iter::repeat_n('0', width - front.len()));
    five.push_str(front);
    five.truncate(5);
    if five == "00000" {
        five.clear();
    }
}

/// Returns whether a second name line is not a placeholder and differs from the first.
pub(crate) fn is_meaningful_sort_name(sort_name: &str, name: &str) -> bool {
    sort_name
        .bytes()
        .any(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
        && !PLACEHOLDERS
            .iter()
            .any(|placeholder| sort_name.eq_ignore_ascii_case(placeholder))
        && !sort_name.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_ein_without_its_leading_zeros_is_the_same_ein() {
        for value in ["020240383", "20240383", "20240383.0", "02-0240383"] {
            assert_eq!(ein(value).unwrap().to_string(), "020240383", "{value}");
        }
        assert_eq!(ein("4101").unwrap().to_string(), "000004101");
        for invalid in [
            "",
            "0",
            "000000000",
            "1234567890",
            "12345678X",
            "2-0240383",
            "1.3e+08",
            "-20240383",
            "٣",
        ] {
            assert_eq!(ein(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn codes_may_be_written_as_floats_and_in_scientific_notation() {
        assert_eq!(code("03", 99), Some(3));
        assert_eq!(code("3.0", 99), Some(3));
        assert_eq!(code("2e+05", 999_999), Some(200_000));
        for invalid in ["3.5", "-3", "100", "X", "1e99", "inf", ""] {
            assert_eq!(code(invalid, 99), None, "{invalid}");
        }
    }

    #[test]
    fn a_month_that_does_not_exist_is_unknown() {
        assert_eq!(month("202412"), Some(202_412));
        assert_eq!(month("194603.0"), Some(194_603));
        for unknown in ["000000", "0", "202413", "202400", "999912", "12"] {
            assert_eq!(month(unknown), Some(0), "{unknown}");
        }
        assert_eq!(month("JUNE"), None);
    }

    #[test]
    fn amounts_may_be_negative_and_impossible_ones_are_unknown() {
        assert_eq!(amount("-1250"), Ok(Some(-1250)));
        assert_eq!(amount("54000000000"), Ok(Some(54_000_000_000)));
        assert_eq!(amount("1e+05"), Ok(Some(100_000)));
        assert_eq!(amount("-1234.56"), Ok(Some(-1234)));
        for impossible in ["99999999999999", "999999999999999999999999", "1e300", "-1e300"] {
            assert_eq!(amount(impossible), Ok(None), "{impossible}");
        }
        for invalid in ["$5", "five", "-", "--5", "1,000", "nan", "inf"] {
            assert_eq!(amount(invalid), Err(NotANumber), "{invalid}");
        }
    }

    #[test]
    fn a_zip_code_is_five_digits_or_empty() {
        let mut five = String::new();
        let cases = [
            ("11219-5614", "11219"),
            ("112195614", "11219"),
            ("2138", "02138"),
            ("2138.0", "02138"),
            ("021381234", "02138"),
            ("21381234", "02138"),
            ("00000-0000", ""),
            ("", ""),
            ("SW1A 1AA", ""),
            ("1234567890", ""),
        ];
        for (value, expected) in cases {
            zip(value, &mut five);
            assert_eq!(five, expected, "{value}");
        }
    }

    #[test]
    fn placeholders_are_not_second_names() {
        for placeholder in [
            "SAME",
            "none",
            "N/A",
            "GROUP RETURN",
            "-",
            "% ",
            "KNIGHTS OF COLUMBUS",
        ] {
            assert!(
                !is_meaningful_sort_name(placeholder, "KNIGHTS OF COLUMBUS"),
                "{placeholder}"
            );
        }
        for name in ["1234", "COUNCIL 1234", "SAME DAY CARE", "É"] {
            assert!(is_meaningful_sort_name(name, "KNIGHTS OF COLUMBUS"), "{name}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC{0,40}") {
            let mut five = String::new();
            zip(&text, &mut five);
            let _ = (clean(&text), ein(&text), code(&text, 99), month(&text), amount(&text));
            prop_assert!(five.is_empty() || five.len() == 5);
        }

        #[test]
        fn amounts_up_to_the_maximum_are_parsed_exactly(dollars in -MAX_AMOUNT..=MAX_AMOUNT) {
            prop_assert_eq!(amount(&dollars.to_string()), Ok(Some(dollars)));
        }
    }
}
