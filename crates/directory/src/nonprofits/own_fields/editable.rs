//! The fields of a nonprofit as its administrators edit them: what it states, beside what was filed.

use super::store::list_values;
use super::{OwnField, OwnValue};
use crate::nonprofits::assemble::statements;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::store::{find_profile, find_row};
use platform::db::Db;
use platform::ids::NonprofitId;

/// A field with the value of the nonprofit, and what is shown without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditableField {
    pub field: OwnField,
    pub own: Option<OwnValue>,
    pub filed: Option<String>,
}

/// Lists all fields that a nonprofit can write. Returns `None` if the store does not have the nonprofit.
pub async fn list(db: &Db, id: NonprofitId) -> sqlx::Result<Option<Vec<EditableField>>> {
    let mut tx = db.view().await?;
    let Some(row) = find_row(&mut tx, &Identifier::Id(id)).await? else {
        return Ok(None);
    };
    let profile = find_profile(&mut tx, id.0).await?;
    let own = list_values(&mut tx, id).await?;
    let stated = statements(&row, profile.as_ref());
    let field = |field| EditableField {
        field,
        own: own.iter().find(|value| value.field == field).cloned(),
        filed: stated.of_field(field),
    };
    Ok(Some(OwnField::ALL.into_iter().map(field).collect()))
}

/// Finds the website of a nonprofit in the newest return or Form 990-N, whatever is shown instead.
pub async fn find_filed_website(db: &Db, id: NonprofitId) -> sqlx::Result<Option<String>> {
    let row = find_row(&mut db.view().await?, &Identifier::Id(id)).await?;
    let website = row.as_ref().and_then(|row| statements(row, None).filed_website());
    Ok(website.map(|(url, _)| url.to_owned()))
}
