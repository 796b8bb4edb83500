//! Lists the nonprofits of a cause, page by page, most prominent first.

use crate::documents::cause_label;
use crate::edits::Element;
use crate::nonprofits::Nonprofit;
use crate::view::View;

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

    /// Returns up to `take` nonprofits of a cause after the first `skip`, sorted by prominence, name and ID.
    pub fn list_by_cause(&self, name: &str, skip: u64, take: usize) -> Vec<Nonprofit<'_>> {
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
                Element::Snapshot(index) => snapshot.nonprofit(list?.page(index, 1).next()?),
                Element::Overlay(position) => self.overlay.nonprofit(position),
            })
            .collect()
    }
}
