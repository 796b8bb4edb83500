//! Fuzzy lookup: the words within one edit of a typed word.
//!
//! An edit is a letter inserted, deleted or replaced, or two adjacent letters swapped (a Damerau–Levenshtein
//! distance of one). The typed word is walked through the trie; at each letter one edit is tried, after which
//! the rest must match. Most attempts end after a letter or two, so that a lookup takes a few hundred steps
//! whatever the size of the dictionary. The first letter is assumed to be correct, but may be swapped with
//! the second. People rarely get it wrong, and edits of it give more wrong words than right ones, so that
//! they are a lookup of their own, for words that nothing else corrects.

use crate::segment::trie::{self, Cursor, TermRange, Trie};

/// Minimum length of a word that is corrected.
pub(crate) const MIN_SYMBOLS: usize = 4;
/// The same for a last word that is still being typed, after other words that are known.
pub(crate) const MIN_SYMBOLS_OF_LAST_WORD: usize = 2;
/// The same for a last word that is still being typed and whose first letter is wrong.
pub(crate) const MIN_SYMBOLS_AFTER_WRONG_LETTER: usize = 5;

/// Maximum number of corrections of a word.
const MAX_RANGES: usize = 64;

/// Replaces `ranges` with the terms that are exactly one edit away from `symbols`, sorted and without
/// overlaps.
///
/// If `is_prefix` is set, these are the terms that start with a string one edit away. The caller decides
/// whether the word is long enough to be corrected.
pub(crate) fn find_within_one_edit(
    trie: Trie<'_>,
    symbols: &[u8],
    is_prefix: bool,
    ranges: &mut Vec<TermRange>,
) {
    ranges.clear();
    let mut lookup = FuzzyLookup {
        trie,
        symbols,
        is_prefix,
        ranges,
    };
    lookup.run();
    sort_and_merge(ranges);
}

/// Adds the terms that differ from `symbols` by an edit of the first letter: another one, one too many or one
/// too few. If `is_prefix` is set, these are the terms that start so.
pub(crate) fn find_with_other_first_letter(
    trie: Trie<'_>,
    symbols: &[u8],
    is_prefix: bool,
    ranges: &mut Vec<TermRange>,
) {
    let (Some(root), [first, _, ..]) = (trie.root(), symbols) else {
        return;
    };
    let mut lookup = FuzzyLookup {
        trie,
        symbols,
        is_prefix,
        ranges,
    };
    lookup.try_rest(root, 0, 1);
    for symbol in root.next_symbols().filter(|&symbol| trie::is_letter(symbol)) {
        let Some(child) = trie.step(root, 0, symbol) else {
            continue;
        };
        // Two equal letters at the start are found as a letter that is missing after the first.
        if symbol != *first {
            lookup.try_rest(child, 1, 1);
            lookup.try_rest(child, 1, 0);
        }
    }
}

/// Sorts ranges and merges those that overlap. Adjacent ranges have no common prefix and stay separate.
pub(crate) fn sort_and_merge(ranges: &mut Vec<TermRange>) {
    ranges.sort_unstable();
    let mut last = 0;
    for at in 1..ranges.len() {
        if ranges[at].low < ranges[last].high {
            ranges[last].high = ranges[last].high.max(ranges[at].high);
        } else {
            last += 1;
            ranges[last] = ranges[at];
        }
    }
    ranges.truncate(last + 1);
}

struct FuzzyLookup<'a, 's> {
    trie: Trie<'a>,
    symbols: &'s [u8],
    is_prefix: bool,
    ranges: &'s mut Vec<TermRange>,
}

