//! The input of a new fundraiser.

use super::cover::Focus;
use super::review::FundraiserSettings;
use super::rules::{FieldProblem, FundraiserField, Rules, is_weight};
use super::{Fundraiser, SPECIAL, SPECIAL_SLUG};
use crate::error::Error;
use directory::nonprofits::identifier::Identifier;
use directory::{Directory, NonprofitRef};
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::money::{Cents, MAX_SHARES};
use std::collections::HashSet;

/// A fundraiser to create. [`FundraiserInput::validate`] trims its texts and checks its fields.
///
/// The cover is not part of it, because a picture is stored only if everything else is valid.
#[derive(Clone, Debug, PartialEq)]
pub struct FundraiserInput {
    pub title: String,
    pub description: Option<String>,
    pub starts_at: Option<i64>,
    pub ends_at: Option<i64>,
    /// `None` is a goal that grows with the amount raised.
    pub goal: Option<Cents>,
    pub offline: Option<Cents>,
    pub focus: Focus,
    pub supported: SupportedInput,
}

/// The nonprofits that a fundraiser supports.
#[derive(Clone, Debug, PartialEq)]
pub enum SupportedInput {
    One(NonprofitId),
    /// 1 to 100 different nonprofits with their weights.
    Several(Vec<(NonprofitId, f64)>),
}

impl FundraiserInput {
    /// Returns the new fundraiser, which still lacks its slug, its cover and the time of its creation, and the slug of
    /// its nonprofit.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] with every invalid field.
    pub async fn validate(
        self,
        directory: &Directory,
        account: AccountId,
        settings: FundraiserSettings,
    ) -> Result<(Fundraiser, String), Error> {
        let mut rules = Rules::new(settings.max_offline());
        let title = rules.title(&self.title);
        let description = rules.description(self.description.as_deref());
        let starts_at = rules.date(FundraiserField::StartsAt, self.starts_at);
        let ends_at = rules.date(FundraiserField::EndsAt, self.ends_at);
        rules.date_order(starts_at, ends_at);
        let goal = rules.goal(self.goal);
        let offline = rules.offline(self.offline);
        let (nonprofit, slug, supported) = match self.supported {
            SupportedInput::One(id) => {
                let slug = check_nonprofit(directory, &mut rules, FundraiserField::Supported, id).await?;
                (id, slug.unwrap_or_default(), vec![(id, 1.0)])
            }
            SupportedInput::Several(supported) => {
                check_several(directory, &mut rules, &supported).await?;
                (SPECIAL, SPECIAL_SLUG.to_owned(), supported)
            }
        };
        let fundraiser = Fundraiser {
            id: FundraiserId::new(),
            nonprofit,
            slug: String::new(),
            account,
            title,
            description,
            cover: None,
            focus: self.focus,
            starts_at,
            ends_at,
            goal,
            offline,
            created_at: 0,
            closed_at: None,
            hidden_at: None,
            hidden_reason: None,
            in_review_since: None,
            version: 1,
            supported,
        };
        rules.finish((fundraiser, slug)).map_err(Error::Invalid)
    }
}

async fn check_several(
    directory: &Directory,
    rules: &mut Rules,
    supported: &[(NonprofitId, f64)],
) -> sqlx::Result<()> {
    if !(1..=MAX_SHARES).contains(&supported.len()) {
        rules.add_error(FundraiserField::Supported, FieldProblem::NonprofitCount);
    }
    let mut seen = HashSet::new();
    for (index, (id, weight)) in supported.iter().take(MAX_SHARES).enumerate() {
        if !is_weight(*weight) {
            rules.add_error(FundraiserField::WeightAt(index), FieldProblem::WeightRange);
        }
        let field = FundraiserField::SupportedAt(index);
        if seen.insert(*id) {
            check_nonprofit(directory, rules, field, *id).await?;
        } else {
            rules.add_error(field, FieldProblem::DuplicateNonprofit);
        }
    }
    Ok(())
}

/// Returns the slug of a nonprofit that donations can be paid out to. Adds an error if there is none with this ID.
async fn check_nonprofit(
    directory: &Directory,
    rules: &mut Rules,
    field: FundraiserField,
    id: NonprofitId,
) -> sqlx::Result<Option<String>> {
    let found = directory.find(&Identifier::Id(id)).await?;
    let problem = match found.as_ref().and_then(NonprofitRef::nonprofit) {
        None => FieldProblem::UnknownNonprofit,
        Some(nonprofit) if !directory.may_receive(&nonprofit) => FieldProblem::NotDisbursable,
        Some(nonprofit) => return Ok(Some(nonprofit.slug.to_owned())),
    };
    rules.add_error(field, problem);
    Ok(None)
}
