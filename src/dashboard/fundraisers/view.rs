//! A fundraiser as its owner sees it on a page.

use crate::app::App;
use crate::http::error::Result;
use crate::web::texts::Fundraisers as Texts;
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use giving::fundraisers::goal::Goal;
use giving::fundraisers::names::slug_of;
use giving::fundraisers::{Fundraiser, SPECIAL_SLUG};
use giving::ledger::store as journal;
use jiff::Timestamp;
use platform::ids::FundraiserId;
use platform::money::Cents;

/// What a page shows of a fundraiser.
#[derive(Clone, Debug)]
pub struct FundraiserView {
    pub id: FundraiserId,
    pub title: String,
    pub description: Option<String>,
    /// Names and pages of those it supports.
    pub nonprofits: Vec<(String, String)>,
    pub state: State,
    pub raised: Cents,
    pub offline: Option<Cents>,
    pub goal: Goal,
    pub supporters: i64,
    pub first_day: Option<String>,
    pub last_day: Option<String>,
    /// Its public page.
    pub page: String,
    /// Where the interface reads it.
    pub read: String,
}

/// Whether gifts are taken, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Open,
    Planned,
    Ended,
    Closed,
}

impl State {
    fn of(fundraiser: &Fundraiser, now: i64) -> State {
        match fundraiser.starts_at {
            _ if fundraiser.closed_at.is_some() => State::Closed,
            _ if fundraiser.is_active(now) => State::Open,
            Some(start) if now < start => State::Planned,
            _ => State::Ended,
        }
    }

    pub fn text(self, t: &Texts) -> &'static str {
        match self {
            State::Open => t.open,
            State::Planned => t.planned,
            State::Ended => t.ended,
            State::Closed => t.closed,
        }
    }

    /// The class of its badge.
    pub fn badge(self) -> &'static str {
        match self {
            State::Open => "badge badge-good",
            State::Planned => "badge badge-warn",
            State::Ended | State::Closed => "badge",
        }
    }
}

impl FundraiserView {
    pub async fn load(app: &App, fundraiser: Fundraiser) -> Result<FundraiserView> {
        let totals = journal::find_totals(&app.db, fundraiser.id).await?;
        let nonprofit = slug_of(&app.directory, &fundraiser).await?;
        Ok(FundraiserView {
            id: fundraiser.id,
            nonprofits: supported(app, &fundraiser).await?,
            state: State::of(&fundraiser, app.clock.millis()),
            raised: totals.raised,
            offline: fundraiser.offline.filter(|offline| *offline != Cents::ZERO),
            goal: Goal::after(totals.raised, fundraiser.goal),
            supporters: totals.supporters,
            first_day: fundraiser.starts_at.map(day),
            last_day: fundraiser.ends_at.map(day),
            page: app.urls.fundraiser(&nonprofit, &fundraiser.slug),
            read: app.urls.fundraiser_api(&nonprofit, &fundraiser.slug),
            title: fundraiser.title,
            description: fundraiser.description,
        })
    }

    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    pub fn goal_grows(&self) -> bool {
        matches!(self.goal, Goal::Automatic(_))
    }

    /// How far it has come, in percent, for the bar.
    pub fn percent(&self) -> i64 {
        let goal = i128::from(self.goal.amount().get().max(1));
        let percent = i128::from(self.raised.get()) * 100 / goal;
        i64::try_from(percent.clamp(0, 100)).unwrap_or(100)
    }

    /// Whom it supports, in one line.
    pub fn nonprofit_names(&self) -> String {
        let names: Vec<&str> = self.nonprofits.iter().map(|(name, _)| name.as_str()).collect();
        match names.as_slice() {
            [] => SPECIAL_SLUG.to_owned(),
            [one] => (*one).to_owned(),
            [first, rest @ ..] => format!("{first} + {}", rest.len()),
        }
    }
}

/// The names and pages of those it supports; the ID of one that is no longer known.
async fn supported(app: &App, fundraiser: &Fundraiser) -> Result<Vec<(String, String)>> {
    let mut supported = Vec::with_capacity(fundraiser.supported.len());
    for (id, _) in &fundraiser.supported {
        let found = app.directory.find(&Identifier::Id(*id)).await?;
        let known = found.as_ref().and_then(NonprofitRef::nonprofit);
        supported.push(match known {
            Some(nonprofit) => (nonprofit.name.to_owned(), app.urls.profile(nonprofit.slug)),
            None => (id.to_string(), app.urls.profile(&id.to_string())),
        });
    }
    Ok(supported)
}

/// The day of a moment in UTC, for people.
fn day(millis: i64) -> String {
    let moment = Timestamp::from_millisecond(millis).unwrap_or_default();
    moment.strftime("%B %-d, %Y").to_string()
}
