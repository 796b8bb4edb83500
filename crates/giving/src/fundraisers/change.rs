//! A partial update of a fundraiser by its owner.

use super::Fundraiser;
use super::cover::Focus;
use super::review::FundraiserSettings;
use super::rules::{FundraiserField, Rules};
use crate::error::Error;
use platform::money::Cents;

/// A partial update that is not validated yet. `None` leaves a field unchanged, and `Some(None)` clears it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FundraiserChange {
    pub title: Option<String>,
    pub description: Option<Option<String>>,
    pub starts_at: Option<Option<i64>>,
    pub ends_at: Option<Option<i64>>,
    /// `Some(None)` restores the goal that grows with the amount raised.
    pub goal: Option<Option<Cents>>,
    pub offline: Option<Option<Cents>>,
    /// The ID of a hosted picture.
    pub cover: Option<Option<String>>,
    pub focus: Option<Focus>,
}

impl FundraiserChange {
    /// Returns the fundraiser with this change.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] with every invalid field. Fields that do not change are not checked.
    pub fn apply(&self, existing: &Fundraiser, settings: FundraiserSettings) -> Result<Fundraiser, Error> {
        let mut rules = Rules::new(settings.max_offline());
        let mut changed = existing.clone();
        if let Some(title) = &self.title {
            changed.title = rules.title(title);
        }
        if let Some(description) = &self.description {
            changed.description = rules.description(description.as_deref());
        }
        if let Some(starts_at) = self.starts_at {
            changed.starts_at = rules.date(FundraiserField::StartsAt, starts_at);
        }
        if let Some(ends_at) = self.ends_at {
            changed.ends_at = rules.date(FundraiserField::EndsAt, ends_at);
        }
        if self.starts_at.is_some() || self.ends_at.is_some() {
            rules.date_order(changed.starts_at, changed.ends_at);
        }
        if let Some(goal) = self.goal {
            changed.goal = rules.goal(goal);
        }
        if let Some(offline) = self.offline.filter(|offline| *offline != existing.offline) {
            changed.offline = rules.offline(offline);
        }
        if let Some(cover) = &self.cover {
            changed.cover.clone_from(cover);
        }
        if let Some(focus) = self.focus {
            changed.focus = focus;
        }
        rules.finish(changed).map_err(Error::Invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::super::review::Review;
    use super::super::rules::{FieldProblem, InvalidField};
    use super::super::tests::fundraiser;
    use super::*;

    const SETTINGS: FundraiserSettings = FundraiserSettings {
        review: Review::Off,
        max_offline: 500,
    };

    #[test]
    fn an_amount_above_the_maximum_may_stay_and_cannot_be_set() {
        let existing = Fundraiser {
            offline: Some(Cents::new(900)),
            ..fundraiser()
        };
        for (cents, is_valid) in [(900, true), (500, true), (501, false), (901, false)] {
            let change = FundraiserChange {
                offline: Some(Some(Cents::new(cents))),
                ..FundraiserChange::default()
            };
            assert_eq!(change.apply(&existing, SETTINGS).is_ok(), is_valid, "{cents}");
        }
    }

    #[test]
    fn only_fields_of_the_change_differ() {
        let existing = Fundraiser {
            description: Some("For all.".to_owned()),
            starts_at: Some(10),
            goal: Some(Cents::new(500)),
            ..fundraiser()
        };
        let change = FundraiserChange {
            title: Some(" Walk ".to_owned()),
            starts_at: Some(None),
            ..FundraiserChange::default()
        };
        let expected = Fundraiser {
            title: "Walk".to_owned(),
            starts_at: None,
            ..existing.clone()
        };
        assert_eq!(change.apply(&existing, SETTINGS).unwrap(), expected);
        assert_eq!(
            FundraiserChange::default().apply(&existing, SETTINGS).unwrap(),
            existing
        );
    }

    #[test]
    fn all_errors_are_reported_and_dates_are_compared_with_the_existing_ones() {
        let existing = Fundraiser {
            starts_at: Some(20),
            ..fundraiser()
        };
        let change = FundraiserChange {
            title: Some(String::new()),
            ends_at: Some(Some(10)),
            goal: Some(Some(Cents::ZERO)),
            ..FundraiserChange::default()
        };
        let Err(Error::Invalid(errors)) = change.apply(&existing, SETTINGS) else {
            panic!("the change is valid");
        };
        let expected = [
            (FundraiserField::Title, FieldProblem::TitleLength),
            (FundraiserField::EndsAt, FieldProblem::EndBeforeStart),
            (FundraiserField::Goal, FieldProblem::AmountRange),
        ];
        assert_eq!(
            errors,
            expected.map(|(field, problem)| InvalidField { field, problem })
        );
    }
}
