//! Money in integer cents, and how to split an amount.

use std::fmt;
use thiserror::Error;

/// An amount in cents, negative for refunds. Sums are checked for overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cents(i64);

/// The error of a sum that does not fit in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the sum is too large")]
pub struct AmountOverflow;

impl Cents {
    pub const ZERO: Cents = Cents(0);
    /// The largest single amount: ten billion dollars.
    pub const MAX: Cents = Cents(1_000_000_000_000);

    /// Creates an amount from a number of cents.
    #[inline]
    pub const fn new(cents: i64) -> Cents {
        Cents(cents)
    }

    /// Returns the number of cents.
    #[inline]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Creates an amount that is greater than zero and at most [`Cents::MAX`].
    pub fn positive(cents: i64) -> Option<Cents> {
        (0 < cents && cents <= Cents::MAX.0).then_some(Cents(cents))
    }

    /// Parses dollars as people type them: `20`, `20.`, `$20`, `1,234.50`. Commas may only separate thousands.
    ///
    /// Returns `None` if the amount is invalid, negative or greater than [`Cents::MAX`].
    pub fn from_dollars(text: &str) -> Option<Cents> {
        let text = text.trim();
        let text = text.strip_prefix('$').unwrap_or(text).trim_start();
        let (dollars, cents) = text.split_once('.').unwrap_or((text, ""));
        let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let mut groups = dollars.split(',');
        let first = groups.next().filter(|first| are_digits(first))?;
        let mut whole = first.to_owned();
        for group in groups {
            if first.len() > 3 || group.len() != 3 || !are_digits(group) {
                return None;
            }
            whole.push_str(group);
        }
        let cents: i64 = match cents.len() {
            0 => 0,
            1 | 2 if are_digits(cents) => format!("{cents:0<2}").parse().ok()?,
            _ => return None,
        };
        let amount = whole.parse::<i64>().ok()?.checked_mul(100)?.checked_add(cents)?;
        (amount <= Cents::MAX.0).then_some(Cents(amount))
    }

    /// Parses dollars as [`Cents::from_dollars`] does. Returns `None` for zero as well.
    pub fn from_positive_dollars(text: &str) -> Option<Cents> {
        Cents::from_dollars(text).filter(|amount| *amount > Cents::ZERO)
    }

    /// Formats dollars for a form field or a URL: `25` or `25.50`. The amount must not be negative.
    pub fn to_input_value(self) -> String {
        match self.0 % 100 {
            0 => (self.0 / 100).to_string(),
            cents => format!("{}.{cents:02}", self.0 / 100),
        }
    }

    /// Adds two amounts.
    #[inline]
    pub fn plus(self, other: Cents) -> Result<Cents, AmountOverflow> {
        self.0.checked_add(other.0).map(Cents).ok_or(AmountOverflow)
    }

    /// Negates the amount. The lowest integer, which has no negation and never occurs, saturates.
    #[inline]
    #[must_use]
    pub fn reversed(self) -> Cents {
        Cents(self.0.saturating_neg())
    }

    /// Adds up amounts.
    pub fn sum(amounts: impl IntoIterator<Item = Cents>) -> Result<Cents, AmountOverflow> {
        amounts.into_iter().try_fold(Cents::ZERO, Cents::plus)
    }
}

impl fmt::Display for Cents {
    /// Formats dollars: `$1,234.50`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.0.unsigned_abs();
        let dollars = (cents / 100).to_string();
        let mut grouped = String::with_capacity(dollars.len() * 4 / 3);
        for (index, digit) in dollars.chars().enumerate() {
            if index > 0 && (dollars.len() - index).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}${grouped}.{:02}", cents % 100)
    }
}

/// The relative shares of an amount, as integers whose sum fits in 63 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights(Vec<u64>);

/// The precision of a weight relative to the largest one, in bits: the precision of a JSON number.
const PRECISION_BITS: i32 = 53;
/// The largest number of shares.
pub const MAX_SHARES: usize = 100;
/// The largest weight. Larger ones are mistakes, and their sum could become infinite.
pub const MAX_WEIGHT: f64 = 1e12;

