//! Registration numbers in typed text: "53-0196605", "53 0196605", "EIN: 530196605".

use crate::text::tag;

/// Number of digits of a registration number.
pub(crate) const REGISTRATION_DIGITS: usize = 9;
/// Minimum number of digits of a prefix.
const MIN_PREFIX_DIGITS: usize = 5;
/// Number of digits before the hyphen, for which some people type a space.
const LEADING_DIGITS: usize = 2;
/// Minimum number of digits after such a space: "10 000" is more likely a part of a name.
const MIN_DIGITS_AFTER_SPACE: usize = 4;
/// Words around a registration number that say that it is one.
const LABELS: &[&str] = &[
    "ein",
    "employer",
    "federal",
    "fein",
    "id",
    "identification",
    "irs",
    "no",
    "number",
    "tax",
    "taxpayer",
    "tin",
];

/// A registration number, or the first digits of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypedNumber {
    /// The digits, as a number.
    pub value: u32,
    /// How many there are.
    pub digits: usize,
    /// Whether the digits alone may be a postal code.
    pub may_be_postal_code: bool,
}

impl TypedNumber {
    /// Reads text that is nothing but a registration number.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // Nearly all text has no digit, and each keystroke is one.
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mut groups: Vec<&str> = Vec::new();
        let mut is_labeled = false;
        for part in text.split(|c: char| c.is_whitespace() || matches!(c, ':' | '#' | '.' | ',')) {
            let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (label, part) = part.split_at(letters);
            if LABELS.iter().any(|known| label.eq_ignore_ascii_case(known)) {
                is_labeled = true;
            } else if !label.is_empty() {
                return None;
            }
            if part.is_empty() {
                continue;
            }
            if !part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
                return None;
            }
            groups.push(part);
        }
        let all: String = groups.concat().replace('-', "");
        let is_complete = all.len() == REGISTRATION_DIGITS;
        let is_one_number = match groups[..] {
            [_] => true,
            [first, second] if !is_labeled => {
                first.len() == LEADING_DIGITS && second.len() >= MIN_DIGITS_AFTER_SPACE
            }
            _ => is_labeled,
        };
        if !(MIN_PREFIX_DIGITS..=REGISTRATION_DIGITS).contains(&all.len()) || !(is_one_number || is_complete)
        {
            return None;
        }
        Some(Self {
            value: all.parse().ok()?,
            digits: all.len(),
            may_be_postal_code: !is_labeled && tag::is_postal_code(&all),
        })
    }

    /// Returns `true` if no digit is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.digits == REGISTRATION_DIGITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_with_spaces_and_labels() {
        for text in [
            "530196605",
            "53-0196605",
            " 53 0196605 ",
            "EIN 53-0196605",
            "ein:530196605",
            "EIN53-0196605",
            "Tax ID #53-0196605",
            "530 196 605",
            "53-0196605 EIN",
        ] {
            let number = TypedNumber::parse(text).unwrap();
            assert_eq!(
                (number.value, number.is_complete()),
                (530_196_605, true),
                "{text}"
            );
        }
        for text in ["53019", "53-019", "53 0196", "ein 53 019"] {
            assert!(
                TypedNumber::parse(text).is_some_and(|number| !number.is_complete()),
                "{text}"
            );
        }
    }

    #[test]
    fn other_numbers_and_names_are_not_registration_numbers() {
        for text in [
            "ein",
            "",
            "5301",
            "10 000",
            "21st century",
            "53-0196605 x",
            "5301966051",
            "24 7 365",
        ] {
            assert_eq!(TypedNumber::parse(text), None, "{text}");
        }
    }

    #[test]
    fn five_digits_with_a_label_are_no_postal_code() {
        assert!(TypedNumber::parse("97201").is_some_and(|number| number.may_be_postal_code));
        assert!(TypedNumber::parse("ein 97201").is_some_and(|number| !number.may_be_postal_code));
    }
}
