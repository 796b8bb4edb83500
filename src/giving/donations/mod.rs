//! Gifts and refunds: facts that come in, each once, and what the journal makes of them.

pub mod donation;
pub mod import;
#[cfg(test)]
mod laws;
pub mod refund;

use crate::app::App;
use crate::directory::Directory;
use crate::directory::nonprofits::identifier::Identifier;
use crate::giving::fundraisers::{self, FundraiserName, SPECIAL, SPECIAL_SLUG};
use crate::giving::ledger::audit::Beneficiaries;
use crate::giving::ledger::entry::Totals;
use crate::giving::ledger::writer::WriteFault;
use crate::platform::ids::{FundraiserId, NonprofitId};
use crate::platform::money::{Cents, TooMuch};
use serde::Serialize;
use std::fmt;
use thiserror::Error;

pub use crate::giving::donations::donation::{Gift, record};
pub use refund::{Refund, refund};

/// Where a fact comes from if nobody says.
pub const OPERATOR: &str = "operator";

/// Where money that creators of fundraisers tell of comes from; no gift does.
pub const OFFLINE: &str = "offline";

/// A name that another system gave: 1 to 255 characters, no control characters, no blanks around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Label(String);

/// Why a text is no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it has 1 to 255 characters, and none of them control characters")]
pub struct InvalidLabel;

impl Label {
    pub fn parse(text: &str) -> Result<Label, InvalidLabel> {
        let text = text.trim();
        let is_valid =
            (1..=255).contains(&text.chars().take(256).count()) && !text.contains(char::is_control);
        match is_valid {
            true => Ok(Label(text.to_owned())),
            false => Err(InvalidLabel),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Label {
    type Err = InvalidLabel;

    fn from_str(text: &str) -> Result<Label, InvalidLabel> {
        Label::parse(text)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What became of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its number in the journal.
    pub sequence: i64,
    pub amount: Cents,
    /// False where it was there before: delivered twice, recorded once.
    pub is_new: bool,
    /// What the fundraiser stood at after it.
    pub totals: Option<Totals>,
}

/// Why a fact is not recorded.
#[derive(Debug, Error)]
pub enum Refused {
    #[error(
        "{source_name} {external_id} is recorded already as another fact ({known}); \
         a new fact needs an external id of its own"
    )]
    Conflict {
        source_name: String,
        external_id: String,
        known: String,
    },
    #[error("there is no gift {external_id} of {source_name}; check --source and --external-id")]
    NoSuchGift {
        source_name: String,
        external_id: String,
    },
    #[error(
        "a part of this gift was refunded under this name, and {left} are left; \
         to refund them too, give this refund a name of its own with --refund-id"
    )]
    PartlyRefunded { left: Cents },
    #[error("the source offline is for what creators of fundraisers tell; give this gift another source")]
    ReservedSource,
    #[error("only {left} of this gift are left; refund no more than that")]
    MoreThanLeft { left: Cents },
    #[error("{0}; check the amount")]
    TooMuch(#[from] TooMuch),
    #[error("there is no nonprofit {0}; give its slug, its EIN as nine digits, or its ID")]
    NoSuchNonprofit(String),
    #[error("the nonprofit has no fundraiser {0}; give its slug or its ID, and the nonprofit that it is for")]
    NoSuchFundraiser(String),
    #[error(transparent)]
    Store(#[from] WriteFault),
}

impl From<sqlx::Error> for Refused {
    fn from(fault: sqlx::Error) -> Refused {
        Refused::Store(fault.into())
    }
}

/// Whom a gift is for: who gets it, and the fundraiser that brought it in.
#[derive(Clone, Debug)]
pub struct Recipient {
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    pub beneficiaries: Beneficiaries,
}

/// Finds whom a gift is for, as people name it.
pub async fn find_recipient(
    app: &App,
    nonprofit: &str,
    fundraiser: Option<&str>,
) -> Result<Recipient, Refused> {
    let id = find_nonprofit(&app.directory, nonprofit).await?;
    let Some(name) = fundraiser else {
        if id == SPECIAL {
            return Err(Refused::NoSuchFundraiser(String::new()));
        }
        let beneficiaries = Beneficiaries {
            nonprofits: vec![id],
            weights: crate::platform::money::Weights::equal(1),
        };
        return Ok(Recipient {
            nonprofit: id,
            fundraiser: None,
            beneficiaries,
        });
    };
    let unknown = || Refused::NoSuchFundraiser(name.to_owned());
    let parsed = FundraiserName::parse(name).ok_or_else(unknown)?;
    let found = fundraisers::store::find_of(&app.db, id, &parsed).await?;
    let found = found.ok_or_else(unknown)?;
    Ok(Recipient {
        nonprofit: id,
        fundraiser: Some(found.id),
        beneficiaries: found.beneficiaries(),
    })
}

async fn find_nonprofit(directory: &Directory, text: &str) -> Result<NonprofitId, Refused> {
    let unknown = || Refused::NoSuchNonprofit(text.to_owned());
    if text.trim().eq_ignore_ascii_case(SPECIAL_SLUG) {
        return Ok(SPECIAL);
    }
    let identifier = Identifier::parse(text).map_err(|_| unknown())?;
    if identifier == Identifier::Id(SPECIAL) {
        return Ok(SPECIAL);
    }
    let found = directory.find(&identifier).await?;
    let id = found
        .as_ref()
        .and_then(crate::directory::Found::nonprofit)
        .map(|found| found.id);
    id.ok_or_else(unknown)
}
