//! The rules for the fields of a fundraiser, and the errors of fields that break them.
//!
//! Errors name fields by their Rust names. The API and the dashboard translate them into their own field names, and may
//! replace the messages.

use platform::money::{Cents, MAX_WEIGHT};
use thiserror::Error;

/// The lowest goal in cents.
pub const MIN_GOAL_CENTS: i64 = 1;
/// The lowest amount raised offline in cents.
pub const MIN_OFFLINE_CENTS: i64 = 0;

const MAX_TITLE_CHARS: usize = 120;
const MAX_DESCRIPTION_CHARS: usize = 20_000;
/// The years 1970 to 2199 in milliseconds. Other dates are mistakes.
const DATE_RANGE: std::ops::Range<i64> = 0..7_258_118_400_000;

/// A field of [`FundraiserInput`](super::input::FundraiserInput) or [`FundraiserChange`](super::change::FundraiserChange).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FundraiserField {
    Title,
    Description,
    StartsAt,
    EndsAt,
    Goal,
    Offline,
    /// The only nonprofit, or the list of nonprofits as a whole.
    Supported,
    /// One of several nonprofits, by its position.
    SupportedAt(usize),
    /// The weight of one of several nonprofits, by its position.
    WeightAt(usize),
}

/// A field that breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidField {
    pub field: FundraiserField,
    pub problem: FieldProblem,
}

/// The rule that a field breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FieldProblem {
    #[error("the title must have 1 to 120 characters")]
    TitleLength,
    #[error("the title must be one line without control characters")]
    TitleCharacters,
    #[error("the description must have at most 20,000 characters")]
    DescriptionLength,
    #[error("the description must not contain control characters other than tabs and line breaks")]
    DescriptionCharacters,
    #[error("choose a date between 1970 and 2199")]
    DateRange,
    #[error("the end must be after the start")]
    EndBeforeStart,
    #[error("the amount is too low or too high")]
    AmountRange,
    #[error("report at most {0}; ask the operators of this site if more was raised elsewhere")]
    OfflineTooHigh(Cents),
    #[error("the sum is too large")]
    AmountOverflow,
    #[error("choose 1 to 100 nonprofits")]
    NonprofitCount,
    #[error("name each nonprofit once")]
    DuplicateNonprofit,
    #[error("this nonprofit does not exist")]
    UnknownNonprofit,
    #[error("donations cannot be paid out to this nonprofit")]
    NotDisbursable,
    #[error("this nonprofit does not want fundraisers for it")]
    Declined,
    #[error("the weight must be greater than 0 and at most 1e12")]
    WeightRange,
}

/// Returns whether a nonprofit can have this weight among several.
pub fn is_weight(weight: f64) -> bool {
    weight > 0.0 && weight <= MAX_WEIGHT
}

/// Validates fields, and collects all errors. The value of an invalid field is empty.
#[derive(Debug)]
pub(super) struct Rules {
    max_offline: Cents,
    errors: Vec<InvalidField>,
}

impl Rules {
    pub(super) fn new(max_offline: Cents) -> Rules {
        Rules {
            max_offline,
            errors: Vec::new(),
        }
    }

    pub(super) fn add_error(&mut self, field: FundraiserField, problem: FieldProblem) {
        self.errors.push(InvalidField { field, problem });
    }

    /// Returns the value, or all errors if there are any.
    pub(super) fn finish<T>(self, value: T) -> Result<T, Vec<InvalidField>> {
        if self.errors.is_empty() {
            Ok(value)
        } else {
            Err(self.errors)
        }
    }

    /// Trims the title.
    pub(super) fn title(&mut self, title: &str) -> String {
        let title = title.trim();
        if !(1..=MAX_TITLE_CHARS).contains(&title.chars().count()) {
            self.add_error(FundraiserField::Title, FieldProblem::TitleLength);
        } else if title.contains(char::is_control) {
            self.add_error(FundraiserField::Title, FieldProblem::TitleCharacters);
        } else {
            return title.to_owned();
        }
        String::new()
    }

    /// Trims the description. Returns `None` if nothing is left.
    pub(super) fn description(&mut self, description: Option<&str>) -> Option<String> {
        let text = description?;
        let trimmed = text.trim();
        let is_forbidden = |c: char| c.is_control() && !"\n\r\t".contains(c);
        if trimmed.chars().count() > MAX_DESCRIPTION_CHARS {
            self.add_error(FundraiserField::Description, FieldProblem::DescriptionLength);
        } else if text.contains(is_forbidden) {
            self.add_error(FundraiserField::Description, FieldProblem::DescriptionCharacters);
        } else if !trimmed.is_empty() {
            return Some(trimmed.to_owned());
        }
        None
    }

