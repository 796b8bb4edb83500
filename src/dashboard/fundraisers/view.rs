//! A fundraiser as the dashboard shows it to its owner.

use crate::app::App;
use crate::http::error::Result;
use crate::web::fundraiser_article::{cover, focus_classes};
use crate::web::markdown;
use crate::web::share_links::ShareLinks;
use crate::web::texts::Fundraisers as Texts;
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use giving::fundraisers::goal::Goal;
use giving::fundraisers::names::slug_of;
use giving::fundraisers::{Fundraiser, SPECIAL_SLUG, Status as Publication};
use giving::ledger::store as ledger;
use jiff::Timestamp;
use platform::ids::FundraiserId;
use platform::money::Cents;
use std::sync::Arc;

/// What a page shows about a fundraiser.
#[derive(Clone, Debug)]
pub struct FundraiserView {
    pub id: FundraiserId,
    pub title: String,
    /// The story in Markdown.
    pub description: Option<String>,
    pub cover: String,
    /// The classes that choose the visible part of it.
    pub cover_focus: String,
    /// Names and profile URLs of the nonprofits that it benefits.
    pub nonprofits: Vec<(String, String)>,
    pub status: Status,
    /// Whether the totals count test donations.
    pub is_test_mode: bool,
    /// The operator's reason for hiding it.
    pub hidden_reason: Option<String>,
    is_closed: bool,
    pub raised: Cents,
    pub offline: Option<Cents>,
    pub goal: Goal,
    pub supporters: i64,
    pub start_date: Option<String>,
    pub end_date: Option<String>,
    /// The URL of its public page.
    pub page: String,
    /// Ways to share that page. Not of a fundraiser that others cannot see.
    pub share: Option<ShareLinks>,
    /// The URL at which the API returns it.
    pub api_url: String,
}

/// Whether it accepts donations, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Open,
    Planned,
    Ended,
    Closed,
    InReview,
    Hidden,
}

impl Status {
    fn of(fundraiser: &Fundraiser, now: i64) -> Status {
        match (fundraiser.status(), fundraiser.starts_at) {
            (Publication::Hidden, _) => Status::Hidden,
            (Publication::InReview, _) => Status::InReview,
            (Publication::Closed, _) => Status::Closed,
            (Publication::Published, _) if fundraiser.is_active(now) => Status::Open,
            (Publication::Published, Some(start)) if now < start => Status::Planned,
            (Publication::Published, _) => Status::Ended,
        }
    }

    pub fn text(self, t: &Texts) -> &'static str {
        match self {
            Status::Open => t.open,
            Status::Planned => t.planned,
            Status::Ended => t.ended,
            Status::Closed => t.closed,
            Status::InReview => t.in_review,
            Status::Hidden => t.hidden,
        }
    }

    /// Returns the CSS class of its badge.
    pub fn badge(self) -> &'static str {
        match self {
            Status::Open => "badge badge-good",
            Status::Planned | Status::InReview => "badge badge-warn",
            Status::Hidden => "badge badge-bad",
            Status::Ended | Status::Closed => "badge",
        }
    }
}

impl FundraiserView {
    pub async fn load(app: &App, fundraiser: Fundraiser) -> Result<FundraiserView> {
        let is_test_mode = app.is_test_mode();
        let totals = ledger::find_totals(&app.db, fundraiser.id).await?;
        let totals = totals.counted(is_test_mode);
        let verified = fundraiser.verified(totals);
        let nonprofit = slug_of(&app.directory, &fundraiser).await?;
        let page = app.site.urls.page(&fundraiser.path(&nonprofit));
        let is_public = fundraiser.is_public();
        Ok(FundraiserView {
            id: fundraiser.id,
            nonprofits: list_nonprofits(app, &fundraiser).await?,
            status: Status::of(&fundraiser, app.clock.millis()),
            is_test_mode,
            hidden_reason: fundraiser.hidden_reason,
            is_closed: fundraiser.closed_at.is_some(),
            raised: verified.raised,
            offline: fundraiser.offline.filter(|offline| *offline != Cents::ZERO),
            goal: Goal::after(totals.raised, fundraiser.goal),
            supporters: totals.supporters,
            start_date: fundraiser.starts_at.map(format_date),
            end_date: fundraiser.ends_at.map(format_date),
            cover: cover(&fundraiser.id.to_string(), fundraiser.cover.as_deref()),
            cover_focus: focus_classes(fundraiser.focus),
            share: is_public.then(|| ShareLinks::new(&fundraiser.title, page.clone())),
            page,
            api_url: app.site.urls.fundraiser_api(&nonprofit, &fundraiser.slug),
            title: fundraiser.title,
            description: fundraiser.description,
        })
    }

    /// Returns the story as safe HTML.
    pub fn story(&self) -> Option<Arc<str>> {
        self.description.as_deref().map(markdown::render)
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    pub fn is_in_review(&self) -> bool {
        self.status == Status::InReview
    }

    pub fn goal_grows(&self) -> bool {
        matches!(self.goal, Goal::Automatic(_))
    }

    /// Returns how much of the goal was reached, from 0 to 100.
    pub fn percent(&self) -> i64 {
        let goal = i128::from(self.goal.amount().get().max(1));
        let percent = i128::from(self.raised.get()) * 100 / goal;
        i64::try_from(percent.clamp(0, 100)).unwrap_or(100)
    }

    /// Returns the names of the nonprofits that it benefits, in one line.
    pub fn nonprofit_names(&self) -> String {
        let names: Vec<&str> = self.nonprofits.iter().map(|(name, _)| name.as_str()).collect();
        match names.as_slice() {
            [] => SPECIAL_SLUG.to_owned(),
            [one] => (*one).to_owned(),
            [first, rest @ ..] => format!("{first} + {}", rest.len()),
        }
    }
}

/// Returns the names and profile URLs of the nonprofits; one that no longer exists is shown by its ID.
async fn list_nonprofits(app: &App, fundraiser: &Fundraiser) -> Result<Vec<(String, String)>> {
    let mut nonprofits = Vec::with_capacity(fundraiser.supported.len());
    for (id, _) in &fundraiser.supported {
        let found = app.directory.find(&Identifier::Id(*id)).await?;
        let known = found.as_ref().and_then(NonprofitRef::nonprofit);
        nonprofits.push(match known {
            Some(nonprofit) => (nonprofit.name.to_owned(), app.site.urls.profile(nonprofit.slug)),
            None => (id.to_string(), app.site.urls.profile(&id.to_string())),
        });
    }
    Ok(nonprofits)
}

/// Formats the date in UTC: "November 15, 2026".
fn format_date(millis: i64) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    time.strftime("%B %-d, %Y").to_string()
}
