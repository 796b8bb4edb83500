//! `/fundraisers`: the public fundraisers, for people to discover.

use crate::app::App;
use crate::app::compressible_text::CompressibleText;
use crate::app::page_cache::PageState;
use crate::http::error::Result;
use crate::http::pagination::Pagination;
use crate::http::params::{RawQuery, positive, values};
use crate::site::feeds;
use crate::site::fundraiser_cards::{FundraiserCard, cards};
use crate::web::page::{public_response, render};
use crate::web::{Layout, Meta, Pager, Section};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use giving::fundraisers::store::{self, Order};
use giving::ledger::entry::Mode;

/// The path of the page.
pub const PATH: &str = "/fundraisers";
const PAGE_SIZE: u64 = 24;
/// The number of pages. The database skips at most 2,376 entries of an index, once for each change of a fundraiser, so
/// pages can have numbers instead of cursors.
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

/// `GET /fundraisers?sort=&page=`
pub async fn list(State(app): State<App>, RawQuery(query): RawQuery) -> Result<Response> {
    let order = match values(&query, "sort").next().as_deref() {
        Some("raised") => Order::Raised,
        _ => Order::Recent,
    };
    let page = positive(&query, "page").ok().flatten().unwrap_or(1) as u64;
    let key = (order, page.clamp(1, MAX_PAGES));
    let now = app.clock.instant();
    let state = PageState::read(&app.directory, &app.giving.fundraisers).await;
    let cached = state
        .as_ref()
        .and_then(|state| app.caches.fundraiser_lists.get(&key, state, now));
    if let Some(html) = cached {
        return Ok(public_response(html));
    }
    let html = CompressibleText::new(render(&FundraisersPage::new(&app, key).await?)?);
    if let Some(state) = state {
        app.caches.fundraiser_lists.set(key, state, now, html.clone());
    }
    Ok(public_response(html))
}

impl FundraisersPage {
    async fn new(app: &App, (order, page): (Order, u64)) -> Result<FundraisersPage> {
        let layout = Layout::new(Section::Fundraisers);
        let t = &layout.f.discover;
        let total = store::count_public(&app.db, PAGE_SIZE * MAX_PAGES).await?;
        let pagination = Pagination::new(page, PAGE_SIZE, total);
        let (modes, now) = (Mode::counted(app.is_test_mode()), app.clock.millis());
        let window = (PAGE_SIZE as i64, pagination.skipped() as i64);
        let listed = store::list_public(&app.db, order, modes, now, window).await?;
        let cards = cards(app, listed).await?;
        let url = match order {
            Order::Recent => format!("{PATH}?"),
            Order::Raised => format!("{PATH}?sort=raised&"),
        };
        let meta = Meta::new(&layout, t.title, t.about, app.site.urls.page(PATH));
        Ok(FundraisersPage {
            meta: meta.feed(feeds::PATH, layout.p.fundraiser.feed),
            pager: Pager::new(&layout, url, page, pagination.pages.min(MAX_PAGES)),
            cards,
            order,
            total,
            layout,
        })
    }

    fn is_by_raised(&self) -> bool {
        self.order == Order::Raised
    }
}
