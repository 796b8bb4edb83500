//! Lists the nonprofits of a cause, page by page, most prominent first.

use crate::query::near::{Area, Near};
use crate::snapshot::documents::cause_label;
use crate::snapshot::edits::Element;
use crate::snapshot::overlay;
use crate::snapshot::view::{HitLocation, View};
use std::cmp::Ordering;

impl View {
    /// Returns the number of nonprofits of a cause.
    pub fn count_by_cause(&self, name: &str) -> u64 {
        let Some(snapshot) = &self.snapshot else {
            return 0;
        };
        let in_snapshot = snapshot
            .index()
            .documents_with_label(&cause_label(name))
            .map_or(0, |list| list.len());
        let edits = self.overlay.edits(name);
        (in_snapshot + edits.added.len() - edits.removed.len()) as u64
    }

    /// Returns where up to `take` nonprofits of a cause after the first `skip` are, sorted by prominence, name and ID.
    pub fn list_by_cause(&self, name: &str, skip: u64, take: usize) -> Vec<HitLocation> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        let list = snapshot.index().documents_with_label(&cause_label(name));
        let edits = self.overlay.edits(name);
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        edits
            .window(list.map_or(0, |list| list.len()), skip, take)
            .into_iter()
            .filter_map(|element| match element {
                Element::Snapshot(index) => list?.page(index, 1).next().map(HitLocation::Snapshot),
                Element::Overlay(position) => Some(HitLocation::Overlay(position)),
            })
            .collect()
    }

    /// Returns where all nonprofits of a cause in a circle are, in the same order as
    /// [`list_by_cause`](View::list_by_cause).
    pub fn list_by_cause_near(&self, name: &str, near: &Near) -> Vec<HitLocation> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        let area = Area::new(near);
        let (index, overlay) = (snapshot.index(), &self.overlay);
        let is_listed =
            |position: &u32| area.contains(snapshot.zip(*position)) && !overlay.replaces(*position);
        let mut positions: Vec<u32> = Vec::new();
        if let Some(list) = index.documents_with_label(&cause_label(name)) {
            if area.count_candidates(index) < list.len() {
                let squares = area.labels().iter();
                for square in squares.filter_map(|label| index.documents_with_label(label)) {
                    let documents = square.page(0, square.len());
                    positions.extend(
                        documents
                            .filter(is_listed)
                            .filter(|position| list.contains(*position)),
                    );
                }
                positions.sort_unstable();
            } else {
                positions.extend(list.page(0, list.len()).filter(is_listed));
            }
        }
        let mut locations = Vec::with_capacity(positions.len());
        let mut rest = positions.as_slice();
        let added = overlay.edits(name).added.iter();
        for (_, added) in added.filter(|(_, added)| area.contains(overlay.zip(*added))) {
            let Some(nonprofit) = overlay.nonprofit(*added) else {
                continue;
            };
            let is_before = |position: &u32| {
                let other = snapshot.nonprofit(*position);
                other.is_none_or(|other| overlay::compare(&other, &nonprofit) == Ordering::Less)
            };
            let (before, after) = rest.split_at(rest.partition_point(is_before));
            locations.extend(before.iter().copied().map(HitLocation::Snapshot));
            locations.push(HitLocation::Overlay(*added));
            rest = after;
        }
        locations.extend(rest.iter().copied().map(HitLocation::Snapshot));
        locations
    }
}
