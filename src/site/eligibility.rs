//! Whether a nonprofit may receive donations, for people: the checks with their sources, as a page to print and file.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::web::texts::{EligibilityTexts, fill};
use crate::web::{Layout, Page, Section};
use askama::Template;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use directory::eligibility::{Check, CheckResult, Eligible, Outcome};
use directory::nonprofits::ein::Ein;
use giving::checkout::receipt::format_date;
use platform::clock::rfc3339;

#[derive(Template)]
#[template(path = "site/eligibility.html")]
struct EligibilityPage {
    layout: Layout,
    title: String,
    name: String,
    path: String,
    ein: Option<String>,
    location: String,
    verdict: &'static str,
    badge: &'static str,
    sentence: &'static str,
    /// The day and the time of the verdict.
    checked: String,
    checks: Vec<CheckRow>,
}

/// A check, ready to be shown.
struct CheckRow {
    title: &'static str,
    outcome: &'static str,
    badge: &'static str,
    is_required: bool,
    reason: String,
    since: Option<String>,
    grace_until: Option<String>,
    /// The name, the hash and the date of the file.
    source: Option<(String, String, String)>,
}

/// `GET /{nonprofit}/eligibility`
pub async fn page(State(app): State<App>, PathText(slug): PathText) -> Result<Response> {
    let found = app.directory.resolve_lenient(&slug).await;
    let found = found.map_err(|error| Error::from_resolve(error, &slug))?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    let now = app.clock.millis();
    let verdict = found.view().verdict(&nonprofit, now);
    let layout = Layout::new(Section::Other);
    let t = &layout.p.eligibility;
    let (text, badge, sentence) = match verdict.eligible {
        Eligible::Yes => (t.yes, "badge-good", t.yes_about),
        Eligible::No => (t.no, "badge-bad", t.no_about),
        Eligible::Review => (t.review, "badge-warn", t.review_about),
    };
    let checks = verdict.checks.iter().map(|result| CheckRow::new(&app, t, result));
    let page = EligibilityPage {
        title: fill(t.title, &[("name", nonprofit.name)]),
        name: nonprofit.name.to_owned(),
        path: format!("/{}", nonprofit.slug),
        ein: nonprofit.ein.map(Ein::dashed),
        location: nonprofit.location(),
        verdict: text,
        badge,
        sentence,
        checked: format!(
            "{}, {} UTC",
            format_date(now, &app.config.time_zone),
            &rfc3339(now)[11..16]
        ),
        checks: checks.collect(),
        layout,
    };
    Ok(([(CACHE_CONTROL, "no-cache")], Page(page)).into_response())
}

impl CheckRow {
    fn new(app: &App, t: &'static EligibilityTexts, result: &CheckResult) -> CheckRow {
        let (outcome, badge) = match result.outcome {
            Outcome::Pass => (t.pass, "badge-good"),
            Outcome::Fail => (t.fail, "badge-bad"),
            Outcome::Review => (t.open, "badge-warn"),
            Outcome::Unknown => (t.unknown, ""),
            Outcome::NotChecked => (t.not_checked, ""),
        };
        let is_always = matches!(
            result.check,
            Check::IrsListed | Check::IrsNotRevoked | Check::Operator
        );
        CheckRow {
            title: title(t, result.check),
            outcome,
            badge,
            is_required: is_always || app.directory.eligibility().require.contains(result.check),
            reason: result.reason.to_string(),
            since: result.since.map(|day| day.to_string()),
            grace_until: result.grace_until.map(|day| day.to_string()),
            source: result.source.as_ref().map(|source| {
                let day = rfc3339(source.as_of)[..10].to_owned();
                (source.name.clone(), source.sha256.clone(), day)
            }),
        }
    }
}

fn title(t: &'static EligibilityTexts, check: Check) -> &'static str {
    match check {
        Check::IrsListed => t.irs_listed,
        Check::IrsDeductible => t.irs_deductible,
        Check::IrsNotRevoked => t.irs_not_revoked,
        Check::CaliforniaRegistry => t.california_registry,
        Check::CaliforniaTaxBoard => t.california_tax_board,
        Check::Sanctions => t.sanctions,
        Check::Operator => t.operator,
    }
}
