//! Combines the stored row and the profile of a nonprofit.

use super::aliases::{common_names, typical_revenue};
use super::cause_set::CauseSet;
use super::causes::Causes;
use super::ntee::Ntee;
use super::own_fields::OwnField;
use super::precedence::{Origin, Statements};
use super::prominence::{ProminenceFactors, prominence};
use super::rows::{NonprofitRow, Profile};
use super::tax_record::TaxRecord;
use super::{Nonprofit, location, name};
use crate::returns::programs::program_texts;
use platform::ids::NonprofitId;
use std::borrow::Cow;

/// Returns all that is stated about the nonprofit of a row.
pub(crate) fn statements<'a>(row: &'a NonprofitRow, profile: Option<&'a Profile>) -> Statements<'a> {
    Statements {
        filing: row.stored.filing(),
        is_listed: row.stored.listed,
        profile,
        tax_record: row
            .tax_record
            .as_deref()
            .map(TaxRecord::parse)
            .unwrap_or_default(),
    }
}

/// Calls `then` with the nonprofit of a row and its profile. See [`precedence`](super::precedence) for which statements
/// are used.
pub(crate) fn assemble<T>(
    row: &NonprofitRow,
    profile: Option<&Profile>,
    causes: &Causes,
    then: impl FnOnce(&Nonprofit<'_>) -> T,
) -> T {
    let stored = &row.stored;
    let stated = statements(row, profile);
    let filing = stated.filing;
    let tax = stated.tax_record.facts;
    let legal_name = name::readable(filing.name);
    let name = stated.name();
    let is_legal_name = name.is_none_or(|(name, origin)| origin == Origin::Return || name == legal_name);
    let chapter = name::readable(filing.chapter);
    let city = location::city(filing.city);
    let ntee = Ntee::parse(filing.ntee);
    let (logo, cover) = (
        stated.in_profile(|profile| &profile.logo),
        stated.in_profile(|profile| &profile.cover),
    );
    let aliases = match stated.in_profile(|profile| &profile.aliases) {
        Some(aliases) => Cow::Borrowed(aliases),
        None => join_lines(
            stored.ein().map(common_names).unwrap_or_default(),
            stated.tax_record.aliases,
        ),
    };
    let website = stated.website_url();
    let amounts = filing.facts.unwrap_or_default();
    let latest = tax
        .latest_return
        .filter(|latest| stored.listed && latest.period >= amounts.tax_period);
    let files_returns = amounts.tax_period != 0 || (stored.listed && tax.latest_return.is_some());
    let has_no_return = stored.listed && !files_returns;
    let revenue = stated.revenue().map(|(dollars, _)| dollars);
    let assets = latest.and_then(|latest| latest.assets).or(amounts.assets);
    let has_amounts = [revenue, amounts.income, assets]
        .into_iter()
        .flatten()
        .any(|dollars| dollars > 0);
    // Churches file no returns, and the master file has a period but no amounts for some of them.
    let has_unknown_size = has_no_return || (stored.listed && !has_amounts);
    let typical_revenue = stored
        .ein()
        .filter(|_| has_unknown_size)
        .and_then(typical_revenue);
    let own_description = stated.description().map(|(text, _)| text);
    let description_long = stated.description_long().map(|(text, _)| text);
    let programs = program_texts(
        stated.tax_record.latest_return_json,
        [own_description, description_long],
    );
    let nonprofit = Nonprofit {
        id: NonprofitId(stored.id),
        ein: stored.ein(),
        slug: &stored.slug,
        name: name.map_or(&legal_name, |(name, _)| name),
        legal_name: if is_legal_name { "" } else { &legal_name },
        chapter: &chapter,
        aliases: &aliases,
        city: &city,
        state: filing.state,
        zip: filing.zip,
        country: stated.in_profile(|profile| &profile.country).unwrap_or_default(),
        ntee,
        causes: match stated.in_profile(|profile| &profile.causes) {
            Some(names) => parse_causes(names, causes),
            None => causes.of(ntee, filing.name),
        },
        facts: filing.facts,
        tax,
        own_description,
        description_long,
        programs: &programs,
        website_url: website.map(|(url, _)| url),
        is_website_filed: website
            .is_some_and(|(_, origin)| matches!(origin, Origin::Return | Origin::Epostcard)),
        logo,
        cover,
        is_held: false,
        has_consented: stated.is_own(OwnField::Consent),
        is_closed: stated.is_own(OwnField::Closed),
        gone_at: stored.gone_at,
        prominence: prominence(&ProminenceFactors {
            revenue: typical_revenue.or(revenue),
            income: amounts.income,
            assets,
            is_deductible: amounts.is_deductible() && !tax.is_revoked(),
            is_subordinate: amounts.is_subordinate(),
            is_gone: stored.gone_at.is_some(),
            files_returns,
            has_unverified_amounts: has_no_return && typical_revenue.is_none(),
            has_ruling: amounts.ruling != 0,
            has_website: stated.in_profile(|profile| &profile.website_url).is_some(),
            has_description: stated.in_profile(|profile| &profile.description).is_some(),
            has_logo: logo.is_some(),
            has_cover: cover.is_some(),
        }),
    };
    then(&nonprofit)
}

/// Joins two texts of lines, either of which may be empty.
fn join_lines<'a>(first: &'a str, second: &'a str) -> Cow<'a, str> {
    match (first, second) {
        ("", only) | (only, "") => Cow::Borrowed(only),
        _ => Cow::Owned([first, "\n", second].concat()),
    }
}

/// Parses the causes in a profile. Ignores names that are no longer in the list of causes.
fn parse_causes(names: &str, causes: &Causes) -> CauseSet {
    let mut set = CauseSet::default();
    for position in names.split(' ').filter_map(|name| causes.position(name)) {
        set.insert(position);
    }
    set
}
