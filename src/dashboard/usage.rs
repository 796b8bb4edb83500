//! Usage on the dashboard: the chart of one key or of all keys of an account, the same numbers as a table, and as a
//! file.

use super::chart::{Calls, Chart, Span};
use super::csv;
use crate::app::App;
use crate::dashboard::key_view::own;
use crate::http::error::Result;
use crate::http::params;
use crate::web::frame::Tab;
use crate::web::texts::Usage as Texts;
use crate::web::{Frame, Page};
use access::keys::store as keys;
use access::sessions::SignedIn;
use access::usage::{Hour, store};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use platform::ids::KeyId;

/// A chart with what stands around it; `usage/usage.html` draws it as `usage`.
#[derive(Clone, Debug)]
pub struct UsageView {
    pub chart: Chart,
    pub span: Span,
    /// The page that it stands on.
    pub address: String,
    pub csv: String,
}

#[derive(Template)]
#[template(path = "dashboard/usage/page.html")]
struct UsagePage {
    frame: Frame,
    usage: UsageView,
    keys: Vec<(String, String)>,
}

impl UsageView {
    pub fn new(hours: &[Hour], span: Span, now: i64, t: &Texts, address: String, csv: String) -> UsageView {
        let calls = hours.iter().map(|hour| (hour.hour, calls(hour)));
        UsageView {
            chart: Chart::new(t.chart.to_owned(), span, now, calls),
            span,
            address,
            csv,
        }
    }

    pub fn spans(&self, t: &Texts) -> [(Span, &'static str); 3] {
        [
            (Span::Day, t.span_day),
            (Span::Week, t.span_week),
            (Span::Quarter, t.span_quarter),
        ]
    }
}

/// Refused and failed calls are counted among all calls.
fn calls(hour: &Hour) -> Calls {
    let counts = hour.counts;
    Calls {
        served: counts.calls.saturating_sub(counts.refused + counts.errors),
        refused: counts.refused,
        failed: counts.errors,
    }
}

/// The span that a query asks for.
pub fn span_of(query: Option<&str>) -> Span {
    let asked = params::values(query.unwrap_or_default(), "span").next();
    Span::find(&asked.unwrap_or_default())
}

/// `GET /dashboard/usage`
pub async fn usage(
    State(app): State<App>,
    who: SignedIn,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let span = span_of(query.as_deref());
    let now = app.clock.millis();
    let hours = store::list_of_account(&app.db, who.account, span.since(now)).await?;
    let address = "/dashboard/usage".to_owned();
    let csv = "/dashboard/usage.csv".to_owned();
    let usage = UsageView::new(&hours, span, now, &frame.t.usage, address, csv);
    let keys = keys::list(&app.db, Some(&who.username)).await?;
    let page = UsagePage {
        usage,
        keys: keys
            .into_iter()
            .map(|key| (key.id.to_string(), key.title()))
            .collect(),
        frame: frame.at(&who, Tab::Usage),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/usage.csv`, of all keys or with `?key=` of one: all that is kept.
pub async fn export(State(app): State<App>, who: SignedIn, RawQuery(query): RawQuery) -> Result<Response> {
    let query = query.unwrap_or_default();
    let since = Span::Quarter.since(app.clock.millis());
    let hours = match params::values(&query, "key").next() {
        Some(id) => {
            let key = own(&app.db, &who, &id).await?;
            store::list_of_key(&app.db, KeyId(key.id), since).await?
        }
        None => store::list_of_account(&app.db, who.account, since).await?,
    };
    let keys = keys::list(&app.db, Some(&who.username)).await?;
    let names = keys.into_iter().map(|key| (key.id, key.name)).collect();
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"causeway-usage.csv\""),
    ];
    Ok((headers, csv::export(&hours, &names)).into_response())
}
