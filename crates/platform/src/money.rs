//! Money in integer cents, and how an amount is shared.

use std::fmt;
use thiserror::Error;

/// An amount in cents, below zero where money goes back. Sums are checked, never wrapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cents(i64);

/// That a sum is beyond what can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the sum is larger than can be counted")]
pub struct AmountOverflow;

impl Cents {
    pub const ZERO: Cents = Cents(0);
    /// The largest single amount: ten billion dollars.
    pub const MAX: Cents = Cents(1_000_000_000_000);

    /// An amount of this many cents.
    #[inline]
    pub const fn new(cents: i64) -> Cents {
        Cents(cents)
    }

    /// The number of cents.
    #[inline]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// An amount that can be given: above zero, and no more than [`Cents::MAX`].
    pub fn positive(cents: i64) -> Option<Cents> {
        (0 < cents && cents <= Cents::MAX.0).then_some(Cents(cents))
    }

    /// Reads dollars as people write them: `20`, `$20`, `1,234.50`. Commas stand between thousands or not at all.
    /// Nothing where it is no amount, below zero, or more than [`Cents::MAX`].
    pub fn from_dollars(text: &str) -> Option<Cents> {
        let text = text.trim();
        let text = text.strip_prefix('$').unwrap_or(text).trim_start();
        let (dollars, cents) = text.split_once('.').unwrap_or((text, "00"));
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
            1 | 2 if are_digits(cents) => format!("{cents:0<2}").parse().ok()?,
            _ => return None,
        };
        let amount = whole.parse::<i64>().ok()?.checked_mul(100)?.checked_add(cents)?;
        (amount <= Cents::MAX.0).then_some(Cents(amount))
    }

    /// The sum of two amounts.
    #[inline]
    pub fn plus(self, other: Cents) -> Result<Cents, AmountOverflow> {
        self.0.checked_add(other.0).map(Cents).ok_or(AmountOverflow)
    }

    /// The amount that goes the other way. Nothing we hold is as low as the lowest number.
    #[inline]
    #[must_use]
    pub fn reversed(self) -> Cents {
        Cents(self.0.saturating_neg())
    }

    /// The sum of amounts.
    pub fn sum(amounts: impl IntoIterator<Item = Cents>) -> Result<Cents, AmountOverflow> {
        amounts.into_iter().try_fold(Cents::ZERO, Cents::plus)
    }
}

impl fmt::Display for Cents {
    /// Dollars, for people: `$1,234.50`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.0.unsigned_abs();
        let dollars = (cents / 100).to_string();
        let mut grouped = String::with_capacity(dollars.len() * 4 / 3);
        for (place, digit) in dollars.chars().enumerate() {
            if place > 0 && (dollars.len() - place).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}${grouped}.{:02}", cents % 100)
    }
}

/// How much of an amount each of several gets, as whole numbers whose sum fits 63 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights(Vec<u64>);

/// Weights are taken relative to the largest, with this many bits: what a number of JSON can hold.
const BITS: i32 = 53;
/// The most that one amount can be shared among.
pub const MAX_SHARES: usize = 100;
/// The largest weight that is accepted. Larger ones are mistakes, and their sum soon is no number.
pub const MAX_WEIGHT: f64 = 1e12;

impl Weights {
    /// The same for each of `count`.
    pub fn equal(count: usize) -> Weights {
        Weights(vec![1; count])
    }

    /// From numbers as they are sent. Nothing where one is not above zero or too large, or where there are none or too many.
    pub fn relative(numbers: &[f64]) -> Option<Weights> {
        let is_weight = |number: &f64| *number > 0.0 && *number <= MAX_WEIGHT;
        if !(1..=MAX_SHARES).contains(&numbers.len()) || !numbers.iter().all(is_weight) {
            return None;
        }
        let heaviest = numbers.iter().copied().fold(0.0, f64::max);
        let unit = f64::powi(2.0, BITS);
        Some(Weights(
            numbers
                .iter()
                .map(|number| (number / heaviest * unit).round() as u64)
                .collect(),
        ))
    }

