//! Names in the order of their words, and the most prominent of any stretch of them.
//!
//! All names, other names included, stand in one list sorted by the words of their spines, so that the names that
//! begin with what was typed are one stretch, those that say no more come first in it, and among these the
//! identical ones stand together. Over the list lies a tree of minima: since documents are numbered by prominence, the
//! smallest entries of a stretch are its most prominent names, found without reading the rest.

use crate::segment::packed::U32s;

/// An entry is a document and which of its names is meant.
const WHICH_BITS: u32 = 3;
/// How many entries share a minimum.
const FANOUT: usize = 32;

/// The entry of name `which` of `document`.
pub fn entry(document: u32, which: usize) -> u32 {
    document << WHICH_BITS | which as u32
}

/// The document of an entry.
#[inline]
pub fn document(entry: u32) -> u32 {
    entry >> WHICH_BITS
}

/// Which name of its document an entry is.
#[inline]
pub fn which(entry: u32) -> usize {
    (entry & ((1 << WHICH_BITS) - 1)) as usize
}

/// The levels of minima over `count` entries, each as where it starts and ends among all minima.
fn levels(count: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut length = count;
    let mut start = 0;
    std::iter::from_fn(move || {
        if length <= FANOUT {
            return None;
        }
        length = length.div_ceil(FANOUT);
        let level = (start, start + length);
        start += length;
        Some(level)
    })
}

/// The tree of minima over `entries`.
pub fn minima(entries: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::with_capacity(entries.len() / (FANOUT - 1) + 2);
    let mut below = (0, 0);
    for (at, (start, end)) in levels(entries.len()).enumerate() {
        for block in 0..end - start {
            let from = block * FANOUT;
            let least = if at == 0 {
                entries[from..entries.len().min(from + FANOUT)].iter().min()
            } else {
                all[below.0 + from..below.1.min(below.0 + from + FANOUT)]
                    .iter()
                    .min()
            };
            let least = *least.unwrap_or(&u32::MAX);
            all.push(least);
        }
        below = (start, end);
    }
    all
}

/// A list of entries with its minima.
#[derive(Clone, Copy, Debug)]
pub struct Ranked<'a> {
    entries: U32s<'a>,
    minima: U32s<'a>,
}

impl<'a> Ranked<'a> {
    /// The list in these sections.
    pub fn new(entries: U32s<'a>, minima: U32s<'a>) -> Self {
        Self { entries, minima }
    }

    /// Notes the most prominent names of the stretch `from..to` in `least`.
    ///
    /// The tree is descended level by level. The smallest minima of a level are entries themselves, so that as many as
    /// are wanted bound what has to be looked at below: only their blocks, and the ends of the stretch.
    pub fn least(self, from: usize, to: usize, least: &mut Least) {
        let (mut from, mut to) = (from, to.min(self.entries.len()));
        let mut tree = [Level::default(); 8];
        let mut top = 0;
        tree[0].numbers = self.entries;
        let mut above = levels(self.entries.len());
        while to.saturating_sub(from) > 2 * FANOUT
            && top + 1 < tree.len()
            && let Some((start, end)) = above.next()
        {
            let (inner_from, inner_to) = (from.next_multiple_of(FANOUT), to / FANOUT * FANOUT);
            tree[top].ends = [(from, inner_from), (inner_to, to)];
            (from, to) = (inner_from / FANOUT, inner_to / FANOUT);
            top += 1;
            tree[top].numbers = self.minima.slice(start, end);
        }
        least.found.clear();
        tree[top].note(from, to, least);
        for level in (0..top).rev() {
            least.keep();
            std::mem::swap(&mut least.found, &mut least.chosen);
            least.found.clear();
            for chosen in 0..least.chosen.len() {
                let block = least.chosen[chosen].1 as usize * FANOUT;
                tree[level].note(block, block + FANOUT, least);
            }
            for (from, to) in tree[level].ends {
                tree[level].note(from, to, least);
            }
        }
        least.keep();
        least.entries.extend(least.found.iter().map(|it| it.0));
        least.entries.sort_unstable();
        least.entries.truncate(least.most);
        if least.entries.len() == least.most {
            least.bar = least.entries.last().copied().unwrap_or(0);
        }
    }
}

/// One level of the tree, and the ends of the stretch that no block of the level above covers.
#[derive(Clone, Copy, Debug, Default)]
struct Level<'a> {
    numbers: U32s<'a>,
    ends: [(usize, usize); 2],
}

impl Level<'_> {
    #[inline]
    fn note(self, from: usize, to: usize, least: &mut Least) {
        for (at, number) in self.numbers.slice(from, to).iter().enumerate() {
            if number <= least.bar {
                least.found.push((number, (from + at) as u32));
            }
        }
        if least.found.len() > 4 * least.most {
            least.keep();
        }
    }
}

/// The smallest entries seen so far.
#[derive(Clone, Debug)]
pub struct Least {
    entries: Vec<u32>,
    most: usize,
    /// Nothing above this is among the smallest.
    bar: u32,
    /// Numbers of one level and their places.
    found: Vec<(u32, u32)>,
    chosen: Vec<(u32, u32)>,
}

impl Least {
    /// Keeps the smallest `most` entries.
    pub fn new(most: usize) -> Self {
        Self {
            entries: Vec::with_capacity(most.min(FREQUENT)),
            most: most.max(1),
            bar: u32::MAX,
            found: Vec::with_capacity(FREQUENT + FANOUT),
            chosen: Vec::new(),
        }
    }

    /// Drops what is not among the smallest of this level.
    fn keep(&mut self) {
        if self.found.len() > self.most {
            let (_, last, _) = self.found.select_nth_unstable(self.most - 1);
            self.bar = self.bar.min(last.0);
            self.found.truncate(self.most);
        }
    }

    /// The smallest entries in order.
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// Whether there may be more entries than were kept.
    pub fn full(&self) -> bool {
        self.entries.len() == self.most
    }
}

/// How many of the most prominent names are kept ready for a frequent beginning.
pub const READY: usize = 16;
/// A beginning of more names than this has its most prominent ones ready.
pub const FREQUENT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::packed::pack;
    use proptest::prelude::*;

    #[test]
    fn an_entry_holds_document_and_name() {
        let it = entry(18_000_000, 5);
        assert_eq!((document(it), which(it)), (18_000_000, 5));
    }

    proptest! {
        #[test]
        fn names_are_taken_in_the_order_of_prominence(
            entries in proptest::collection::vec(0u32..100_000, 0..3000), a in 0usize..3000, b in 0usize..3000,
            most in 1usize..50,
        ) {
            let (list, tree) = (pack(entries.iter().copied()), pack(minima(&entries)));
            let ranked = Ranked::new(U32s(&list), U32s(&tree));
            let (from, to) = (a.min(b).min(entries.len()), a.max(b).min(entries.len()));
            let mut least = Least::new(most);
            ranked.least(from, to, &mut least);
            let mut wanted = entries[from..to].to_vec();
            wanted.sort_unstable();
            wanted.truncate(most);
            prop_assert_eq!(least.entries(), wanted);
        }
    }
}
