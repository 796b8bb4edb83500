//! The text of share cards, the pictures that social networks show for a page.
//!
//! Cards have no text shaping: a title in a script that the font lacks is replaced by its slug, and that of a fundraiser by
//! its nonprofit.

use crate::http::error::Result;
use crate::web::fundraiser_article::{find_beneficiaries, percent, supporters_line};
use crate::web::texts::fill;
use crate::web::{Layout, Section};
use directory::nonprofits::Nonprofit;
use directory::nonprofits::causes::Causes;
use directory::{Directory, NonprofitRef};
use giving::fundraisers::Fundraiser;
use giving::fundraisers::cache::FundraiserWithTotals;
use giving::fundraisers::goal::Goal;
use pictures::drawn::card::{CardCover, Progress, ShareCard};

/// Returns the card of a nonprofit's profile.
pub fn of_nonprofit(causes: &Causes, nonprofit: &Nonprofit<'_>) -> ShareCard {
    let cause = causes.of_set(nonprofit.causes).next();
    let (location, cause) = (nonprofit.location(), cause.map(|cause| cause.title.clone()));
    let subtitle = [Some(location).filter(|location| !location.is_empty()), cause];
    ShareCard {
        subtitle: subtitle.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        title: nonprofit.name.to_owned(),
        fallback_title: nonprofit.slug.to_owned(),
        site_name: Layout::new(Section::Other).t.site.name,
        progress: None,
        cover: None,
        seed: nonprofit.id.0.as_u128(),
    }
}

/// Returns the card of a fundraiser's page.
pub async fn of_fundraiser(
    directory: &Directory,
    shown: &FundraiserWithTotals,
    is_test_mode: bool,
) -> Result<ShareCard> {
    let found = find_beneficiaries(directory, &shown.fundraiser).await?;
    Ok(card(shown, &found, is_test_mode))
}

/// Returns the nonprofit of a fundraiser that benefits only one.
pub fn single_nonprofit<'a>(
    fundraiser: &Fundraiser,
    found: &'a [(NonprofitRef, f64)],
) -> Option<Nonprofit<'a>> {
    let (found, _) = found.first().filter(|_| !fundraiser.is_multiple())?;
    found.nonprofit()
}

/// Returns the card of a fundraiser whose beneficiaries are already known.
pub fn card(shown: &FundraiserWithTotals, found: &[(NonprofitRef, f64)], is_test_mode: bool) -> ShareCard {
    let layout = Layout::new(Section::Other);
    let (fundraiser, t) = (&shown.fundraiser, &layout.p.fundraiser);
    let totals = shown.totals.counted(is_test_mode);
    let goal = Goal::after(totals.raised, fundraiser.goal).amount();
    let totals = fundraiser.verified(totals);
    let of_goal = fill(t.of_goal, &[("goal", &goal.to_string())]);
    let benefiting = match single_nonprofit(fundraiser, found) {
        Some(nonprofit) => fill(t.card, &[("name", nonprofit.name)]),
        None => fill(t.card_several, &[("count", &found.len().to_string())]),
    };
    ShareCard {
        subtitle: if is_test_mode {
            format!("{} · {benefiting}", t.test_mode)
        } else {
            benefiting
        },
        title: fundraiser.title.clone(),
        fallback_title: single_nonprofit(fundraiser, found)
            .map_or(&*fundraiser.slug, |nonprofit| nonprofit.name)
            .to_owned(),
        site_name: layout.t.site.name,
        progress: Some(Progress {
            amount: totals.raised.to_string(),
            caption: format!("{of_goal} · {}", supporters_line(totals.supporters, t)),
            percent: percent(totals.raised.get(), goal.get()),
        }),
        cover: fundraiser.cover.as_ref().map(|id| CardCover {
            id: id.clone(),
            focus: (fundraiser.focus.x(), fundraiser.focus.y()),
        }),
        seed: fundraiser.id.0.as_u128(),
    }
}
