//! `POST /v0.2/match`: matches the rows of a list to nonprofits.

use crate::api::problems::{AccountProblems, JsonBodyProblems, Unavailable};
use crate::api::schemas::MatchText;
use crate::app::App;
use crate::app::urls::Urls;
use crate::http::body::JsonBody;
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::public_key::Match;
use access::limits::call::Owner;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use directory::View;
use directory::query::matching::score::Reason;
use directory::query::matching::{Candidate, Matcher, Row};
use platform::field_error::FieldError;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use utoipa::ToSchema;
use uuid::Uuid;

const MAX_ROWS: usize = 1_000;
const DEFAULT_TAKE: usize = 3;
const MAX_TAKE: usize = 10;
/// The longest text of a field, in characters.
const MAX_TEXT_LENGTH: usize = 1_024;

/// A list of nonprofits to find.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "it only describes the body, which is parsed field by field to report all errors at once"
)]
pub struct MatchInput {
    #[schema(max_items = 1_000)]
    rows: Vec<MatchRowInput>,
    /// The number of candidates for each row: 3 by default, at most 10.
    #[schema(minimum = 1)]
    take: Option<u64>,
}

/// A nonprofit to find. Send what you know; a row needs a name or an EIN. The response repeats the id, which is your own.
/// The state is a code or a name. The EIN may have a dash; a text that is not an EIN is ignored. The website is a URL or a
/// domain.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes the rows")]
struct MatchRowInput {
    #[schema(inline, required = false)]
    id: MatchText,
    #[schema(inline, required = false)]
    name: MatchText,
    #[schema(inline, required = false)]
    city: MatchText,
    #[schema(inline, required = false)]
    state: MatchText,
    #[schema(inline, required = false)]
    zip: MatchText,
    #[schema(inline, required = false)]
    ein: MatchText,
    #[schema(inline, required = false)]
    website: MatchText,
}

/// The nonprofits that rows of a list may mean.
#[derive(Serialize, ToSchema)]
pub struct MatchBody<'a> {
    /// One for each row of the request, in the same order.
    rows: Vec<MatchedRowBody<'a>>,
}

/// The nonprofits that a row may mean.
#[derive(Serialize, ToSchema)]
pub struct MatchedRowBody<'a> {
    /// The ID of the row. Omitted if the row has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    id: Option<Cow<'a, str>>,
    /// Whether the first candidate is certainly the right one.
    r#match: bool,
    /// The best candidate first. Empty if nothing fits.
    pub candidates: Vec<CandidateBody<'a>>,
}

/// A nonprofit that a row may mean.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CandidateBody<'a> {
    pub id: Uuid,
    /// Omitted if the nonprofit has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "020240383")]
    pub ein: Option<String>,
    #[schema(example = "Granite Town Library")]
    pub name: &'a str,
    #[schema(example = "granite-town-library")]
    pub slug: &'a str,
    /// City and state. Omitted if neither is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(required = false, example = "Concord, NH")]
    pub location: String,
    profile_url: String,
    /// From 0 to 100.
    #[schema(minimum = 0, maximum = 100)]
    pub score: u32,
    /// Whether this is certainly the right one. Only the first candidate can be.
    pub r#match: bool,
    /// What speaks for and against it, such as "same EIN", "name equal", "name similar" or "same city".
    #[schema(example = json!(["name equal", "same city"]))]
    pub reasons: Vec<&'static str>,
}

/// Finds the nonprofits that the rows of a list mean, by EIN, name, place and website, with scores and reasons.
#[utoipa::path(
    post,
    path = "/v0.2/match",
    operation_id = "match",
    tag = "nonprofits",
    security(("privateKey" = [])),
    request_body(content = MatchInput, content_type = "application/json"),
    responses(
        (status = 200, description = "The candidates for each row.", body = MatchBody),
        JsonBodyProblems,
        AccountProblems,
        Unavailable,
    )
)]
pub async fn match_rows(
    State(app): State<App>,
    credentials: Credentials<Match>,
    body: JsonBody,
) -> Result<Response> {
    let (rows, take) = parse(&body.fields)?;
    let view = app.directory.view();
    if view.snapshot.is_none() {
        return Err(Error::Unavailable);
    }
    let urls = app.site.urls.clone();
    let owner = Owner::Key(credentials.public_key);
    let mut found: Vec<Vec<Candidate>> = Vec::with_capacity(rows.len());
    let json = app.bulk_work.run(owner, move |slice| {
        let mut matcher = Matcher::new(&view);
        for row in &rows[found.len()..] {
            if slice.is_over() {
                return None;
            }
            found.push(matcher.find(&row.borrow(), take));
        }
        let each = rows.iter().zip(&found).map(|(row, found)| {
            MatchedRowBody::new(&view, &urls, row.id.as_deref().map(Cow::Borrowed), found)
        });
        let body = MatchBody { rows: each.collect() };
        Some(serde_json::to_vec(&body).expect("texts and numbers are plain data"))
    });
    let json = json.await?;
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "private, no-store"),
    ];
    Ok((headers, json).into_response())
}

