//! `/fundraisers`: the public fundraisers, for people to discover.

use crate::app::App;
use crate::http::error::Result;
use crate::http::pagination::Pagination;
use crate::http::params::{RawQuery, positive, values};
use crate::site::feeds;
use crate::site::fundraiser_cards::{FundraiserCard, cards};
use crate::web::{Layout, Meta, Pager, PublicPage, Section};
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::fundraisers::store::{self, Order};
use giving::ledger::entry::Mode;

/// The path of the page.
pub const PATH: &str = "/fundraisers";
const PAGE_SIZE: u64 = 24;
/// The number of pages, so that nobody makes the database skip a large list.
const MAX_PAGES: u64 = 100;

#[derive(Template)]
#[template(path = "site/fundraisers.html")]
struct FundraisersPage {
    layout: Layout,
    meta: Meta,
    order: Order,
    total: u64,
    cards: Vec<FundraiserCard>,
    pager: Pager,
}

impl FundraisersPage {
    fn is_by_raised(&self) -> bool {
        self.order == Order::Raised
    }
}

/// `GET /fundraisers?sort=&page=`
pub async fn list(State(app): State<App>, RawQuery(query): RawQuery) -> Result<Response> {
    let layout = Layout::new(Section::Fundraisers);
    let t = &layout.f.discover;
    let order = match values(&query, "sort").next().as_deref() {
        Some("raised") => Order::Raised,
        _ => Order::Recent,
    };
    let page = positive(&query, "page").ok().flatten().unwrap_or(1) as u64;
    let page = page.clamp(1, MAX_PAGES);
    let total = store::count_public(&app.db, PAGE_SIZE * MAX_PAGES).await?;
    let pagination = Pagination::new(page, PAGE_SIZE, total);
    let (modes, now) = (Mode::counted(app.is_test_mode()), app.clock.millis());
    let window = (PAGE_SIZE as i64, pagination.skipped() as i64);
    let listed = store::list_public(&app.db, order, modes, now, window).await?;
    let cards = cards(&app, listed).await?;
    let url = match order {
        Order::Recent => format!("{PATH}?"),
        Order::Raised => format!("{PATH}?sort=raised&"),
    };
    let meta = Meta::new(&layout, t.title, t.about, app.site.urls.page(PATH));
    let page = FundraisersPage {
        meta: meta.feed(feeds::PATH, layout.p.fundraiser.feed),
        pager: Pager::new(&layout, url, page, pagination.pages.min(MAX_PAGES)),
        cards,
        order,
        total,
        layout,
    };
    Ok(PublicPage(page).into_response())
}
