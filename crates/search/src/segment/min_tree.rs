//! The most prominent names of any range of the name list.
//!
//! All names of all documents are in one list, sorted by the words of their core. The names with a given
//! prefix are therefore one range; in that range, names that equal the prefix come first, and identical names
//! are adjacent. A tree of block minima covers the list. Since a smaller entry is a more prominent name, the
//! *k* smallest entries of a range are its *k* most prominent names, and the tree finds them without reading
//! the rest.

use crate::segment::packed::PackedU32s;

/// Number of entries or nodes that share a parent.
const FANOUT: usize = 32;

/// Number of precomputed completions of a prefix.
pub(crate) const COMPLETIONS: usize = 16;
/// Prefixes with more names than this have precomputed completions.
pub(crate) const MIN_COMPLETED_NAMES: usize = 64;

/// Returns where each level of the tree over `entry_count` entries starts and ends among all minima.
fn levels(entry_count: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut length = entry_count;
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

/// Computes the minima over `entries`, level by level from the bottom.
pub(crate) fn build(entries: &[u32]) -> Vec<u32> {
    let mut minima: Vec<u32> = Vec::with_capacity(entries.len() / (FANOUT - 1) + 2);
    let mut below = (0, 0);
    for (level, (start, end)) in levels(entries.len()).enumerate() {
        for block in 0..end - start {
            let from = block * FANOUT;
            let minimum = if level == 0 {
                entries[from..entries.len().min(from + FANOUT)].iter().min()
            } else {
                minima[below.0 + from..below.1.min(below.0 + from + FANOUT)]
                    .iter()
                    .min()
            };
            let minimum = *minimum.unwrap_or(&u32::MAX);
            minima.push(minimum);
        }
        below = (start, end);
    }
    minima
}

/// A list of entries with its tree of minima.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinTree<'a> {
    entries: PackedU32s<'a>,
    minima: PackedU32s<'a>,
}

impl<'a> MinTree<'a> {
    /// Creates a tree over two sections of a segment.
    pub(crate) fn new(entries: PackedU32s<'a>, minima: PackedU32s<'a>) -> Self {
        Self { entries, minima }
    }

    /// Adds the smallest entries of `from..to` to `smallest`.
    ///
    /// The tree is descended level by level. Every minimum is itself an entry, so that the *k* smallest
    /// minima of a level bound the result: below them, only their own blocks and the two ends of the range
    /// can hold smaller entries.
    pub(crate) fn find_smallest(self, from: usize, to: usize, smallest: &mut SmallestEntries) {
        let (mut from, mut to) = (from, to.min(self.entries.len()));
        let mut tree = [Level::default(); 8];
        let mut top = 0;
        tree[0].values = self.entries;
        let mut above = levels(self.entries.len());
        while to.saturating_sub(from) > 2 * FANOUT
            && top + 1 < tree.len()
            && let Some((start, end)) = above.next()
        {
            let (inner_from, inner_to) = (from.next_multiple_of(FANOUT), to / FANOUT * FANOUT);
            tree[top].ends = [(from, inner_from), (inner_to, to)];
            (from, to) = (inner_from / FANOUT, inner_to / FANOUT);
            top += 1;
            tree[top].values = self.minima.slice(start, end);
        }
        smallest.candidates.clear();
        tree[top].collect(from, to, smallest);
        for level in (0..top).rev() {
            smallest.prune();
            std::mem::swap(&mut smallest.candidates, &mut smallest.parents);
            smallest.candidates.clear();
            for parent in 0..smallest.parents.len() {
                let block = smallest.parents[parent].1 as usize * FANOUT;
                tree[level].collect(block, block + FANOUT, smallest);
            }
            for (from, to) in tree[level].ends {
                tree[level].collect(from, to, smallest);
            }
        }
        smallest.prune();
        smallest.entries.extend(smallest.candidates.iter().map(|it| it.0));
        smallest.entries.sort_unstable();
        smallest.entries.truncate(smallest.limit);
        if smallest.entries.len() == smallest.limit {
            smallest.threshold = smallest.entries.last().copied().unwrap_or(0);
        }
    }
}

/// One level of the tree, and the ends of the range that no block of the level above covers.
#[derive(Clone, Copy, Debug, Default)]
struct Level<'a> {
    values: PackedU32s<'a>,
    ends: [(usize, usize); 2],
}

impl Level<'_> {
    #[inline]
    fn collect(self, from: usize, to: usize, smallest: &mut SmallestEntries) {
        for (offset, value) in self.values.slice(from, to).iter().enumerate() {
            if value <= smallest.threshold {
                smallest.candidates.push((value, (from + offset) as u32));
            }
        }
        if smallest.candidates.len() > 4 * smallest.limit {
            smallest.prune();
        }
    }
}

/// The smallest entries of one or more ranges.
#[derive(Clone, Debug)]
pub(crate) struct SmallestEntries {
    entries: Vec<u32>,
    limit: usize,
    /// No larger value can be among the smallest entries.
    threshold: u32,
    /// Values of the current level, with their positions.
    candidates: Vec<(u32, u32)>,
    /// The candidates of the level above.
    parents: Vec<(u32, u32)>,
}

impl SmallestEntries {
    /// Creates an empty collection for at most `limit` entries.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            entries: Vec::with_capacity(limit.min(MIN_COMPLETED_NAMES)),
            limit: limit.max(1),
            threshold: u32::MAX,
            candidates: Vec::with_capacity(MIN_COMPLETED_NAMES + FANOUT),
            parents: Vec::new(),
        }
    }

    /// Drops the candidates that are not among the smallest of their level.
    fn prune(&mut self) {
        if self.candidates.len() > self.limit {
            let (_, last, _) = self.candidates.select_nth_unstable(self.limit - 1);
            self.threshold = self.threshold.min(last.0);
            self.candidates.truncate(self.limit);
        }
    }

    /// Returns the smallest entries in ascending order.
    pub(crate) fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// Returns `true` if the limit is reached, so that the ranges may have more entries.
    pub(crate) fn is_full(&self) -> bool {
        self.entries.len() == self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::packed::pack_u32s;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_tree_finds_what_sorting_finds(
            entries in proptest::collection::vec(0u32..100_000, 0..3000), a in 0usize..3000, b in 0usize..3000,
            limit in 1usize..50,
        ) {
            let (list, minima) = (pack_u32s(entries.iter().copied()), pack_u32s(build(&entries)));
            let tree = MinTree::new(PackedU32s(&list), PackedU32s(&minima));
            let (from, to) = (a.min(b).min(entries.len()), a.max(b).min(entries.len()));
            let mut smallest = SmallestEntries::new(limit);
            tree.find_smallest(from, to, &mut smallest);
            let mut expected = entries[from..to].to_vec();
            expected.sort_unstable();
            expected.truncate(limit);
            prop_assert_eq!(smallest.entries(), expected);
        }
    }
}
