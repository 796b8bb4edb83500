//! The goal of a fundraiser: the one its creator set, or one that grows with what was raised.

use platform::money::Cents;

/// What a fundraiser aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Set by the creator.
    Custom(Cents),
    /// Found by [`automatic`].
    Automatic(Cents),
}

/// No automatic goal is lower: $1,000.
const LOWEST: i64 = 100_000;
/// The steps within each power of ten, in tenths.
const STEPS: [i64; 4] = [10, 25, 50, 75];

impl Goal {
    /// The goal now.
    pub fn after(raised: Cents, set: Option<Cents>) -> Goal {
        match set {
            Some(goal) => Goal::Custom(goal),
            None => Goal::Automatic(automatic(raised)),
        }
    }

    pub fn amount(self) -> Cents {
        match self {
            Goal::Custom(amount) | Goal::Automatic(amount) => amount,
        }
    }

    /// As the interface writes it.
    pub fn kind(self) -> &'static str {
        match self {
            Goal::Custom(_) => "CUSTOM",
            Goal::Automatic(_) => "AUTOMATIC",
        }
    }
}

/// The smallest of 1, 2.5, 5 and 7.5 times a power of ten dollars that is at least one and a half times what was
/// raised, and never under $1,000.
///
/// What was raised may be as much as can be counted: the goal then is as high as can be counted.
pub fn automatic(raised: Cents) -> Cents {
    let minimum = (i128::from(raised.get()) * 3 + 1) / 2;
    let mut power = LOWEST / 10;
    loop {
        for step in STEPS {
            match power.checked_mul(step) {
                Some(goal) if i128::from(goal) >= minimum => return Cents::new(goal),
                Some(_) => {}
                None => return Cents::new(i64::MAX),
            }
        }
        power *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ladder_goes_up_in_known_steps() {
        for (raised, goal) in [
            (0, 100_000),
            (66_666, 100_000),
            (66_667, 250_000),
            (166_667, 500_000),
            (462_500, 750_000),
            (500_001, 1_000_000),
            (i64::MAX, i64::MAX),
        ] {
            assert_eq!(automatic(Cents::new(raised)), Cents::new(goal), "{raised}");
        }
    }

    #[test]
    fn a_goal_that_was_set_stays() {
        assert_eq!(
            Goal::after(Cents::new(5), Some(Cents::new(4))),
            Goal::Custom(Cents::new(4))
        );
        assert_eq!(Goal::after(Cents::new(5), None).kind(), "AUTOMATIC");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30_000))]

        #[test]
        fn the_goal_is_the_lowest_step_that_is_half_again_what_was_raised(exponent in 0u32..18, factor in 1i64..10) {
            let raised = factor * 10i64.pow(exponent) / 7;
            let goal = i128::from(automatic(Cents::new(raised)).get());
            prop_assert!(goal >= i128::from(LOWEST) && 2 * goal >= 3 * i128::from(raised));
            let lower = (3u32..19).flat_map(|power| STEPS.map(|step| i128::from(step) * 10i128.pow(power)))
                .filter(|step| *step >= i128::from(LOWEST) && *step < goal);
            for step in lower {
                prop_assert!(2 * step < 3 * i128::from(raised), "{step} would do for {raised}");
            }
        }

        #[test]
        fn more_raised_never_lowers_the_goal(raised in 0..=i64::MAX / 2, more in 0..=i64::MAX / 2) {
            prop_assert!(automatic(Cents::new(raised)) <= automatic(Cents::new(raised + more)));
        }
    }
}
