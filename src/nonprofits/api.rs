//! `GET /v0.2/nonprofit/{identifier}`: one nonprofit.

use super::Nonprofit;
use super::causes::{Cause, Causes};
use super::identifier::{Identifier, NoIdentifier};
use crate::app::App;
use crate::error::{Error, ProblemBody, Result};
use crate::http::cache;
use crate::http::params::PathText;
use crate::http::public_key::{Details, PublicKey};
use crate::urls::Urls;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// What is known of one nonprofit.
#[derive(Serialize, ToSchema)]
pub struct DetailsBody<'a> {
    data: DetailsData<'a>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DetailsData<'a> {
    nonprofit: NonprofitBody<'a>,
    /// Its causes; empty where none is known.
    nonprofit_tags: Vec<TagBody<'a>>,
}

/// A nonprofit. A field that is not known is left out; `descriptionLong` is null then.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NonprofitBody<'a> {
    id: Uuid,
    #[schema(example = "American Red Cross")]
    name: &'a str,
    /// Its name in addresses. It may change when the nonprofit is renamed; an old one still finds it.
    #[schema(example = "american-red-cross")]
    primary_slug: &'a str,
    /// Nine digits, no dashes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "530196605", pattern = "^[0-9]{9}$")]
    ein: Option<String>,
    /// Can gifts be passed on to it?
    is_disbursable: bool,
    description: String,
    // Not skipped: the interface has null here. `required` keeps it in the list of fields that are always there.
    #[schema(required)]
    description_long: Option<&'a str>,
    /// City and state.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(example = "Washington, DC")]
    location_address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "M20")]
    ntee_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ntee_code_meaning: Option<NteeMeaningBody>,
    logo_hosted_id: String,
    cover_image_hosted_id: String,
    /// A picture that loads; a generated monogram where the nonprofit gave none.
    logo_url: String,
    cover_image_url: String,
    /// The public page, where people give.
    profile_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    website_url: Option<&'a str>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct NteeMeaningBody {
    major_code: &'static str,
    major_meaning: &'static str,
    decile_code: &'static str,
    decile_meaning: &'static str,
}

/// A cause.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TagBody<'a> {
    id: Uuid,
    #[schema(example = "animals")]
    tag_name: &'a str,
    #[schema(example = "ANIMALS")]
    cause_category: &'static str,
    title: &'a str,
    tag_image_hosted_id: String,
    tag_url: String,
    tag_image_url: String,
}

/// One nonprofit, named by its slug, its EIN or its ID.
#[utoipa::path(
    get,
    path = "/v0.2/nonprofit/{identifier}",
    operation_id = "details",
    tag = "nonprofits",
    security(("publicKey" = [])),
    params(("identifier" = String, Path, description = "The slug, the EIN as nine digits, or the ID (a UUID).", example = "530196605")),
    responses(
        (status = 200, description = "The nonprofit.", body = DetailsBody,
            headers(
                ("ETag" = String, description = "Changes whenever the directory does; send it back as If-None-Match."),
                ("RateLimit" = String, description = "Calls left, as in \"details\";r=99;t=60."),
                ("RateLimit-Policy" = String, description = "The limit, as in \"details\";q=100;w=60."),
                ("X-Request-Id" = String, description = "Names this request.")
            )),
        (status = 304, description = "Nothing changed since the answer with this ETag."),
        (status = 400, description = "invalid_parameter", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "missing_key, invalid_key or private_key_exposed", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "blocked_key", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "nonprofit_not_found", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "rate_limited; Retry-After says when to come back", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "unavailable", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub async fn details(
    State(app): State<App>,
    _key: PublicKey<Details>,
    PathText(text): PathText,
    headers: HeaderMap,
) -> Result<Response> {
    let identifier = Identifier::parse(&text).map_err(|fault| match fault {
        NoIdentifier::DressedEin(ein) => Error::DressedEin(ein),
        NoIdentifier::Nonsense => Error::no_such_nonprofit(&text),
    })?;
    let tag = app.directory.view().tag.clone();
    let found = app
        .directory
        .find(&identifier)
        .await?
        .ok_or_else(|| Error::no_such_nonprofit(&text))?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    Ok(cache::json(&headers, tag.as_ref(), || {
        let body = DetailsBody::new(&nonprofit, app.directory.causes(), &app.urls);
        serde_json::to_vec(&body).expect("a nonprofit is plain data")
    }))
}

impl<'a> DetailsBody<'a> {
    fn new(nonprofit: &Nonprofit<'a>, causes: &'a Causes, urls: &Urls) -> DetailsBody<'a> {
        DetailsBody {
            data: DetailsData {
                nonprofit: NonprofitBody::new(nonprofit, urls),
                nonprofit_tags: causes
                    .of_set(nonprofit.causes)
                    .map(|cause| TagBody::new(cause, urls))
                    .collect(),
            },
        }
    }
}

impl<'a> NonprofitBody<'a> {
    /// A nonprofit as the interface shows it.
    pub fn new(nonprofit: &Nonprofit<'a>, urls: &Urls) -> NonprofitBody<'a> {
        let (logo_hosted_id, logo_url) = urls.logo(nonprofit);
        let (cover_image_hosted_id, cover_image_url) = urls.cover(nonprofit);
        NonprofitBody {
            id: nonprofit.id.0,
            name: nonprofit.name,
            primary_slug: nonprofit.slug,
            ein: nonprofit.ein.map(|ein| ein.to_string()),
            is_disbursable: nonprofit.is_disbursable(),
            description: nonprofit.description(),
            description_long: nonprofit.description_long,
            location_address: nonprofit.location(),
            ntee_code: nonprofit.ntee.map(|ntee| ntee.code().to_owned()),
            ntee_code_meaning: nonprofit.ntee.map(|ntee| {
                let meaning = ntee.meaning();
                NteeMeaningBody {
                    major_code: meaning.major_code,
                    major_meaning: meaning.major_meaning,
                    decile_code: meaning.decile_code,
                    decile_meaning: meaning.decile_meaning,
                }
            }),
            logo_hosted_id,
            cover_image_hosted_id,
            logo_url,
            cover_image_url,
            profile_url: urls.profile(nonprofit.slug),
            website_url: nonprofit.website_url,
        }
    }
}

impl<'a> TagBody<'a> {
    /// A cause as the interface shows it.
    pub fn new(cause: &'a Cause, urls: &Urls) -> TagBody<'a> {
        let (tag_image_hosted_id, tag_image_url) = urls.cause_picture(&cause.name);
        TagBody {
            id: cause.id,
            tag_name: &cause.name,
            cause_category: cause.category.as_str(),
            title: &cause.title,
            tag_image_hosted_id,
            tag_url: urls.cause(&cause.name),
            tag_image_url,
        }
    }
}