impl<'a> MatchedRowBody<'a> {
    /// Describes the candidates of a row.
    pub fn new(view: &'a View, urls: &Urls, id: Option<Cow<'a, str>>, found: &[Candidate]) -> Self {
        let candidates = found
            .iter()
            .filter_map(|candidate| CandidateBody::new(view, urls, candidate));
        MatchedRowBody {
            id,
            r#match: found.first().is_some_and(|first| first.is_match),
            candidates: candidates.collect(),
        }
    }
}

impl<'a> CandidateBody<'a> {
    fn new(view: &'a View, urls: &Urls, candidate: &Candidate) -> Option<CandidateBody<'a>> {
        let nonprofit = view.nonprofit(candidate.location)?;
        Some(CandidateBody {
            id: nonprofit.id.0,
            ein: nonprofit.ein.map(|ein| ein.to_string()),
            name: nonprofit.name,
            slug: nonprofit.slug,
            location: nonprofit.location(),
            profile_url: urls.profile(nonprofit.slug),
            score: candidate.score,
            r#match: candidate.is_match,
            reasons: candidate.reasons.iter().map(Reason::text).collect(),
        })
    }
}

/// A row of the request.
#[derive(Debug, Default)]
struct OwnedRow {
    id: Option<String>,
    name: String,
    city: String,
    state: String,
    zip: String,
    ein: String,
    website: String,
}

impl OwnedRow {
    fn borrow(&self) -> Row<'_> {
        Row {
            name: &self.name,
            city: &self.city,
            state: &self.state,
            zip: &self.zip,
            ein: &self.ein,
            website: &self.website,
        }
    }
}

/// Returns a number with a decimal point or an exponent that is whole, and not too large for an integer of 64 bits.
fn whole_number(value: &Value) -> Option<i64> {
    let number = value.as_f64().filter(|_| value.is_f64())?;
    (number.fract() == 0.0 && number.abs() < i64::MAX as f64).then_some(number as i64)
}

/// Returns the rows of the body, and how many candidates each should have.
fn parse(fields: &Map<String, Value>) -> Result<(Vec<OwnedRow>, usize)> {
    let mut errors = Vec::new();
    let take = match fields.get("take") {
        None | Some(Value::Null) => DEFAULT_TAKE,
        // 3.0 is a whole number too.
        Some(take) => {
            let number = take.as_i64().or_else(|| whole_number(take));
            if let Some(take @ 1..) = number {
                usize::try_from(take).map_or(MAX_TAKE, |take| take.min(MAX_TAKE))
            } else {
                errors.push(FieldError::new("take", "send a whole number greater than zero"));
                DEFAULT_TAKE
            }
        }
    };
    let rows = match fields.get("rows") {
        Some(Value::Array(rows)) if rows.len() <= MAX_ROWS => {
            let rows = rows.iter().enumerate();
            rows.map(|(index, row)| parse_row(index, row, &mut errors))
                .collect()
        }
        Some(Value::Array(rows)) => {
            let count = rows.len();
            let detail = format!("send at most {MAX_ROWS} rows at a time, not {count}");
            errors.push(FieldError::new("rows", detail));
            Vec::new()
        }
        _ => {
            errors.push(FieldError::new("rows", "send a list of rows"));
            Vec::new()
        }
    };
    if errors.is_empty() {
        Ok((rows, take))
    } else {
        Err(Error::InvalidBody(errors))
    }
}

fn parse_row(index: usize, row: &Value, errors: &mut Vec<FieldError>) -> OwnedRow {
    let Value::Object(fields) = row else {
        let field = format!("rows[{index}]");
        errors.push(FieldError::new(
            field,
            "send an object with a name, an EIN or both",
        ));
        return OwnedRow::default();
    };
    let mut text = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.chars().count() <= MAX_TEXT_LENGTH => Some(text.clone()),
        // Other programs write ZIP codes, EINs and IDs as numbers.
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(_) => {
            let detail = format!("send a text of at most {MAX_TEXT_LENGTH} characters");
            errors.push(FieldError::new(format!("rows[{index}].{name}"), detail));
            None
        }
    };
    OwnedRow {
        id: text("id"),
        name: text("name").unwrap_or_default(),
        city: text("city").unwrap_or_default(),
        state: text("state").unwrap_or_default(),
        zip: text("zip").unwrap_or_default(),
        ein: text("ein").unwrap_or_default(),
        website: text("website").unwrap_or_default(),
    }
}
