//! The page of a fundraiser: its story, what it stands at, who gave, whom it supports, and the proof of its total.

use crate::api::fundraisers::{nonprofit_of, slug_of};
use crate::app::App;
use crate::app::urls::Urls;
use crate::directory::Found;
use crate::directory::nonprofits::Nonprofit;
use crate::directory::nonprofits::identifier::Identifier;
use crate::giving::fundraisers::cache::Shown;
use crate::giving::fundraisers::goal::Goal;
use crate::giving::fundraisers::{Fundraiser, FundraiserName, SPECIAL, SPECIAL_SLUG, store};
use crate::giving::ledger::store::{self as journal, Seal, Supporter};
use crate::http::error::{Error, Result};
use crate::http::params::PathPair;
use crate::platform::ids::NonprofitId;
use crate::site::checkout::link::GiveBox;
use crate::site::feeds;
use crate::site::profile::{Share, find as find_nonprofit, moved};
use crate::site::share;
use crate::web::moment::Moment;
use crate::web::texts::{FundraiserTexts, fill};
use crate::web::{Frame, Meta, Place, PublicPage};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use pictures::drawn::card::{Gauge, ShareCard};
use std::sync::Arc;

/// Supporters that are named.
const MOST_NAMED: i64 = 20;
/// Fundraisers that a profile lists.
const MOST_LISTED: i64 = 6;

#[derive(Template)]
#[template(path = "fundraisers/fundraiser.html")]
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
    seal: Option<Seal>,
    share: Share,
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

/// A fundraiser in the list of a profile.
#[derive(Debug)]
pub struct Line {
    pub address: String,
    pub title: String,
    pub cover: String,
}

/// `GET /{nonprofit}/f/{fundraiser}`
pub async fn fundraiser(
    State(app): State<App>,
    PathPair(nonprofit, name): PathPair,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let shown = find(&app, &nonprofit, &name).await?;
    let address = address(&app, &shown.fundraiser).await?;
    if address != format!("/{nonprofit}/f/{name}") {
        return Ok(moved(&address, query.as_deref()));
    }
    let found = supported(&app, &shown.fundraiser).await?;
    let card = card(&shown, &found);
    let by = store::find_creator(&app.db, shown.fundraiser.account).await?;
    let supporters = journal::list_supporters(&app.db, shown.fundraiser.id, MOST_NAMED).await?;
    let seal = journal::find_seal(&app.db, shown.fundraiser.id).await?;
    let mut page = FundraiserPage::new(&app, &shown, &found, (address, by), supporters, seal);
    page.give = GiveBox::read(query.as_deref());
    page.meta = page.meta.picture(share::address(&app, &page.address, &card));
    page.meta = match one(&shown.fundraiser, &found) {
        Some(nonprofit) => page.meta.feed(
            feeds::address_of(nonprofit.slug),
            fill(page.frame.p.fundraiser.feed_of, &[("name", nonprofit.name)]),
        ),
        None => page.meta.feed(feeds::ADDRESS, page.frame.p.fundraiser.feed),
    };
    Ok(PublicPage(page).into_response())
}

/// The fundraiser that an address names.
pub async fn find(app: &App, nonprofit: &str, name: &str) -> Result<Arc<Shown>> {
    let id = match nonprofit_of(app, nonprofit).await {
        Err(Error::DressedEin(_)) => {
            let found = find_nonprofit(app, nonprofit).await?;
            found.nonprofit().ok_or(Error::Internal)?.id
        }
        id => id?,
    };
    let name = FundraiserName::parse(name).ok_or(Error::NotFound)?;
    app.fundraisers.find(id, name).await?.ok_or(Error::NotFound)
}

/// The path of its page.
pub async fn address(app: &App, fundraiser: &Fundraiser) -> Result<String> {
    let nonprofit = slug_of(app, fundraiser).await?;
    Ok(format!("/{nonprofit}/f/{}", fundraiser.slug))
}

async fn supported(app: &App, fundraiser: &Fundraiser) -> Result<Vec<(Found, f64)>> {
    let mut found = Vec::with_capacity(fundraiser.supported.len());
    for (id, weight) in &fundraiser.supported {
        if let Some(nonprofit) = app.directory.find(&Identifier::Id(*id)).await? {
            found.push((nonprofit, *weight));
        }
    }
    Ok(found)
}

