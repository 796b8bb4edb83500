//! The home page.

use crate::app::App;
use crate::app::compressible_text::CompressibleText;
use crate::app::page_cache::PageState;
use crate::app::urls::Urls;
use crate::http::error::Result;
use crate::site::cause_links::{CauseLink, popular as popular_causes};
use crate::site::feeds;
use crate::site::fundraiser_links;
use crate::site::popular::popular;
use crate::web::fundraiser_article::{cover, focus_classes, percent};
use crate::web::numbers::thousands;
use crate::web::page::{public_response, render};
use crate::web::texts::fill;
use crate::web::{Layout, Meta, Section};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::aliases::common_names;
use giving::fundraisers::FundraiserName;
use giving::fundraisers::cache::FundraiserWithTotals;
use giving::fundraisers::store;
use giving::providers::Provider;
use platform::text::cut;
use std::sync::Arc;

const CAUSES: usize = 12;
const POPULAR: usize = 6;
const FUNDRAISERS: usize = 3;
/// How many of the newest fundraisers are considered. Some of them have not begun, or are over.
const FUNDRAISER_CANDIDATES: i64 = 12;
/// The maximum length of a description in characters.
const MAX_DESCRIPTION_CHARS: usize = 110;

#[derive(Template)]
#[template(path = "site/home.html")]
struct Home {
    layout: Layout,
    meta: Meta,
    lead: String,
    accepts_donations: bool,
    popular: Vec<Popular>,
    causes: Vec<CauseLink>,
    fundraisers: Vec<ActiveFundraiser>,
    runs_it: String,
}

/// A popular nonprofit.
#[derive(Debug)]
struct Popular {
    slug: String,
    name: String,
    logo: String,
    cover: String,
    description: String,
}

/// A fundraiser that accepts donations.
#[derive(Debug)]
struct ActiveFundraiser {
    path: String,
    title: String,
    cover: String,
    cover_focus: String,
    /// The amounts, as text.
    raised: String,
    /// The share of the goal in percent, if there is a goal.
    percent: Option<i64>,
}

/// `GET /`
pub async fn home(State(app): State<App>) -> Result<Response> {
    let now = app.clock.instant();
    let state = PageState::read(&app.directory, &app.giving.fundraisers).await;
    let cached = state
        .as_ref()
        .and_then(|state| app.caches.home_page.get(&(), state, now));
    if let Some(html) = cached {
        return Ok(public_response(html));
    }
    let html = CompressibleText::new(render(&Home::new(&app).await?)?);
    if let Some(state) = state {
        app.caches.home_page.set((), state, now, html.clone());
    }
    Ok(public_response(html))
}

impl Home {
    async fn new(app: &App) -> Result<Home> {
        let fundraisers = active_fundraisers(app).await?;
        let view = app.directory.view();
        let layout = Layout::new(Section::Home);
        let texts = &layout.p.home;
        let count = view.snapshot.as_ref().map_or(0, |snapshot| snapshot.len());
        let count = thousands(u64::from(count));
        let name = layout.t.site.name;
        let accepts_donations = app.config.giving != Provider::Off;
        let lead = if accepts_donations {
            texts.lead
        } else {
            texts.lead_without_giving
        };
        let runs_it = match &layout.site.operator {
            Some(operator) => fill(texts.run_by, &[("name", name), ("operator", operator)]),
            None => fill(texts.run_by_nobody, &[("name", name)]),
        };
        Ok(Home {
            meta: Meta::new(&layout, texts.title, texts.about, app.site.urls.page("/"))
                .feed(feeds::PATH, layout.p.fundraiser.feed),
            lead: fill(lead, &[("count", &count)]),
            accepts_donations,
            popular: popular(&view, POPULAR).iter().map(Popular::new).collect(),
            causes: popular_causes(&view, app.directory.causes(), CAUSES),
            fundraisers,
            runs_it,
            layout,
        })
    }
}

impl Popular {
    fn new(nonprofit: &Nonprofit<'_>) -> Popular {
        let common_name = nonprofit.ein.and_then(|ein| common_names(ein).lines().next());
        let location = nonprofit.location();
        let description = nonprofit.description(&location);
        Popular {
            slug: nonprofit.slug.to_owned(),
            name: common_name.unwrap_or(nonprofit.name).to_owned(),
            logo: Urls::logo_path(nonprofit),
            cover: Urls::cover_path(nonprofit),
            description: shorten(&description),
        }
    }
}

/// Cuts a description between two words.
fn shorten(description: &str) -> String {
    let short = cut(description, MAX_DESCRIPTION_CHARS);
    if short.len() == description.len() {
        return description.to_owned();
    }
    let end = short.rfind(' ').unwrap_or(short.len());
    format!("{}…", short[..end].trim_end_matches([' ', ',', ';', '.']))
}

/// Lists the newest fundraisers that accept donations. While the store is unavailable, the page has none.
async fn active_fundraisers(app: &App) -> Result<Vec<ActiveFundraiser>> {
    let found = app.optional_reads.budget().read(find_fundraisers(app)).await;
    let found = found.unwrap_or_default();
    let mut links = Vec::with_capacity(FUNDRAISERS);
    let active = |found: &&Arc<FundraiserWithTotals>| found.fundraiser.is_active(app.clock.millis());
    for found in found.iter().filter(active).take(FUNDRAISERS) {
        let fundraiser = &found.fundraiser;
        let totals = fundraiser.verified(found.totals.counted(app.is_test_mode()));
        links.push(ActiveFundraiser {
            path: fundraiser_links::path_of(&app.directory, fundraiser).await?,
            title: fundraiser.title.clone(),
            cover: cover(&fundraiser.id.to_string(), fundraiser.cover.as_deref()),
            cover_focus: focus_classes(fundraiser.focus),
            raised: totals.raised.to_string(),
            percent: fundraiser
                .goal
                .map(|goal| percent(totals.raised.get(), goal.get())),
        });
    }
    Ok(links)
}

async fn find_fundraisers(app: &App) -> sqlx::Result<Vec<Arc<FundraiserWithTotals>>> {
    let newest = store::list_newest(&app.db, FUNDRAISER_CANDIDATES).await?;
    let mut found = Vec::with_capacity(newest.len());
    for item in newest {
        let name = FundraiserName::Id(item.id);
        found.extend(app.giving.fundraisers.find(item.nonprofit, name).await?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_description_is_cut_between_two_words() {
        let long = "word, ".repeat(40);
        let short = shorten(&long);
        assert!(
            short.ends_with("word…") && short.chars().count() <= MAX_DESCRIPTION_CHARS,
            "{short}"
        );
        assert_eq!(shorten("Feeds people."), "Feeds people.");
    }
}
