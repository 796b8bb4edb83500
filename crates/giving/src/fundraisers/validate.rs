//! Validating the body that creates a fundraiser: fields, nonprofits and picture.

use super::fields::Fields;
use super::input::NewFundraiser;
use super::{Fundraiser, SPECIAL, SPECIAL_SLUG};
use crate::error::Error;
use directory::nonprofits::identifier::Identifier;
use directory::{Directory, NonprofitRef};
use platform::hosted::Pictures;
use platform::ids::{AccountId, FundraiserId};
use serde_json::{Map, Value};

/// Reads the fundraiser that a body asks for, and the slug of its nonprofit. Fails with every invalid field.
///
/// With `dry_run` the picture is checked but not stored.
pub async fn validate(
    directory: &Directory,
    pictures: &Pictures,
    account: AccountId,
    body: &Map<String, Value>,
    dry_run: bool,
) -> Result<(Fundraiser, String), Error> {
    let mut fields = Fields::new(body);
    let new = NewFundraiser::read(&mut fields);
    let mut slug = SPECIAL_SLUG.to_owned();
    for supported in &new.supported {
        let found = directory.find(&Identifier::Id(supported.id)).await?;
        match found.as_ref().and_then(NonprofitRef::nonprofit) {
            None => fields.add_error(&supported.field, "there is no nonprofit with this ID"),
            Some(nonprofit) if !nonprofit.is_disbursable() => fields.add_error(
                &supported.field,
                "donations cannot be paid out to this nonprofit; choose one whose isDisbursable is true",
            ),
            Some(nonprofit) if new.nonprofit != Some(SPECIAL) => nonprofit.slug.clone_into(&mut slug),
            Some(_) => {}
        }
    }
    let cover = take_picture(pictures, &mut fields, dry_run).await?;
    let Some(nonprofit) = new.nonprofit.filter(|_| fields.errors.is_empty()) else {
        return Err(Error::Invalid(fields.errors));
    };
    let fundraiser = Fundraiser {
        id: FundraiserId::new(),
        nonprofit,
        slug: String::new(),
        account,
        title: new.title,
        description: new.description,
        cover: cover.flatten(),
        starts_at: new.starts_at,
        ends_at: new.ends_at,
        goal: new.goal,
        offline: new.offline,
        created_at: 0,
        closed_at: None,
        hidden_at: None,
        hidden_reason: None,
        in_review_since: None,
        version: 1,
        supported: new
            .supported
            .iter()
            .map(|supported| (supported.id, supported.weight))
            .collect(),
    };
    Ok((fundraiser, slug))
}

/// Takes the picture of a body, and returns its hosted ID. Returns `None` if the body has no such field, and
/// `Some(None)` if the field is null.
///
/// The picture is stored only if no field is invalid and this is not a dry run. It is checked in any case, so that all
/// invalid fields are reported together.
pub async fn take_picture(
    pictures: &Pictures,
    fields: &mut Fields<'_>,
    dry_run: bool,
) -> Result<Option<Option<String>>, Error> {
    if !fields.has("imageBase64") {
        return Ok(None);
    }
    let Some(text) = fields.image() else {
        return Ok(Some(None));
    };
    let taken = if fields.errors.is_empty() && !dry_run {
        pictures.add_base64(text).await.map(|picture| picture.id)
    } else {
        pictures.check_base64(text).await
    };
    match taken {
        Ok(id) => Ok(Some(Some(id))),
        Err(error) if error.is_unavailable() => Err(Error::PictureUnavailable),
        Err(error) => {
            fields.add_error("imageBase64", error.to_string());
            Ok(None)
        }
    }
}
