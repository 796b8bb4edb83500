//! From what is stored to what is shown: the filed facts and the profile that people told us, made one.

use super::aliases::{common_names, typical_revenue};
use super::cause_set::CauseSet;
use super::causes::Causes;
use super::ntee::Ntee;
use super::prominence::{Known, prominence};
use super::rows::{Profile, StoredNonprofit};
use super::{Nonprofit, location, name};
use platform::ids::NonprofitId;

/// Calls `then` with the nonprofit that a stored row and its profile make.
pub fn assemble<T>(
    stored: &StoredNonprofit,
    profile: Option<&Profile>,
    causes: &Causes,
    then: impl FnOnce(&Nonprofit<'_>) -> T,
) -> T {
    let filed = stored.filing();
    let legal_name = name::readable(filed.name);
    let told = |field: fn(&Profile) -> &Option<String>| {
        profile
            .and_then(|profile| field(profile).as_deref())
            .filter(|text| !text.is_empty())
    };
    let name = told(|profile| &profile.name).unwrap_or(&legal_name);
    let chapter = name::readable(filed.chapter);
    let city = location::city(filed.city);
    let ntee = Ntee::parse(filed.ntee);
    let website_url = told(|profile| &profile.website_url);
    let own_description = told(|profile| &profile.description);
    let (logo, cover) = (told(|profile| &profile.logo), told(|profile| &profile.cover));
    let amounts = filed.facts.unwrap_or_default();
    let has_no_return = stored.listed && amounts.tax_period == 0;
    let typical_revenue = stored.ein().filter(|_| has_no_return).and_then(typical_revenue);
    let nonprofit = Nonprofit {
        id: NonprofitId(stored.id),
        ein: stored.ein(),
        slug: &stored.slug,
        name,
        legal_name: if name == legal_name { "" } else { &legal_name },
        chapter: &chapter,
        aliases: told(|profile| &profile.aliases)
            .or_else(|| stored.ein().map(common_names))
            .unwrap_or_default(),
        city: &city,
        state: filed.state,
        zip: filed.zip,
        country: told(|profile| &profile.country).unwrap_or_default(),
        ntee,
        causes: match told(|profile| &profile.causes) {
            Some(list) => chosen(list, causes),
            None => causes.of(ntee, filed.name),
        },
        facts: filed.facts,
        own_description,
        description_long: told(|profile| &profile.description_long),
        website_url,
        logo,
        cover,
        gone_at: stored.gone_at,
        prominence: prominence(&Known {
            revenue: typical_revenue.or(amounts.revenue),
            income: amounts.income,
            assets: amounts.assets,
            is_deductible: amounts.is_deductible(),
            is_subordinate: amounts.is_subordinate(),
            is_gone: stored.gone_at.is_some(),
            files_returns: amounts.tax_period != 0,
            has_bare_amounts: has_no_return && typical_revenue.is_none(),
            has_ruling: amounts.ruling != 0,
            has_website: website_url.is_some(),
            has_description: own_description.is_some(),
            has_logo: logo.is_some(),
            has_cover: cover.is_some(),
            given_cents: 0,
        }),
    };
    then(&nonprofit)
}

/// The causes that a profile lists. One that the list of this server no longer has is passed over.
fn chosen(list: &str, causes: &Causes) -> CauseSet {
    let mut set = CauseSet::default();
    for place in list.split(' ').filter_map(|name| causes.place(name)) {
        set.insert(place);
    }
    set
}
