//! The names of nonprofits on the operator's pages.

use crate::app::App;
use crate::http::error::Result;
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use platform::ids::NonprofitId;

/// Returns the name of a nonprofit, or its ID if it is no longer in the directory.
pub(super) async fn name_of(app: &App, id: NonprofitId) -> Result<String> {
    let found = app.directory.find(&Identifier::Id(id)).await?;
    let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
    Ok(nonprofit.map_or_else(|| id.to_string(), |nonprofit| nonprofit.name.to_owned()))
}
