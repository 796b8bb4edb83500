//! A verdict: the results of all checks, and what they mean together.

use super::{Check, EligibilitySettings, Eligible, Outcome, SharedSource};
use jiff::civil::Date;
use std::borrow::Cow;

/// Whether a nonprofit may receive donations, with all checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub eligible: Eligible,
    pub checks: Vec<CheckResult>,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    pub check: Check,
    pub outcome: Outcome,
    /// Why, as a sentence.
    pub reason: Cow<'static, str>,
    /// Since when, if the list says so.
    pub since: Option<Date>,
    /// The last day on which a failure does not count.
    pub grace_until: Option<Date>,
    pub source: Option<SharedSource>,
}

impl CheckResult {
    pub(crate) fn new(check: Check, outcome: Outcome, reason: impl Into<Cow<'static, str>>) -> CheckResult {
        CheckResult {
            check,
            outcome,
            reason: reason.into(),
            since: None,
            grace_until: None,
            source: None,
        }
    }

    /// Returns what the result means for the verdict on a day.
    pub(crate) fn effect(&self, today: Date) -> Eligible {
        match self.outcome {
            Outcome::Pass => Eligible::Yes,
            Outcome::Fail if self.grace_until.is_some_and(|until| today <= until) => Eligible::Yes,
            Outcome::Fail => Eligible::No,
            Outcome::Review | Outcome::Unknown | Outcome::NotChecked => Eligible::Review,
        }
    }
}

impl Verdict {
    /// Combines the results of all checks: the worst of those that count decides.
    pub fn new(checks: Vec<CheckResult>, settings: &EligibilitySettings, today: Date) -> Verdict {
        let counting = checks.iter().filter(|result| counts(result, settings));
        let eligible = counting.map(|result| result.effect(today)).max();
        Verdict {
            eligible: eligible.unwrap_or(Eligible::Yes),
            checks,
        }
    }

    /// Returns the check that decides: the first of those with the worst effect.
    pub fn deciding(&self, settings: &EligibilitySettings, today: Date) -> Option<&CheckResult> {
        self.checks
            .iter()
            .find(|result| counts(result, settings) && result.effect(today) == self.eligible)
    }

    /// Returns the result of a check.
    pub fn result(&self, check: Check) -> Option<&CheckResult> {
        self.checks.iter().find(|result| result.check == check)
    }
}

/// Returns whether a result decides. What the IRS files say always does, and so does an operator who stopped a nonprofit.
fn counts(result: &CheckResult, settings: &EligibilitySettings) -> bool {
    settings.require.contains(result.check)
        || matches!(result.check, Check::IrsListed | Check::IrsNotRevoked)
        || (result.check == Check::Operator && result.outcome == Outcome::Fail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    const OUTCOMES: [Outcome; 5] = [
        Outcome::Pass,
        Outcome::Fail,
        Outcome::Review,
        Outcome::Unknown,
        Outcome::NotChecked,
    ];

    fn settings(required: u8) -> EligibilitySettings {
        let checks = Check::ALL.into_iter().enumerate();
        EligibilitySettings {
            require: checks
                .filter(|(index, _)| required >> index & 1 == 1)
                .map(|(_, check)| check)
                .collect(),
            max_age: Duration::from_hours(24),
            grace_days: 5,
        }
    }

    fn results(outcomes: &[usize], in_grace: bool) -> Vec<CheckResult> {
        let today: Date = "2026-08-05".parse().unwrap();
        let each = Check::ALL.into_iter().zip(outcomes);
        each.map(|(check, outcome)| CheckResult {
            grace_until: in_grace.then_some(today),
            ..CheckResult::new(check, OUTCOMES[*outcome], "")
        })
        .collect()
    }

    proptest! {
        #[test]
        fn it_is_yes_only_if_everything_that_is_required_passes(
            outcomes in proptest::collection::vec(0usize..5, 7), required in 0u8..128, in_grace in any::<bool>()
        ) {
            let settings = settings(required);
            let today: Date = "2026-08-05".parse().unwrap();
            let verdict = Verdict::new(results(&outcomes, in_grace), &settings, today);
            let passes = |result: &CheckResult| match result.outcome {
                Outcome::Pass => true,
                Outcome::Fail => in_grace,
                _ => false,
            };
            let all_pass = verdict.checks.iter().all(|result| {
                let is_required = settings.require.contains(result.check)
                    || [Check::IrsListed, Check::IrsNotRevoked].contains(&result.check);
                !is_required || passes(result)
            });
            let is_stopped = outcomes[6] == 1 && !in_grace;
            prop_assert_eq!(verdict.eligible == Eligible::Yes, all_pass && !is_stopped);
            prop_assert!(verdict.deciding(&settings, today).is_some());
        }

        #[test]
        fn another_required_check_never_makes_it_better(
            outcomes in proptest::collection::vec(0usize..5, 7), required in 0u8..128, more in 0u8..128
        ) {
            let today: Date = "2026-08-05".parse().unwrap();
            let verdict = |required| Verdict::new(results(&outcomes, false), &settings(required), today).eligible;
            prop_assert!(verdict(required | more) >= verdict(required));
        }
    }

    #[test]
    fn a_failure_counts_after_its_grace() {
        let results = results(&[0, 0, 0, 1, 0, 0, 0], true);
        let day = |text: &str| -> Date { text.parse().unwrap() };
        let eligible = |today| Verdict::new(results.clone(), &settings(0b1000), today).eligible;
        assert_eq!(eligible(day("2026-08-05")), Eligible::Yes);
        assert_eq!(eligible(day("2026-08-06")), Eligible::No);
    }
}
