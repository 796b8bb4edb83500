//! Combines the stored row and the profile of a nonprofit.

use super::aliases::{common_names, typical_revenue};
use super::cause_set::CauseSet;
use super::causes::Causes;
use super::ntee::Ntee;
use super::prominence::{ProminenceFactors, prominence};
use super::rows::{Profile, StoredNonprofit};
use super::{Nonprofit, location, name};
use platform::ids::NonprofitId;

/// Calls `then` with the nonprofit of a stored row and its profile. Fields of the profile take precedence.
pub fn assemble<T>(
    stored: &StoredNonprofit,
    profile: Option<&Profile>,
    causes: &Causes,
    then: impl FnOnce(&Nonprofit<'_>) -> T,
) -> T {
    let filing = stored.filing();
    let legal_name = name::readable(filing.name);
    let profile_text = |field: fn(&Profile) -> &Option<String>| {
        profile
            .and_then(|profile| field(profile).as_deref())
            .filter(|text| !text.is_empty())
    };
    let name = profile_text(|profile| &profile.name).unwrap_or(&legal_name);
    let chapter = name::readable(filing.chapter);
    let city = location::city(filing.city);
    let ntee = Ntee::parse(filing.ntee);
    let website_url = profile_text(|profile| &profile.website_url);
    let own_description = profile_text(|profile| &profile.description);
    let (logo, cover) = (
        profile_text(|profile| &profile.logo),
        profile_text(|profile| &profile.cover),
    );
    let amounts = filing.facts.unwrap_or_default();
    let has_no_return = stored.listed && amounts.tax_period == 0;
    let typical_revenue = stored.ein().filter(|_| has_no_return).and_then(typical_revenue);
    let nonprofit = Nonprofit {
        id: NonprofitId(stored.id),
        ein: stored.ein(),
        slug: &stored.slug,
        name,
        legal_name: if name == legal_name { "" } else { &legal_name },
        chapter: &chapter,
        aliases: profile_text(|profile| &profile.aliases)
            .or_else(|| stored.ein().map(common_names))
            .unwrap_or_default(),
        city: &city,
        state: filing.state,
        zip: filing.zip,
        country: profile_text(|profile| &profile.country).unwrap_or_default(),
        ntee,
        causes: match profile_text(|profile| &profile.causes) {
            Some(names) => parse_causes(names, causes),
            None => causes.of(ntee, filing.name),
        },
        facts: filing.facts,
        own_description,
        description_long: profile_text(|profile| &profile.description_long),
        website_url,
        logo,
        cover,
        gone_at: stored.gone_at,
        prominence: prominence(&ProminenceFactors {
            revenue: typical_revenue.or(amounts.revenue),
            income: amounts.income,
            assets: amounts.assets,
            is_deductible: amounts.is_deductible(),
            is_subordinate: amounts.is_subordinate(),
            is_gone: stored.gone_at.is_some(),
            files_returns: amounts.tax_period != 0,
            has_unverified_amounts: has_no_return && typical_revenue.is_none(),
            has_ruling: amounts.ruling != 0,
            has_website: website_url.is_some(),
            has_description: own_description.is_some(),
            has_logo: logo.is_some(),
            has_cover: cover.is_some(),
        }),
    };
    then(&nonprofit)
}

/// Parses the causes in a profile. Ignores names that are no longer in the list of causes.
fn parse_causes(names: &str, causes: &Causes) -> CauseSet {
    let mut set = CauseSet::default();
    for position in names.split(' ').filter_map(|name| causes.position(name)) {
        set.insert(position);
    }
    set
}
