//! The page of a fundraiser: its story, total, supporters and beneficiaries, and the ledger entry that proves the total.

use crate::app::App;
use crate::app::urls::Urls;
use crate::http::error::{Error, Result};
use crate::http::params::PathPair;
use crate::site::checkout::link::GiveBox;
use crate::site::feeds;
use crate::site::find::redirect_permanently;
use crate::site::fundraiser_links::{cover, find_any, may_see, path_of};
use crate::site::share_cards::{card, find_beneficiaries, percent, single_nonprofit, supporters_line};
use crate::site::share_links::ShareLinks;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::{FundraiserTexts, fill};
use crate::web::{Layout, Meta, Page, PublicPage, Section};
use access::accounts::store as accounts;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use directory::NonprofitRef;
use giving::fundraisers::cache::FundraiserWithTotals;
use giving::fundraisers::goal::Goal;
use giving::fundraisers::{Fundraiser, Status as Publication};
use giving::ledger::entry::Mode;
use giving::ledger::store::{self as ledger, LastEntry, Supporter};
use giving::payments::provider::Provider;
use jiff::Timestamp;

/// The number of supporters that the page lists.
const MAX_SUPPORTERS: usize = 20;

#[derive(Template)]
#[template(path = "site/fundraiser.html")]
struct FundraiserPage<'a> {
    layout: Layout,
    meta: Meta,
    fundraiser: &'a Fundraiser,
    path: String,
    cover: String,
    by: Option<String>,
    raised: String,
    goal: String,
    percent: i64,
    supporters_line: String,
    status: Status,
    status_text: String,
    /// Why only its owner and operators see it, and the reason of the operator.
    notice: Option<(&'static str, Option<&'a str>)>,
    supporters: Vec<(Supporter, RelativeTime)>,
    beneficiaries: Vec<Beneficiary<'a>>,
    seal: Option<LastEntry>,
    share: ShareLinks,
    is_test_mode: bool,
    /// None if it is not open, or if this server does not accept donations.
    give: Option<GiveBox>,
    /// Says that this server does not accept donations.
    refusal: Option<&'static str>,
}

/// Whether a fundraiser accepts donations, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Open,
    NotStarted,
    Ended,
    Closed,
    InReview,
    Hidden,
}

/// A nonprofit with its share of every donation.
struct Beneficiary<'a> {
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
    headers: HeaderMap,
) -> Result<Response> {
    let shown = find_any(&app.directory, &app.fundraisers, &nonprofit, &name).await?;
    let is_public = shown.fundraiser.is_public();
    if !is_public && !may_see(&app, &headers, &[shown.fundraiser.account]).await? {
        return Err(Error::NotFound);
    }
    let path = path_of(&app.directory, &shown.fundraiser).await?;
    if path != format!("/{nonprofit}/f/{name}") {
        return Ok(redirect_permanently(&path, query.as_deref()));
    }
    let found = find_beneficiaries(&app.directory, &shown.fundraiser).await?;
    let card = card(&shown, &found, app.is_test_mode());
    let by = accounts::find_username(&app.db, shown.fundraiser.account).await?;
    let (id, modes) = (shown.fundraiser.id, Mode::counted(app.is_test_mode()));
    let supporters = ledger::list_supporters(&app.db, id, modes, MAX_SUPPORTERS).await?;
    let seal = ledger::find_last_entry(&app.db, id, modes).await?;
    let mut page = FundraiserPage::new(&app, &shown, &found, (path, by), supporters, seal);
    if page.status == Status::Open && page.refusal.is_none() {
        page.give = Some(GiveBox::parse(query.as_deref()));
    }
    page.meta = page.meta.image(app.urls.share_card(&page.path, &card));
    page.meta = match single_nonprofit(&shown.fundraiser, &found) {
        Some(nonprofit) => page.meta.feed(
            feeds::path_of(nonprofit.slug),
            fill(page.layout.p.fundraiser.feed_of, &[("name", nonprofit.name)]),
        ),
        None => page.meta.feed(feeds::PATH, page.layout.p.fundraiser.feed),
    };
    if is_public {
        Ok(PublicPage(page).into_response())
    } else {
        page.meta = page.meta.noindex();
        Ok(Page(page).into_response())
    }
}

