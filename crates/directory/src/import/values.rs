//! How the values of EO BMF columns are read, in the IRS's own spelling and in those of tools that copy its files.

use crate::nonprofits::ein::Ein;

/// Beyond ten trillion dollars an amount is a slip of somebody's tool, whatever body it stands for.
const LARGEST_AMOUNT: i64 = 10_000_000_000_000;

/// Second name lines that name nothing.
const NOISE: [&str; 13] = [
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

/// The value without blanks around it; nothing where a tool wrote its mark for "unknown".
pub fn known(value: &str) -> &str {
    // Nearly every value is whole already, which its two ends show faster than trimming does.
    let whole = matches!(value.as_bytes(), [b'!'..=b'~'] | [b'!'..=b'~', .., b'!'..=b'~']);
    let value = if whole { value } else { value.trim() };
    let unknown = value.len() <= 4
        && ["NA", "N/A", "NAN", "NULL"]
            .iter()
            .any(|u| value.eq_ignore_ascii_case(u));
    if unknown { "" } else { value }
}

/// An EIN of one to nine digits, as tools that take it for a number leave it, or dashed.
pub fn ein(value: &str) -> Option<Ein> {
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
    let whole = (1..=9).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    whole.then(|| {
        text.bytes()
            .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
    })
}

/// A whole number that is not negative, also as `3.0` or `2e+05`.
pub fn code(value: &str, largest: u32) -> Option<u32> {
    let number = digits(value).or_else(|| {
        let number = float(value)?;
        (number <= f64::from(u32::MAX) && number.fract() == 0.0).then_some(number as u32)
    })?;
    (number <= largest).then_some(number)
}

/// A month as YYYYMM; 0 for one that no calendar has.
pub fn month(value: &str) -> Option<u32> {
    let number = code(value, u32::MAX)?;
    let real = (1800..=2199).contains(&(number / 100)) && (1..=12).contains(&(number % 100));
    Some(if real { number } else { 0 })
}

/// What stands in a column of numbers is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoNumber;

/// Whole dollars, cents dropped; nothing for a number that cannot be an amount.
pub fn amount(value: &str) -> Result<Option<i64>, NoNumber> {
    let (negative, size) = match value.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, value),
    };
    let number = match digits(size) {
        Some(number) => i64::from(number),
        // The conversion saturates, so that a number too large stays too large; up to 2^53 it is exact.
        None => float(size).ok_or(NoNumber)? as i64,
    };
    Ok((number <= LARGEST_AMOUNT).then_some(if negative { -number } else { number }))
}

fn float(value: &str) -> Option<f64> {
    if value.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        value.parse().ok()
    } else {
        None
    }
}

/// The five digits of a US ZIP code, written into `five`; left empty for `00000` and what is none.
pub fn zip(value: &str, five: &mut String) {
    five.clear();
    let front = value.split('-').next().unwrap_or_default();
    let front = front.strip_suffix(".0").unwrap_or(front);
    if front.is_empty() || !front.bytes().all(|b| b.is_ascii_digit()) {
        return;
    }
    // Nine digits without a dash are ZIP+4; fewer than five have lost their zeros in front.
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

/// Does this second name line say anything that the first does not?
pub fn names_something(sort_name: &str, name: &str) -> bool {
    sort_name
        .bytes()
        .any(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
        && !NOISE.iter().any(|noise| sort_name.eq_ignore_ascii_case(noise))
        && !sort_name.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_ein_without_its_leading_zeros_is_the_same_ein() {
        for written in ["020240383", "20240383", "20240383.0", "02-0240383"] {
            assert_eq!(ein(written).unwrap().to_string(), "020240383", "{written}");
        }
        assert_eq!(ein("4101").unwrap().to_string(), "000004101");
        for refused in [
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
            assert_eq!(ein(refused), None, "{refused}");
        }
    }

    #[test]
    fn codes_are_read_as_text_as_floats_and_in_powers_of_ten() {
        assert_eq!(code("03", 99), Some(3));
        assert_eq!(code("3.0", 99), Some(3));
        assert_eq!(code("2e+05", 999_999), Some(200_000));
        for refused in ["3.5", "-3", "100", "X", "1e99", "inf", ""] {
            assert_eq!(code(refused, 99), None, "{refused}");
        }
    }

    #[test]
    fn a_month_no_calendar_has_is_unknown() {
        assert_eq!(month("202412"), Some(202_412));
        assert_eq!(month("194603.0"), Some(194_603));
        for unknown in ["000000", "0", "202413", "202400", "999912", "12"] {
            assert_eq!(month(unknown), Some(0), "{unknown}");
        }
        assert_eq!(month("JUNE"), None);
    }

    #[test]
    fn amounts_may_be_negative_and_absurd_ones_are_unknown() {
        assert_eq!(amount("-1250"), Ok(Some(-1250)));
        assert_eq!(amount("54000000000"), Ok(Some(54_000_000_000)));
        assert_eq!(amount("1e+05"), Ok(Some(100_000)));
        assert_eq!(amount("-1234.56"), Ok(Some(-1234)));
        for absurd in ["99999999999999", "999999999999999999999999", "1e300", "-1e300"] {
            assert_eq!(amount(absurd), Ok(None), "{absurd}");
        }
        for none in ["$5", "five", "-", "--5", "1,000", "nan", "inf"] {
            assert_eq!(amount(none), Err(NoNumber), "{none}");
        }
    }

    #[test]
    fn a_zip_code_is_five_digits_or_nothing() {
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
        for (written, read) in cases {
            zip(written, &mut five);
            assert_eq!(five, read, "{written}");
        }
    }

    #[test]
    fn noise_is_no_second_name() {
        for noise in [
            "SAME",
            "none",
            "N/A",
            "GROUP RETURN",
            "-",
            "% ",
            "KNIGHTS OF COLUMBUS",
        ] {
            assert!(!names_something(noise, "KNIGHTS OF COLUMBUS"), "{noise}");
        }
        for name in ["1234", "COUNCIL 1234", "SAME DAY CARE", "É"] {
            assert!(names_something(name, "KNIGHTS OF COLUMBUS"), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_readers_panic(text in "\\PC{0,40}") {
            let mut five = String::new();
            zip(&text, &mut five);
            let _ = (known(&text), ein(&text), code(&text, 99), month(&text), amount(&text));
            prop_assert!(five.is_empty() || five.len() == 5);
        }

        #[test]
        fn every_amount_up_to_the_largest_reads_as_itself(dollars in -LARGEST_AMOUNT..=LARGEST_AMOUNT) {
            prop_assert_eq!(amount(&dollars.to_string()), Ok(Some(dollars)));
        }
    }
}
