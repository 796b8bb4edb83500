//! A nonprofit as one of many: an element of a search answer or of a browse page.
//!
//! Ten of them are written for every keystroke, so they are written straight into the answer. The types below say the
//! same for the description of the interface, and a test holds the two together.

use super::Nonprofit;
use super::causes::Causes;
use crate::http::json;
use crate::text::excerpt;
use crate::urls::Urls;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Characters of a description.
const LONGEST_DESCRIPTION: usize = 249;

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
    #[schema(example = "530196605")]
    pub ein: Option<String>,
    /// The short description and the beginning of the long one.
    pub description: String,
    #[schema(example = "Washington, DC")]
    pub location: Option<String>,
    /// Names of its causes.
    pub tags: Vec<String>,
    /// The public page, where people give.
    pub profile_url: String,
    pub logo_hosted_id: String,
    pub logo_url: String,
    pub cover_image_url: String,
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
    pub ein: Option<String>,
    /// The short description and the beginning of the long one.
    pub description: String,
    pub location: Option<String>,
    /// Names of its causes.
    pub tags: Vec<String>,
    /// The public page, where people give.
    pub profile_url: String,
    pub logo_hosted_id: String,
    pub logo_url: String,
    pub cover_image_url: String,
    pub website_url: Option<String>,
}

/// Appends a nonprofit; with the words that matched where it was searched for.
pub fn write(
    out: &mut Vec<u8>,
    nonprofit: &Nonprofit<'_>,
    causes: &Causes,
    urls: &Urls,
    matched: Option<&[String]>,
) {
    let (logo_hosted_id, logo_url) = urls.logo(nonprofit);
    let (_, cover_image_url) = urls.cover(nonprofit);
    out.extend_from_slice(b"{\"id\":\"");
    out.extend_from_slice(
        nonprofit
            .id
            .0
            .hyphenated()
            .encode_lower(&mut Uuid::encode_buffer())
            .as_bytes(),
    );
    out.extend_from_slice(b"\",\"name\":");
    json::string(out, nonprofit.name);
    out.extend_from_slice(b",\"slug\":");
    json::string(out, nonprofit.slug);
    if let Some(ein) = nonprofit.ein {
        out.extend_from_slice(b",\"ein\":");
        json::string(out, &ein.to_string());
    }
    out.extend_from_slice(b",\"description\":");
    let description = nonprofit.description();
    json::string(
        out,
        &excerpt(&description, nonprofit.description_long, LONGEST_DESCRIPTION),
    );
    let location = nonprofit.location();
    if !location.is_empty() {
        out.extend_from_slice(b",\"location\":");
        json::string(out, &location);
    }
    out.extend_from_slice(b",\"tags\":");
    json::strings(
        out,
        causes.of_set(nonprofit.causes).map(|cause| cause.name.as_str()),
    );
    out.extend_from_slice(b",\"profileUrl\":");
    json::string(out, &urls.profile(nonprofit.slug));
    out.extend_from_slice(b",\"logoHostedId\":");
    json::string(out, &logo_hosted_id);
    out.extend_from_slice(b",\"logoUrl\":");
    json::string(out, &logo_url);
    out.extend_from_slice(b",\"coverImageUrl\":");
    json::string(out, &cover_image_url);
    if let Some(website_url) = nonprofit.website_url {
        out.extend_from_slice(b",\"websiteUrl\":");
        json::string(out, website_url);
    }
    if let Some(words) = matched {
        out.extend_from_slice(b",\"matchedTerms\":");
        json::strings(out, words.iter().map(String::as_str));
    }
    out.push(b'}');
}
