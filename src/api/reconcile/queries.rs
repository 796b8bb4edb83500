//! Batches of queries, each of which gets candidates.

use super::entity::{NONPROFIT, Named, describe, locate};
use crate::app::bulk_work::Slice;
use crate::http::error::{Error, Result};
use directory::nonprofits::ein::Ein;
use directory::query::matching::score::Reason;
use directory::query::matching::{Matcher, Row};
use directory::{HitLocation, View};
use platform::text::cut;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The number of queries in a batch, all of which count as one request.
pub(super) const MAX_QUERIES: usize = 50;
const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 25;
/// The longest text of a query or a property, in characters.
const MAX_TEXT_LENGTH: usize = 256;

/// A query of a batch.
#[derive(Debug, Default)]
pub(super) struct ReconciliationQuery {
    text: String,
    limit: usize,
    ein: String,
    city: String,
    state: String,
    zip: String,
    website: String,
}

/// The candidates of a query.
#[derive(Serialize)]
pub(super) struct QueryResult {
    result: Vec<CandidateBody>,
}

#[derive(Serialize)]
struct CandidateBody {
    id: String,
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    r#type: [Named<'static>; 1],
    score: u32,
    r#match: bool,
    features: Vec<Feature>,
}

/// Something that speaks for or against a candidate.
#[derive(Serialize)]
struct Feature {
    id: String,
    value: bool,
}

/// Parses a batch: queries by their IDs.
pub(super) fn parse(batch: &Map<String, Value>) -> Result<BTreeMap<String, ReconciliationQuery>> {
    if batch.len() > MAX_QUERIES {
        return Err(Error::InvalidParameter(
            format!("Send at most {MAX_QUERIES} queries at a time.").into(),
        ));
    }
    let each = batch.iter().map(|(id, query)| {
        let query = query.as_object().map(parse_query);
        let query = query.ok_or_else(|| {
            Error::InvalidParameter("Every query must be an object with the field query.".into())
        })?;
        Ok((id.clone(), query))
    });
    each.collect()
}

fn parse_query(query: &Map<String, Value>) -> ReconciliationQuery {
    let limit = query.get("limit").and_then(Value::as_u64);
    let mut parsed = ReconciliationQuery {
        text: query.get("query").and_then(text_of).unwrap_or_default(),
        limit: limit.map_or(DEFAULT_LIMIT, |limit| (limit as usize).clamp(1, MAX_LIMIT)),
        ..ReconciliationQuery::default()
    };
    let properties = query.get("properties").and_then(Value::as_array);
    for property in properties.into_iter().flatten() {
        let Some(value) = property.get("v").and_then(text_of) else {
            continue;
        };
        match property.get("pid").and_then(Value::as_str) {
            Some("ein") => parsed.ein = value,
            Some("city") => parsed.city = value,
            Some("state") => parsed.state = value,
            Some("zip") => parsed.zip = value,
            Some("website") => parsed.website = value,
            // A property that nothing is compared with does not change the candidates.
            _ => {}
        }
    }
    parsed
}

/// Returns a value as text: a text, a number, an entity, or the first of a list.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(cut(text.trim(), MAX_TEXT_LENGTH).to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(values) => values.iter().find_map(text_of),
        Value::Object(entity) => entity.get("name").or_else(|| entity.get("id")).and_then(text_of),
        Value::Null | Value::Bool(_) => None,
    }
}

/// Finds the candidates of queries, slice by slice. Returns them when all are found.
pub(super) fn find_all(
    view: &View,
    queries: &mut BTreeMap<String, ReconciliationQuery>,
    found: &mut BTreeMap<String, QueryResult>,
    slice: &Slice,
) -> Option<BTreeMap<String, QueryResult>> {
    let mut matcher = Matcher::new(view);
    while !slice.is_over() {
        let Some((id, query)) = queries.pop_first() else {
            return Some(std::mem::take(found));
        };
        let result = find(view, &mut matcher, &query);
        found.insert(id, QueryResult { result });
    }
    None
}

fn find(view: &View, matcher: &mut Matcher<'_>, query: &ReconciliationQuery) -> Vec<CandidateBody> {
    let text = query.text.as_str();
    // The text may be the ID of an entity.
    let by_id = Uuid::try_parse(text).ok().and_then(|_| locate(view, text));
    if let Some(location) = by_id {
        return CandidateBody::new(view, location, 100, true, Vec::new())
            .into_iter()
            .collect();
    }
    let is_ein = query.ein.is_empty() && Ein::parse_lenient(text).is_some();
    let row = Row {
        name: if is_ein { "" } else { text },
        ein: if is_ein { text } else { &query.ein },
        city: &query.city,
        state: &query.state,
        zip: &query.zip,
        website: &query.website,
    };
    let found = matcher.find(&row, query.limit);
    let bodies = found.iter().filter_map(|candidate| {
        let features = candidate.reasons.iter().map(Feature::new).collect();
        CandidateBody::new(
            view,
            candidate.location,
            candidate.score,
            candidate.is_match,
            features,
        )
    });
    bodies.collect()
}

impl Feature {
    fn new(reason: Reason) -> Feature {
        Feature {
            id: reason.text().to_ascii_lowercase().replace(' ', "_"),
            value: true,
        }
    }
}

impl CandidateBody {
    fn new(
        view: &View,
        location: HitLocation,
        score: u32,
        is_match: bool,
        features: Vec<Feature>,
    ) -> Option<CandidateBody> {
        let nonprofit = view.nonprofit(location)?;
        Some(CandidateBody {
            id: nonprofit.id.to_string(),
            name: nonprofit.name.to_owned(),
            description: describe(&nonprofit),
            r#type: [NONPROFIT],
            score,
            r#match: is_match,
            features,
        })
    }
}
