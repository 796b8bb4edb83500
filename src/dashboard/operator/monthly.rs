//! The monthly gifts: how many are in each state, and the list of them.

use crate::app::App;
use crate::dashboard::operator::donation::state_text;
use crate::dashboard::operator::list::{ListPage, PAGE_SIZE, parameter};
use crate::dashboard::operator::names::name_of;
use crate::dashboard::operator::nav::with_menu;
use crate::dashboard::operator::stripe_links::object_url;
use crate::http::error::Result;
use crate::http::session::Operator;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::{MoneyTexts, fill};
use crate::web::{Layout, Page};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use giving::checkout::receipt::format_date;
use giving::fundraisers::store as fundraisers;
use giving::monthly::store::{self, GiftCount};
use giving::monthly::{Cause, MonthlyGift, State as GiftState};

/// Where this page is.
pub(super) const PATH: &str = "/dashboard/operator/monthly";

#[derive(Template)]
#[template(path = "dashboard/operator/monthly.html")]
struct MonthlyPage {
    layout: Layout,
    counts: Vec<(GiftCount, &'static str)>,
    state: Option<GiftState>,
    gifts: Vec<Row>,
    pager: Pager,
}

struct Row {
    gift: MonthlyGift,
    /// The page of the recipient, and its name.
    recipient: (String, String),
    status: String,
    started: RelativeTime,
    next: Option<String>,
    subscription_url: Option<String>,
}

/// `GET /dashboard/operator/monthly`
pub async fn list(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let t = &layout.t.money;
    let state = GiftState::find(&parameter(query.as_deref(), "state"));
    let mode = app.config.giving.mode();
    let counts = store::count(&app.db, mode).await?;
    let listed = counts
        .iter()
        .filter(|count| state.is_none_or(|state| count.state == state));
    let list_page = ListPage::parse(query.as_deref(), listed.map(|count| count.gifts).sum());
    let mut gifts = Vec::new();
    for gift in store::list(&app.db, mode, state, PAGE_SIZE, list_page.skipped()).await? {
        gifts.push(Row::load(&app, t, gift).await?);
    }
    let name = state.map_or("", GiftState::as_str);
    let page = MonthlyPage {
        pager: list_page.pager(&layout, PATH, &[("state", name)]),
        counts: counts
            .into_iter()
            .map(|count| (count, state_text(t, count.state)))
            .collect(),
        layout: with_menu(&app, layout, &user).await?,
        state,
        gifts,
    };
    Ok(Page(page).into_response())
}

/// Returns the state of a gift, and why it is in it.
fn status_text(t: &MoneyTexts, gift: &MonthlyGift) -> String {
    let status = &gift.status;
    let state = state_text(t, status.state);
    match (status.cause, &status.failure) {
        (Some(Cause::Recipient), _) => fill(t.gift_no_recipient, &[("state", state)]),
        (_, Some(failure)) => format!("{state}: {}", failure.reason),
        _ => state.to_owned(),
    }
}

impl Row {
    async fn load(app: &App, t: &MoneyTexts, gift: MonthlyGift) -> Result<Row> {
        let fundraiser = match gift.fundraiser {
            Some(id) => fundraisers::find(&app.db, id).await?,
            None => None,
        };
        let recipient = if let Some(fundraiser) = fundraiser {
            let path = format!("/dashboard/operator/fundraisers/{}", fundraiser.id);
            (path, fundraiser.title)
        } else {
            let path = format!("/dashboard/operator/nonprofits/{}", gift.nonprofit);
            (path, name_of(app, gift.nonprofit).await?)
        };
        let (status, is_live) = (&gift.status, !gift.mode.is_test());
        Ok(Row {
            recipient,
            status: status_text(t, &gift),
            started: RelativeTime::new(gift.started_at, app.clock.millis()),
            next: status
                .next_charge_at()
                .map(|at| format_date(at, &app.config.time_zone)),
            subscription_url: status.subscription.as_deref().map(|id| object_url(id, is_live)),
            gift,
        })
    }
}
