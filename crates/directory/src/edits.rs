//! Lists of the snapshot as the overlay changes them.

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
