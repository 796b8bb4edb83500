//! The Employer Identification Number (EIN): nine digits that the IRS assigns to an organization.
//!
//! The API accepts and returns exactly nine digits. People write an EIN with a dash, so [`Ein::parse_lenient`] recognizes
//! that form and [`Ein::dashed`] prints it.

use platform::ids::NonprofitId;
use std::fmt;
use std::ops::Range;
use uuid::Uuid;

/// A valid EIN. Leading zeros are significant: about one EIN in twenty has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ein(u32);

/// The namespace of nonprofit IDs: an EIN has the same ID on every server.
const ID_NAMESPACE: Uuid = Uuid::from_u128(0x3f1d_8a52_6c0b_4e7d_9b64_a2d7_15c8_0fe3);

const MAX_VALUE: u32 = 999_999_999;
const DIGITS: usize = 9;
/// How many digits are before the dash.
const FIRST_DIGITS: usize = 2;

impl Ein {
    /// Parses exactly nine ASCII digits.
    pub fn parse(text: &str) -> Option<Ein> {
        let bytes = text.as_bytes();
        (bytes.len() == DIGITS && bytes.iter().all(u8::is_ascii_digit)).then(|| {
            Ein(bytes
                .iter()
                .fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
        })
    }

    /// Creates an EIN from a number of up to nine digits.
    #[inline]
    pub const fn new(value: u32) -> Option<Ein> {
        if value <= MAX_VALUE {
            Some(Ein(value))
        } else {
            None
        }
    }

    /// Returns the number, as it is stored.
    #[inline]
    pub const fn value(self) -> u32 {
        self.0
    }

    /// Returns the nine digits.
    pub fn digits(self) -> [u8; DIGITS] {
        let mut digits = [b'0'; DIGITS];
        let mut rest = self.0;
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        digits
    }

    /// Formats the EIN with a dash: `53-0196605`.
    pub fn dashed(self) -> String {
        format!("{:02}-{:07}", self.0 / 10_000_000, self.0 % 10_000_000)
    }

    /// Parses an EIN with or without a dash or a prefix, such as `53-0196605`, `53 0196605` or `EIN: 530196605`.
    ///
    /// The API does not accept these forms. Error messages and redirects of the site use them to name the right one.
    pub fn parse_lenient(text: &str) -> Option<Ein> {
        let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
        let rest = without_prefix(text);
        match rest.split_once(['-', ' ']) {
            Some((front, back)) if front.len() == 2 && back.len() == 7 => {
                let digits = front.bytes().chain(back.bytes());
                digits
                    .clone()
                    .all(|b| b.is_ascii_digit())
                    .then(|| Ein(digits.fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))))
            }
            _ => Ein::parse(rest),
        }
    }

    /// Finds the first EIN in a text: nine digits, or two and seven with a dash or a space between them. Returns where it is.
    pub fn find_in(text: &str) -> Option<(Ein, Range<usize>)> {
        let bytes = text.as_bytes();
        // Each keystroke is a text, and nearly all have fewer digits.
        if bytes.iter().filter(|byte| byte.is_ascii_digit()).count() < DIGITS {
            return None;
        }
        let count_digits = |at: usize| {
            bytes[at..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let mut at = 0;
        while at < bytes.len() {
            let digits = count_digits(at);
            let end = at + digits;
            let is_separated = digits == FIRST_DIGITS
                && matches!(bytes.get(end), Some(b'-' | b' '))
                && count_digits(end + 1) == DIGITS - FIRST_DIGITS;
            let range = match digits {
                DIGITS => at..end,
                _ if is_separated => at..at + DIGITS + 1,
                _ => {
                    at = end + 1;
                    continue;
                }
            };
            return Ein::parse_lenient(&text[range.clone()]).map(|ein| (ein, range));
        }
        None
    }

    /// Returns the ID of the nonprofit with this EIN.
    pub fn nonprofit_id(self) -> NonprofitId {
        NonprofitId(Uuid::new_v5(&ID_NAMESPACE, self.to_string().as_bytes()))
    }
}

/// Removes a leading `EIN`, `US`, `TIN` or `FEIN` and the separator after it.
fn without_prefix(text: &str) -> &str {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (word, rest) = text.split_at(letters);
    if ["EIN", "FEIN", "TIN", "US"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
    {
        rest.trim_start_matches([' ', ':', '-', '#', '.', '_', '='])
    } else {
        text
    }
}

impl fmt::Display for Ein {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:09}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_ein_has_nine_digits_and_no_dash() {
        assert_eq!(Ein::parse("530196605").map(Ein::value), Some(530_196_605));
        for invalid in [
            "53-0196605",
            "53019660",
            "5301966050",
            "EIN530196605",
            " 530196605",
            "",
            "53019660x",
            "５３０１９６６０５",
        ] {
            assert_eq!(Ein::parse(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn an_ein_is_found_among_other_words() {
        let found = |text: &str| Ein::find_in(text).map(|(ein, range)| (ein.value(), text[range].to_owned()));
        for (text, typed) in [
            ("530196605", "530196605"),
            ("my EIN is 53-0196605.", "53-0196605"),
            ("EIN:53 0196605 Washington", "53 0196605"),
            ("12 53-0196605", "53-0196605"),
            ("é530196605é", "530196605"),
        ] {
            assert_eq!(found(text), Some((530_196_605, typed.to_owned())), "{text}");
        }
        for text in [
            "",
            "53-019660",
            "5301966051",
            "53--0196605",
            "530-196605",
            "53-01966051",
            "1 2 3 4 5 6 7 8 9",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn an_ein_keeps_its_leading_zeros() {
        let ein = Ein::parse("020240383").unwrap();
        assert_eq!(ein.to_string(), "020240383");
        assert_eq!(ein.dashed(), "02-0240383");
    }

    #[test]
    fn an_ein_always_has_the_same_id() {
        let red_cross = Ein::parse("530196605").unwrap();
        assert_eq!(
            red_cross.nonprofit_id().to_string(),
            "d9017b27-edb0-54b2-b0c1-533033c82832"
        );
        let other = Ein::parse("530196606").unwrap();
        assert_ne!(red_cross.nonprofit_id(), other.nonprofit_id());
    }

    #[test]
    fn an_ein_has_at_most_nine_digits() {
        assert!(Ein::new(999_999_999).is_some());
        assert!(Ein::new(1_000_000_000).is_none());
    }

    #[test]
    fn dashed_and_prefixed_forms_are_parsed_only_leniently() {
        for written in [
            "53-0196605",
            "EIN 53-0196605",
            "ein:530196605",
            "US-530196605",
            "EIN53-0196605",
            "53 0196605",
            " 53-0196605 ",
        ] {
            assert_eq!(Ein::parse(written), None, "{written}");
            assert_eq!(Ein::parse_lenient(written), Ein::new(530_196_605), "{written}");
        }
        for other in [
            "5-30196605",
            "red-cross",
            "53-01966054",
            "12-345678",
            "é2-3456789",
            "ein",
            "",
        ] {
            assert_eq!(Ein::parse_lenient(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn a_formatted_ein_parses_as_the_same_ein(value in 0..=MAX_VALUE) {
            let ein = Ein::new(value).unwrap();
            prop_assert_eq!(Ein::parse(&ein.to_string()), Some(ein));
            prop_assert_eq!(Ein::parse(&ein.dashed()), None);
            prop_assert_eq!(Ein::parse_lenient(&ein.dashed()), Some(ein));
        }

        #[test]
        fn parsing_never_panics(text in "\\PC*") {
            let _ = (Ein::parse(&text), Ein::parse_lenient(&text));
        }
    }
}
