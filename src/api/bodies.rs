//! The response bodies with nonprofits, as the OpenAPI description shows them.
//!
//! These types only describe the bodies. `app::nonprofit_json` writes them by hand, because every keystroke of a search
//! writes ten nonprofits; a test checks that the two agree.

use crate::api::explanation::ExplanationBody;
use crate::api::sources::{IrsBody, SourcesBody};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// The nonprofits that match a search, best match first.
#[derive(Debug, Deserialize, ToSchema)]
pub struct SearchBody {
    pub nonprofits: Vec<SearchItem>,
    /// Why these were found and not others. Only with explain=1.
    #[schema(nullable = false)]
    pub explanation: Option<ExplanationBody>,
}

/// A nonprofit in search results. Unknown fields are omitted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchItem {
    pub id: Uuid,
    #[schema(example = "American Red Cross")]
    pub name: String,
    #[schema(example = "american-red-cross")]
    pub slug: String,
    #[schema(example = "530196605", nullable = false)]
    pub ein: Option<String>,
    /// The short description, followed by the beginning of the long one.
    pub description: String,
    #[schema(example = "Washington, DC", nullable = false)]
    pub location: Option<String>,
    /// The names of its causes.
    pub tags: Vec<String>,
    /// The public profile page, where people can donate.
    pub profile_url: String,
    pub logo_hosted_id: String,
    pub logo_url: String,
    pub cover_image_url: String,
    #[schema(nullable = false)]
    pub website_url: Option<String>,
    /// The distance from `near` to its ZIP code in miles. Only with `near`.
    #[schema(example = 12.3, nullable = false)]
    pub distance_miles: Option<f64>,
    /// The words of the search term that matched, in lowercase, in the order typed.
    pub matched_terms: Vec<String>,
}

/// A nonprofit of a cause. Unknown fields are omitted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BrowseItem {
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    #[schema(nullable = false)]
    pub ein: Option<String>,
    /// The short description, followed by the beginning of the long one.
    pub description: String,
    #[schema(nullable = false)]
    pub location: Option<String>,
    /// The names of its causes.
    pub tags: Vec<String>,
    /// The public profile page, where people can donate.
    pub profile_url: String,
    pub logo_hosted_id: String,
    pub logo_url: String,
    pub cover_image_url: String,
    #[schema(nullable = false)]
    pub website_url: Option<String>,
    /// The distance from `near` to its ZIP code in miles. Only with `near`.
    #[schema(example = 12.3, nullable = false)]
    pub distance_miles: Option<f64>,
}

/// One nonprofit and its causes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DetailsBody {
    pub data: DetailsData,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DetailsData {
    pub nonprofit: NonprofitBody,
    /// Its causes. Empty if none is known.
    pub nonprofit_tags: Vec<TagBody>,
    /// Only with include=sources.
    #[schema(nullable = false)]
    pub irs: Option<IrsBody>,
    /// Where each field comes from. Only with include=sources.
    #[schema(nullable = false)]
    pub sources: Option<SourcesBody>,
}

/// A nonprofit. Unknown fields are omitted, except `descriptionLong`, which is null.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NonprofitBody {
    pub id: Uuid,
    #[schema(example = "American Red Cross")]
    pub name: String,
    /// Its name in URLs. It can change when the nonprofit is renamed; old slugs keep working.
    #[schema(example = "american-red-cross")]
    pub primary_slug: String,
    /// Nine digits without a dash.
    #[schema(example = "530196605", pattern = "^[0-9]{9}$", nullable = false)]
    pub ein: Option<String>,
    /// Whether donations can be passed on to it.
    pub is_disbursable: bool,
    pub description: String,
    // Null instead of omitted, so it is among the fields that are always present.
    #[schema(required)]
    pub description_long: Option<String>,
    /// City and state.
    #[schema(example = "Washington, DC", nullable = false)]
    pub location_address: Option<String>,
    #[schema(example = "M20", nullable = false)]
    pub ntee_code: Option<String>,
    #[schema(nullable = false)]
    pub ntee_code_meaning: Option<NteeMeaningBody>,
    pub logo_hosted_id: String,
    pub cover_image_hosted_id: String,
    /// Always a picture: a generated monogram if the nonprofit has no logo.
    pub logo_url: String,
    pub cover_image_url: String,
    /// The public profile page, where people can donate.
    pub profile_url: String,
    #[schema(nullable = false)]
    pub website_url: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NteeMeaningBody {
    pub major_code: String,
    pub major_meaning: String,
    pub decile_code: String,
    pub decile_meaning: String,
}

/// A cause.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TagBody {
    pub id: Uuid,
    #[schema(example = "animals")]
    pub tag_name: String,
    #[schema(example = "ANIMALS")]
    pub cause_category: String,
    pub title: String,
    pub tag_image_hosted_id: String,
    pub tag_url: String,
    pub tag_image_url: String,
}
