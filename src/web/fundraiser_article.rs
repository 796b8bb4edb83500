//! A fundraiser as its page shows it: cover, organizer, progress, story and beneficiaries. The public page and the preview
//! on the dashboard share it, so that a preview cannot look different.

use super::markdown;
use super::relative_time::RelativeTime;
use super::texts::{FundraiserTexts, PUBLIC_EN, fill};
use crate::app::App;
use crate::app::urls::Urls;
use crate::http::error::Result;
use access::accounts::public_profile::PublicProfile;
use directory::nonprofits::identifier::Identifier;
use directory::{Directory, NonprofitRef};
use giving::donations::listing::Supporter;
use giving::donations::store as donations;
use giving::fundraisers::Fundraiser;
use giving::fundraisers::cover::Focus;
use giving::fundraisers::goal::Goal;
use giving::ledger::entry::{Mode, Totals};
use platform::ids::FundraiserId;
use platform::money::Cents;
use std::sync::Arc;

/// What `web/fundraiser/head.html` and `web/fundraiser/main.html` show.
#[derive(Debug)]
pub struct FundraiserArticle {
    pub title: String,
    pub cover: String,
    /// The classes that choose the visible part of it.
    pub cover_focus: String,
    pub organizer: Option<Organizer>,
    /// Whether it is open, and since or until when.
    pub status: String,
    /// What donations prove.
    pub raised: String,
    /// What the organizer reports as raised elsewhere, in a sentence.
    pub reported: Option<String>,
    pub goal: String,
    pub percent: i64,
    pub supporters_line: String,
    /// The story as safe HTML.
    pub story: Option<Arc<str>>,
    pub beneficiaries: Vec<Beneficiary>,
    pub is_test_mode: bool,
}

/// Who started a fundraiser.
#[derive(Clone, Debug)]
pub struct Organizer {
    pub name: String,
    /// The path of their picture.
    pub picture: Option<String>,
}

impl From<&PublicProfile> for Organizer {
    fn from(profile: &PublicProfile) -> Organizer {
        let picture = profile.picture.as_deref();
        Organizer {
            name: profile.name().to_owned(),
            picture: picture.map(|id| format!("/media/{id}?w=128")),
        }
    }
}

/// A nonprofit with its share of every donation.
#[derive(Debug)]
pub struct Beneficiary {
    pub slug: String,
    pub name: String,
    pub logo: String,
    pub share: String,
}

impl FundraiserArticle {
    /// Creates the article of a fundraiser without its organizer and its status.
    pub fn new(
        fundraiser: &Fundraiser,
        totals: Totals,
        found: &[(NonprofitRef, f64)],
        is_test_mode: bool,
    ) -> FundraiserArticle {
        let goal = Goal::after(totals.raised, fundraiser.goal).amount();
        let totals = fundraiser.verified(totals);
        FundraiserArticle {
            title: fundraiser.title.clone(),
            cover: cover(&fundraiser.id.to_string(), fundraiser.cover.as_deref()),
            cover_focus: focus_classes(fundraiser.focus),
            organizer: None,
            status: String::new(),
            raised: totals.raised.to_string(),
            reported: reported_line(fundraiser, &PUBLIC_EN.fundraiser),
            goal: goal.to_string(),
            percent: percent(totals.raised.get(), goal.get()),
            supporters_line: supporters_line(totals.supporters, &PUBLIC_EN.fundraiser),
            story: fundraiser.description.as_deref().map(markdown::render),
            beneficiaries: beneficiaries(found),
            is_test_mode,
        }
    }
}

/// Finds the nonprofits that a fundraiser benefits, with their weights. Nonprofits that no longer exist are left out.
pub async fn find_beneficiaries(
    directory: &Directory,
    fundraiser: &Fundraiser,
) -> Result<Vec<(NonprofitRef, f64)>> {
    let mut found = Vec::with_capacity(fundraiser.supported.len());
    for (id, weight) in &fundraiser.supported {
        if let Some(nonprofit) = directory.find(&Identifier::Id(*id)).await? {
            found.push((nonprofit, *weight));
        }
    }
    Ok(found)
}

fn beneficiaries(found: &[(NonprofitRef, f64)]) -> Vec<Beneficiary> {
    let total: f64 = found.iter().map(|(_, weight)| weight).sum();
    found
        .iter()
        .filter_map(|(found, weight)| {
            let nonprofit = found.nonprofit()?;
            Some(Beneficiary {
                slug: nonprofit.slug.to_owned(),
                name: nonprofit.name.to_owned(),
                logo: Urls::logo_path(&nonprofit),
                share: format!("{:.1}%", weight / total * 100.0).replace(".0%", "%"),
            })
        })
        .collect()
}

/// The number of supporters that a page lists.
const MAX_SUPPORTERS: usize = 20;

/// A donation in the list of a page, and when it was made.
pub type SupporterRow = (Supporter, RelativeTime);

/// Lists the latest donations to a fundraiser, for `web/fundraiser/supporters.html`.
pub async fn list_supporters(app: &App, id: FundraiserId) -> Result<Vec<SupporterRow>> {
    let (modes, now) = (Mode::counted(app.is_test_mode()), app.clock.millis());
    let supporters = donations::list_supporters(&app.db, id, modes, MAX_SUPPORTERS).await?;
    let row = |supporter: Supporter| {
        let time = RelativeTime::new(supporter.at, now);
        (supporter, time)
    };
    Ok(supporters.into_iter().map(row).collect())
}

/// Returns the URL of a fundraiser's cover: the uploaded picture, or a generated one.
pub fn cover(id: &str, hosted: Option<&str>) -> String {
    hosted.map_or_else(
        || format!("/media/fundraiser-{id}"),
        |hosted| format!("/media/{hosted}"),
    )
}

/// Returns the CSS classes that keep a part of a cover visible where it is cropped. Pages allow no styles of their own.
pub fn focus_classes(focus: Focus) -> String {
    format!("focus-x-{} focus-y-{}", focus.x(), focus.y())
}

/// Returns what the organizer reports as raised elsewhere, in a sentence. It is never part of another figure.
pub fn reported_line(fundraiser: &Fundraiser, t: &FundraiserTexts) -> Option<String> {
    let amount = fundraiser.offline.filter(|amount| *amount != Cents::ZERO)?;
    Some(fill(t.reported, &[("amount", &amount.to_string())]))
}

/// Returns the number of supporters as text: "3 supporters".
pub fn supporters_line(count: i64, t: &FundraiserTexts) -> String {
    match count {
        1 => t.one_supporter.to_owned(),
        count => fill(t.supporters_count, &[("count", &count.to_string())]),
    }
}

/// Returns how much of the goal was reached, from 0 to 100.
pub fn percent(raised: i64, goal: i64) -> i64 {
    let percent = i128::from(raised.max(0)) * 100 / i128::from(goal.max(1));
    percent.min(100) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentage_stays_between_0_and_100() {
        for (raised, goal, expected) in [
            (0, 100, 0),
            (50, 100, 50),
            (300, 100, 100),
            (-5, 100, 0),
            (1, 0, 100),
        ] {
            assert_eq!(percent(raised, goal), expected);
        }
    }
}
