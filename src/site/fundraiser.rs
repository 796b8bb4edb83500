//! The page of a fundraiser: its story, what it stands at, who gave, whom it supports, and the proof of its total.

use crate::app::App;
use crate::app::urls::Urls;
use crate::http::error::Result;
use crate::http::params::PathPair;
use crate::site::checkout::link::GiveBox;
use crate::site::feeds;
use crate::site::find::moved;
use crate::site::fundraiser_links::{address, cover, find};
use crate::site::share_cards::{card, one, percent, supported, supporters_line};
use crate::site::share_links::ShareLinks;
use crate::web::moment::Moment;
use crate::web::texts::{FundraiserTexts, fill};
use crate::web::{Frame, Meta, Place, PublicPage};
use access::accounts::store as accounts;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use directory::NonprofitRef;
use giving::fundraisers::Fundraiser;
use giving::fundraisers::cache::FundraiserWithTotals;
use giving::fundraisers::goal::Goal;
use giving::ledger::store::{self as journal, LastEntry, Supporter};
use jiff::Timestamp;

/// Supporters that are named.
const MOST_NAMED: i64 = 20;

#[derive(Template)]
#[template(path = "site/fundraiser.html")]
struct FundraiserPage<'a> {
    frame: Frame,
    meta: Meta,
    fundraiser: &'a Fundraiser,
    address: String,
    cover: String,
    by: Option<String>,
    raised: String,
    goal: String,
    percent: i64,
    supporters_line: String,
    state: Standing,
    state_text: String,
    supporters: Vec<(Supporter, Moment)>,
    supported: Vec<Supported<'a>>,
    seal: Option<LastEntry>,
    share: ShareLinks,
    give: GiveBox,
}

/// Where a fundraiser stands in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Open,
    Later,
    Over,
    Closed,
}

/// A nonprofit with its share of every gift.
struct Supported<'a> {
    slug: &'a str,
    name: &'a str,
    logo: String,
    share: String,
}

/// `GET /{nonprofit}/f/{fundraiser}`
pub async fn fundraiser(
    State(app): State<App>,
    PathPair(nonprofit, name): PathPair,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let shown = find(&app.directory, &app.fundraisers, &nonprofit, &name).await?;
    let address = address(&app.directory, &shown.fundraiser).await?;
    if address != format!("/{nonprofit}/f/{name}") {
        return Ok(moved(&address, query.as_deref()));
    }
    let found = supported(&app.directory, &shown.fundraiser).await?;
    let card = card(&shown, &found);
    let by = accounts::find_username(&app.db, shown.fundraiser.account).await?;
    let supporters = journal::list_supporters(&app.db, shown.fundraiser.id, MOST_NAMED).await?;
    let seal = journal::find_last_entry(&app.db, shown.fundraiser.id).await?;
    let mut page = FundraiserPage::new(&app, &shown, &found, (address, by), supporters, seal);
    page.give = GiveBox::read(query.as_deref());
    page.meta = page.meta.picture(app.urls.share_card(&page.address, &card));
    page.meta = match one(&shown.fundraiser, &found) {
        Some(nonprofit) => page.meta.feed(
            feeds::address_of(nonprofit.slug),
            fill(page.frame.p.fundraiser.feed_of, &[("name", nonprofit.name)]),
        ),
        None => page.meta.feed(feeds::ADDRESS, page.frame.p.fundraiser.feed),
    };
    Ok(PublicPage(page).into_response())
}

impl<'a> FundraiserPage<'a> {
    fn new(
        app: &App,
        shown: &'a FundraiserWithTotals,
        found: &'a [(NonprofitRef, f64)],
        (address, by): (String, Option<String>),
        supporters: Vec<Supporter>,
        seal: Option<LastEntry>,
    ) -> FundraiserPage<'a> {
        let (frame, now) = (Frame::new(Place::Elsewhere), app.clock.millis());
        let (fundraiser, texts) = (&shown.fundraiser, &frame.p.fundraiser);
        let goal = Goal::after(shown.totals.raised, fundraiser.goal).amount();
        let whole = app.urls.page(&address);
        let about = fundraiser.description.as_deref().unwrap_or(texts.about);
        let (raised, goal_text) = (shown.totals.raised.to_string(), goal.to_string());
        let state = Standing::of(fundraiser, now);
        FundraiserPage {
            meta: Meta::new(&frame, &fundraiser.title, about, whole.clone()),
            cover: cover(&fundraiser.id.to_string(), fundraiser.cover.as_deref()),
            percent: percent(shown.totals.raised.get(), goal.get()),
            supporters_line: supporters_line(shown.totals.supporters, texts),
            state_text: state.text(fundraiser, texts),
            state,
            supporters: supporters
                .into_iter()
                .map(|supporter| {
                    let moment = Moment::new(supporter.at, now);
                    (supporter, moment)
                })
                .collect(),
            supported: shares(found),
            share: ShareLinks::new(&fundraiser.title, whole),
            goal: goal_text,
            raised,
            fundraiser,
            address,
            by,
            give: GiveBox::read(None),
            seal,
            frame,
        }
    }
}

fn shares(found: &[(NonprofitRef, f64)]) -> Vec<Supported<'_>> {
    let all: f64 = found.iter().map(|(_, weight)| weight).sum();
    found
        .iter()
        .filter_map(|(found, weight)| {
            let nonprofit = found.nonprofit()?;
            Some(Supported {
                slug: nonprofit.slug,
                name: nonprofit.name,
                logo: Urls::logo_path(&nonprofit),
                share: format!("{:.1}%", weight / all * 100.0).replace(".0%", "%"),
            })
        })
        .collect()
}

impl Standing {
    fn of(fundraiser: &Fundraiser, now: i64) -> Standing {
        match fundraiser {
            Fundraiser {
                closed_at: Some(_), ..
            } => Standing::Closed,
            Fundraiser {
                starts_at: Some(start),
                ..
            } if now < *start => Standing::Later,
            Fundraiser {
                ends_at: Some(end), ..
            } if *end < now => Standing::Over,
            _ => Standing::Open,
        }
    }

    fn text(self, fundraiser: &Fundraiser, t: &FundraiserTexts) -> String {
        let on = |text: &str, at: Option<i64>| {
            let day = Timestamp::from_millisecond(at.unwrap_or_default()).unwrap_or_default();
            fill(text, &[("day", &day.strftime("%B %-d, %Y").to_string())])
        };
        match (self, fundraiser.ends_at) {
            (Standing::Closed, _) => on(t.closed, fundraiser.closed_at),
            (Standing::Later, _) => on(t.starts, fundraiser.starts_at),
            (Standing::Over, end) => on(t.ended, end),
            (Standing::Open, Some(end)) => on(t.open_until, Some(end)),
            (Standing::Open, None) => t.open.to_owned(),
        }
    }
}