impl<'a> FundraiserPage<'a> {
    fn new(
        app: &App,
        shown: &'a FundraiserWithTotals,
        found: &'a [(NonprofitRef, f64)],
        (path, by): (String, Option<String>),
        supporters: Vec<Supporter>,
        seal: Option<LastEntry>,
    ) -> FundraiserPage<'a> {
        let (layout, now) = (Layout::new(Section::Other), app.clock.millis());
        let (fundraiser, texts) = (&shown.fundraiser, &layout.p.fundraiser);
        let totals = shown.totals.counted(app.is_test_mode());
        let goal = Goal::after(totals.raised, fundraiser.goal).amount();
        let url = app.urls.page(&path);
        let about = fundraiser.description.as_deref().unwrap_or(texts.about);
        let (raised, goal_text) = (totals.raised.to_string(), goal.to_string());
        let status = Status::of(fundraiser, now);
        FundraiserPage {
            meta: Meta::new(&layout, &fundraiser.title, about, url.clone()),
            cover: cover(&fundraiser.id.to_string(), fundraiser.cover.as_deref()),
            percent: percent(totals.raised.get(), goal.get()),
            supporters_line: supporters_line(totals.supporters, texts),
            status_text: status.text(fundraiser, texts),
            notice: match status {
                Status::InReview => Some((texts.in_review_notice, None)),
                Status::Hidden => Some((texts.hidden_notice, fundraiser.hidden_reason.as_deref())),
                _ => None,
            },
            status,
            supporters: supporters
                .into_iter()
                .map(|supporter| {
                    let time = RelativeTime::new(supporter.at, now);
                    (supporter, time)
                })
                .collect(),
            beneficiaries: beneficiaries(found),
            share: ShareLinks::new(&fundraiser.title, url),
            goal: goal_text,
            raised,
            fundraiser,
            path,
            by,
            is_test_mode: app.is_test_mode(),
            give: None,
            refusal: (app.config.giving == Provider::Off).then_some(layout.p.give.off),
            seal,
            layout,
        }
    }
}

fn beneficiaries(found: &[(NonprofitRef, f64)]) -> Vec<Beneficiary<'_>> {
    let total: f64 = found.iter().map(|(_, weight)| weight).sum();
    found
        .iter()
        .filter_map(|(found, weight)| {
            let nonprofit = found.nonprofit()?;
            Some(Beneficiary {
                slug: nonprofit.slug,
                name: nonprofit.name,
                logo: Urls::logo_path(&nonprofit),
                share: format!("{:.1}%", weight / total * 100.0).replace(".0%", "%"),
            })
        })
        .collect()
}

impl Status {
    fn of(fundraiser: &Fundraiser, now: i64) -> Status {
        match fundraiser.status() {
            Publication::InReview => return Status::InReview,
            Publication::Hidden => return Status::Hidden,
            Publication::Closed => return Status::Closed,
            Publication::Published => {}
        }
        match fundraiser {
            Fundraiser {
                starts_at: Some(start),
                ..
            } if now < *start => Status::NotStarted,
            Fundraiser {
                ends_at: Some(end), ..
            } if *end < now => Status::Ended,
            _ => Status::Open,
        }
    }

    fn text(self, fundraiser: &Fundraiser, t: &FundraiserTexts) -> String {
        let on = |text: &str, at: Option<i64>| {
            let day = Timestamp::from_millisecond(at.unwrap_or_default()).unwrap_or_default();
            fill(text, &[("day", &day.strftime("%B %-d, %Y").to_string())])
        };
        match (self, fundraiser.ends_at) {
            (Status::InReview, _) => t.in_review.to_owned(),
            (Status::Hidden, _) => t.hidden.to_owned(),
            (Status::Closed, _) => on(t.closed, fundraiser.closed_at),
            (Status::NotStarted, _) => on(t.starts, fundraiser.starts_at),
            (Status::Ended, end) => on(t.ended, end),
            (Status::Open, Some(end)) => on(t.open_until, Some(end)),
            (Status::Open, None) => t.open.to_owned(),
        }
    }
}
