//! The names of nonprofits in the URLs of fundraisers.

use super::{Fundraiser, SPECIAL, SPECIAL_SLUG};
use directory::nonprofits::identifier::Identifier;
use directory::{Directory, NonprofitRef, ResolveError};
use platform::ids::NonprofitId;
use uuid::Uuid;

/// Finds a nonprofit by its slug, EIN or ID. Returns [`SPECIAL`] for the slug or ID of fundraisers for several nonprofits.
pub async fn find_nonprofit(directory: &Directory, text: &str) -> Result<NonprofitId, ResolveError> {
    if is_special(text.trim()) {
        return Ok(SPECIAL);
    }
    let found = directory.resolve(text).await?;
    let nonprofit = found.nonprofit().ok_or(ResolveError::NotFound)?;
    Ok(nonprofit.id)
}

/// Splits the path of the page of a fundraiser, `nonprofit/f/name` or `f/name`, into the slug of its nonprofit and its own name.
pub fn split_path(path: &str) -> Option<(&str, &str)> {
    let path = path.trim_matches('/');
    match path.split_once("/f/") {
        Some(names) => Some(names),
        None => path.strip_prefix("f/").map(|name| (SPECIAL_SLUG, name)),
    }
}

fn is_special(text: &str) -> bool {
    let is_id = || text.len() == 36 && Uuid::try_parse(text) == Ok(SPECIAL.0);
    text.eq_ignore_ascii_case(SPECIAL_SLUG) || is_id()
}

/// Returns the current slug of the nonprofit of a fundraiser, or its ID if the directory does not contain it.
pub async fn slug_of(directory: &Directory, fundraiser: &Fundraiser) -> sqlx::Result<String> {
    if fundraiser.is_multiple() {
        return Ok(SPECIAL_SLUG.to_owned());
    }
    let found = directory.find(&Identifier::Id(fundraiser.nonprofit)).await?;
    let slug = found
        .as_ref()
        .and_then(NonprofitRef::nonprofit)
        .map(|nonprofit| nonprofit.slug.to_owned());
    Ok(slug.unwrap_or_else(|| fundraiser.nonprofit.to_string()))
}
