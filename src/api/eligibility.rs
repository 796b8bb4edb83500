//! `GET /v0.2/nonprofit/{identifier}/eligibility` and `POST /v0.2/eligibility`: whether nonprofits may receive donations
//! today, and why.

use crate::api::problems::{
    AccountProblems, JsonBodyProblems, NonprofitNotFound, PublicKeyProblems, Unavailable,
};
use crate::app::App;
use crate::http::body::JsonBody;
use crate::http::credentials::Credentials;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::public_key::{Details, Match, PublicKey};
use access::limits::call::Owner;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use directory::eligibility::{CheckResult, Eligible, Outcome, Source, Verdict};
use directory::nonprofits::ein::Ein;
use directory::nonprofits::identifier::{Identifier, IdentifierError};
use directory::query::ein_status::EinStatus;
use directory::{ResolveError, View};
use platform::clock::rfc3339;
use platform::field_error::FieldError;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use utoipa::ToSchema;
use uuid::Uuid;

const MAX_IDENTIFIERS: usize = 1_000;
/// The longest identifier, in characters. A slug has at most 80.
const MAX_IDENTIFIER_LENGTH: usize = 256;

/// Whether a nonprofit may receive donations now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EligibilityBody<'a> {
    eligible: EligibleName,
    /// When it was checked.
    #[schema(example = "2026-11-15T12:00:00.000Z")]
    as_of: String,
    /// Each check, whether it is required or not.
    checks: Vec<CheckBody<'a>>,
}

/// YES: it may receive donations. NO: a required check failed. REVIEW: a person or a newer list has to decide; until then,
/// it receives nothing.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum EligibleName {
    Yes,
    No,
    Review,
}

/// One check of a nonprofit.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckBody<'a> {
    #[schema(example = "irs_not_revoked")]
    check: &'static str,
    outcome: OutcomeName,
    /// Why, as a sentence.
    #[schema(example = "It is not on the automatic revocation list of the IRS")]
    reason: &'a str,
    /// The day since which the list says so, or null if it names none.
    #[schema(required = true, example = "2026-08-03", nullable = true)]
    since: Option<String>,
    /// The last day on which a failure does not count, or null if there is no grace.
    #[schema(required = true, nullable = true)]
    grace_until: Option<String>,
    /// The file that the check reads, or null if it reads none.
    #[schema(required = true, nullable = true)]
    source: Option<SourceFileBody<'a>>,
}

/// The result of a check.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OutcomeName {
    Pass,
    Fail,
    Review,
    Unknown,
    NotChecked,
}

/// A file that a check reads.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceFileBody<'a> {
    #[schema(example = "data-download-revocation.zip")]
    name: &'a str,
    /// In hexadecimal.
    sha256: &'a str,
    /// The day that the file states, or else when it was imported.
    #[schema(example = "2026-11-10T06:00:00.000Z")]
    as_of: String,
}

/// Nonprofits to check.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "it only describes the body, which is parsed field by field to report all errors at once"
)]
pub struct EligibilityInput {
    /// EINs, with or without a dash, slugs or IDs.
    #[schema(max_items = 1_000)]
    identifiers: Vec<String>,
}

/// Whether nonprofits may receive donations now.
#[derive(Serialize, ToSchema)]
pub struct EligibilityListBody<'a> {
    /// One for each identifier of the request, in the same order.
    rows: Vec<EligibilityRowBody<'a>>,
}

/// Whether the nonprofit that an identifier names may receive donations now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EligibilityRowBody<'a> {
    /// The identifier as it was sent.
    #[schema(example = "53-0196605")]
    pub identifier: &'a str,
    /// Omitted if the directory does not have the nonprofit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    id: Option<Uuid>,
    /// Omitted if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "530196605")]
    pub ein: Option<String>,
    /// Omitted if the directory does not have the nonprofit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name: Option<&'a str>,
    /// What is wrong with the identifier. Omitted if it names an EIN or a nonprofit. Nothing was checked then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<&'static str>,
    #[serde(flatten)]
    pub verdict: EligibilityBody<'a>,
}

impl EligibleName {
    pub fn new(eligible: Eligible) -> EligibleName {
        match eligible {
            Eligible::Yes => EligibleName::Yes,
            Eligible::No => EligibleName::No,
            Eligible::Review => EligibleName::Review,
        }
    }

    pub fn text(self) -> &'static str {
        match self {
            EligibleName::Yes => "YES",
            EligibleName::No => "NO",
            EligibleName::Review => "REVIEW",
        }
    }
}

impl<'a> EligibilityBody<'a> {
    pub fn new(verdict: &'a Verdict, now: i64) -> EligibilityBody<'a> {
        EligibilityBody {
            eligible: EligibleName::new(verdict.eligible),
            as_of: rfc3339(now),
            checks: verdict.checks.iter().map(CheckBody::new).collect(),
        }
    }

    /// Returns the verdict as it is written.
    pub fn eligible(&self) -> &'static str {
        self.eligible.text()
    }
}

