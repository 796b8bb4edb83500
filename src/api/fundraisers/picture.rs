//! The picture in a request body.

use super::fields::Fields;
use crate::http::error::{Error, Result};
use platform::hosted::Pictures;
use platform::ids::AccountId;

/// Takes the picture of a body, which counts in the quota of the account, and returns its hosted ID. Returns `None` if the body has no such field, and
/// `Some(None)` if the field is null.
///
/// The picture is stored only if all fields are valid and this is not a dry run. It is checked in any case, so that all
/// invalid fields are reported together.
pub(super) async fn take_picture(
    pictures: &Pictures,
    account: AccountId,
    fields: &mut Fields<'_>,
    dry_run: bool,
) -> Result<Option<Option<String>>> {
    if !fields.has("imageBase64") {
        return Ok(None);
    }
    let Some(text) = fields.image() else {
        return Ok(Some(None));
    };
    let taken = if fields.has_errors() || dry_run {
        pictures.check_base64(account, text).await
    } else {
        pictures
            .add_base64(Some(account), text)
            .await
            .map(|picture| picture.id)
    };
    match taken {
        Ok(id) => Ok(Some(Some(id))),
        Err(error) if error.is_unavailable() => Err(Error::Unavailable),
        Err(error) => {
            fields.add_error("imageBase64", error.to_string());
            Ok(None)
        }
    }
}
