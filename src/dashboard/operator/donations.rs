//! The donations in the ledger, with filters.

use crate::app::App;
use crate::dashboard::operator::list::{ListPage, PAGE_SIZE, parameter, with_times};
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::Result;
use crate::http::session::Operator;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use crate::web::{Layout, Page};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use directory::ResolveError;
use giving::donations::listing::{DonationFilter, RecordedDonation};
use giving::donations::store;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use platform::ids::{FundraiserId, NonprofitId};
use uuid::Uuid;

const LIST_PATH: &str = "/dashboard/operator/donations";

#[derive(Template)]
#[template(path = "dashboard/operator/donations.html")]
struct DonationsPage {
    layout: Layout,
    fields: Vec<FilterField>,
    /// Why a filter was ignored.
    error: Option<&'static str>,
    count: i64,
    pager: Pager,
    donations: Vec<(RecordedDonation, RelativeTime)>,
}

struct FilterField {
    name: &'static str,
    label: &'static str,
    kind: &'static str,
    value: String,
}

/// `GET /dashboard/operator/donations`
pub async fn list(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let t = &layout.t.operator;
    let text = |name| parameter(query.as_deref(), name);
    let fields = vec![
        FilterField::new("nonprofit", t.nonprofit, "text", text("nonprofit")),
        FilterField::new("fundraiser", t.fundraiser_id, "text", text("fundraiser")),
        FilterField::new("source", t.source, "text", text("source")),
        FilterField::new("from", t.from, "date", text("from")),
        FilterField::new("until", t.until, "date", text("until")),
    ];
    let value = |name| {
        let field = fields.iter().find(|field| field.name == name);
        field.map_or("", |field| field.value.as_str())
    };
    let mut error = None;
    let nonprofit = match value("nonprofit") {
        "" => None,
        text => {
            let found = find_nonprofit(&app, text).await?;
            error = found.is_none().then_some(t.unknown_nonprofit);
            found
        }
    };
    let day = |name| midnight(value(name));
    let filter = DonationFilter {
        nonprofit,
        fundraiser: Uuid::try_parse(value("fundraiser")).ok().map(FundraiserId),
        source: Some(value("source").to_owned()).filter(|source| !source.is_empty()),
        from: day("from"),
        // The last day is included.
        until: day("until").map(|start| start + 24 * 60 * 60 * 1000),
    };
    let count = store::count(&app.db, &filter).await?;
    let list_page = ListPage::parse(query.as_deref(), count);
    let donations = store::list(&app.db, &filter, PAGE_SIZE, list_page.skipped()).await?;
    let parameters: Vec<(&str, &str)> = fields
        .iter()
        .map(|field| (field.name, field.value.as_str()))
        .collect();
    let page = DonationsPage {
        pager: list_page.pager(&layout, LIST_PATH, &parameters),
        layout: with_menu(&app, layout, &user).await?,
        error,
        count,
        donations: with_times(donations.into_iter(), app.clock.millis(), |donation| {
            donation.recorded_at
        }),
        fields,
    };
    Ok(Page(page).into_response())
}

impl FilterField {
    fn new(name: &'static str, label: &'static str, kind: &'static str, value: String) -> FilterField {
        FilterField {
            name,
            label,
            kind,
            value,
        }
    }
}

async fn find_nonprofit(app: &App, text: &str) -> Result<Option<NonprofitId>> {
    match app.directory.resolve_lenient(text).await {
        Ok(found) => Ok(found.nonprofit().map(|nonprofit| nonprofit.id)),
        Err(ResolveError::Store(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// Returns the start of a day in UTC, such as `2026-05-01`.
fn midnight(text: &str) -> Option<i64> {
    let day: Date = text.parse().ok()?;
    let start = day.to_zoned(TimeZone::UTC).ok()?;
    Some(start.timestamp().as_millisecond())
}
