//! The donations to a nonprofit and the statements of what was paid to it, for its administrators.

use super::claim::LIST_PATH;
use super::found::Found;
use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::{self, PathText};
use crate::web::dates::format_time;
use crate::web::layout::Tab;
use crate::web::texts::fill;
use crate::web::{Layout, Page};
use access::claims::Role;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use giving::disbursement::batches::store as batches;
use giving::donations::listing::ReceivedDonation;
use giving::donations::store::list_received;
use giving::ledger::entry::Mode;
use platform::money::Cents;

/// The donations on one page.
const PAGE_SIZE: i64 = 50;

#[derive(Template)]
#[template(path = "dashboard/nonprofits/donations.html")]
struct DonationsPage {
    layout: Layout,
    title: String,
    path: String,
    is_test: bool,
    donations: Vec<(ReceivedDonation, String)>,
    /// The URL of the page with older ones.
    older: Option<String>,
    statements: Vec<Statement>,
}

/// A payment to the nonprofit.
struct Statement {
    url: String,
    amount: Cents,
    day: String,
}

/// `GET /dashboard/nonprofits/{id}/donations`
pub async fn list(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let (found, role) = Found::run_by(&app, &user, &id).await?;
    if role != Role::Administrator {
        return Err(Error::NotFound);
    }
    let query = query.unwrap_or_default();
    let before = params::values(&query, "before").next();
    let before = before.and_then(|before| before.parse().ok()).unwrap_or(i64::MAX);
    let is_test = app.is_test_mode();
    let mode = if is_test { Mode::Test } else { Mode::Live };
    let donations = list_received(&app.db, found.id, mode, before, PAGE_SIZE).await?;
    let path = format!("{LIST_PATH}/{}", found.id);
    let last = donations.last().filter(|_| donations.len() as i64 == PAGE_SIZE);
    let disbursements = app.disbursements();
    let statements = batches::list_lines_of(&app.db, found.id).await?;
    let page = DonationsPage {
        title: fill(layout.t.claims.donations_title, &[("name", &found.name)]),
        older: last.map(|last| format!("{path}/donations?before={}", last.sequence)),
        statements: statements
            .iter()
            .map(|line| Statement {
                url: disbursements.statement_url(line),
                amount: line.amount,
                day: line
                    .sent_at
                    .or(line.finished_at)
                    .map(format_time)
                    .unwrap_or_default(),
            })
            .collect(),
        donations: donations
            .into_iter()
            .map(|donation| {
                let day = format_time(donation.recorded_at);
                (donation, day)
            })
            .collect(),
        layout: layout.with_menu(&user, Tab::Nonprofits),
        is_test,
        path,
    };
    Ok(Page(page).into_response())
}
