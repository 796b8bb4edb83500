//! The donations in the ledger, with filters, and the page of one.

use crate::app::App;
use crate::dashboard::operator::list::{ListPage, PAGE_SIZE, parameter, with_times};
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use crate::web::{Layout, Page};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use directory::nonprofits::identifier::Identifier;
use directory::{NonprofitRef, ResolveError};
use giving::checkout::Donation;
use giving::checkout::store as checkout;
use giving::donations::listing::{DonationFilter, RecordedDonation};
use giving::donations::store;
use giving::fundraisers::store as fundraisers;
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

#[derive(Template)]
#[template(path = "dashboard/operator/donation.html")]
struct DonationPage {
    layout: Layout,
    recorded: Option<RecordedDonation>,
    started: Option<Donation>,
    when: RelativeTime,
    nonprofit: String,
    nonprofit_id: NonprofitId,
    fundraiser: Option<(FundraiserId, String)>,
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

/// `GET /dashboard/operator/donations/{id}`: by the number of its ledger entry, by its ID at the checkout, or by the
/// ID of its receipt.
pub async fn donation(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let (recorded, started) = match (id.parse(), Uuid::try_parse(&id)) {
        (Ok(sequence), _) => (store::find(&app.db, sequence).await?, None),
        (_, Ok(id)) => (
            store::find_by_checkout(&app.db, id).await?,
            checkout::find_by_either_id(&app.db, id).await?,
        ),
        _ => return Err(Error::NotFound),
    };
    let (at, nonprofit, fundraiser) = match (&recorded, &started) {
        (Some(recorded), _) => (recorded.recorded_at, recorded.nonprofit, recorded.fundraiser),
        (None, Some(started)) => (started.started_at, started.nonprofit, started.fundraiser),
        (None, None) => return Err(Error::NotFound),
    };
    let page = DonationPage {
        layout: with_menu(&app, layout, &user).await?,
        when: RelativeTime::new(at, app.clock.millis()),
        nonprofit: name_of(&app, nonprofit).await?,
        nonprofit_id: nonprofit,
        fundraiser: match fundraiser {
            Some(id) => fundraisers::find(&app.db, id)
                .await?
                .map(|found| (id, found.title)),
            None => None,
        },
        recorded,
        started,
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

async fn name_of(app: &App, id: NonprofitId) -> Result<String> {
    let found = app.directory.find(&Identifier::Id(id)).await?;
    let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
    Ok(nonprofit.map_or_else(|| id.to_string(), |nonprofit| nonprofit.name.to_owned()))
}

/// Returns the start of a day in UTC, such as `2026-05-01`.
fn midnight(text: &str) -> Option<i64> {
    let day: Date = text.parse().ok()?;
    let start = day.to_zoned(TimeZone::UTC).ok()?;
    Some(start.timestamp().as_millisecond())
}
