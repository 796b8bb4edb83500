//! Finds nonprofits whose names resemble those of rows without an EIN. A person compares them.

use super::store::{Entry, NameMatch, StandingList};
use crate::nonprofits::location::state_code;
use crate::query::matching::names::NameWords;
use crate::query::matching::score::Reason;
use crate::query::matching::{Matcher, Row};
use crate::snapshot::view::{HitLocation, View};
use std::collections::{HashMap, HashSet};

/// The score of a name alone from which it resembles the other. An equal name has 90.
const MIN_SCORE: u32 = 77;
/// The number of nonprofits that a name on the sanctions list is compared with.
const TAKE: usize = 5;
/// Types on the sanctions list that are no organizations.
const OTHER_TYPES: [&str; 3] = ["individual", "vessel", "aircraft"];

/// Finds the pairs of a list, sorted.
pub fn find(view: &View, list: StandingList, entries: &[Entry]) -> Vec<NameMatch> {
    let mut found = match list {
        StandingList::Sanctions => find_similar(view, entries),
        StandingList::California | StandingList::TaxBoard => find_equal(view, entries),
    };
    found.sort_unstable();
    found.dedup_by(|a, b| (a.ein, &a.entry) == (b.ein, &b.entry));
    found
}

/// Compares each name with the nonprofits that the matcher finds: the names on the sanctions list have no place.
fn find_similar(view: &View, entries: &[Entry]) -> Vec<NameMatch> {
    let mut matcher = Matcher::new(view);
    let mut found = Vec::new();
    for entry in entries {
        if OTHER_TYPES.contains(&entry.city.as_str()) {
            continue;
        }
        let others = entry.details.lines().filter_map(|line| line.strip_prefix("aka "));
        for name in std::iter::once(entry.name.as_str()).chain(others) {
            let row = Row {
                name,
                ..Row::default()
            };
            for candidate in matcher.find(&row, TAKE) {
                let is_equal = [Reason::NameEqual, Reason::OtherNameEqual, Reason::FormerNameEqual]
                    .iter()
                    .any(|reason| candidate.reasons.contains(*reason));
                let Some(ein) = view
                    .nonprofit(candidate.location)
                    .and_then(|nonprofit| nonprofit.ein)
                else {
                    continue;
                };
                if is_equal || candidate.score >= MIN_SCORE {
                    let reasons = candidate.reasons.iter().map(Reason::text).collect::<Vec<_>>();
                    found.push(NameMatch {
                        ein: i64::from(ein.value()),
                        entry: entry.entry.clone(),
                        reasons: format!("{}; listed as {name}", reasons.join("; ")),
                    });
                }
            }
        }
    }
    found
}

/// Finds nonprofits with the same words in their names, in the same city. One pass over the directory is faster than a
/// search for each of 70,000 rows.
fn find_equal(view: &View, entries: &[Entry]) -> Vec<NameMatch> {
    let Some(snapshot) = &view.snapshot else {
        return Vec::new();
    };
    let mut words = NameWords::default();
    let mut by_name: HashMap<(String, String), Vec<&Entry>> = HashMap::new();
    let mut cities: HashSet<String> = HashSet::new();
    for entry in entries {
        words.set(&entry.city);
        let city = words.sorted();
        words.set(&entry.name);
        if words.is_empty() || city.is_empty() {
            continue;
        }
        cities.insert(city.clone());
        by_name.entry((words.sorted(), city)).or_default().push(entry);
    }
    let mut found = Vec::new();
    if by_name.is_empty() {
        return found;
    }
    let count = snapshot.len();
    let in_snapshot = (0..count)
        .filter(|position| !view.overlay.replaces(*position))
        .map(HitLocation::Snapshot);
    let in_overlay = (0..view.overlay.len() as u32).map(HitLocation::Overlay);
    let mut known_cities: HashMap<String, Option<String>> = HashMap::new();
    for nonprofit in in_snapshot
        .chain(in_overlay)
        .filter_map(|location| view.nonprofit(location))
    {
        let Some(ein) = nonprofit.ein else { continue };
        let city = known_cities.entry(nonprofit.city.to_owned()).or_insert_with(|| {
            words.set(nonprofit.city);
            let city = words.sorted();
            cities.contains(&city).then_some(city)
        });
        let Some(city) = city else { continue };
        for (name, reason) in [
            (nonprofit.name, Reason::NameEqual),
            (nonprofit.legal_name, Reason::OtherNameEqual),
        ] {
            words.set(name);
            if words.is_empty() {
                continue;
            }
            for entry in by_name.get(&(words.sorted(), city.clone())).into_iter().flatten() {
                // The registry also lists charities of other states.
                let state = entry.details.lines().find_map(|line| line.strip_prefix("state "));
                let is_elsewhere = state
                    .and_then(state_code)
                    .is_some_and(|state| !nonprofit.state.is_empty() && state != nonprofit.state);
                if !is_elsewhere {
                    found.push(NameMatch {
                        ein: i64::from(ein.value()),
                        entry: entry.entry.clone(),
                        reasons: format!("{}; {}", reason.text(), Reason::SameCity.text()),
                    });
                }
            }
        }
    }
    found
}
