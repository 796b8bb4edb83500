//! Fundraisers as cards of a list.

use crate::app::App;
use crate::http::error::Result;
use crate::site::fundraiser_links::path_of;
use crate::web::dates::format_time;
use crate::web::fundraiser_article::{cover, find_beneficiaries, focus_classes, percent, supporters_line};
use crate::web::texts::{FUNDRAISING_EN, PUBLIC_EN, fill};
use giving::fundraisers::FundraiserName;
use giving::fundraisers::cache::FundraiserWithTotals;
use giving::fundraisers::goal::Goal;
use giving::fundraisers::store::Listed;

/// A fundraiser as a card; `site/fundraiser_card.html` renders it.
#[derive(Debug)]
pub struct FundraiserCard {
    pub path: String,
    pub title: String,
    pub cover: String,
    /// The classes that choose the visible part of it.
    pub cover_focus: String,
    /// The nonprofits that it benefits, in a few words.
    pub benefiting: String,
    /// "$150.00 raised of $5,000.00"
    pub raised: String,
    pub percent: i64,
    pub supporters: String,
    /// Until when it is open, or that it is not open.
    pub status: Option<String>,
    pub is_test_mode: bool,
}

/// Returns the cards of fundraisers, without those that not everyone can see.
pub async fn cards(app: &App, listed: Vec<Listed>) -> Result<Vec<FundraiserCard>> {
    let now = app.clock.millis();
    let mut cards = Vec::with_capacity(listed.len());
    for (nonprofit, id) in listed {
        let found = app
            .giving
            .fundraisers
            .find(nonprofit, FundraiserName::Id(id))
            .await?;
        if let Some(shown) = found.filter(|found| found.fundraiser.is_public()) {
            let is_active = shown.fundraiser.is_active(now);
            cards.push(card(app, &shown, is_active).await?);
        }
    }
    Ok(cards)
}

async fn card(app: &App, shown: &FundraiserWithTotals, is_active: bool) -> Result<FundraiserCard> {
    let (fundraiser, t) = (&shown.fundraiser, &FUNDRAISING_EN.discover);
    let is_test_mode = app.is_test_mode();
    let totals = shown.totals.counted(is_test_mode);
    let goal = Goal::after(totals.raised, fundraiser.goal).amount();
    let totals = fundraiser.verified(totals);
    let found = find_beneficiaries(&app.directory, fundraiser).await?;
    let benefiting = match found.as_slice() {
        [(only, _)] => only
            .nonprofit()
            .map(|only| fill(t.benefiting, &[("name", only.name)])),
        several => Some(fill(t.several, &[("count", &several.len().to_string())])),
    };
    let raised = [("raised", totals.raised.to_string()), ("goal", goal.to_string())];
    Ok(FundraiserCard {
        path: path_of(&app.directory, fundraiser).await?,
        title: fundraiser.title.clone(),
        cover: match &fundraiser.cover {
            Some(hosted_id) => format!("/media/{hosted_id}?w=512"),
            None => cover(&fundraiser.id.to_string(), None),
        },
        cover_focus: focus_classes(fundraiser.focus),
        benefiting: benefiting.unwrap_or_default(),
        raised: fill(
            t.of_goal,
            &raised.each_ref().map(|(name, text)| (*name, text.as_str())),
        ),
        percent: percent(totals.raised.get(), goal.get()),
        supporters: supporters_line(totals.supporters, &PUBLIC_EN.fundraiser),
        status: match fundraiser.ends_at {
            _ if !is_active => Some(t.not_active.to_owned()),
            Some(end) => Some(fill(t.ends, &[("day", &format_time(end))])),
            None => None,
        },
        is_test_mode,
    })
}