impl<'a> FuzzyLookup<'a, '_> {
    fn run(&mut self) {
        let symbols = self.symbols;
        if symbols.len() < MIN_SYMBOLS_OF_LAST_WORD {
            return;
        }
        let Some(root) = self.trie.root() else { return };
        self.try_swap(root, 0);
        let mut next = self.trie.step(root, 0, symbols[0]);
        let mut at = 1;
        while let Some(cursor) = next {
            if at == symbols.len() {
                if !self.is_prefix {
                    self.try_missing_symbol(cursor, at);
                }
                break;
            }
            if at + 1 == symbols.len() && self.is_prefix {
                // An edit at or before the last letter leaves this prefix.
                self.push(cursor);
            } else {
                self.try_rest(cursor, at, at + 1);
                self.try_wrong_or_missing_symbol(cursor, at);
                self.try_swap(cursor, at);
            }
            next = self.trie.step(cursor, at, symbols[at]);
            at += 1;
        }
    }

    /// Adds the terms at `cursor`, which has `depth` symbols, if the typed symbols from `at` on follow.
    fn try_rest(&mut self, cursor: Cursor<'a>, depth: usize, at: usize) {
        if let Some(end) = self.trie.walk(cursor, depth, &self.symbols[at..]) {
            self.push(end);
        }
    }

    fn push(&mut self, cursor: Cursor<'a>) {
        if self.ranges.len() >= MAX_RANGES {
            return;
        }
        if self.is_prefix {
            self.ranges.push(cursor.terms());
        } else if let Some(term) = cursor.exact_term() {
            self.ranges.push(TermRange::single(term));
        }
    }

    fn try_missing_symbol(&mut self, cursor: Cursor<'a>, at: usize) {
        for symbol in cursor.next_symbols() {
            if let Some(child) = self.trie.step(cursor, at, symbol) {
                self.try_rest(child, at + 1, at);
            }
        }
    }

    fn try_wrong_or_missing_symbol(&mut self, cursor: Cursor<'a>, at: usize) {
        for symbol in cursor.next_symbols() {
            let Some(child) = self.trie.step(cursor, at, symbol) else {
                continue;
            };
            if symbol != self.symbols[at] {
                self.try_rest(child, at + 1, at + 1);
            }
            self.try_rest(child, at + 1, at);
        }
    }

    fn try_swap(&mut self, cursor: Cursor<'a>, at: usize) {
        let [first, second, ..] = self.symbols[at..] else {
            return;
        };
        if first == second {
            return;
        }
        if let Some(cursor) = self.trie.step(cursor, at, second)
            && let Some(cursor) = self.trie.step(cursor, at + 1, first)
        {
            self.try_rest(cursor, at + 2, at + 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::trie::{encode, tests::with_trie};

    fn corrections(typed: &str, is_prefix: bool, words: &[&str]) -> Vec<String> {
        with_trie(words, |trie| {
            let mut symbols = Vec::new();
            encode(typed, &mut symbols);
            let mut ranges = Vec::new();
            find_within_one_edit(trie, &symbols, is_prefix, &mut ranges);
            ranges
                .iter()
                .flat_map(|range| range.low..range.high)
                .map(|term| trie.word(term).to_owned())
                .collect()
        })
    }

    #[test]
    fn every_single_edit_is_corrected() {
        let words = ["center", "circle", "cross"];
        for typed in ["centr", "ceenter", "cenzer", "cetner", "ecnter", "centerr"] {
            assert_eq!(corrections(typed, false, &words), ["center"], "{typed}");
        }
        assert!(corrections("center", false, &["center"]).is_empty());
        assert!(corrections("cetnre", false, &words).is_empty());
    }

    #[test]
    fn the_first_letter_is_assumed_to_be_correct() {
        assert!(corrections("xenter", false, &["center"]).is_empty());
        assert!(corrections("enter", false, &["center"]).is_empty());
    }

    #[test]
    fn the_first_letter_is_corrected_by_a_lookup_of_its_own() {
        let words = ["center", "enter", "entering", "renter", "scenter"];
        let found = |typed: &str, is_prefix: bool| {
            with_trie(&words, |trie| {
                let mut symbols = Vec::new();
                encode(typed, &mut symbols);
                let mut ranges = Vec::new();
                find_with_other_first_letter(trie, &symbols, is_prefix, &mut ranges);
                sort_and_merge(&mut ranges);
                let terms = ranges.iter().flat_map(|range| range.low..range.high);
                terms.map(|term| trie.word(term).to_owned()).collect::<Vec<_>>()
            })
        };
        assert_eq!(found("venter", false), ["center", "enter", "renter"]);
        assert_eq!(found("venteri", true), ["entering"]);
        assert_eq!(found("center", false), ["enter", "renter", "scenter"]);
        assert!(found("7", false).is_empty());
    }

    #[test]
    fn a_prefix_is_corrected() {
        assert_eq!(
            corrections("fonda", true, &["fondness", "found", "foundation"]),
            ["fondness", "foundation"]
        );
    }

    #[test]
    fn a_short_prefix_is_corrected() {
        assert_eq!(
            corrections("rde", true, &["read", "red", "rodeo"]),
            ["read", "red", "rodeo"]
        );
    }
}
