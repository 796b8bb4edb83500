//! The home page, and the live results while a visitor types.

use crate::app::App;
use crate::app::search_answers::Filter;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, values};
use crate::site::card::Card;
use crate::site::cause_links::{CauseLink, popular};
use crate::site::feeds;
use crate::web::numbers::thousands;
use crate::web::{Layout, Meta, PublicPage, Section};
use access::keys::Class;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use directory::View;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::ntee::Ntee;
use platform::text::cut;

/// The maximum length of a search term in characters.
const MAX_TERM_CHARS: usize = 256;
/// The number of live results.
const LIVE_HITS: usize = 8;
/// Searches per minute and network: enough for several fast typists behind one IP address.
const SEARCHES_PER_MINUTE: u32 = 1_200;
/// The number of popular nonprofits on the home page.
const FEATURED: usize = 6;
/// How many of the most prominent nonprofits are considered for the home page.
const FEATURED_CANDIDATES: u32 = 300;

#[derive(Template)]
#[template(path = "site/home.html")]
struct Home<'a> {
    layout: Layout,
    meta: Meta,
    count: String,
    causes: Vec<CauseLink>,
    featured: Vec<Card<'a>>,
}

/// `GET /`
pub async fn home(State(app): State<App>) -> Response {
    let view = app.directory.view();
    let causes = app.directory.causes();
    let layout = Layout::new(Section::Home);
    let count = view.snapshot.as_ref().map_or(0, |snapshot| snapshot.len());
    let featured = featured(&view);
    let meta = Meta::new(
        &layout,
        layout.p.home.title,
        layout.p.home.about,
        app.urls.page("/"),
    )
    .feed(feeds::PATH, layout.p.fundraiser.feed);
    let page = Home {
        meta,
        count: thousands(u64::from(count)),
        causes: popular(&view, causes, 12),
        featured: featured
            .iter()
            .map(|nonprofit| Card::new(nonprofit, &[], causes))
            .collect(),
        layout,
    };
    PublicPage(page).into_response()
}

/// Returns the most prominent nonprofits that can receive donations, at most one of each category.
fn featured(view: &View) -> Vec<Nonprofit<'_>> {
    let Some(snapshot) = &view.snapshot else {
        return Vec::new();
    };
    let mut seen = Vec::new();
    let is_new_category = |nonprofit: &Nonprofit<'_>| {
        let category = nonprofit.ntee.map(Ntee::major);
        let is_new = category.is_some() && !seen.contains(&category);
        seen.push(category);
        is_new
    };
    (0..FEATURED_CANDIDATES.min(snapshot.len()))
        .filter(|index| !view.overlay.replaces(*index))
        .filter_map(|index| snapshot.nonprofit(index))
        .filter(Nonprofit::is_disbursable)
        .filter(is_new_category)
        .take(FEATURED)
        .collect()
}

/// `GET /search.json?q=`: the live results. The response is that of the API, but limited by network instead of key.
pub async fn live(
    State(app): State<App>,
    client: Client,
    RawQuery(query): RawQuery,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    admit(&app, client).await?;
    let typed = typed(&query);
    let view = app.directory.view();
    Ok(cache::json(&if_none_match, view.tag.as_deref(), || {
        let filter = Filter::default();
        app.search_answers
            .answer(&app.nonprofit_json, &view, &typed, LIVE_HITS, &filter)
    }))
}

/// Refuses a search from a network that searches too often.
pub async fn admit(app: &App, client: Client) -> Result<()> {
    let (key, class, now) = (client.network_id(), Class::Search, app.clock.instant());
    let verdict = app
        .visitors
        .admit(key, class as u32, now, SEARCHES_PER_MINUTE)
        .await;
    if verdict.admitted {
        Ok(())
    } else {
        Err(Error::RateLimited { class, verdict })
    }
}

/// Returns the search term without surrounding whitespace, truncated if it is too long.
pub fn typed(query: &str) -> String {
    let typed = values(query, "q").next().unwrap_or_default();
    cut(typed.trim(), MAX_TERM_CHARS).to_owned()
}
