//! Edits that the overlay makes to a list of the snapshot.

/// How the overlay changes one list of the snapshot.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    /// The indexes of removed elements, sorted.
    pub removed: Vec<usize>,
    /// The index before which an element is inserted, and its position in the overlay; sorted.
    pub added: Vec<(usize, u32)>,
}

/// An element of an edited list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// An index in the list of the snapshot.
    Snapshot(usize),
    /// A position in the overlay.
    Overlay(u32),
}

impl Edits {
    /// Returns `take` elements of the edited list after the first `skip`. The cost depends on the number of edits, not on
    /// the length of the list.
    pub(crate) fn window(&self, length: usize, skip: usize, take: usize) -> Vec<Element> {
        let mut window = Vec::with_capacity(take.min(128));
        let (mut removed, mut added) = (self.removed.iter().peekable(), self.added.iter().peekable());
        let (mut index, mut to_skip) = (0, skip);
        while window.len() < take {
            if let Some((_, position)) = added.next_if(|(before, _)| *before <= index) {
                if to_skip == 0 {
                    window.push(Element::Overlay(*position));
                } else {
                    to_skip -= 1;
                }
            } else if removed.next_if(|removed| **removed == index).is_some() {
                index += 1;
            } else if index >= length {
                break;
            } else if to_skip > 0 {
                // Skip unchanged elements up to the next edit.
                let next = [
                    removed.peek().map(|removed| **removed),
                    added.peek().map(|(before, _)| *before),
                    Some(length),
                ];
                let run = next.into_iter().flatten().min().unwrap_or(length) - index;
                index += run.min(to_skip);
                to_skip -= run.min(to_skip);
            } else {
                window.push(Element::Snapshot(index));
                index += 1;
            }
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_window_is_a_slice_of_the_edited_list(
            length in 0usize..40,
            removed in proptest::collection::btree_set(0usize..40, 0..20),
            added in proptest::collection::vec(0usize..42, 0..20),
            skip in 0usize..60,
            take in 0usize..30,
        ) {
            let removed: Vec<usize> = removed.into_iter().filter(|index| *index < length).collect();
            let mut added: Vec<usize> = added.into_iter().map(|index| index.min(length)).collect();
            added.sort_unstable();
            let added: Vec<(usize, u32)> = added.into_iter().zip(0..).collect();
            let mut whole = Vec::new();
            for index in 0..=length {
                whole.extend(added.iter().filter(|(before, _)| *before == index).map(|(_, position)| Element::Overlay(*position)));
                if index < length && !removed.contains(&index) {
                    whole.push(Element::Snapshot(index));
                }
            }
            let expected: Vec<Element> = whole.into_iter().skip(skip).take(take).collect();
            prop_assert_eq!(Edits { removed, added }.window(length, skip, take), expected);
        }
    }
}
