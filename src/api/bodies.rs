//! The response bodies with nonprofits, as the OpenAPI description shows them.
//!
//! The bodies themselves are written by `app::nonprofit_json`; a test checks that the two agree.

use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Nonprofits, best first.
#[derive(Debug, Deserialize, ToSchema)]
pub struct SearchBody {
    pub nonprofits: Vec<SearchItem>,
}

/// A nonprofit that was found. A field that is not known is left out.
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
    /// The short description and the beginning of the long one.
    pub description: String,
    #[schema(example = "Washington, DC", nullable = false)]
    pub location: Option<String>,
    /// Names of its causes.
    pub tags: Vec<String>,
    /// The public page, where people give.
    pub profile_url: String,
    pub logo_hosted_id: String,
    pub logo_url: String,
    pub cover_image_url: String,
    #[schema(nullable = false)]
    pub website_url: Option<String>,
    /// The typed words that matched, in lower case and in the order typed.
    pub matched_terms: Vec<String>,
}

/// A nonprofit of a cause. A field that is not known is left out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BrowseItem {
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    #[schema(nullable = false)]
    pub ein: Option<String>,
    /// The short description and the beginning of the long one.
    pub description: String,
    #[schema(nullable = false)]
    pub location: Option<String>,
    /// Names of its causes.
    pub tags: Vec<String>,
    /// The public page, where people give.
    pub profile_url: String,
    pub logo_hosted_id: String,
    pub logo_url: String,
    pub cover_image_url: String,
    #[schema(nullable = false)]
    pub website_url: Option<String>,
}

/// What is known of one nonprofit.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DetailsBody {
    pub data: DetailsData,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DetailsData {
    pub nonprofit: NonprofitBody,
    /// Its causes; empty where none is known.
    pub nonprofit_tags: Vec<TagBody>,
}

/// A nonprofit. A field that is not known is left out; `descriptionLong` is null then.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NonprofitBody {
    pub id: Uuid,
    #[schema(example = "American Red Cross")]
    pub name: String,
    /// Its name in addresses. It may change when the nonprofit is renamed; an old one still finds it.
    #[schema(example = "american-red-cross")]
    pub primary_slug: String,
    /// Nine digits, no dashes.
    #[schema(example = "530196605", pattern = "^[0-9]{9}$", nullable = false)]
    pub ein: Option<String>,
    /// Can gifts be passed on to it?
    pub is_disbursable: bool,
    pub description: String,
    // Not left out: the interface has null here. `required` keeps it in the list of fields that are always there.
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
    /// A picture that loads; a generated monogram where the nonprofit gave none.
    pub logo_url: String,
    pub cover_image_url: String,
    /// The public page, where people give.
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