    pub(super) fn date(&mut self, field: FundraiserField, millis: Option<i64>) -> Option<i64> {
        let valid = millis.filter(|millis| DATE_RANGE.contains(millis));
        if valid != millis {
            self.add_error(field, FieldProblem::DateRange);
        }
        valid
    }

    pub(super) fn date_order(&mut self, starts_at: Option<i64>, ends_at: Option<i64>) {
        if let (Some(start), Some(end)) = (starts_at, ends_at)
            && end <= start
        {
            self.add_error(FundraiserField::EndsAt, FieldProblem::EndBeforeStart);
        }
    }

    pub(super) fn goal(&mut self, goal: Option<Cents>) -> Option<Cents> {
        self.amount(FundraiserField::Goal, goal, MIN_GOAL_CENTS)
    }

    pub(super) fn offline(&mut self, offline: Option<Cents>) -> Option<Cents> {
        let valid = self.amount(FundraiserField::Offline, offline, MIN_OFFLINE_CENTS);
        if valid.is_some_and(|offline| offline > self.max_offline) {
            let problem = FieldProblem::OfflineTooHigh(self.max_offline);
            self.add_error(FundraiserField::Offline, problem);
            return None;
        }
        valid
    }

    fn amount(&mut self, field: FundraiserField, amount: Option<Cents>, min: i64) -> Option<Cents> {
        let valid = amount.filter(|amount| (Cents::new(min)..=Cents::MAX).contains(amount));
        if valid != amount {
            self.add_error(field, FieldProblem::AmountRange);
        }
        valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_trimmed() {
        let mut rules = Rules::new(Cents::MAX);
        assert_eq!(rules.title("  Run \t"), "Run");
        assert_eq!(rules.description(Some(" a\n\tb \r\n")), Some("a\n\tb".to_owned()));
        assert_eq!(rules.description(Some(" \n ")), None);
        assert_eq!(rules.finish(()), Ok(()));
    }

    #[test]
    fn a_date_is_between_1970_and_2199() {
        for (millis, is_valid) in [
            (-1, false),
            (0, true),
            (7_258_118_399_999, true),
            (7_258_118_400_000, false),
        ] {
            let mut rules = Rules::new(Cents::MAX);
            let date = rules.date(FundraiserField::EndsAt, Some(millis));
            assert_eq!(date.is_some(), is_valid, "{millis}");
            assert_eq!(rules.finish(()).is_ok(), is_valid, "{millis}");
        }
    }

    #[test]
    fn the_end_is_after_the_start_if_both_are_known() {
        for (starts_at, ends_at, is_valid) in [
            (Some(1), Some(2), true),
            (Some(2), Some(2), false),
            (Some(2), Some(1), false),
            (None, Some(1), true),
            (Some(1), None, true),
        ] {
            let mut rules = Rules::new(Cents::MAX);
            rules.date_order(starts_at, ends_at);
            assert_eq!(rules.finish(()).is_ok(), is_valid, "{starts_at:?} {ends_at:?}");
        }
    }

    #[test]
    fn a_goal_is_positive_and_an_offline_amount_may_be_zero() {
        for (cents, is_goal, is_offline) in [
            (-1, false, false),
            (0, false, true),
            (1, true, true),
            (Cents::MAX.get(), true, true),
            (Cents::MAX.get() + 1, false, false),
        ] {
            let mut rules = Rules::new(Cents::MAX);
            let amount = Some(Cents::new(cents));
            assert_eq!(rules.goal(amount).is_some(), is_goal, "{cents}");
            assert_eq!(rules.offline(amount).is_some(), is_offline, "{cents}");
        }
    }

    #[test]
    fn an_offline_amount_has_a_maximum() {
        for (cents, is_valid) in [(500, true), (501, false)] {
            let mut rules = Rules::new(Cents::new(500));
            assert_eq!(rules.offline(Some(Cents::new(cents))).is_some(), is_valid);
            assert_eq!(rules.finish(()).is_ok(), is_valid);
        }
    }

    #[test]
    fn a_weight_is_positive_and_finite() {
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e308] {
            assert!(!is_weight(weight), "{weight}");
        }
        assert!(is_weight(1e-300) && is_weight(MAX_WEIGHT));
    }

    proptest! {
        #[test]
        fn valid_texts_stay_valid(title in ".{0,130}", description in ".{0,200}") {
            let mut rules = Rules::new(Cents::MAX);
            let (title, description) = (rules.title(&title), rules.description(Some(&description)));
            if rules.finish(()).is_ok() {
                let mut again = Rules::new(Cents::MAX);
                prop_assert_eq!(again.title(&title), title);
                prop_assert_eq!(again.description(description.as_deref()), description);
                prop_assert_eq!(again.finish(()), Ok(()));
            }
        }
    }
}
