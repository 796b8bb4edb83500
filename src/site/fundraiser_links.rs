//! Links to fundraisers, and the lookup of a fundraiser by its URL.

use crate::http::error::{Error, Result};
use crate::site::find::find as find_nonprofit;
use directory::nonprofits::Nonprofit;
use directory::{Directory, ResolveError};
use giving::fundraisers::cache::{FundraiserCache, FundraiserWithTotals};
use giving::fundraisers::{Fundraiser, FundraiserName, SPECIAL, SPECIAL_SLUG, names, store};
use platform::db::Db;
use platform::ids::NonprofitId;
use std::sync::Arc;

/// The number of fundraisers that a profile lists.
const MAX_LISTED: i64 = 6;

/// A link to a fundraiser in the list of a profile.
#[derive(Debug)]
pub struct FundraiserLink {
    pub path: String,
    pub title: String,
    pub cover: String,
}

/// Finds the fundraiser that a URL names.
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
pub async fn path_of(directory: &Directory, fundraiser: &Fundraiser) -> Result<String> {
    let nonprofit = names::slug_of(directory, fundraiser).await?;
    Ok(format!("/{nonprofit}/f/{}", fundraiser.slug))
}

/// Lists the newest open fundraisers of a nonprofit. A nonprofit without any costs no query.
pub async fn list(
    db: &Db,
    fundraisers: &FundraiserCache,
    nonprofit: &Nonprofit<'_>,
) -> Result<Vec<FundraiserLink>> {
    if !fundraisers.supports(nonprofit.id).await? {
        return Ok(Vec::new());
    }
    let listed = store::list_of_nonprofit(db, nonprofit.id, MAX_LISTED).await?;
    let slug = |id: NonprofitId| {
        if id == SPECIAL {
            SPECIAL_SLUG
        } else {
            nonprofit.slug
        }
    };
    let link = |listed: store::FundraiserSummary| FundraiserLink {
        path: format!("/{}/f/{}", slug(listed.nonprofit), listed.slug),
        cover: cover(&listed.id.to_string(), listed.cover.as_deref()),
        title: listed.title,
    };
    Ok(listed.into_iter().map(link).collect())
}

/// Returns the URL of a fundraiser's cover: the uploaded picture, or a generated one.
pub fn cover(id: &str, hosted: Option<&str>) -> String {
    hosted.map_or_else(
        || format!("/media/fundraiser-{id}"),
        |hosted| format!("/media/{hosted}"),
    )
}
