//! The recipient of a donation: a nonprofit, or a fundraiser for one or more nonprofits.

use super::outcome::DonationError;
use crate::fundraisers::{FundraiserName, SPECIAL, SPECIAL_SLUG, store};
use crate::ledger::entry::Beneficiaries;
use directory::nonprofits::identifier::Identifier;
use directory::{Directory, NonprofitRef};
use platform::db::Db;
use platform::ids::{FundraiserId, NonprofitId};

/// The nonprofits that receive a donation, and the fundraiser that it was given to.
#[derive(Clone, Debug)]
pub struct Recipient {
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    pub beneficiaries: Beneficiaries,
}

/// How a donation names its recipient.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecipientName {
    /// The ID is [`SPECIAL`] for a fundraiser with several nonprofits.
    nonprofit: Identifier,
    fundraiser: Option<FundraiserName>,
}

impl RecipientName {
    /// Parses the nonprofit (ID, EIN or slug) and the fundraiser (ID or slug).
    pub fn parse(nonprofit: &str, fundraiser: Option<&str>) -> Result<RecipientName, DonationError> {
        let is_special = nonprofit.trim().eq_ignore_ascii_case(SPECIAL_SLUG);
        let identifier = if is_special {
            Identifier::Id(SPECIAL)
        } else {
            Identifier::parse(nonprofit).map_err(|_| DonationError::NoSuchNonprofit(nonprofit.to_owned()))?
        };
        let fundraiser = fundraiser.map(|text| {
            FundraiserName::parse(text).ok_or_else(|| DonationError::NoSuchFundraiser(text.to_owned()))
        });
        Ok(RecipientName {
            nonprofit: identifier,
            fundraiser: fundraiser.transpose()?,
        })
    }

    /// Names a recipient by its IDs.
    pub(crate) fn of_ids(nonprofit: NonprofitId, fundraiser: Option<FundraiserId>) -> RecipientName {
        RecipientName {
            nonprofit: Identifier::Id(nonprofit),
            fundraiser: fundraiser.map(FundraiserName::Id),
        }
    }
}

/// Finds a recipient.
pub async fn find_recipient(
    db: &Db,
    directory: &Directory,
    name: &RecipientName,
) -> Result<Recipient, DonationError> {
    let nonprofit = find_nonprofit(directory, &name.nonprofit).await?;
    let Some(name) = &name.fundraiser else {
        if nonprofit == SPECIAL {
            return Err(DonationError::NoSuchFundraiser(String::new()));
        }
        return Ok(Recipient {
            nonprofit,
            fundraiser: None,
            beneficiaries: Beneficiaries::single(nonprofit),
        });
    };
    let fundraiser = store::find_of(db, nonprofit, name).await?;
    let fundraiser = fundraiser.ok_or_else(|| {
        DonationError::NoSuchFundraiser(match name {
            FundraiserName::Id(id) => id.to_string(),
            FundraiserName::Slug(slug) => slug.clone(),
        })
    })?;
    Ok(Recipient {
        nonprofit,
        fundraiser: Some(fundraiser.id),
        beneficiaries: fundraiser.beneficiaries(),
    })
}

async fn find_nonprofit(
    directory: &Directory,
    identifier: &Identifier,
) -> Result<NonprofitId, DonationError> {
    if *identifier == Identifier::Id(SPECIAL) {
        return Ok(SPECIAL);
    }
    let found = directory.find(identifier).await?;
    let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
    nonprofit.map(|nonprofit| nonprofit.id).ok_or_else(|| {
        DonationError::NoSuchNonprofit(match identifier {
            Identifier::Id(id) => id.to_string(),
            Identifier::Ein(ein) => ein.to_string(),
            Identifier::Slug(slug) => slug.as_str().to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_recipient_has_one_name_however_it_is_typed() {
        let typed = RecipientName::parse(" Special-Fundraiser ", Some("Spring-Run")).unwrap();
        let id = RecipientName::parse(&SPECIAL.to_string(), Some(" spring-run ")).unwrap();
        assert_eq!(typed, id);
        let fundraiser = FundraiserId::new();
        assert_eq!(
            RecipientName::parse(&SPECIAL.to_string(), Some(&fundraiser.to_string())).unwrap(),
            RecipientName::of_ids(SPECIAL, Some(fundraiser))
        );
    }

    #[test]
    fn an_invalid_name_is_an_error_that_repeats_it() {
        let error = |nonprofit, fundraiser| {
            let parsed = RecipientName::parse(nonprofit, fundraiser);
            parsed.unwrap_err().to_string()
        };
        assert!(error("53-0196605", None).contains("no nonprofit 53-0196605"));
        assert!(error("530196605", Some("a b")).contains("no fundraiser a b"));
    }
}
