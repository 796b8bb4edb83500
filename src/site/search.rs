//! The search results, and the live results while a visitor types.

use super::highlight::correct_spelling;
use crate::app::App;
use crate::app::search_answers::Filter;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, positive, values};
use crate::site::card::Card;
use crate::site::cause_links::{CauseLink, offered, popular};
use crate::site::search_explanation::explain;
use crate::site::search_filters::Filters;
use crate::web::guard::LOCATION_PERMISSIONS;
use crate::web::texts::fill;
use crate::web::{Layout, Meta, Pager, PublicPage, Section};
use access::keys::Class;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use directory::nonprofits::causes::Cause;
use directory::nonprofits::location::STATES;
use directory::search::HitRef;
use platform::text::{cut, fold};
use std::sync::Arc;

/// The maximum length of a search term in characters.
const MAX_TERM_CHARS: usize = 256;
/// The number of live results.
const LIVE_HITS: usize = 8;
const PAGE_SIZE: usize = 20;
/// Fewer results than this are explained.
const FEW_RESULTS: usize = 5;
/// The number of pages of results. A better search term helps more than page 11.
const MAX_PAGES: usize = 10;
/// Searches per minute and network: enough for several fast typists behind one IP address.
const SEARCHES_PER_MINUTE: u32 = 1_200;

#[derive(Template)]
#[template(path = "site/results.html")]
struct Results<'a> {
    layout: Layout,
    meta: Meta,
    title: String,
    typed: String,
    filters: Filters,
    place_error: Option<String>,
    all_causes: Vec<&'static Cause>,
    states: &'static [(&'static str, &'static str)],
    /// The URL and the text of a corrected search term.
    suggestion: Option<(String, String)>,
    /// Why little was found.
    explanation: Vec<String>,
    hits: Vec<Card<'a>>,
    pager: Pager,
    causes: Vec<CauseLink>,
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

async fn admit(app: &App, client: Client) -> Result<()> {
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

/// `GET /search?q=&cause=&state=&near=&radius=&page=`
pub async fn results(State(app): State<App>, client: Client, RawQuery(query): RawQuery) -> Result<Response> {
    admit(&app, client).await?;
    let (typed, filters) = (typed(&query), Filters::parse(&query, app.directory.causes()));
    let page = positive(&query, "page").ok().flatten().unwrap_or(1);
    let page = page.clamp(1, MAX_PAGES);
    let view = app.directory.view();
    let filter = filters.to_filter();
    let found = if typed.is_empty() {
        Arc::default()
    } else {
        filter.find_hits(&view, &typed, page * PAGE_SIZE + 1)
    };
    let has_more = found.len() > page * PAGE_SIZE && page < MAX_PAGES;
    let first = (page - 1) * PAGE_SIZE;
    let shown: Vec<&HitRef> = found.iter().skip(first).take(PAGE_SIZE).collect();
    let (causes, layout) = (app.directory.causes(), Layout::new(Section::Home));
    let t = &layout.p.search;
    let explanation = if typed.is_empty() || found.len() >= FEW_RESULTS {
        Vec::new()
    } else {
        explain(&app, &view, &typed, &filter, t).await
    };
    let title = if typed.is_empty() {
        layout.p.search.title_empty.to_owned()
    } else {
        fill(layout.p.search.title, &[("typed", &typed)])
    };
    let meta = Meta::new(&layout, &title, layout.p.home.about, app.urls.page("/search")).noindex();
    let names = found
        .iter()
        .take(5)
        .filter_map(|hit| view.nonprofit(hit.location));
    let names: Vec<&str> = names.map(|nonprofit| nonprofit.name).collect();
    let corrected = correct_spelling(&typed, names.iter().copied());
    let suggestion = corrected.map(|corrected| (filters.url(&corrected), corrected));
    let pages = if has_more { page + 1 } else { page };
    let page = Results {
        meta,
        title,
        all_causes: offered(&view, causes).collect(),
        states: &STATES,
        pager: Pager::new(
            &layout,
            format!("{}&", filters.url(&typed)),
            page as u64,
            pages as u64,
        ),
        causes: if shown.is_empty() {
            popular(&view, causes, 8)
        } else {
            Vec::new()
        },
        hits: shown
            .iter()
            .filter_map(|hit| {
                let words: Vec<String> = hit.words.iter().map(|word| fold(word, ' ')).collect();
                let miles = filters.near.and_then(|near| view.miles_from(&near, hit.location));
                let card = Card::new(&view.nonprofit(hit.location)?, &words, causes);
                Some(card.at_distance(miles, t))
            })
            .collect(),
        place_error: filters.place_error(t),
        explanation,
        layout,
        typed,
        filters,
        suggestion,
    };
    Ok(([LOCATION_PERMISSIONS], PublicPage(page)).into_response())
}

/// Returns the search term without surrounding whitespace, truncated if it is too long.
fn typed(query: &str) -> String {
    let typed = values(query, "q").next().unwrap_or_default();
    cut(typed.trim(), MAX_TERM_CHARS).to_owned()
}
