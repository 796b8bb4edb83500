//! Browsing: the nonprofits of one cause, page by page, most prominent first.

use crate::directory::View;
use crate::directory::nonprofits::Nonprofit;
use crate::directory::search::cause_label;
use serde::Serialize;
use utoipa::ToSchema;

/// Which part of a list a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Pagination {
    /// Counted from 1.
    pub page: u64,
    /// How many pages there are.
    pub pages: u64,
    pub page_size: u64,
    pub total_results: u64,
}

impl Pagination {
    /// The page `page` of a list of `total`.
    pub fn new(page: u64, page_size: u64, total: u64) -> Pagination {
        Pagination {
            page,
            pages: total.div_ceil(page_size),
            page_size,
            total_results: total,
        }
    }

    /// How many elements stand before the page.
    pub fn skipped(&self) -> u64 {
        (self.page - 1).saturating_mul(self.page_size)
    }
}

impl View {
    /// How many nonprofits a cause has.
    pub fn count_of_cause(&self, name: &str) -> u64 {
        let Some(snapshot) = &self.snapshot else {
            return 0;
        };
        let settled = snapshot
            .index()
            .list(&cause_label(name))
            .map_or(0, |list| list.len());
        let edits = self.overlay.edits(name);
        (settled + edits.added.len() - edits.removed.len()) as u64
    }

    /// `take` nonprofits of a cause after the first `skip`, in order of prominence, name and id.
    pub fn list_of_cause(&self, name: &str, skip: u64, take: usize) -> Vec<Nonprofit<'_>> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        let list = snapshot.index().list(&cause_label(name));
        let edits = self.overlay.edits(name);
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        edits
            .window(list.map_or(0, |list| list.len()), skip, take)
            .into_iter()
            .filter_map(|element| match element {
                Element::Settled(at) => snapshot.nonprofit(list?.slice(at, 1).next()?),
                Element::Recent(place) => self.overlay.nonprofit(place),
            })
            .collect()
    }
}

/// How the overlay changes one list of the snapshot: elements that fall out, and new ones with the place in the list
/// before which they stand. Both are sorted.
#[derive(Debug, Default)]
pub struct Edits {
    pub removed: Vec<usize>,
    pub added: Vec<(usize, u32)>,
}

/// An element of an edited list: a place in the list itself, or in the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    Settled(usize),
    Recent(u32),
}

impl Edits {
    /// The elements of the edited list from `skip` on, `take` of them. Costs what the edits cost, not the list.
    pub fn window(&self, length: usize, skip: usize, take: usize) -> Vec<Element> {
        let mut window = Vec::with_capacity(take.min(128));
        let (mut removed, mut added) = (self.removed.iter().peekable(), self.added.iter().peekable());
        let (mut at, mut left) = (0, skip);
        while window.len() < take {
            if let Some((_, place)) = added.next_if(|(before, _)| *before <= at) {
                match left {
                    0 => window.push(Element::Recent(*place)),
                    _ => left -= 1,
                }
            } else if removed.next_if(|gone| **gone == at).is_some() {
                at += 1;
            } else if at >= length {
                break;
            } else if left > 0 {
                // Jump over untouched elements, up to the next edit.
                let next = [
                    removed.peek().map(|gone| **gone),
                    added.peek().map(|(before, _)| *before),
                    Some(length),
                ];
                let run = next.into_iter().flatten().min().unwrap_or(length) - at;
                at += run.min(left);
                left -= run.min(left);
            } else {
                window.push(Element::Settled(at));
                at += 1;
            }
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pages_are_counted_from_one_and_rounded_up() {
        assert_eq!(Pagination::new(1, 10, 0).pages, 0);
        assert_eq!(Pagination::new(1, 10, 10).pages, 1);
        assert_eq!(
            Pagination::new(2, 10, 11),
            Pagination {
                page: 2,
                pages: 2,
                page_size: 10,
                total_results: 11
            }
        );
        assert_eq!(Pagination::new(u64::MAX, 100, 11).skipped(), u64::MAX);
    }

    proptest! {
        #[test]
        fn any_window_is_that_part_of_the_edited_list(
            length in 0usize..40,
            removed in proptest::collection::btree_set(0usize..40, 0..20),
            added in proptest::collection::vec(0usize..42, 0..20),
            skip in 0usize..60,
            take in 0usize..30,
        ) {
            let removed: Vec<usize> = removed.into_iter().filter(|at| *at < length).collect();
            let mut added: Vec<usize> = added.into_iter().map(|at| at.min(length)).collect();
            added.sort_unstable();
            let added: Vec<(usize, u32)> = added.into_iter().zip(0..).collect();
            let mut whole = Vec::new();
            for at in 0..=length {
                whole.extend(added.iter().filter(|(before, _)| *before == at).map(|(_, place)| Element::Recent(*place)));
                if at < length && !removed.contains(&at) {
                    whole.push(Element::Settled(at));
                }
            }
            let wanted: Vec<Element> = whole.into_iter().skip(skip).take(take).collect();
            prop_assert_eq!(Edits { removed, added }.window(length, skip, take), wanted);
        }
    }
}