/// What the picture of a shared fundraiser says.
pub async fn share_card(app: &App, shown: &Shown) -> Result<ShareCard> {
    Ok(card(shown, &supported(app, &shown.fundraiser).await?))
}

/// The nonprofit of a fundraiser for one.
fn one<'a>(fundraiser: &Fundraiser, found: &'a [(Found, f64)]) -> Option<Nonprofit<'a>> {
    let (found, _) = found.first().filter(|_| !fundraiser.is_multiple())?;
    found.nonprofit()
}

fn card(shown: &Shown, found: &[(Found, f64)]) -> ShareCard {
    let frame = Frame::new(Place::Elsewhere);
    let (fundraiser, t) = (&shown.fundraiser, &frame.p.fundraiser);
    let goal = Goal::after(shown.totals.raised, fundraiser.goal).amount();
    let of_goal = fill(t.of_goal, &[("goal", &goal.to_string())]);
    ShareCard {
        above: match one(fundraiser, found) {
            Some(nonprofit) => fill(t.card, &[("name", nonprofit.name)]),
            None => fill(t.card_several, &[("count", &found.len().to_string())]),
        },
        title: fundraiser.title.clone(),
        instead: one(fundraiser, found)
            .map_or(&*fundraiser.slug, |nonprofit| nonprofit.name)
            .to_owned(),
        site: frame.t.site.name,
        gauge: Some(Gauge {
            raised: shown.totals.raised.to_string(),
            beside: format!("{of_goal} · {}", supporters_line(shown.totals.supporters, t)),
            percent: percent(shown.totals.raised.0, goal.0),
        }),
        seed: fundraiser.id.0.as_u128(),
    }
}

fn supporters_line(count: i64, t: &FundraiserTexts) -> String {
    match count {
        1 => t.one_supporter.to_owned(),
        count => fill(t.supporters_count, &[("count", &count.to_string())]),
    }
}

/// The newest open fundraisers of a nonprofit; nothing is asked where it has none.
pub async fn lines(app: &App, nonprofit: &Nonprofit<'_>) -> Result<Vec<Line>> {
    if !app.fundraisers.supports(nonprofit.id).await? {
        return Ok(Vec::new());
    }
    let listed = store::list_of_nonprofit(&app.db, nonprofit.id, MOST_LISTED).await?;
    let slug = |id: NonprofitId| {
        if id == SPECIAL {
            SPECIAL_SLUG
        } else {
            nonprofit.slug
        }
    };
    let line = |listed: store::Listed| Line {
        address: format!("/{}/f/{}", slug(listed.nonprofit), listed.slug),
        cover: cover(&listed.id.to_string(), listed.cover.as_deref()),
        title: listed.title,
    };
    Ok(listed.into_iter().map(line).collect())
}

fn cover(id: &str, hosted: Option<&str>) -> String {
    hosted.map_or_else(
        || format!("/media/fundraiser-{id}"),
        |hosted| format!("/media/{hosted}"),
    )
}

impl<'a> FundraiserPage<'a> {
    fn new(
        app: &App,
        shown: &'a Shown,
        found: &'a [(Found, f64)],
        (address, by): (String, Option<String>),
        supporters: Vec<Supporter>,
        seal: Option<Seal>,
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
            percent: percent(shown.totals.raised.0, goal.0),
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
            share: Share::new(&fundraiser.title, whole),
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

/// What of the goal was reached, 0 to 100.
fn percent(raised: i64, goal: i64) -> i64 {
    let percent = i128::from(raised.max(0)) * 100 / i128::from(goal.max(1));
    percent.min(100) as i64
}

fn shares(found: &[(Found, f64)]) -> Vec<Supported<'_>> {
    let all: f64 = found.iter().map(|(_, weight)| weight).sum();
    found
        .iter()
        .filter_map(|(found, weight)| {
            let nonprofit = found.nonprofit()?;
            Some(Supported {
                slug: nonprofit.slug,
                name: nonprofit.name,
                logo: Urls::logo_here(&nonprofit),
                share: format!("{:.1} %", weight / all * 100.0).replace(".0 %", " %"),
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
            fill(text, &[("day", &day.strftime("%-d %B %Y").to_string())])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thermometer_ends_at_its_ends() {
        for (raised, goal, shown) in [
            (0, 100, 0),
            (50, 100, 50),
            (300, 100, 100),
            (-5, 100, 0),
            (1, 0, 100),
        ] {
            assert_eq!(percent(raised, goal), shown);
        }
    }
}
