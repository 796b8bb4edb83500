//! Similar nonprofits: those with a cause in common and of about the same size. Those that do work of the same kind come first,
//! in the same city and then in the same state, and among them those whose names and categories mean about the same. A charity
//! is similar to charities only, and at most one chapter of each parent is among them.
//!
//! The lists of the index are in the order of prominence, which is mostly size. Those that are next to a nonprofit in the
//! list of its city are therefore the ones of about its size, and only they are read.

use crate::nonprofits::Nonprofit;
use crate::nonprofits::ntee::Ntee;
use crate::query::intent::intent;
use crate::snapshot::documents::{city_label, state_label};
use crate::snapshot::view::View;
use std::cmp::Reverse;

/// How many nonprofits of a list are read, above and below.
const MAX_READ: usize = 128;

/// How finely similarities are told apart: hundredths.
const SIMILARITY_STEPS: f32 = 100.0;

/// Returns what says most about the work of a nonprofit: its name and its category.
fn description(nonprofit: &Nonprofit<'_>) -> String {
    let category = nonprofit.ntee.map_or("", Ntee::title);
    format!("{} {category}", nonprofit.name)
}

/// Returns whether two nonprofits are in the same group exemption, as the chapters of one parent are.
fn has_same_parent(one: &Nonprofit<'_>, other: &Nonprofit<'_>) -> bool {
    let group = |nonprofit: &Nonprofit<'_>| nonprofit.facts.map_or(0, |facts| facts.group);
    group(one) != 0 && group(one) == group(other)
}

/// Returns whether two nonprofits do work of the same kind: their codes are of the same group, such as human services.
fn has_same_kind(one: &Nonprofit<'_>, other: &Nonprofit<'_>) -> bool {
    one.ntee.is_some() && one.ntee.map(Ntee::major) == other.ntee.map(Ntee::major)
}

/// Returns whether a nonprofit is a charity. A mutual insurance company, for example, is none, whatever its name says.
fn is_charity(nonprofit: &Nonprofit<'_>) -> bool {
    nonprofit.facts.is_some_and(|facts| facts.is_charity())
}

impl View {
    /// Returns up to `take` nonprofits that are similar, the most similar first. Nonprofits that changed since the
    /// snapshot was built are left out.
    pub fn find_similar(&self, nonprofit: &Nonprofit<'_>, take: usize) -> Vec<Nonprofit<'_>> {
        let mut similar = Vec::new();
        if nonprofit.causes.is_empty() {
            return similar;
        }
        let in_city = self.ranked_neighbors(nonprofit, nonprofit.city, &city_label(nonprofit.city));
        let in_state = self.ranked_neighbors(nonprofit, nonprofit.state, &state_label(nonprofit.state));
        let stages = [
            (&in_city, true),
            (&in_state, true),
            (&in_city, false),
            (&in_state, false),
        ];
        for (found, is_of_kind) in stages {
            let found = found
                .iter()
                .filter(|other| has_same_kind(nonprofit, other) == is_of_kind);
            for other in found {
                let has_name = |known: &Nonprofit<'_>| known.name.eq_ignore_ascii_case(other.name);
                let is_chapter = |known: &Nonprofit<'_>| has_same_parent(known, other);
                // One chapter of a parent says as much as all.
                let is_listed =
                    has_name(nonprofit) || similar.iter().any(|known| has_name(known) || is_chapter(known));
                if similar.len() < take && !is_listed {
                    similar.push(*other);
                }
            }
        }
        similar
    }

    /// Returns the neighbors of a nonprofit in a place, those that mean the most similar first.
    fn ranked_neighbors(&self, nonprofit: &Nonprofit<'_>, place: &str, label: &str) -> Vec<Nonprofit<'_>> {
        if place.is_empty() {
            return Vec::new();
        }
        let intent = intent(self.by_meaning);
        let meaning = intent.meaning(&description(nonprofit));
        let mut found = self.neighbors(nonprofit, label);
        found.sort_by_cached_key(|(distance, other)| {
            let common = nonprofit.causes.bits() & other.causes.bits();
            let has_same_code = nonprofit.ntee.is_some() && nonprofit.ntee == other.ntee;
            let similarity = meaning.as_ref().and_then(|meaning| {
                let similarity = meaning.similarity(&intent.meaning(&description(other))?);
                // Hundredths, so that causes and size decide among those that are about equally similar.
                Some((similarity * SIMILARITY_STEPS).round() as i32)
            });
            (
                Reverse(similarity),
                Reverse(has_same_code),
                Reverse(common.count_ones()),
                *distance,
            )
        });
        found.into_iter().map(|(_, other)| other).collect()
    }

    /// Returns the nonprofits with a cause in common that are near a nonprofit in the list of a label, with their
    /// distance in the list.
    fn neighbors(&self, nonprofit: &Nonprofit<'_>, label: &str) -> Vec<(usize, Nonprofit<'_>)> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        let Some(list) = snapshot.index().documents_with_label(label) else {
            return Vec::new();
        };
        let position_of = |index: usize| list.page(index, 1).next();
        let is_larger = |index: usize| {
            let other = position_of(index).and_then(|position| snapshot.nonprofit(position));
            other.is_some_and(|other| other.prominence > nonprofit.prominence)
        };
        let (mut low, mut high) = (0, list.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if is_larger(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // Most of them have no cause in common, and only their causes are read.
        let has_common_cause = |position: u32| {
            let causes = snapshot.causes(position);
            causes.is_some_and(|causes| causes.intersects(nonprofit.causes))
        };
        let is_similar = |other: &Nonprofit<'_>| {
            other.id != nonprofit.id
                && other.state == nonprofit.state
                && other.gone_at.is_none()
                && !other.tax.is_revoked()
                && is_charity(other) == is_charity(nonprofit)
        };
        let range = low.saturating_sub(MAX_READ)..list.len().min(low + MAX_READ);
        range
            .filter_map(|index| Some((index.abs_diff(low), position_of(index)?)))
            .filter(|(_, position)| has_common_cause(*position) && !self.overlay.replaces(*position))
            .filter_map(|(distance, position)| Some((distance, snapshot.nonprofit(position)?)))
            .filter(|(_, other)| is_similar(other))
            .collect()
    }
}
