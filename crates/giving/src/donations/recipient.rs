//! The nonprofit or fundraiser that a donation is for.

use super::outcome::DonationError;
use crate::fundraisers::names::find_nonprofit;
use crate::fundraisers::{FundraiserName, SPECIAL, store};
use crate::ledger::entry::Beneficiaries;
use directory::{Directory, ResolveError};
use platform::db::Db;
use platform::ids::{FundraiserId, NonprofitId};

/// The nonprofits that receive a donation, and the fundraiser that it was given to.
#[derive(Clone, Debug)]
pub struct Recipient {
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    pub beneficiaries: Beneficiaries,
}

/// Finds the recipient that people name: a nonprofit, or a fundraiser of it.
pub async fn find_recipient(
    db: &Db,
    directory: &Directory,
    nonprofit: &str,
    fundraiser: Option<&str>,
) -> Result<Recipient, DonationError> {
    let id = find_nonprofit(directory, nonprofit).await;
    let id = id.map_err(|error| match error {
        ResolveError::Store(error) => error.into(),
        ResolveError::NotFound | ResolveError::FormattedEin(_) => {
            DonationError::NoSuchNonprofit(nonprofit.to_owned())
        }
    })?;
    let Some(name) = fundraiser else {
        if id == SPECIAL {
            return Err(DonationError::NoSuchFundraiser(String::new()));
        }
        return Ok(Recipient {
            nonprofit: id,
            fundraiser: None,
            beneficiaries: Beneficiaries::single(id),
        });
    };
    let unknown = || DonationError::NoSuchFundraiser(name.to_owned());
    let parsed = FundraiserName::parse(name).ok_or_else(unknown)?;
    let found = store::find_of(db, id, &parsed).await?;
    let found = found.ok_or_else(unknown)?;
    Ok(Recipient {
        nonprofit: id,
        fundraiser: Some(found.id),
        beneficiaries: found.beneficiaries(),
    })
}