impl<'a> CheckBody<'a> {
    fn new(result: &'a CheckResult) -> CheckBody<'a> {
        CheckBody {
            check: result.check.name(),
            outcome: OutcomeName::new(result.outcome),
            reason: &result.reason,
            since: result.since.map(|day| day.to_string()),
            grace_until: result.grace_until.map(|day| day.to_string()),
            source: result.source.as_deref().map(SourceFileBody::new),
        }
    }
}

impl OutcomeName {
    pub fn new(outcome: Outcome) -> OutcomeName {
        match outcome {
            Outcome::Pass => OutcomeName::Pass,
            Outcome::Fail => OutcomeName::Fail,
            Outcome::Review => OutcomeName::Review,
            Outcome::Unknown => OutcomeName::Unknown,
            Outcome::NotChecked => OutcomeName::NotChecked,
        }
    }

    pub fn text(self) -> &'static str {
        match self {
            OutcomeName::Pass => "PASS",
            OutcomeName::Fail => "FAIL",
            OutcomeName::Review => "REVIEW",
            OutcomeName::Unknown => "UNKNOWN",
            OutcomeName::NotChecked => "NOT_CHECKED",
        }
    }
}

impl<'a> SourceFileBody<'a> {
    fn new(source: &'a Source) -> SourceFileBody<'a> {
        SourceFileBody {
            name: &source.name,
            sha256: &source.sha256,
            as_of: rfc3339(source.as_of),
        }
    }
}

/// Checks whether a nonprofit may receive donations now, and says why. An EIN that no file of the IRS lists is answered too.
#[utoipa::path(
    get,
    path = "/v0.2/nonprofit/{identifier}/eligibility",
    operation_id = "eligibility",
    tag = "nonprofits",
    security(("publicKey" = [])),
    params(("identifier" = String, Path, description = "The slug, the EIN as nine digits, or the ID (a UUID) of the nonprofit.", example = "530196605")),
    responses(
        (status = 200, description = "The verdict and its checks.", body = EligibilityBody),
        PublicKeyProblems,
        NonprofitNotFound,
    )
)]
pub async fn eligibility(
    State(app): State<App>,
    _key: PublicKey<Details>,
    PathText(text): PathText,
) -> Result<Response> {
    let now = app.clock.millis();
    let verdict = match app.directory.resolve(&text).await {
        Ok(found) => {
            let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
            found.view().verdict(&nonprofit, now)
        }
        Err(ResolveError::NotFound) => match Ein::parse(text.trim()) {
            Some(ein) => unlisted(&app, &app.directory.view(), ein, now).await?,
            None => return Err(Error::from_resolve(ResolveError::NotFound, &text)),
        },
        Err(error) => return Err(Error::from_resolve(error, &text)),
    };
    Ok(json(
        serde_json::to_vec(&EligibilityBody::new(&verdict, now)).expect("texts are plain data"),
    ))
}

/// Checks whether up to 1,000 nonprofits may receive donations now.
#[utoipa::path(
    post,
    path = "/v0.2/eligibility",
    operation_id = "checkEligibility",
    tag = "nonprofits",
    security(("privateKey" = [])),
    request_body(content = EligibilityInput, content_type = "application/json"),
    responses(
        (status = 200, description = "One row for each identifier, in the same order.", body = EligibilityListBody),
        JsonBodyProblems,
        AccountProblems,
        Unavailable,
    )
)]
pub async fn check_eligibility(
    State(app): State<App>,
    credentials: Credentials<Match>,
    body: JsonBody,
) -> Result<Response> {
    let identifiers = parse(&body.fields)?;
    let view = app.directory.view();
    if view.snapshot.is_none() {
        return Err(Error::Unavailable);
    }
    let batch = Batch::prepare(&app, identifiers).await?;
    let now = app.clock.millis();
    let owner = Owner::Key(credentials.public_key);
    let mut verdicts = Vec::with_capacity(batch.identifiers.len());
    let body = app.bulk_work.run(owner, move |slice| {
        for identifier in &batch.identifiers[verdicts.len()..] {
            if slice.is_over() {
                return None;
            }
            verdicts.push(batch.verdict(&view, identifier, now));
        }
        let rows = batch.identifiers.iter().zip(&verdicts);
        let rows = rows.map(|(identifier, verdict)| row(&view, identifier, verdict, now));
        let body = EligibilityListBody { rows: rows.collect() };
        Some(serde_json::to_vec(&body).expect("texts and numbers are plain data"))
    });
    Ok(json(body.await?))
}

fn json(body: Vec<u8>) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "private, no-store"),
    ];
    (headers, body).into_response()
}