    /// By what each holds already, for taking some of it back. Nothing where nothing is held.
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

/// Shares `total` by `weights`; the shares always add up to `total`, and none is below zero.
///
/// Each share is rounded down, then the cents left over go one by one to the largest remainders, earlier
/// nonprofits first. `total` is not below zero.
pub fn split(total: Cents, weights: &Weights) -> Vec<Cents> {
    let whole: u128 = weights.0.iter().map(|weight| u128::from(*weight)).sum();
    let total = u128::from(total.0.max(0).unsigned_abs());
    let mut shares = Vec::with_capacity(weights.len());
    let mut remainders = Vec::with_capacity(weights.len());
    for (place, weight) in weights.0.iter().enumerate() {
        let part = total * u128::from(*weight);
        shares.push(Cents((part / whole) as i64));
        remainders.push((part % whole, place));
    }
    let given: u128 = shares
        .iter()
        .map(|share| u128::from(share.0.unsigned_abs()))
        .sum();
    remainders.sort_by(|(one, here), (other, there)| other.cmp(one).then(here.cmp(there)));
    for (_, place) in remainders.iter().take((total - given) as usize) {
        shares[*place].0 += 1;
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
    fn cents_left_over_go_to_the_largest_remainders_and_earlier_ones_first() {
        assert_eq!(shares(100, &[1.0, 1.0, 1.0]), [34, 33, 33]);
        assert_eq!(shares(101, &[1.0, 1.0, 1.0]), [34, 34, 33]);
        assert_eq!(shares(100, &[1.0, 2.0]), [33, 67]);
        assert_eq!(shares(1, &[0.1, 0.2, 0.3]), [0, 0, 1]);
        assert_eq!(shares(1_000_000_000_000, &[1e12, 1e-300]), [1_000_000_000_000, 0]);
    }

    #[test]
    fn a_weight_is_a_number_above_zero_that_is_not_absurd() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e308] {
            assert_eq!(Weights::relative(&[1.0, bad]), None, "{bad}");
        }
        assert_eq!(Weights::relative(&[]), None);
        assert_eq!(Weights::relative(&[1.0; 101]), None);
    }

    #[test]
    fn amounts_are_shown_in_dollars() {
        for (cents, text) in [
            (5, "$0.05"),
            (123_450, "$1,234.50"),
            (-100_000_000, "-$1,000,000.00"),
        ] {
            assert_eq!(Cents(cents).to_string(), text);
        }
    }

    #[test]
    fn dollars_are_read_to_the_cent_or_not_at_all() {
        for (text, cents) in [
            ("20", 2_000),
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
            ".5",
            "20.",
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40_000))]

        #[test]
        fn shares_add_up_and_each_is_within_a_cent_of_its_part(
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
        fn what_is_taken_back_is_never_more_than_each_holds(
            balances in proptest::collection::vec(0..=Cents::MAX.0, 1..=8),
            part in 0.0..=1.0f64,
        ) {
            let balances: Vec<Cents> = balances.into_iter().map(Cents).collect();
            let held = Cents::sum(balances.iter().copied()).unwrap();
            prop_assume!(held > Cents::ZERO);
            let back = Cents((held.0 as f64 * part) as i64);
            let weights = Weights::of_balances(&balances).unwrap();
            let shares = split(back, &weights);
            prop_assert_eq!(Cents::sum(shares.iter().copied()), Ok(back));
            prop_assert!(shares.iter().zip(&balances).all(|(share, balance)| share <= balance));
            prop_assert_eq!(split(held, &weights), balances);
        }

        #[test]
        fn dollars_are_read_as_they_are_shown(cents in 0..=Cents::MAX.0) {
            let shown = Cents(cents).to_string();
            prop_assert_eq!(Cents::from_dollars(&shown), Some(Cents(cents)));
            prop_assert_eq!(Cents::from_dollars(&shown.replace(['$', ','], "")), Some(Cents(cents)));
        }

        #[test]
        fn any_text_is_an_amount_in_range_or_none(text in "[$0-9., -]{0,24}") {
            let amount = Cents::from_dollars(&text);
            prop_assert!(amount.is_none_or(|amount| (Cents::ZERO..=Cents::MAX).contains(&amount)));
        }

        #[test]
        fn sums_are_right_or_refused(amounts in proptest::collection::vec(any::<i64>(), 0..6)) {
            let exact: i128 = amounts.iter().map(|amount| i128::from(*amount)).sum();
            if let Ok(sum) = Cents::sum(amounts.into_iter().map(Cents)) {
                prop_assert_eq!(i128::from(sum.0), exact);
            }
            prop_assert_eq!(Cents(i64::MAX).plus(Cents(1)), Err(AmountOverflow));
        }
    }
}
