//! The fee of the payment provider, as far as donors can cover it.

use platform::money::Cents;
use thiserror::Error;

/// Millionths of the amount in one percent.
const PERCENT: i64 = 10_000;
const MILLION: i128 = 1_000_000;

/// A part of the amount and a fixed amount, such as 2.9% and 30 cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fee {
    /// In millionths of the amount.
    rate: i64,
    fixed: Cents,
}

/// The text is not a fee.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("giving.fee is {0:?}; set it to a percentage below 50 and a number of cents, such as 2.9% + 30")]
pub struct InvalidFee(String);

impl Fee {
    /// Parses a fee such as `2.9% + 30`: a percentage with up to four decimals, and cents.
    pub fn parse(text: &str) -> Result<Fee, InvalidFee> {
        let invalid = || InvalidFee(text.to_owned());
        let (rate, fixed) = text.split_once('+').ok_or_else(invalid)?;
        let rate = rate.trim().strip_suffix('%').and_then(parse_percentage);
        let fixed = fixed
            .trim()
            .parse()
            .ok()
            .filter(|cents| (0..=10_000).contains(cents));
        match (rate, fixed) {
            (Some(rate), Some(fixed)) => Ok(Fee {
                rate,
                fixed: Cents::new(fixed),
            }),
            _ => Err(invalid()),
        }
    }

    /// The fee of a charge, rounded to the nearest cent.
    fn of(self, charged: Cents) -> Cents {
        let part = (i128::from(charged.get()) * i128::from(self.rate) + MILLION / 2) / MILLION;
        Cents::new(part as i64 + self.fixed.get())
    }

    /// Returns the smallest amount to charge that leaves the gift whole after the fee.
    pub fn cover(self, gift: Cents) -> Cents {
        let needed = i128::from(gift.get() + self.fixed.get()) * MILLION;
        let mut charged = (needed / (MILLION - i128::from(self.rate))) as i64 + 2;
        // Rounding makes the result of the division inexact by a cent or two.
        while charged > 1 && charged - 1 - self.of(Cents::new(charged - 1)).get() >= gift.get() {
            charged -= 1;
        }
        Cents::new(charged)
    }
}

impl std::fmt::Display for Fee {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, rest) = (self.rate / PERCENT, self.rate % PERCENT);
        let decimals = format!("{rest:04}");
        match decimals.trim_end_matches('0') {
            "" => write!(formatter, "{whole}%")?,
            decimals => write!(formatter, "{whole}.{decimals}%")?,
        }
        write!(formatter, " and {}", self.fixed)
    }
}

/// Parses a percentage below 50, in millionths.
fn parse_percentage(text: &str) -> Option<i64> {
    let (whole, decimals) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 2 || decimals.len() > 4 || !is_number(whole) || !is_number(decimals)
    {
        return None;
    }
    let rate: i64 = format!("{whole}{decimals:0<4}").parse().ok()?;
    (rate < 50 * PERCENT).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fees_are_parsed_and_shown_and_others_are_refused() {
        let fee = Fee::parse("2.9% + 30").unwrap();
        assert_eq!(
            fee,
            Fee {
                rate: 29_000,
                fixed: Cents::new(30)
            }
        );
        assert_eq!(fee.to_string(), "2.9% and $0.30");
        assert_eq!(fee.of(Cents::new(2_500)), Cents::new(103));
        assert_eq!(fee.cover(Cents::new(2_500)), Cents::new(2_606));
        assert_eq!(
            Fee::parse("0%+0").unwrap().cover(Cents::new(100)),
            Cents::new(100)
        );
        for text in [
            "",
            "2.9%",
            "30",
            "2,9% + 30",
            "-1% + 30",
            "50% + 0",
            "2.9% + -1",
            "2.9% + 30.5",
            "2.90001% + 1",
        ] {
            assert!(Fee::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        /// The covered amount leaves the gift whole, and one cent less would not.
        #[test]
        fn the_covered_amount_is_the_smallest_that_leaves_the_gift_whole(
            rate in 0_i64..500_000, fixed in 0_i64..=10_000, gift in 1_i64..=99_999_999,
        ) {
            let fee = Fee { rate, fixed: Cents::new(fixed) };
            let charged = fee.cover(Cents::new(gift)).get();
            let left = |charged: i64| charged - fee.of(Cents::new(charged)).get();
            prop_assert!(left(charged) >= gift);
            prop_assert!(left(charged - 1) < gift);
        }
    }
}
