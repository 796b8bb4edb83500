//! The Employer Identification Number: the nine digits by which the IRS knows a body.
//!
//! On the wire an EIN is nine digits and nothing else. People write it with a dash, so that form can be
//! recognised and printed, but it never parses.

use platform::ids::NonprofitId;
use std::fmt;
use uuid::Uuid;

/// A valid EIN. Zeros in front belong to it: one in twenty starts with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ein(u32);

/// The namespace of nonprofit IDs: the same EIN has the same ID on every machine.
const ID_NAMESPACE: Uuid = Uuid::from_u128(0x3f1d_8a52_6c0b_4e7d_9b64_a2d7_15c8_0fe3);

const LARGEST: u32 = 999_999_999;
const DIGITS: usize = 9;

impl Ein {
    /// Takes exactly nine ASCII digits.
    pub fn parse(text: &str) -> Option<Ein> {
        let bytes = text.as_bytes();
        (bytes.len() == DIGITS && bytes.iter().all(u8::is_ascii_digit)).then(|| {
            Ein(bytes
                .iter()
                .fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
        })
    }

    /// The EIN with this number; none has more than nine digits.
    #[inline]
    pub const fn new(value: u32) -> Option<Ein> {
        if value <= LARGEST { Some(Ein(value)) } else { None }
    }

    /// The number itself, as it is stored.
    #[inline]
    pub const fn value(self) -> u32 {
        self.0
    }

    /// The nine digits.
    pub fn digits(self) -> [u8; DIGITS] {
        let mut digits = [b'0'; DIGITS];
        let mut rest = self.0;
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        digits
    }

    /// The form that people write: `53-0196605`.
    pub fn dashed(self) -> String {
        format!("{:02}-{:07}", self.0 / 10_000_000, self.0 % 10_000_000)
    }

    /// Reads what a person meant by a dashed or prefixed form, such as `53-0196605` or `EIN: 530196605`.
    ///
    /// Nothing on the wire accepts these; error texts and redirects of the site name the right form with it.
    pub fn parse_lenient(text: &str) -> Option<Ein> {
        let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
        let rest = without_prefix(text);
        match rest.split_once('-') {
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

    /// The ID of the nonprofit with this EIN.
    pub fn nonprofit_id(self) -> NonprofitId {
        NonprofitId(Uuid::new_v5(&ID_NAMESPACE, self.to_string().as_bytes()))
    }
}

/// Drops a leading `EIN`, `US`, `TIN` or `FEIN` with what separates it from the digits.
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
        for refused in [
            "53-0196605",
            "53019660",
            "5301966050",
            "EIN530196605",
            " 530196605",
            "",
            "53019660x",
            "５３０１９６６０５",
        ] {
            assert_eq!(Ein::parse(refused), None, "{refused}");
        }
    }

    #[test]
    fn an_ein_keeps_its_leading_zeros() {
        let ein = Ein::parse("020240383").unwrap();
        assert_eq!(ein.to_string(), "020240383");
        assert_eq!(ein.dashed(), "02-0240383");
    }

    #[test]
    fn the_same_ein_has_the_same_id_on_every_machine() {
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
    fn dashed_and_prefixed_forms_are_recognised_but_not_taken() {
        for written in [
            "53-0196605",
            "EIN 53-0196605",
            "ein:530196605",
            "US-530196605",
            "EIN53-0196605",
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
        fn what_an_ein_shows_reads_as_the_same_ein(value in 0..=LARGEST) {
            let ein = Ein::new(value).unwrap();
            prop_assert_eq!(Ein::parse(&ein.to_string()), Some(ein));
            prop_assert_eq!(Ein::parse(&ein.dashed()), None);
            prop_assert_eq!(Ein::parse_lenient(&ein.dashed()), Some(ein));
        }

        #[test]
        fn no_text_makes_the_readers_panic(text in "\\PC*") {
            let _ = (Ein::parse(&text), Ein::parse_lenient(&text));
        }
    }
}
