//! Suggestions while a person types: nonprofits, properties and types.

use super::entity::{NONPROFIT, Named, describe, json, locate, usable_view};
use super::properties::Property;
use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, values};
use crate::http::public_key::{PublicKey, Search};
use axum::extract::State;
use axum::response::Response;
use directory::query::filter::SearchFilter;
use platform::text::cut;
use serde::Serialize;
use uuid::Uuid;

/// The number of suggestions.
const PAGE_SIZE: usize = 10;
/// How many suggestions can be skipped.
const MAX_CURSOR: usize = 40;
const MAX_PREFIX_LENGTH: usize = 256;

#[derive(Serialize)]
struct Suggestions<T> {
    result: Vec<T>,
}

#[derive(Serialize)]
struct SuggestedEntity<'a> {
    id: String,
    name: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    notable: [Named<'static>; 1],
}

/// `GET /reconcile/suggest/entity`
pub async fn entities(
    State(app): State<App>,
    _key: PublicKey<Search>,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let prefix = values(&query, "prefix").next().unwrap_or_default();
    let prefix = cut(prefix.trim(), MAX_PREFIX_LENGTH);
    let skip = match values(&query, "cursor").next() {
        None => 0,
        Some(cursor) => cursor
            .parse::<usize>()
            .map_err(|_| Error::InvalidParameter("cursor must be a whole number.".into()))?,
    };
    let view = usable_view(&app)?;
    let mut locations = Vec::new();
    if Uuid::try_parse(prefix).is_ok() {
        locations.extend(locate(&view, prefix).filter(|_| skip == 0));
    } else if !prefix.is_empty() && skip <= MAX_CURSOR {
        let filter = SearchFilter {
            words_only: true,
            ..SearchFilter::default()
        };
        let hits = view.find_hits(prefix, skip + PAGE_SIZE, &filter);
        locations.extend(hits.iter().skip(skip).map(|hit| hit.location));
    }
    let found = locations.iter().filter_map(|location| view.nonprofit(*location));
    let result = found.map(|nonprofit| SuggestedEntity {
        id: nonprofit.id.to_string(),
        name: nonprofit.name,
        description: describe(&nonprofit),
        notable: [NONPROFIT],
    });
    Ok(json(&Suggestions {
        result: result.collect(),
    }))
}

/// `GET /reconcile/suggest/property`. It needs no key.
pub async fn suggest_properties(RawQuery(query): RawQuery) -> Response {
    let properties = Property::ALL.map(Property::named);
    suggest_named(&query, &properties)
}

/// `GET /reconcile/suggest/type`. It needs no key.
pub async fn types(RawQuery(query): RawQuery) -> Response {
    suggest_named(&query, &[NONPROFIT])
}

/// Suggests those whose ID or name begins with the prefix, or has a word that does.
fn suggest_named(query: &str, all: &[Named<'static>]) -> Response {
    let prefix = values(query, "prefix").next().unwrap_or_default().to_lowercase();
    let prefix = prefix.trim();
    let is_suggested = |named: &&Named<'static>| {
        let name = named.name.to_lowercase();
        let mut words = name.split(' ');
        named.id.to_lowercase().starts_with(prefix)
            || name.starts_with(prefix)
            || words.any(|word| word.starts_with(prefix))
    };
    json(&Suggestions {
        result: all.iter().filter(is_suggested).copied().collect(),
    })
}
