//! The first page for operators: what needs attention, the donations of today, and a search for everything.

use crate::app::App;
use crate::dashboard::operator::attention::{self, Attention};
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::Result;
use crate::http::session::Operator;
use crate::web::{Layout, Page};
use access::usage::day_of;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::donations::summary::{self, DonationSum};
use jiff::Timestamp;

#[derive(Template)]
#[template(path = "dashboard/operator/home.html")]
struct HomePage {
    layout: Layout,
    query: String,
    attention: Vec<Attention>,
    /// Today, in UTC, as the filter of donations expects it.
    today: String,
    /// The donations of today by mode.
    donations: Vec<(&'static str, DonationSum)>,
}

/// `GET /dashboard/operator`
pub async fn home(State(app): State<App>, Operator(user): Operator, layout: Layout) -> Result<Response> {
    let midnight = day_of(app.clock.millis());
    let sums = summary::sum_since(&app.db, midnight).await?;
    let t = layout.t;
    let mut donations = vec![(t.operator.live, sums.live)];
    if app.is_test_mode() || sums.test.count > 0 {
        donations.push((t.operator.test, sums.test));
    }
    let today = Timestamp::from_millisecond(midnight).unwrap_or_default();
    let page = HomePage {
        layout: with_menu(&app, layout, &user).await?,
        query: String::new(),
        attention: attention::list(&app, &t.attention).await?,
        today: today.strftime("%Y-%m-%d").to_string(),
        donations,
    };
    Ok(Page(page).into_response())
}
