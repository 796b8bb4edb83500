//! Links to fundraisers, and the fundraiser that a link names.

use crate::http::error::{Error, Result};
use crate::site::find::find as find_nonprofit;
use directory::nonprofits::Nonprofit;
use directory::{Directory, ResolveError};
use giving::fundraisers::cache::{FundraiserCache, FundraiserWithTotals};
use giving::fundraisers::{Fundraiser, FundraiserName, SPECIAL, SPECIAL_SLUG, names, store};
use platform::db::Db;
use platform::ids::NonprofitId;
use std::sync::Arc;

/// Fundraisers that a profile lists.
const MOST_LISTED: i64 = 6;

/// A fundraiser in the list of a profile.
#[derive(Debug)]
pub struct Line {
    pub address: String,
    pub title: String,
    pub cover: String,
}

/// Finds the fundraiser that a URL names by the two parts of its path.
pub async fn find(
    directory: &Directory,
    fundraisers: &FundraiserCache,
    nonprofit: &str,
    name: &str,
) -> Result<Arc<FundraiserWithTotals>> {
    let id = match names::find_nonprofit(directory, nonprofit).await {
        Err(ResolveError::FormattedEin(_)) => {
            let found = find_nonprofit(directory, nonprofit).await?;
            found.nonprofit().ok_or(Error::Internal)?.id
        }
        id => id.map_err(|error| Error::from_resolve(error, nonprofit))?,
    };
    let name = FundraiserName::parse(name).ok_or(Error::NotFound)?;
    fundraisers.find(id, name).await?.ok_or(Error::NotFound)
}

/// Returns the path of a fundraiser's page.
pub async fn address(directory: &Directory, fundraiser: &Fundraiser) -> Result<String> {
    let nonprofit = names::slug_of(directory, fundraiser).await?;
    Ok(format!("/{nonprofit}/f/{}", fundraiser.slug))
}

/// The newest open fundraisers of a nonprofit; nothing is asked where it has none.
pub async fn lines(db: &Db, fundraisers: &FundraiserCache, nonprofit: &Nonprofit<'_>) -> Result<Vec<Line>> {
    if !fundraisers.supports(nonprofit.id).await? {
        return Ok(Vec::new());
    }
    let listed = store::list_of_nonprofit(db, nonprofit.id, MOST_LISTED).await?;
    let slug = |id: NonprofitId| {
        if id == SPECIAL {
            SPECIAL_SLUG
        } else {
            nonprofit.slug
        }
    };
    let line = |listed: store::FundraiserSummary| Line {
        address: format!("/{}/f/{}", slug(listed.nonprofit), listed.slug),
        cover: cover(&listed.id.to_string(), listed.cover.as_deref()),
        title: listed.title,
    };
    Ok(listed.into_iter().map(line).collect())
}

/// The picture of a fundraiser: one that was sent, or a drawn one.
pub fn cover(id: &str, hosted: Option<&str>) -> String {
    hosted.map_or_else(
        || format!("/media/fundraiser-{id}"),
        |hosted| format!("/media/{hosted}"),
    )
}
