//! The home page, the results of a search, and the answers to each keystroke on the home page.

use super::marked::meant;
use crate::app::App;
use crate::app::search_answers::Filter;
use crate::http::cache::{self, IfNoneMatch};
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, positive, values};
use crate::site::card::Card;
use crate::site::cause_links::{CauseLink, popular};
use crate::site::feeds;
use crate::web::numbers::thousands;
use crate::web::texts::fill;
use crate::web::{Frame, Meta, Pager, Place, PublicPage};
use access::keys::Class;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use directory::View;
use directory::documents::{cause_label, state_label};
use directory::nonprofits::Nonprofit;
use directory::nonprofits::causes::{Cause, Causes};
use directory::nonprofits::location::STATES;
use directory::nonprofits::ntee::Ntee;
use directory::search::Match;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::text::{cut, fold};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Characters of what is searched for.
const LONGEST: usize = 256;
const LIVE_HITS: usize = 8;
const PAGE_SIZE: usize = 20;
/// Who has not found it by then types another word.
const MOST_PAGES: usize = 10;
/// A fast typist for a whole minute, and a household of them.
const LIVE_A_MINUTE: u32 = 1_200;
const FEATURED: usize = 6;
/// How far down the list of the most prominent the featured ones are looked for.
const FEATURED_AMONG: u32 = 300;

#[derive(Template)]
#[template(path = "site/home.html")]
struct Home<'a> {
    frame: Frame,
    meta: Meta,
    count: String,
    causes: Vec<CauseLink>,
    featured: Vec<Card<'a>>,
}

#[derive(Template)]
#[template(path = "site/results.html")]
struct Results<'a> {
    frame: Frame,
    meta: Meta,
    title: String,
    typed: String,
    asked: Asked,
    all_causes: &'a [Cause],
    states: &'static [(&'static str, &'static str)],
    meant: Option<(String, String)>,
    hits: Vec<Card<'a>>,
    pager: Pager,
    causes: Vec<CauseLink>,
}

/// What the results are narrowed to; empty is everything.
#[derive(Clone, Debug, Default)]
struct Asked {
    cause: String,
    state: String,
}

/// `GET /`
pub async fn home(State(app): State<App>) -> Response {
    let view = app.directory.view();
    let causes = app.directory.causes();
    let frame = Frame::new(Place::Home);
    let count = view.snapshot.as_ref().map_or(0, |snapshot| snapshot.len());
    let featured = featured(&view);
    let meta = Meta::new(&frame, frame.p.home.title, frame.p.home.about, app.urls.page("/"))
        .feed(feeds::ADDRESS, frame.p.fundraiser.feed);
    let page = Home {
        meta,
        count: thousands(u64::from(count)),
        causes: popular(&view, causes, 12),
        featured: featured
            .iter()
            .map(|nonprofit| Card::new(nonprofit, &[], causes))
            .collect(),
        frame,
    };
    PublicPage(page).into_response()
}

/// The most prominent one that can be given to, of each of the first fields of work.
fn featured(view: &View) -> Vec<Nonprofit<'_>> {
    let Some(snapshot) = &view.snapshot else {
        return Vec::new();
    };
    let mut seen = Vec::new();
    let of_new_field = |nonprofit: &Nonprofit<'_>| {
        let field = nonprofit.ntee.map(Ntee::major);
        let is_new = field.is_some() && !seen.contains(&field);
        seen.push(field);
        is_new
    };
    (0..FEATURED_AMONG.min(snapshot.len()))
        .filter(|place| !view.overlay.replaces(*place))
        .filter_map(|place| snapshot.nonprofit(place))
        .filter(Nonprofit::is_disbursable)
        .filter(of_new_field)
        .take(FEATURED)
        .collect()
}

/// `GET /search.json?q=`: as the interface answers, for our own pages, counted by address and not by key.
pub async fn live(
    State(app): State<App>,
    client: Client,
    RawQuery(query): RawQuery,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    admit(&app, client)?;
    let typed = typed(&query);
    let view = app.directory.view();
    Ok(cache::json(&if_none_match, view.tag.as_deref(), || {
        let filter = Filter::default();
        app.search_answers
            .answer(&app.nonprofit_json, &view, &typed, LIVE_HITS, &filter)
    }))
}

