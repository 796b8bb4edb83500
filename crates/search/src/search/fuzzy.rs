//! One mistake in a word: a letter left out, doubled or added, changed, or two swapped.
//!
//! The typed word is walked through the dictionary letter by letter, and at each place the one mistake is tried, after
//! which the rest has to be right. Most tries end after a letter or two, so the whole costs a few hundred steps
//! whatever the size of the dictionary. The first letter is taken as meant, but may be swapped with the second.

use crate::segment::trie::{Cursor, TermRange, Trie};

/// Words shorter than this are never read with a mistake.
pub const SHORTEST: usize = 4;

/// At most so many readings are kept of one word.
const MOST: usize = 64;

/// The words that `symbols` may stand for with exactly one mistake, as sorted ranges that do not overlap.
///
/// With `open`, the typed word may be the beginning of a longer one.
pub fn near(trie: Trie<'_>, symbols: &[u8], open: bool, ranges: &mut Vec<TermRange>) {
    ranges.clear();
    let mut search = Search {
        trie,
        symbols,
        open,
        ranges,
    };
    search.run();
    ranges.sort_unstable();
    merge(ranges);
}

/// Joins what overlaps in sorted ranges. Ranges that only touch share no beginning and stay apart.
pub fn merge(ranges: &mut Vec<TermRange>) {
    let mut kept = 0;
    for at in 1..ranges.len() {
        if ranges[at].low < ranges[kept].high {
            ranges[kept].high = ranges[kept].high.max(ranges[at].high);
        } else {
            kept += 1;
            ranges[kept] = ranges[at];
        }
    }
    ranges.truncate(kept + 1);
}

struct Search<'a, 's> {
    trie: Trie<'a>,
    symbols: &'s [u8],
    open: bool,
    ranges: &'s mut Vec<TermRange>,
}

impl<'a> Search<'a, '_> {
    fn run(&mut self) {
        let symbols = self.symbols;
        if symbols.len() < SHORTEST {
            return;
        }
        let Some(root) = self.trie.root() else { return };
        self.swap(root, 0);
        let mut next = self.trie.step(root, 0, symbols[0]);
        let mut at = 1;
        while let Some(place) = next {
            if at == symbols.len() {
                if !self.open {
                    self.insert(place, at);
                }
                break;
            }
            if at + 1 == symbols.len() && self.open {
                // Whatever stands in place of the last letter, or before it, begins the same way.
                self.keep(place);
            } else {
                self.accept(place, at, at + 1);
                self.change_and_insert(place, at);
                self.swap(place, at);
            }
            next = self.trie.step(place, at, symbols[at]);
            at += 1;
        }
    }

    /// `depth` letters of the word led to `place`; the typed letters from `at` on must follow.
    fn accept(&mut self, place: Cursor<'a>, depth: usize, at: usize) {
        if let Some(end) = self.trie.walk(place, depth, &self.symbols[at..]) {
            self.keep(end);
        }
    }

    fn keep(&mut self, place: Cursor<'a>) {
        if self.ranges.len() >= MOST {
            return;
        }
        if self.open {
            self.ranges.push(place.terms());
        } else if let Some(term) = place.exact_term() {
            self.ranges.push(TermRange::single(term));
        }
    }

    fn insert(&mut self, place: Cursor<'a>, at: usize) {
        for symbol in bits(place.next_symbols()) {
            if let Some(child) = self.trie.step(place, at, symbol) {
                self.accept(child, at + 1, at);
            }
        }
    }

    fn change_and_insert(&mut self, place: Cursor<'a>, at: usize) {
        for symbol in bits(place.next_symbols()) {
            let Some(child) = self.trie.step(place, at, symbol) else {
                continue;
            };
            if symbol != self.symbols[at] {
                self.accept(child, at + 1, at + 1);
            }
            self.accept(child, at + 1, at);
        }
    }

    fn swap(&mut self, place: Cursor<'a>, at: usize) {
        let [first, second, ..] = self.symbols[at..] else {
            return;
        };
        if first == second {
            return;
        }
        if let Some(place) = self.trie.step(place, at, second)
            && let Some(place) = self.trie.step(place, at + 1, first)
        {
            self.accept(place, at + 2, at + 2);
        }
    }
}

fn bits(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros() as u8);
        set &= set.wrapping_sub(1);
        bit
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::trie::{encode, tests::with_trie};

    fn meant(typed: &str, open: bool, words: &[&str]) -> Vec<String> {
        with_trie(words, |trie| {
            let mut spelled = Vec::new();
            encode(typed, &mut spelled);
            let mut ranges = Vec::new();
            near(trie, &spelled, open, &mut ranges);
            ranges
                .iter()
                .flat_map(|range| range.low..range.high)
                .map(|term| trie.word(term).to_owned())
                .collect()
        })
    }

    #[test]
    fn each_single_mistake_is_forgiven() {
        let words = ["center", "circle", "cross"];
        for typed in ["centr", "ceenter", "cenzer", "cetner", "ecnter", "centerr"] {
            assert_eq!(meant(typed, false, &words), ["center"], "{typed}");
        }
        assert!(meant("center", false, &["center"]).is_empty());
        assert!(meant("cetnre", false, &words).is_empty());
    }

    #[test]
    fn the_first_letter_is_taken_as_meant() {
        assert!(meant("xenter", false, &["center"]).is_empty());
        assert!(meant("enter", false, &["center"]).is_empty());
    }

    #[test]
    fn a_word_cut_short_may_hold_a_mistake() {
        assert_eq!(
            meant("fonda", true, &["fondness", "found", "foundation"]),
            ["fondness", "foundation"]
        );
    }

    #[test]
    fn short_words_have_no_mistakes() {
        assert!(meant("rde", false, &["red"]).is_empty());
    }
}
