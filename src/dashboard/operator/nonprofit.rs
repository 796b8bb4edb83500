//! The operator page of a nonprofit: what is known about it, its fundraisers, and its open reports.

use crate::app::App;
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::{OperatorTexts, PUBLIC_EN};
use crate::web::{Layout, Page};
use access::claims::store::{self as claims, Claim};
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use directory::ResolveError;
use directory::nonprofits::Nonprofit;
use giving::fundraisers::store::{self as fundraisers, FundraiserSummary};
use giving::reports::{Report, store as reports};
use platform::ids::NonprofitId;

/// The number of fundraisers and reports that the page lists.
const MAX_LISTED: i64 = 50;

#[derive(Template)]
#[template(path = "dashboard/operator/nonprofit.html")]
struct NonprofitPage {
    layout: Layout,
    facts: Facts,
    fundraisers: Vec<FundraiserSummary>,
    /// Each with its reason and its time.
    reports: Vec<(Report, &'static str, RelativeTime)>,
    /// Who runs its page.
    members: Vec<Claim>,
}

/// What the page shows of the nonprofit itself.
struct Facts {
    id: NonprofitId,
    name: String,
    /// The name in the IRS files, if it is another one.
    legal_name: String,
    ein: Option<String>,
    slug: String,
    location: String,
    status: Status,
}

/// Whether it can receive donations, and if not, why.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Disbursable,
    /// It is no longer in the IRS files.
    Gone,
    /// Its tax exemption was revoked.
    Revoked,
    NotDisbursable,
}

impl Facts {
    fn new(nonprofit: &Nonprofit<'_>) -> Facts {
        let status = if nonprofit.is_disbursable() {
            Status::Disbursable
        } else if nonprofit.gone_at.is_some() {
            Status::Gone
        } else if nonprofit.tax.is_revoked() {
            Status::Revoked
        } else {
            Status::NotDisbursable
        };
        Facts {
            id: nonprofit.id,
            name: nonprofit.name.to_owned(),
            legal_name: nonprofit.legal_name.to_owned(),
            ein: nonprofit.ein.map(|ein| ein.to_string()),
            slug: nonprofit.slug.to_owned(),
            location: nonprofit.location(),
            status,
        }
    }

    fn badge(&self) -> &'static str {
        match self.status {
            Status::Disbursable => "badge badge-good",
            Status::Revoked => "badge badge-bad",
            Status::Gone | Status::NotDisbursable => "badge badge-warn",
        }
    }

    fn status_text(&self, t: &OperatorTexts) -> &'static str {
        match self.status {
            Status::Disbursable => t.disbursable,
            Status::Gone => t.gone,
            Status::Revoked => t.tax_exemption_revoked,
            Status::NotDisbursable => t.not_disbursable,
        }
    }
}

/// `GET /dashboard/operator/nonprofits/{id}`: by ID, EIN or slug.
pub async fn nonprofit(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let found = match app.directory.resolve_lenient(&id).await {
        Ok(found) => found,
        Err(ResolveError::Store(error)) => return Err(error.into()),
        Err(_) => return Err(Error::NotFound),
    };
    let facts = found.nonprofit().as_ref().map(Facts::new);
    let facts = facts.ok_or(Error::NotFound)?;
    let now = app.clock.millis();
    let reports = reports::list_open_of_nonprofit(&app.db, facts.id, MAX_LISTED).await?;
    let page = NonprofitPage {
        layout: with_menu(&app, layout, &user).await?,
        fundraisers: fundraisers::list_of_nonprofit(&app.db, facts.id, MAX_LISTED).await?,
        reports: reports
            .into_iter()
            .map(|report| {
                let reason = PUBLIC_EN.report.reason(report.reason);
                let reported = RelativeTime::new(report.created_at, now);
                (report, reason, reported)
            })
            .collect(),
        members: claims::list_members(&app.db, facts.id).await?,
        facts,
    };
    Ok(Page(page).into_response())
}
