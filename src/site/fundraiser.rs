//! The page of a fundraiser: its story, total, supporters and beneficiaries.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::PathPair;
use crate::site::checkout::link::GiveBox;
use crate::site::feeds;
use crate::site::find::redirect_permanently;
use crate::site::fundraiser_links::{ShortUrl, find_any, may_see, path_of};
use crate::site::own_site::OwnSite;
use crate::site::share_cards::{card, single_nonprofit};
use crate::web::fundraiser_article::{
    FundraiserArticle, Organizer, SupporterRow, find_beneficiaries, list_supporters, supporters_line,
};
use crate::web::markdown;
use crate::web::share_links::ShareLinks;
use crate::web::texts::{FundraiserTexts, fill};
use crate::web::{Layout, Meta, Page, PublicPage, Section};
use access::accounts::store::profile;
use askama::Template;
use axum::extract::{Extension, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use directory::NonprofitRef;
use giving::fundraisers::cache::FundraiserWithTotals;
use giving::fundraisers::{Fundraiser, Status as Publication};
use giving::ledger::entry::Totals;
use giving::providers::Provider;
use jiff::Timestamp;
use platform::money::Cents;

#[derive(Template)]
#[template(path = "site/fundraiser.html")]
struct FundraiserPage<'a> {
    layout: Layout,
    meta: Meta,
    article: FundraiserArticle,
    path: String,
    status: Status,
    /// Why only its owner and operators see it, and the reason of the operator.
    notice: Option<(&'static str, Option<&'a str>)>,
    supporters: Vec<SupporterRow>,
    /// Whether there is an entry that proves the total.
    has_proof: bool,
    /// Not for a fundraiser that others cannot see.
    share: Option<ShareLinks>,
    is_test_mode: bool,
    /// None if it is not open, or if this server does not accept donations.
    give: Option<GiveBox>,
    /// Says that this server does not accept donations.
    refusal: Option<&'static str>,
    /// Where people can give to its nonprofit instead.
    own_site: Option<OwnSite>,
    /// Shown instead of the form if it accepts no donations.
    end: Option<End>,
}

/// What a fundraiser that is not open says instead of asking for donations.
struct End {
    title: &'static str,
    text: String,
    /// The path and the text of a link to give to its nonprofit instead.
    give: Option<(String, String)>,
}

impl End {
    fn of(
        app: &App,
        fundraiser: &Fundraiser,
        status: Status,
        totals: &Totals,
        found: &[(NonprofitRef, f64)],
    ) -> Option<End> {
        let layout = Layout::new(Section::Fundraisers);
        let (t, texts) = (&layout.f.ended, &layout.p.fundraiser);
        let title = match status {
            Status::Ended => t.ended,
            Status::Closed => t.closed,
            Status::NotStarted => t.not_started,
            Status::Open | Status::InReview | Status::Hidden => return None,
        };
        let totals = fundraiser.verified(*totals);
        let supporters = supporters_line(totals.supporters, texts);
        let text = if status == Status::NotStarted {
            fill(
                t.not_started_about,
                &[("status", &status.text(fundraiser, texts))],
            )
        } else if totals.supporters > 0 {
            let raised = totals.raised.to_string();
            fill(t.thanks, &[("raised", &raised), ("supporters", &supporters)])
        } else {
            t.nobody.to_owned()
        };
        let nonprofit = single_nonprofit(fundraiser, found);
        let nonprofit = nonprofit.filter(|nonprofit| {
            nonprofit.is_disbursable() && app.config.giving != Provider::Off && status != Status::NotStarted
        });
        Some(End {
            title,
            text,
            give: nonprofit.map(|nonprofit| {
                let text = fill(t.give, &[("name", nonprofit.name)]);
                (format!("/{}/give", nonprofit.slug), text)
            }),
        })
    }
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

/// `GET /{nonprofit}/f/{fundraiser}`
pub async fn fundraiser(
    State(app): State<App>,
    PathPair(nonprofit, name): PathPair,
    RawQuery(query): RawQuery,
    short: Option<Extension<ShortUrl>>,
    headers: HeaderMap,
) -> Result<Response> {
    let shown = find_any(&app.directory, &app.giving.fundraisers, &nonprofit, &name).await?;
    let is_public = shown.fundraiser.is_public();
    if !is_public && !may_see(&app, &headers, &[shown.fundraiser.account]).await? {
        return Err(Error::NotFound);
    }
    let path = path_of(&app.directory, &shown.fundraiser).await?;
    let is_former = shown.fundraiser.is_multiple() && short.is_none();
    if is_former || path != giving::fundraisers::path(&nonprofit, &name) {
        return Ok(redirect_permanently(&path, query.as_deref()));
    }
    let found = find_beneficiaries(&app.directory, &shown.fundraiser).await?;
    let card = card(&shown, &found, app.is_test_mode());
    let by = profile::find(&app.db, shown.fundraiser.account).await?;
    let by = by.as_ref().map(Organizer::from);
    let supporters = list_supporters(&app, shown.fundraiser.id).await?;
    let mut page = FundraiserPage::new(&app, &shown, &found, (path, by), supporters);
    if page.status == Status::Open && page.refusal.is_none() {
        page.give = Some(GiveBox::parse(query.as_deref()));
    }
    if app.config.giving == Provider::Off
        && page.status == Status::Open
        && let Some(nonprofit) = single_nonprofit(&shown.fundraiser, &found)
    {
        page.own_site = Some(OwnSite::find(&app, &nonprofit).await?);
    }
    page.meta = page.meta.image(
        app.site.urls.share_card(&page.path, &card),
        card.kind().content_type(),
    );
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
        found: &[(NonprofitRef, f64)],
        (path, by): (String, Option<Organizer>),
        supporters: Vec<SupporterRow>,
    ) -> FundraiserPage<'a> {
        let (layout, now) = (Layout::new(Section::Fundraisers), app.clock.millis());
        let (fundraiser, texts) = (&shown.fundraiser, &layout.p.fundraiser);
        let is_test_mode = app.is_test_mode();
        let totals = shown.totals.counted(is_test_mode);
        let url = app.site.urls.page(&path);
        let about = fundraiser.description.as_deref().map(markdown::plain_beginning);
        let about = about.unwrap_or_else(|| texts.about.to_owned());
        let status = Status::of(fundraiser, now);
        FundraiserPage {
            meta: Meta::new(&layout, &fundraiser.title, &about, url.clone()),
            article: FundraiserArticle {
                organizer: by,
                status: status.text(fundraiser, texts),
                ..FundraiserArticle::new(fundraiser, totals, found, is_test_mode)
            },
            notice: match status {
                Status::InReview => Some((texts.in_review_notice, None)),
                Status::Hidden => Some((texts.hidden_notice, fundraiser.hidden_reason.as_deref())),
                _ => None,
            },
            status,
            supporters,
            has_proof: fundraiser.verified(totals).raised != Cents::ZERO || totals.supporters > 0,
            share: fundraiser
                .is_public()
                .then(|| ShareLinks::new(&fundraiser.title, url)),
            end: End::of(app, fundraiser, status, &totals, found),
            path,
            is_test_mode,
            give: None,
            own_site: None,
            refusal: if app.config.giving == Provider::Off {
                Some(layout.p.give.off)
            } else {
                let mut nonprofits = found.iter().filter_map(|(found, _)| found.nonprofit());
                let is_stopped = nonprofits.any(|nonprofit| !nonprofit.is_disbursable());
                is_stopped.then_some(layout.p.give.fundraiser_stopped)
            },
            layout,
        }
    }
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