async fn unlisted(app: &App, view: &View, ein: Ein, now: i64) -> Result<Verdict> {
    let imports = app.caches.provenance.list(&app.db, view.revision).await?;
    let status = EinStatus::find(&app.db, view, &imports, ein).await?;
    Ok(status.verdict(&view.standings, now))
}

/// Identifiers to check.
pub struct Batch {
    identifiers: Vec<String>,
    /// The verdicts about EINs that the directory does not have.
    unlisted: HashMap<Ein, Verdict>,
}

impl Batch {
    /// Looks up the EINs that the directory does not have.
    pub async fn prepare(app: &App, identifiers: Vec<String>) -> Result<Batch> {
        let view = app.directory.view();
        let now = app.clock.millis();
        let mut batch = Batch {
            identifiers,
            unlisted: HashMap::new(),
        };
        for identifier in &batch.identifiers {
            if let Some(Identifier::Ein(ein)) = parse_identifier(identifier)
                && view.locate(&Identifier::Ein(ein)).is_none()
                && !batch.unlisted.contains_key(&ein)
            {
                let verdict = unlisted(app, &view, ein, now).await?;
                batch.unlisted.insert(ein, verdict);
            }
        }
        Ok(batch)
    }

    /// Returns the identifiers with their verdicts.
    pub fn verdicts(&self, view: &View, now: i64) -> Vec<(&str, Verdict)> {
        let each = self.identifiers.iter();
        each.map(|identifier| (identifier.as_str(), self.verdict(view, identifier, now)))
            .collect()
    }

    fn verdict(&self, view: &View, identifier: &str, now: i64) -> Verdict {
        let parsed = parse_identifier(identifier);
        if let Some(nonprofit) = parsed.as_ref().and_then(|parsed| view.find(parsed)) {
            return view.verdict(&nonprofit, now);
        }
        match parsed {
            Some(Identifier::Ein(ein)) => self.unlisted.get(&ein).cloned(),
            _ => None,
        }
        .unwrap_or(Verdict {
            eligible: Eligible::No,
            checks: Vec::new(),
        })
    }
}

/// Parses an identifier as people write it.
fn parse_identifier(text: &str) -> Option<Identifier> {
    match Identifier::parse(text) {
        Ok(identifier) => Some(identifier),
        Err(IdentifierError::FormattedEin(ein)) => Some(Identifier::Ein(ein)),
        Err(IdentifierError::Invalid) => None,
    }
}

/// Describes the verdict about what an identifier names.
pub fn row<'a>(
    view: &'a View,
    identifier: &'a str,
    verdict: &'a Verdict,
    now: i64,
) -> EligibilityRowBody<'a> {
    let parsed = parse_identifier(identifier);
    let found = parsed.as_ref().and_then(|parsed| view.find(parsed));
    let typed_ein = match &parsed {
        Some(Identifier::Ein(ein)) => Some(*ein),
        _ => None,
    };
    let ein = found.map_or(typed_ein, |nonprofit| nonprofit.ein);
    let digits = identifier.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits > 0
        && identifier
            .bytes()
            .all(|b| b.is_ascii_digit() || b == b'-' || b == b' ');
    let problem = match (&found, typed_ein) {
        (Some(_), _) | (None, Some(_)) => None,
        (None, None) if is_number => Some("an EIN has nine digits, such as 530196605 or 53-0196605"),
        (None, None) => Some("no nonprofit has this identifier; send an EIN of nine digits, a slug or an ID"),
    };
    EligibilityRowBody {
        identifier,
        id: found.map(|nonprofit| nonprofit.id.0),
        ein: ein.map(|ein| ein.to_string()),
        name: found.map(|nonprofit| nonprofit.name),
        problem,
        verdict: EligibilityBody::new(verdict, now),
    }
}

fn parse(fields: &Map<String, Value>) -> Result<Vec<String>> {
    let field = "identifiers";
    let error = |detail: String| Error::InvalidBody(vec![FieldError::new(field, detail)]);
    let Some(Value::Array(values)) = fields.get(field) else {
        return Err(error("send a list of EINs, slugs or IDs".to_owned()));
    };
    if values.len() > MAX_IDENTIFIERS {
        let count = values.len();
        return Err(error(format!(
            "send at most {MAX_IDENTIFIERS} identifiers at a time, not {count}"
        )));
    }
    let mut errors = Vec::new();
    let mut identifiers = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        match value {
            Value::String(text) if text.chars().count() <= MAX_IDENTIFIER_LENGTH => {
                identifiers.push(text.clone());
            }
            _ => errors.push(FieldError::new(
                format!("{field}[{index}]"),
                format!("send a text of at most {MAX_IDENTIFIER_LENGTH} characters, such as \"530196605\""),
            )),
        }
    }
    if errors.is_empty() {
        Ok(identifiers)
    } else {
        Err(Error::InvalidBody(errors))
    }
}