impl Weights {
    /// Creates `count` equal weights.
    pub fn equal(count: usize) -> Weights {
        Weights(vec![1; count])
    }

    /// Creates weights from numbers in a request.
    ///
    /// Returns `None` if a number is not positive or exceeds [`MAX_WEIGHT`], if there are no numbers, or if there are
    /// more than [`MAX_SHARES`].
    pub fn relative(numbers: &[f64]) -> Option<Weights> {
        let is_weight = |number: &f64| *number > 0.0 && *number <= MAX_WEIGHT;
        if !(1..=MAX_SHARES).contains(&numbers.len()) || !numbers.iter().all(is_weight) {
            return None;
        }
        let heaviest = numbers.iter().copied().fold(0.0, f64::max);
        let unit = f64::powi(2.0, PRECISION_BITS);
        Some(Weights(
            numbers
                .iter()
                .map(|number| (number / heaviest * unit).round() as u64)
                .collect(),
        ))
    }

    /// Creates weights in proportion to balances, for a refund. Returns `None` if the balances add up to zero.
    pub fn of_balances(balances: &[Cents]) -> Option<Weights> {
        let weights: Vec<u64> = balances
            .iter()
            .map(|balance| u64::try_from(balance.0).ok())
            .collect::<Option<_>>()?;
        let sum = weights
            .iter()
            .try_fold(0u64, |sum, each| sum.checked_add(*each))?;
        (0 < sum && i64::try_from(sum).is_ok()).then_some(Weights(weights))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Splits `total` by `weights`. The shares always add up to `total`, and none is negative.
///
/// Each share is rounded down. The remaining cents go one by one to the largest remainders, earlier nonprofits
/// first. `total` must not be negative.
pub fn split(total: Cents, weights: &Weights) -> Vec<Cents> {
    let whole: u128 = weights.0.iter().map(|weight| u128::from(*weight)).sum();
    let total = u128::from(total.0.max(0).unsigned_abs());
    let mut shares = Vec::with_capacity(weights.len());
    let mut remainders = Vec::with_capacity(weights.len());
    for (index, weight) in weights.0.iter().enumerate() {
        let part = total * u128::from(*weight);
        shares.push(Cents((part / whole) as i64));
        remainders.push((part % whole, index));
    }
    let assigned: u128 = shares
        .iter()
        .map(|share| u128::from(share.0.unsigned_abs()))
        .sum();
    remainders.sort_by(|(a, a_index), (b, b_index)| b.cmp(a).then(a_index.cmp(b_index)));
    for (_, index) in remainders.iter().take((total - assigned) as usize) {
        shares[*index].0 += 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(total: i64, weights: &[f64]) -> Vec<i64> {
        let weights = Weights::relative(weights).unwrap();
        split(Cents(total), &weights)
            .iter()
            .map(|share| share.0)
            .collect()
    }

    #[test]
    fn remaining_cents_go_to_the_largest_remainders_earlier_ones_first() {
        assert_eq!(shares(100, &[1.0, 1.0, 1.0]), [34, 33, 33]);
        assert_eq!(shares(101, &[1.0, 1.0, 1.0]), [34, 34, 33]);
        assert_eq!(shares(100, &[1.0, 2.0]), [33, 67]);
        assert_eq!(shares(1, &[0.1, 0.2, 0.3]), [0, 0, 1]);
        assert_eq!(shares(1_000_000_000_000, &[1e12, 1e-300]), [1_000_000_000_000, 0]);
    }

    #[test]
    fn a_weight_is_positive_and_at_most_the_maximum() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e308] {
            assert_eq!(Weights::relative(&[1.0, bad]), None, "{bad}");
        }
        assert_eq!(Weights::relative(&[]), None);
        assert_eq!(Weights::relative(&[1.0; 101]), None);
    }

    #[test]
    fn amounts_are_formatted_in_dollars() {
        for (cents, text) in [
            (5, "$0.05"),
            (123_450, "$1,234.50"),
            (-100_000_000, "-$1,000,000.00"),
        ] {
            assert_eq!(Cents(cents).to_string(), text);
        }
    }

    #[test]
    fn dollars_parse_exactly_or_not_at_all() {
        for (text, cents) in [
            ("20", 2_000),
            ("20.", 2_000),
            ("$1,000.", 100_000),
            (" $20 ", 2_000),
            ("$ 1,234.50", 123_450),
            ("1234.5", 123_450),
            ("0.07", 7),
            ("10,000,000,000", Cents::MAX.0),
        ] {
            assert_eq!(Cents::from_dollars(text), Some(Cents(cents)), "{text}");
        }
        for text in [
            "",
            "$",
            ".",
            ".5",
            "20..",
            "1.234",
            "1.234,50",
            "1,23",
            "1234,567",
            ",123",
            "1,,000",
            "-1",
            "+1",
            "1e3",
            "€5",
            "١٢",
            "5 dollars",
            "$$5",
            "10000000000.01",
            "99999999999999999999",
        ] {
            assert_eq!(Cents::from_dollars(text), None, "{text:?}");
        }
    }

    #[test]
    fn zero_is_not_a_positive_amount() {
        assert_eq!(Cents::from_positive_dollars("0.01"), Some(Cents(1)));
        for text in ["0", "0.00", "$0.", "-5", ""] {
            assert_eq!(Cents::from_positive_dollars(text), None, "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn shares_add_up_and_each_is_within_a_cent_of_its_exact_part(
            total in 0..=Cents::MAX.0,
            numbers in proptest::collection::vec(prop_oneof![1e-6..1e12, 0.01..100.0], 1..=12),
        ) {
            let weights = Weights::relative(&numbers).unwrap();
            let shares = split(Cents(total), &weights);
            prop_assert_eq!(Cents::sum(shares.iter().copied()), Ok(Cents(total)));
            let whole: f64 = numbers.iter().sum();
            for (share, number) in shares.iter().zip(&numbers) {
                let exact = total as f64 * number / whole;
                prop_assert!(share.0 >= 0 && (share.0 as f64 - exact).abs() < 1.01, "{share:?} for {exact}");
            }
        }

        #[test]
        fn a_refund_never_takes_more_than_a_balance(
            balances in proptest::collection::vec(0..=Cents::MAX.0, 1..=8),
            part in 0.0..=1.0f64,
        ) {
            let balances: Vec<Cents> = balances.into_iter().map(Cents).collect();
            let total = Cents::sum(balances.iter().copied()).unwrap();
            prop_assume!(total > Cents::ZERO);
            let refund = Cents((total.0 as f64 * part) as i64);
            let weights = Weights::of_balances(&balances).unwrap();
            let shares = split(refund, &weights);
            prop_assert_eq!(Cents::sum(shares.iter().copied()), Ok(refund));
            prop_assert!(shares.iter().zip(&balances).all(|(share, balance)| share <= balance));
            prop_assert_eq!(split(total, &weights), balances);
        }

        #[test]
        fn formatted_dollars_parse_to_the_same_amount(cents in 0..=Cents::MAX.0) {
            let formatted = Cents(cents).to_string();
            prop_assert_eq!(Cents::from_dollars(&formatted), Some(Cents(cents)));
            prop_assert_eq!(Cents::from_dollars(&formatted.replace(['$', ','], "")), Some(Cents(cents)));
            prop_assert_eq!(Cents::from_dollars(&Cents(cents).to_input_value()), Some(Cents(cents)));
        }

        #[test]
        fn any_text_parses_to_an_amount_in_range_or_none(text in "[$0-9., -]{0,24}") {
            let amount = Cents::from_dollars(&text);
            prop_assert!(amount.is_none_or(|amount| (Cents::ZERO..=Cents::MAX).contains(&amount)));
        }

        #[test]
        fn sums_are_exact_or_an_error(amounts in proptest::collection::vec(any::<i64>(), 0..6)) {
            let exact: i128 = amounts.iter().map(|amount| i128::from(*amount)).sum();
            if let Ok(sum) = Cents::sum(amounts.into_iter().map(Cents)) {
                prop_assert_eq!(i128::from(sum.0), exact);
            }
            prop_assert_eq!(Cents(i64::MAX).plus(Cents(1)), Err(AmountOverflow));
        }
    }
}