fn admit(app: &App, client: Client) -> Result<()> {
    let mut hasher = DefaultHasher::new();
    client.network.hash(&mut hasher);
    let visitor = app.visitors.visitor(&client.address);
    let (key, class) = (u128::from(hasher.finish()), Class::Search);
    let verdict = app
        .visitors
        .admit(key, class as u32, app.clock.instant(), LIVE_A_MINUTE, visitor);
    match verdict.admitted {
        true => Ok(()),
        false => Err(Error::RateLimited {
            class,
            per_minute: LIVE_A_MINUTE,
            verdict,
        }),
    }
}

/// `GET /search?q=&cause=&state=&page=`
pub async fn results(State(app): State<App>, client: Client, RawQuery(query): RawQuery) -> Result<Response> {
    admit(&app, client)?;
    let (typed, asked) = (typed(&query), Asked::read(&query, app.directory.causes()));
    let page = positive(&query, "page").ok().flatten().unwrap_or(1);
    let page = page.clamp(1, MOST_PAGES);
    let view = app.directory.view();
    let found = asked.search(&view, &typed, page * PAGE_SIZE + 1);
    let has_more = found.len() > page * PAGE_SIZE && page < MOST_PAGES;
    let first = (page - 1) * PAGE_SIZE;
    let shown: Vec<&Match<'_>> = found.iter().skip(first).take(PAGE_SIZE).collect();
    let (causes, frame) = (app.directory.causes(), Frame::new(Place::Home));
    let title = match typed.is_empty() {
        true => frame.p.search.title_empty.to_owned(),
        false => fill(frame.p.search.title, &[("typed", &typed)]),
    };
    let meta = Meta::new(&frame, &title, frame.p.home.about, app.urls.page("/search")).hidden();
    let names = found.iter().take(5).map(|found| found.nonprofit.name);
    let meant = meant(&typed, names).map(|meant| (asked.address(&meant), meant));
    let pages = if has_more { page + 1 } else { page };
    let page = Results {
        meta,
        title,
        all_causes: causes.list(),
        states: &STATES,
        pager: Pager::new(
            &frame,
            format!("{}&", asked.address(&typed)),
            page as u64,
            pages as u64,
        ),
        causes: match shown.is_empty() {
            true => popular(&view, causes, 8),
            false => Vec::new(),
        },
        hits: shown
            .iter()
            .map(|found| {
                let words: Vec<String> = found.words.iter().map(|word| fold(word, ' ')).collect();
                Card::new(&found.nonprofit, &words, causes)
            })
            .collect(),
        frame,
        typed,
        asked,
        meant,
    };
    Ok(PublicPage(page).into_response())
}

/// What was typed, without blanks at its ends; what is too long is cut.
fn typed(query: &str) -> String {
    let typed = values(query, "q").next().unwrap_or_default();
    cut(typed.trim(), LONGEST).to_owned()
}

impl Asked {
    /// A cause or a state that there is not narrows nothing.
    fn read(query: &str, causes: &Causes) -> Asked {
        let value = |name| values(query, name).next().unwrap_or_default();
        let cause = causes.find(&value("cause"));
        let state = value("state");
        let state = STATES
            .iter()
            .find(|(code, _)| code.eq_ignore_ascii_case(state.trim()));
        Asked {
            cause: cause.map(|cause| cause.name.clone()).unwrap_or_default(),
            state: state.map(|(code, _)| (*code).to_owned()).unwrap_or_default(),
        }
    }

    fn is_narrowed(&self) -> bool {
        !self.cause.is_empty() || !self.state.is_empty()
    }

    fn search<'v>(&self, view: &'v View, typed: &str, take: usize) -> Vec<Match<'v>> {
        let (cause, state) = (cause_label(&self.cause), state_label(&self.state));
        let (cause, state) = ([cause.as_str()], [state.as_str()]);
        let mut groups: Vec<&[&str]> = Vec::new();
        if !self.cause.is_empty() {
            groups.push(&cause);
        }
        if !self.state.is_empty() {
            groups.push(&state);
        }
        match typed.is_empty() {
            true => Vec::new(),
            false => view.search(typed, take, &groups),
        }
    }

    /// The address of the same search with another text.
    fn address(&self, typed: &str) -> String {
        let mut address = format!("/search?q={}", utf8_percent_encode(typed, NON_ALPHANUMERIC));
        for (name, value) in [("cause", &self.cause), ("state", &self.state)] {
            if !value.is_empty() {
                address = format!("{address}&{name}={value}");
            }
        }
        address
    }
}
