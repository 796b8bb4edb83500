//! The goal of a fundraiser: an amount that its owner set, or one that grows with the amount raised.

use platform::money::Cents;

/// The goal of a fundraiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Set by the owner.
    Custom(Cents),
    /// Grows with the amount raised.
    Automatic(Cents),
}

/// The lowest automatic goal: $1,000.
const MIN_GOAL_CENTS: i64 = 100_000;
/// The goals within each power of ten, in tenths of it.
const STEPS: [i64; 4] = [10, 25, 50, 75];

impl Goal {
    /// Returns the goal after an amount was raised. `set` is the goal that the owner set.
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
}

/// Returns the lowest goal that is at least $1,000 and at least one and a half times the amount raised. Goals are 1, 2.5,
/// 5 and 7.5 times a power of ten.
///
/// Returns the largest integer if no such goal fits in 64 bits.
fn automatic(raised: Cents) -> Cents {
    let minimum = (i128::from(raised.get()) * 3 + 1) / 2;
    let mut power = MIN_GOAL_CENTS / 10;
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
    fn the_automatic_goal_grows_in_fixed_steps() {
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
    fn a_custom_goal_does_not_grow() {
        assert_eq!(
            Goal::after(Cents::new(5), Some(Cents::new(4))),
            Goal::Custom(Cents::new(4))
        );
        assert_eq!(
            Goal::after(Cents::new(5), None),
            Goal::Automatic(Cents::new(MIN_GOAL_CENTS))
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn the_goal_is_the_lowest_step_of_at_least_150_percent_of_the_amount_raised(exponent in 0u32..18, factor in 1i64..10) {
            let raised = factor * 10i64.pow(exponent) / 7;
            let goal = i128::from(automatic(Cents::new(raised)).get());
            prop_assert!(goal >= i128::from(MIN_GOAL_CENTS) && 2 * goal >= 3 * i128::from(raised));
            let lower = (3u32..19).flat_map(|power| STEPS.map(|step| i128::from(step) * 10i128.pow(power)))
                .filter(|step| *step >= i128::from(MIN_GOAL_CENTS) && *step < goal);
            for step in lower {
                prop_assert!(2 * step < 3 * i128::from(raised), "{step} is enough for {raised}");
            }
        }

        #[test]
        fn a_larger_amount_never_lowers_the_goal(raised in 0..=i64::MAX / 2, more in 0..=i64::MAX / 2) {
            prop_assert!(automatic(Cents::new(raised)) <= automatic(Cents::new(raised + more)));
        }
    }
}
