//! The nonprofit that a page is about, and what the person may do for it.

use crate::app::App;
use crate::http::error::{Error, Result};
use access::claims::domain::FiledDomain;
use access::claims::{Role, store};
use access::sessions::SignedIn;
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::own_fields::editable::find_filed_website;
use directory::nonprofits::store::list_filed_websites;
use directory::{NonprofitRef, ResolveError};
use platform::ids::NonprofitId;
use uuid::Uuid;

/// A nonprofit that the person may run.
pub(super) struct Found {
    pub id: NonprofitId,
    pub name: String,
    /// The path of its public page.
    pub path: String,
}

impl Found {
    fn new(found: &NonprofitRef) -> Result<Found> {
        let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
        Ok(Found {
            id: nonprofit.id,
            name: nonprofit.name.to_owned(),
            path: format!("/{}", nonprofit.slug),
        })
    }

    /// Finds the nonprofit that a public URL names.
    pub(super) async fn by_slug(app: &App, text: &str) -> Result<Found> {
        let found = app.directory.resolve_lenient(text).await;
        Found::new(&found.map_err(|error| match error {
            ResolveError::Store(error) => error.into(),
            ResolveError::NotFound | ResolveError::FormattedEin(_) => Error::NotFound,
        })?)
    }

    pub(super) async fn by_id(app: &App, id: NonprofitId) -> Result<Found> {
        let found = app.directory.find(&Identifier::Id(id)).await?;
        Found::new(&found.ok_or(Error::NotFound)?)
    }

    /// Finds a nonprofit whose page the person runs, and their role. Everybody else learns nothing.
    pub(super) async fn run_by(app: &App, user: &SignedIn, id: &str) -> Result<(Found, Role)> {
        let id = NonprofitId(Uuid::try_parse(id).map_err(|_| Error::NotFound)?);
        let role = store::find_role(&app.db, id, user.account).await?;
        let role = role.ok_or(Error::NotFound)?;
        Ok((Found::by_id(app, id).await?, role))
    }
}

/// Returns the name of a nonprofit, or its ID if the directory no longer has it.
pub(in crate::dashboard) async fn name_of(app: &App, id: NonprofitId) -> Result<String> {
    match Found::by_id(app, id).await {
        Ok(found) => Ok(found.name),
        Err(Error::NotFound) => Ok(id.to_string()),
        Err(error) => Err(error),
    }
}

/// Finds the domain that proves a claim of a nonprofit.
pub(in crate::dashboard) async fn filed_domain(app: &App, id: NonprofitId) -> Result<Option<FiledDomain>> {
    let website = find_filed_website(&app.db, id).await?;
    Ok(website.as_deref().and_then(FiledDomain::of_website))
}

/// Returns whether another nonprofit filed the same domain. This reads all websites, so it is only asked about claims that are
/// being proven or decided.
pub(in crate::dashboard) async fn is_shared(
    app: &App,
    id: NonprofitId,
    domain: Option<&FiledDomain>,
) -> Result<bool> {
    let Some(domain) = domain else {
        return Ok(false);
    };
    let found = app.directory.find(&Identifier::Id(id)).await?;
    let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
    let ein = nonprofit.and_then(|nonprofit| nonprofit.ein);
    let others = list_filed_websites(&app.db, domain.as_str(), ein).await?;
    let is_same = |other: FiledDomain| other.as_str() == domain.as_str();
    Ok(others
        .iter()
        .any(|url| FiledDomain::of_website(url).is_some_and(is_same)))
}
