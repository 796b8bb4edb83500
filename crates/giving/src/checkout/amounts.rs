//! The smallest and the largest donation that the checkout accepts.

use platform::money::Cents;
use thiserror::Error;

/// The amounts that people can give at the checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmountLimits {
    pub min: Cents,
    pub max: Cents,
}

/// Why the settings are not limits of amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidLimits {
    #[error("giving.min_amount is {0}; set it to a number of cents from 1 to {max}", max = Cents::MAX.get())]
    Min(i64),
    #[error(
        "giving.max_amount is {0}; set it to a number of cents that is not less than giving.min_amount, up to {max}",
        max = Cents::MAX.get()
    )]
    Max(i64),
}

impl AmountLimits {
    /// Creates limits from numbers of cents.
    pub fn new(min: i64, max: i64) -> Result<AmountLimits, InvalidLimits> {
        let limits = AmountLimits {
            min: Cents::positive(min).ok_or(InvalidLimits::Min(min))?,
            max: Cents::positive(max).ok_or(InvalidLimits::Max(max))?,
        };
        if limits.min <= limits.max {
            Ok(limits)
        } else {
            Err(InvalidLimits::Max(max))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_positive_and_in_order() {
        let limits = AmountLimits::new(100, 100).unwrap();
        assert_eq!((limits.min, limits.max), (Cents::new(100), Cents::new(100)));
        for (min, max, expected) in [
            (0, 100, InvalidLimits::Min(0)),
            (-1, 100, InvalidLimits::Min(-1)),
            (100, 99, InvalidLimits::Max(99)),
            (1, Cents::MAX.get() + 1, InvalidLimits::Max(Cents::MAX.get() + 1)),
        ] {
            assert_eq!(AmountLimits::new(min, max), Err(expected));
        }
    }
}
