//! The search results, `/search`: how many nonprofits match, filters, order, and pages that do not change while paging.
//!
//! All pages of a search are slices of one list, which is cached. The total is the length of that list. A keystroke stops
//! reading where further hits are hardly ever wanted; this search reads on within a larger budget until 1,001 are found or no
//! document is left, as bulk work of the visitor's network.

use crate::app::App;
use crate::app::bulk_work::Slice;
use crate::http::client::Client;
use crate::http::error::Result;
use crate::http::pagination::Pagination;
use crate::http::params::{RawQuery, positive};
use crate::site::card::Card;
use crate::site::cause_links::{CauseLink, offered, popular};
use crate::site::highlight::correct_spelling;
use crate::site::search::{admit, typed};
use crate::site::search_explanation::explain;
use crate::site::search_filters::{Chip, Filters};
use crate::web::guard::LOCATION_PERMISSIONS;
use crate::web::numbers::thousands;
use crate::web::texts::{SearchTexts, fill};
use crate::web::{Layout, Meta, Pager, PublicPage, Section};
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use directory::View;
use directory::nonprofits::causes::Cause;
use directory::nonprofits::location::STATES;
use directory::nonprofits::size::Size;
use directory::query::filter::Order;
use directory::query::interpretation::Interpretation;
use directory::query::search::AllHits;
use directory::query::search::MAX_LISTED;
use platform::text::fold;
use std::sync::Arc;

const PAGE_SIZE: u64 = 20;
/// Fewer results than this are explained.
const FEW_RESULTS: usize = 5;

#[derive(Template)]
#[template(path = "site/results.html")]
struct Results<'a> {
    layout: Layout,
    meta: Meta,
    title: String,
    typed: String,
    /// How many nonprofits match.
    total: String,
    /// Whether the list ends before all nonprofits that match.
    is_cut: bool,
    filters: Filters,
    chips: Vec<Chip>,
    orders: Vec<OrderLink>,
    place_error: Option<String>,
    all_causes: Vec<&'static Cause>,
    states: &'static [(&'static str, &'static str)],
    sizes: Vec<(&'static str, &'static str)>,
    /// The URL and the text of a corrected search term.
    suggestion: Option<(String, String)>,
    /// Why little was found.
    explanation: Vec<String>,
    /// How the words were read, and the URL of a search for all words only.
    interpretation: Option<(String, String)>,
    hits: Vec<Card<'a>>,
    pager: Pager,
    causes: Vec<CauseLink>,
}

/// A link that sorts the results.
struct OrderLink {
    text: &'static str,
    url: String,
    is_current: bool,
}

