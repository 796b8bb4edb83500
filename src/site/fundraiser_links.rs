//! Links to fundraisers, and the lookup of a fundraiser by its URL.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::session;
use crate::site::find::find as find_nonprofit;
use crate::web::fundraiser_article::{cover, focus_classes};
use axum::http::HeaderMap;
use directory::nonprofits::Nonprofit;
use directory::{Directory, ResolveError};
use giving::fundraisers::cache::{FundraiserCache, FundraiserWithTotals};
use giving::fundraisers::{Fundraiser, FundraiserName, SPECIAL, SPECIAL_SLUG, names, path, store};
use giving::ledger::entry::Totals;
use platform::db::Db;
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use std::sync::Arc;

/// The number of fundraisers that a profile lists.
const MAX_LISTED: i64 = 6;

/// Marks a request for the short URL of a fundraiser for several nonprofits, `/f/{slug}`. The routes see it as one of the
/// nonprofit `special-fundraiser`, which the URL was before.
#[derive(Clone, Copy, Debug)]
pub struct ShortUrl;

/// A link to a fundraiser in the list of a profile.
#[derive(Debug)]
pub struct FundraiserLink {
    pub path: String,
    pub title: String,
    pub cover: String,
    /// The classes that choose the visible part of it.
    pub cover_focus: String,
    /// The amount raised, as text.
    pub raised: String,
}

/// Finds the fundraiser that a URL names, if everybody may see it.
pub async fn find(
    directory: &Directory,
    fundraisers: &FundraiserCache,
    nonprofit: &str,
    name: &str,
) -> Result<Arc<FundraiserWithTotals>> {
    let found = find_any(directory, fundraisers, nonprofit, name).await?;
    if found.fundraiser.is_public() {
        Ok(found)
    } else {
        Err(Error::NotFound)
    }
}

/// Finds the fundraiser that a URL names, also one that only its owner and operators may see.
pub async fn find_any(
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

/// Returns whether the visitor may see what is not public of these owners' fundraisers: the owners and operators may.
pub async fn may_see(app: &App, headers: &HeaderMap, owners: &[AccountId]) -> Result<bool> {
    let user = session::find(app, headers).await?;
    Ok(user.is_some_and(|user| user.operator || owners.contains(&user.account)))
}

/// Returns the path of a fundraiser's page.
pub async fn path_of(directory: &Directory, fundraiser: &Fundraiser) -> Result<String> {
    let nonprofit = names::slug_of(directory, fundraiser).await?;
    Ok(fundraiser.path(&nonprofit))
}

/// Lists the newest open fundraisers of a nonprofit. A nonprofit without any costs no query.
pub async fn list(
    db: &Db,
    fundraisers: &FundraiserCache,
    nonprofit: &Nonprofit<'_>,
    is_test_mode: bool,
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
    let mut links = Vec::with_capacity(listed.len());
    for listed in listed {
        let totals = find_verified_totals(fundraisers, listed.nonprofit, listed.id, is_test_mode).await?;
        links.push(FundraiserLink {
            path: path(slug(listed.nonprofit), &listed.slug),
            cover: cover(&listed.id.to_string(), listed.cover.as_deref()),
            cover_focus: focus_classes(listed.focus),
            title: listed.title,
            raised: totals.raised.to_string(),
        });
    }
    Ok(links)
}

/// Finds the verified totals of a fundraiser in a list.
pub async fn find_verified_totals(
    fundraisers: &FundraiserCache,
    nonprofit: NonprofitId,
    id: FundraiserId,
    is_test_mode: bool,
) -> Result<Totals> {
    let found = fundraisers.find(nonprofit, FundraiserName::Id(id)).await?;
    let verified = |found: Arc<FundraiserWithTotals>| {
        let totals = found.totals.counted(is_test_mode);
        found.fundraiser.verified(totals)
    };
    Ok(found.map(verified).unwrap_or_default())
}
