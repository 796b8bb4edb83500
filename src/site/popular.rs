//! The popular nonprofits on the home page: those that people recognize.
//!
//! Size alone does not choose them: the largest nonprofits are health plans, hospital systems, universities and
//! donor-advised funds, which few visitors look for. So the rule is:
//!
//! 1. the household names in `data/popular-nonprofits.csv`, in the order of the list;
//! 2. then the most prominent nonprofits of the directory, without those whose NTEE code is that of a hospital, a health
//!    plan, a university, a foundation or fund, a financial or mutual-benefit organization, or unknown.
//!
//! All of them can receive tax-deductible donations, and there is one of each NTEE major group until there are no more.

use directory::View;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::ein::Ein;
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::ntee::Ntee;
use std::sync::LazyLock;

/// How many of the most prominent nonprofits are considered.
const CANDIDATES: u32 = 300;

/// NTEE codes, by their first characters, of nonprofits that are large but rarely looked for.
const EXCLUDED: [&str; 17] = [
    "B4", "B5", "E0", "E1", "E2", "E3", "E5", "E6", "E7", "E8", "E9", "T", "U0", "V", "W6", "Y", "Z",
];

static HOUSEHOLD_NAMES: LazyLock<Vec<Ein>> = LazyLock::new(|| {
    let lines = include_str!("../../data/popular-nonprofits.csv").lines().skip(1);
    let eins = lines.map(|line| line.split(',').next().unwrap_or_default());
    eins.map(|ein| Ein::parse(ein).expect("data/popular-nonprofits.csv has valid EINs"))
        .collect()
});

/// Returns up to `take` popular nonprofits.
pub fn popular(view: &View, take: usize) -> Vec<Nonprofit<'_>> {
    let household_names = HOUSEHOLD_NAMES
        .iter()
        .filter_map(|ein| view.find(&Identifier::Ein(*ein)));
    let count = view.snapshot.as_ref().map_or(0, |snapshot| snapshot.len());
    let prominent = (0..CANDIDATES.min(count))
        .filter(|position| !view.overlay.replaces(*position))
        .filter_map(|position| view.snapshot.as_ref()?.nonprofit(position))
        .filter(|nonprofit| nonprofit.ntee.is_some_and(|ntee| !is_excluded(ntee)));
    choose(household_names.chain(prominent), take)
}

/// Chooses the first of each major group, and then others in their order.
fn choose<'a>(candidates: impl Iterator<Item = Nonprofit<'a>>, take: usize) -> Vec<Nonprofit<'a>> {
    let mut chosen: Vec<Nonprofit<'a>> = Vec::with_capacity(take);
    let mut others = Vec::new();
    for candidate in candidates.filter(|nonprofit| nonprofit.is_disbursable() && nonprofit.is_deductible()) {
        if chosen.len() == take {
            break;
        }
        if chosen.iter().any(|other| other.id == candidate.id) {
            continue;
        }
        let group = |nonprofit: &Nonprofit<'_>| nonprofit.ntee.map(Ntee::major);
        if chosen.iter().any(|other| group(other) == group(&candidate)) {
            others.push(candidate);
        } else {
            chosen.push(candidate);
        }
    }
    for other in others {
        if chosen.len() < take && chosen.iter().all(|chosen| chosen.id != other.id) {
            chosen.push(other);
        }
    }
    chosen
}

fn is_excluded(ntee: Ntee) -> bool {
    EXCLUDED.iter().any(|prefix| ntee.code().starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hospitals_health_plans_universities_and_funds_are_not_popular() {
        for code in [
            "E20", "E22", "E31", "E80", "B42", "B43", "B50", "T20", "T31", "T70", "Y22", "W61", "Z99",
        ] {
            assert!(is_excluded(Ntee::parse(code).unwrap()), "{code}");
        }
        for code in [
            "P20", "K31", "D20", "C30", "A51", "E40", "B60", "G30", "L20", "Q33", "X20",
        ] {
            assert!(!is_excluded(Ntee::parse(code).unwrap()), "{code}");
        }
    }

    #[test]
    fn the_list_of_household_names_has_no_duplicates() {
        let mut names = HOUSEHOLD_NAMES.clone();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), HOUSEHOLD_NAMES.len());
        assert!(names.len() >= 30);
    }
}