/// `GET /search?q=&cause=&state=&city=&size=&deductible=&near=&radius=&sort=&words=&page=`
pub async fn results(State(app): State<App>, client: Client, RawQuery(query): RawQuery) -> Result<Response> {
    admit(&app, client).await?;
    let (typed, filters) = (typed(&query), Filters::parse(&query, app.directory.causes()));
    let view = app.directory.view();
    let all = find_all(&app, client, &view, &typed, &filters).await?;
    let count = all.hits.len().min(MAX_LISTED);
    let page = positive(&query, "page").ok().flatten().unwrap_or(1) as u64;
    let pages = Pagination::new(1, PAGE_SIZE, count as u64).pages;
    let pagination = Pagination::new(page.clamp(1, pages.max(1)), PAGE_SIZE, count as u64);
    let shown = all.hits[..count].iter().skip(pagination.skipped() as usize);
    let (causes, layout) = (app.directory.causes(), Layout::new(Section::Home));
    let t = &layout.p.search;
    let explanation = if typed.is_empty() || count >= FEW_RESULTS {
        Vec::new()
    } else {
        explain(&app, client, &view, &typed, &filters.filter, t).await?
    };
    let title = if typed.is_empty() {
        t.title_empty.to_owned()
    } else {
        fill(t.title, &[("typed", &typed)])
    };
    let meta = Meta::new(
        &layout,
        &title,
        layout.p.home.about,
        app.site.urls.page("/search"),
    );
    let first = all.hits.iter().take(5);
    let names = first.filter_map(|hit| view.nonprofit(hit.location));
    let names: Vec<&str> = names.map(|nonprofit| nonprofit.name).collect();
    let corrected = correct_spelling(&typed, names.iter().copied());
    let hits: Vec<Card<'_>> = shown
        .take(PAGE_SIZE as usize)
        .filter_map(|hit| {
            let words: Vec<String> = hit.words.iter().map(|word| fold(word, ' ')).collect();
            let miles = filters
                .filter
                .near
                .and_then(|near| view.miles_from(&near, hit.location));
            let card = Card::new(&view.nonprofit(hit.location)?, &words, causes);
            Some(card.at_distance(miles, t))
        })
        .collect();
    let page = Results {
        meta,
        title,
        total: describe_total(count, &all, t),
        is_cut: !all.is_complete,
        chips: filters.chips(&typed, causes, t),
        orders: order_links(&filters, &typed, t),
        all_causes: offered(&view, causes).collect(),
        states: &STATES,
        sizes: Size::ALL.map(|size| (size.name(), t.size(size))).to_vec(),
        pager: Pager::new(
            &layout,
            format!("{}&", filters.url(&typed)),
            pagination.page,
            pagination.pages,
        ),
        causes: if hits.is_empty() {
            popular(&view, causes, 8)
        } else {
            Vec::new()
        },
        hits,
        place_error: filters.place_error(t),
        explanation,
        interpretation: all.interpretation.as_deref().map(|read| {
            (
                describe_interpretation(read, t),
                filters.clone().with_words_only().url(&typed),
            )
        }),
        suggestion: corrected.map(|corrected| (filters.url(&corrected), corrected)),
        layout,
        typed,
        filters,
    };
    Ok(([LOCATION_PERMISSIONS], PublicPage(page)).into_response())
}

/// Finds all results, from the cache or else as bulk work: a search for everything can take milliseconds.
async fn find_all(
    app: &App,
    client: Client,
    view: &Arc<View>,
    typed: &str,
    filters: &Filters,
) -> Result<AllHits> {
    if typed.is_empty() {
        return Ok(AllHits {
            is_complete: true,
            ..AllHits::default()
        });
    }
    let (filter, order) = (filters.filter.clone(), filters.order);
    if let Some(all) = app.caches.search_answers.cached_list(view, typed, &filter, order) {
        return Ok(all);
    }
    let (work, view, typed) = (app.clone(), Arc::clone(view), typed.to_owned());
    let find = move |_: &Slice| Some(work.caches.search_answers.list(&view, &typed, &filter, order));
    Ok(app.bulk_work.run(client.owner(), find).await?)
}

/// Says how many nonprofits match: exactly, or that there are more than were counted.
fn describe_total(count: usize, all: &AllHits, t: &SearchTexts) -> String {
    let text = match (count, all.is_complete) {
        (1, true) => t.total_one,
        (_, true) => t.total,
        _ => t.total_more,
    };
    fill(text, &[("count", &thousands(count as u64))])
}

/// Says which kinds the words were read as, and which words some of the results lack.
fn describe_interpretation(read: &Interpretation, t: &SearchTexts) -> String {
    let (kinds, words) = (read.kinds.join(t.quoted_or), read.left_out.join(t.quoted_or));
    let kinds = (!kinds.is_empty()).then(|| fill(t.read_as_kinds, &[("kinds", &kinds)]));
    let words = (!words.is_empty()).then(|| fill(t.some_words, &[("words", &words)]));
    kinds.into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

fn order_links(filters: &Filters, typed: &str, t: &SearchTexts) -> Vec<OrderLink> {
    let link = |(order, text)| OrderLink {
        text,
        url: filters.clone().with_order(order).url(typed),
        is_current: filters.order == order,
    };
    let all = [
        (Order::Best, t.sort_best),
        (Order::Largest, t.sort_largest),
        (Order::Name, t.sort_name),
        (Order::Nearest, t.sort_nearest),
    ];
    let offered = all
        .into_iter()
        .filter(|(order, _)| *order != Order::Nearest || filters.filter.near.is_some());
    offered.map(link).collect()
}
