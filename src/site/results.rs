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
use crate::site::cause_links::{CauseLink, link, offered, popular};
use crate::site::highlight::correct_spelling;
use crate::site::search::{admit, typed};
use crate::site::search_explanation::{describe_unknown, explain};
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
use directory::nonprofits::ein::Ein;
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::location::STATES;
use directory::nonprofits::size::Size;
use directory::query::filter::Order;
use directory::query::interpretation::Interpretation;
use directory::query::named_causes::named_causes;
use directory::query::search::AllHits;
use directory::query::search::MAX_LISTED;
use platform::text::fold;
use std::sync::Arc;

const PAGE_SIZE: u64 = 20;
/// Fewer results than this are explained.
const FEW_RESULTS: usize = 5;
const MAX_NAMED_CAUSES: usize = 3;

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
    states: Vec<(&'static str, &'static str)>,
    sizes: Vec<(&'static str, &'static str)>,
    /// The causes that were typed.
    named_causes: Vec<CauseLink>,
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
    let (typed, mut filters) = (typed(&query), Filters::parse(&query, app.directory.causes()));
    let view = app.directory.view();
    let near = filters.filter.near;
    filters.city_of_place = near.and_then(|near| view.city_at(near.center));
    let all = find_all(&app, client, &view, &typed, &filters).await?;
    let count = all.hits.len().min(MAX_LISTED);
    let page = positive(&query, "page").ok().flatten().unwrap_or(1) as u64;
    let pages = Pagination::new(1, PAGE_SIZE, count as u64).pages;
    let pagination = Pagination::new(page.clamp(1, pages.max(1)), PAGE_SIZE, count as u64);
    let shown = all.hits[..count].iter().skip(pagination.skipped() as usize);
    let (causes, layout) = (app.directory.causes(), Layout::new(Section::Home));
    let t = &layout.p.search;
    let is_partial = all.interpretation.is_some();
    let Notes {
        explanation,
        corrected,
    } = Notes::find(&app, client, &view, &typed, &filters, (count, is_partial), t).await?;
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
    // If some results lack words, those that are in no name may be right.
    let corrected = corrected.or_else(|| {
        let names = names.iter().copied().filter(|_| !is_partial);
        correct_spelling(&typed, names)
    });
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
        total: describe_total(count, &all, filters.city_of_place.as_deref(), t),
        is_cut: !all.is_complete,
        chips: filters.chips(&typed, causes, t),
        orders: order_links(&filters, &typed, t),
        all_causes: offered(&view, causes),
        states: states_by_name(),
        named_causes: named_causes(&typed, causes)
            .into_iter()
            .map(|cause| link(&view, cause))
            .filter(|link| link.nonprofits > 0)
            .take(MAX_NAMED_CAUSES)
            .collect(),
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

/// What the page says about the words of a search.
#[derive(Debug, Default)]
struct Notes {
    /// Why little was found.
    explanation: Vec<String>,
    /// The search that was probably meant.
    corrected: Option<String>,
}

impl Notes {
    /// Explains a search that found few results, or some that do not have all words.
    async fn find(
        app: &App,
        client: Client,
        view: &Arc<View>,
        typed: &str,
        filters: &Filters,
        (count, is_partial): (usize, bool),
        t: &SearchTexts,
    ) -> Result<Notes> {
        if typed.is_empty() || (count >= FEW_RESULTS && !is_partial) {
            return Ok(Notes::default());
        }
        let (checked, text) = (Arc::clone(view), typed.to_owned());
        let check = move |_: &Slice| Some(checked.check_spelling(&text));
        let spelling = app.bulk_work.run(client.owner(), check).await?;
        let explanation = if count < FEW_RESULTS {
            explain(app, client, view, typed, &filters.filter, t).await?
        } else {
            describe_unknown(&spelling.unknown_words, t)
        };
        Ok(Notes {
            explanation,
            corrected: spelling.corrected,
        })
    }
}

/// Returns the states with their codes, sorted by name as they are shown.
fn states_by_name() -> Vec<(&'static str, &'static str)> {
    let mut states = STATES.to_vec();
    states.sort_by_key(|(_, name)| *name);
    states
}

/// Finds all results, from the cache or else as bulk work: a search for everything can take milliseconds.
async fn find_all(
    app: &App,
    client: Client,
    view: &Arc<View>,
    typed: &str,
    filters: &Filters,
) -> Result<AllHits> {
    // Of an EIN that no nonprofit has, the page says so. Its digits are not words.
    let is_unknown_ein =
        || Ein::find_in(typed).is_some_and(|(ein, _)| view.find(&Identifier::Ein(ein)).is_none());
    if typed.is_empty() || is_unknown_ein() {
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
fn describe_total(count: usize, all: &AllHits, city: Option<&str>, t: &SearchTexts) -> String {
    let text = match (count, all.is_complete) {
        (1, true) => t.total_one,
        (_, true) => t.total,
        _ => t.total_more,
    };
    let total = fill(text, &[("count", &thousands(count as u64))]);
    match city {
        Some(city) => fill(t.near_city, &[("total", &total), ("city", city)]),
        None => total,
    }
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
