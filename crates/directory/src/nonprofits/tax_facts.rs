//! What the IRS files besides the master file say about a nonprofit, as far as it is numbers and codes.

use jiff::civil::Date;
use std::fmt;

/// The facts of one nonprofit. By default, nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaxFacts {
    /// The latest return of Form 990, 990-EZ or 990-PF.
    pub latest_return: Option<LatestReturn>,
    /// The year in which it was formed, as stated in a return.
    pub formed: Option<u16>,
    /// Empty if Publication 78 does not list it. The subordinates of a group are never listed.
    pub publication_78: Publication78Codes,
    pub revocation: Option<Revocation>,
    pub epostcard: Option<Epostcard>,
}

/// The latest return, with amounts in dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatestReturn {
    /// The month in which the period of the amounts ends, as YYYYMM. Zero if no return states amounts.
    pub period: u32,
    pub revenue: Option<i64>,
    pub expenses: Option<i64>,
    /// At the end of the period.
    pub assets: Option<i64>,
    /// Whether the nonprofit says that it ended.
    pub is_final: bool,
    /// Whether it is on Form 990-PF, which only private foundations file.
    pub is_private_foundation: bool,
}

/// The newest entry of the automatic revocation list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revocation {
    pub revoked_on: Day,
    pub reinstated_on: Option<Day>,
}

/// The newest Form 990-N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epostcard {
    pub tax_year: u16,
    /// Whether gross receipts are normally $50,000 or less.
    pub has_small_receipts: bool,
    /// Whether the nonprofit says that it ended.
    pub is_terminated: bool,
}

impl TaxFacts {
    /// Returns the revocation that is in force.
    pub fn current_revocation(&self) -> Option<Revocation> {
        self.revocation
            .filter(|revocation| revocation.reinstated_on.is_none())
    }

    /// Returns whether the tax exemption was revoked and not reinstated.
    pub fn is_revoked(&self) -> bool {
        self.current_revocation().is_some()
    }
}

/// A day, as a number such as 20150515.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(u32);

impl Day {
    /// Parses `YYYY-MM-DD`.
    pub fn parse(text: &str) -> Option<Day> {
        // The library also reads dates without dashes, which are not stored.
        let date: Date = Some(text).filter(|text| text.len() == 10)?.parse().ok()?;
        let year = u32::try_from(date.year()).ok()?;
        Some(Day(year * 10_000 + date.month() as u32 * 100 + date.day() as u32))
    }

    /// Returns the day with a number, or `None` if there is no such day.
    pub fn from_number(number: u32) -> Option<Day> {
        let day = Day(number);
        day.date().map(|_| day)
    }

    /// Returns the number.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Returns the date.
    pub fn date(self) -> Option<Date> {
        let (year, month, day) = (self.0 / 10_000, self.0 / 100 % 100, self.0 % 100);
        Date::new(i16::try_from(year).ok()?, month as i8, day as i8).ok()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = (self.0 / 10_000, self.0 / 100 % 100, self.0 % 100);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// A set of deductibility codes of Publication 78.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Publication78Codes(u16);

/// The codes and what they mean.
const CODES: [(&str, &str); 12] = [
    ("PC", "a public charity"),
    ("POF", "a private operating foundation"),
    ("PF", "a private foundation"),
    (
        "SO",
        "a supporting organization of Type I, Type II or functionally integrated Type III",
    ),
    (
        "SONFI",
        "a supporting organization of Type III that is not functionally integrated",
    ),
    ("SOUNK", "a supporting organization of unknown type"),
    ("GROUP", "the central organization of a group exemption"),
    (
        "LODGE",
        "a fraternal lodge, for donations that are used for charitable purposes only",
    ),
    (
        "EO",
        "an organization described in section 170(c) other than a public charity or private foundation",
    ),
    ("UNKWN", "an organization whose charity status is not known"),
    ("FED", "a part of the federal government"),
    ("FORGN", "an organization with a foreign address"),
];

impl Publication78Codes {
    /// Parses codes separated by commas. Ignores codes that it does not know.
    pub fn parse(text: &str) -> Publication78Codes {
        let position = |code: &str| CODES.iter().position(|(known, _)| *known == code);
        let bits = text.split(',').filter_map(|code| position(code.trim()));
        Publication78Codes(bits.fold(0, |set, bit| set | 1 << bit))
    }

    /// Returns the set with these bits. Bits without a code are ignored.
    pub fn from_bits(bits: u16) -> Publication78Codes {
        Publication78Codes(bits & ((1 << CODES.len()) - 1))
    }

    /// Returns one bit for each code.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Returns whether there is no code.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the codes, each with a noun phrase that says what it means.
    pub fn iter(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let listed = (0..CODES.len()).filter(move |bit| self.0 >> bit & 1 == 1);
        listed.map(|bit| CODES[bit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn codes_are_parsed_and_explained() {
        let codes = Publication78Codes::parse("EO, LODGE,NEW");
        let found: Vec<_> = codes.iter().map(|(code, _)| code).collect();
        assert_eq!(found, ["LODGE", "EO"]);
        assert!(Publication78Codes::parse("").is_empty());
        assert!(Publication78Codes::parse("NEW").is_empty());
    }

    #[test]
    fn a_reinstated_nonprofit_is_not_revoked() {
        let day = Day::parse("2015-05-15").unwrap();
        let revoked = |reinstated_on| TaxFacts {
            revocation: Some(Revocation {
                revoked_on: day,
                reinstated_on,
            }),
            ..TaxFacts::default()
        };
        assert!(revoked(None).is_revoked());
        // A retroactive reinstatement is dated to the day of the revocation.
        assert!(!revoked(Some(day)).is_revoked());
        assert!(!TaxFacts::default().is_revoked());
    }

    #[test]
    fn a_day_is_a_date_that_exists() {
        for text in ["2015-02-29", "20150515", "15-MAY-2015", ""] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
        assert_eq!(Day::from_number(20_150_229), None);
        assert_eq!(Day::from_number(u32::MAX), None);
    }

    proptest! {
        #[test]
        fn a_day_is_read_as_it_was_written(year in 1900i16..2100, month in 1i8..=12, day in 1i8..=28) {
            let day = Day::parse(&Date::new(year, month, day).unwrap().to_string()).unwrap();
            prop_assert_eq!(Day::from_number(day.number()), Some(day));
            prop_assert_eq!(Day::parse(&day.to_string()), Some(day));
            prop_assert_eq!(day.date().unwrap().to_string(), day.to_string());
        }
    }
}
