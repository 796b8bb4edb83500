//! The fundraiser routes of the interface: reads with a public key, writes with the keys of the account.

pub mod own;
pub mod reads;
pub mod wire;
pub mod writes;

use crate::app::App;
use crate::directory::Found;
use crate::directory::nonprofits::identifier::{Identifier, NoIdentifier};
use crate::giving::fundraisers::{Fundraiser, SPECIAL, SPECIAL_SLUG};
use crate::http::error::{Error, Result};
use crate::platform::ids::NonprofitId;

/// The nonprofit that an address names, or the one that stands for several.
pub async fn nonprofit_of(app: &App, text: &str) -> Result<NonprofitId> {
    if text.trim().eq_ignore_ascii_case(SPECIAL_SLUG) {
        return Ok(SPECIAL);
    }
    let identifier = Identifier::parse(text).map_err(|fault| match fault {
        NoIdentifier::DressedEin(ein) => Error::DressedEin(ein),
        NoIdentifier::Nonsense => Error::no_such_nonprofit(text),
    })?;
    if identifier == Identifier::Id(SPECIAL) {
        return Ok(SPECIAL);
    }
    let found = app.directory.find(&identifier).await?;
    let id = found
        .as_ref()
        .and_then(Found::nonprofit)
        .map(|nonprofit| nonprofit.id);
    id.ok_or_else(|| Error::no_such_nonprofit(text))
}

/// The slug under which the nonprofit of a fundraiser stands in addresses now; its ID, should it have none.
pub async fn slug_of(app: &App, fundraiser: &Fundraiser) -> Result<String> {
    if fundraiser.is_multiple() {
        return Ok(SPECIAL_SLUG.to_owned());
    }
    let found = app.directory.find(&Identifier::Id(fundraiser.nonprofit)).await?;
    let slug = found
        .as_ref()
        .and_then(Found::nonprofit)
        .map(|nonprofit| nonprofit.slug.to_owned());
    Ok(slug.unwrap_or_else(|| fundraiser.nonprofit.to_string()))
}
