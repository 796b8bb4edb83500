//! The usage page: calls of one key or of all keys of an account, as a chart, a table and a CSV file.

use super::chart::{Chart, Span};
use super::csv;
use crate::app::App;
use crate::dashboard::key_view::find_own;
use crate::http::error::Result;
use crate::http::params;
use crate::web::layout::Tab;
use crate::web::texts::Usage as Texts;
use crate::web::{Layout, Page};
use access::keys::store as keys;
use access::sessions::SignedIn;
use access::usage::store::{self, Unit};
use access::usage::{Counts, Period, RETENTION_MILLIS};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use platform::ids::KeyId;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A chart with links to other spans and to the CSV file; `dashboard/usage/usage.html` renders it.
#[derive(Clone, Debug)]
pub struct UsageView {
    pub chart: Chart,
    pub span: Span,
    /// The calls of each endpoint, most used first.
    pub endpoints: Vec<(String, Counts)>,
    /// The path of the page that shows it.
    pub path: String,
    pub csv: String,
}

#[derive(Template)]
#[template(path = "dashboard/usage/page.html")]
struct UsagePage {
    layout: Layout,
    usage: UsageView,
    keys: Vec<(String, String)>,
}

impl UsageView {
    pub fn new(periods: &[Period], span: Span, now: i64, t: &Texts, path: String, csv: String) -> UsageView {
        let calls = periods.iter().map(|period| (period.start, period.counts));
        UsageView {
            chart: Chart::new(t.chart.to_owned(), span, now, calls),
            span,
            endpoints: by_endpoint(periods),
            path,
            csv,
        }
    }

    pub fn spans(&self, t: &Texts) -> [(Span, &'static str); 3] {
        [
            (Span::Day, t.span_day),
            (Span::Month, t.span_month),
            (Span::Year, t.span_year),
        ]
    }
}

/// Sums the calls of each endpoint, most used first.
fn by_endpoint(periods: &[Period]) -> Vec<(String, Counts)> {
    let mut sums: BTreeMap<&str, Counts> = BTreeMap::new();
    for period in periods {
        sums.entry(&period.endpoint).or_default().add(period.counts);
    }
    let mut sums: Vec<_> = sums
        .into_iter()
        .map(|(endpoint, counts)| (endpoint.to_owned(), counts))
        .collect();
    sums.sort_by_key(|(_, counts)| Reverse(counts.calls()));
    sums
}

/// Returns the span that a query asks for.
pub fn span_of(query: Option<&str>) -> Span {
    let span = params::values(query.unwrap_or_default(), "span").next();
    Span::parse(&span.unwrap_or_default())
}

/// `GET /dashboard/usage`
pub async fn usage(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let span = span_of(query.as_deref());
    let now = app.clock.millis();
    let periods = store::list_of_account(&app.db, user.account, span.unit(), span.since(now)).await?;
    let path = "/dashboard/usage".to_owned();
    let csv = "/dashboard/usage.csv".to_owned();
    let usage = UsageView::new(&periods, span, now, &layout.t.usage, path, csv);
    let keys = keys::list(&app.db, Some(&user.username)).await?;
    let page = UsagePage {
        usage,
        keys: keys
            .into_iter()
            .map(|key| (key.id.to_string(), key.title()))
            .collect(),
        layout: layout.with_menu(&user, Tab::Usage),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/usage.csv`: all hours of all keys, or of the key `?key=`, that are stored.
pub async fn export(State(app): State<App>, user: SignedIn, RawQuery(query): RawQuery) -> Result<Response> {
    let query = query.unwrap_or_default();
    let since = app.clock.millis() - RETENTION_MILLIS;
    let hours = match params::values(&query, "key").next() {
        Some(id) => {
            let key = find_own(&app.db, &user, &id).await?;
            store::list_of_key(&app.db, KeyId(key.id), Unit::Hour, since).await?
        }
        None => store::list_of_account(&app.db, user.account, Unit::Hour, since).await?,
    };
    let keys = keys::list(&app.db, Some(&user.username)).await?;
    let names = keys.into_iter().map(|key| (key.id, key.name)).collect();
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"causeway-usage.csv\""),
    ];
    Ok((headers, csv::export(&hours, &names)).into_response())
}
