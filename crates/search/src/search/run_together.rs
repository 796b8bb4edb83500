//! Names that are spelled without spaces, as in a domain.
//!
//! A domain such as `savethechildren` can be split in many ways. Those into the fewest words are tried first,
//! and only names that start with the words count, so that no rule about likely words is needed.

use crate::query::Rewrite;
use crate::search::boolean_query::BooleanQuery;
use crate::search::compound::SINGLE_LETTER_WORDS;
use crate::search::ranking;
use crate::search::searcher::Searcher;
use crate::segment::reader::Segment;
use crate::segment::trie;

/// Maximum number of words.
const MAX_PARTS: usize = 6;
/// Maximum number of ways to split that are tried.
const MAX_SPLITS: usize = 24;
/// Maximum number of partial splits that are looked at.
const MAX_STEPS: usize = 1_000;
/// What follows the name in some domains.
const ENDINGS: [&str; 2] = ["usa", "us"];

impl Searcher<'_> {
    /// Offers names that start with the letters of the word at `index`, which must be the only one.
    pub(crate) fn search_run_together(&mut self, index: usize) {
        let word = self.tokens.word(index).to_owned();
        if !word.is_ascii() {
            return;
        }
        let shorter = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending));
        for letters in std::iter::once(word.as_str()).chain(shorter) {
            for ends in splits(self.segment, letters) {
                let mut query =
                    BooleanQuery::new(Rewrite::Split(index as u8), ranking::COMPOUND_PENALTY, false);
                let mut from = 0;
                for to in ends {
                    query.push_word(self.segment, &letters[from..to], false, 1 << index);
                    from = to;
                }
                self.evaluate_names(query);
            }
            if self.has_prefix_match {
                return;
            }
        }
    }
}

/// Returns the ways to split `letters` into two or more words of the dictionary, as the ends of the words:
/// those with the fewest words first, then those with the longest first word.
fn splits(segment: Segment<'_>, letters: &str) -> Vec<Vec<usize>> {
    let word_ends: Vec<Vec<usize>> = (0..letters.len())
        .map(|from| word_ends(segment, letters, from))
        .collect();
    // The fewest words that the letters from each position on can be split into.
    let mut fewest = vec![usize::MAX; letters.len() + 1];
    fewest[letters.len()] = 0;
    for from in (0..letters.len()).rev() {
        let counts = word_ends[from].iter().map(|&to| fewest[to].saturating_add(1));
        fewest[from] = counts.min().unwrap_or(usize::MAX);
    }
    let mut search = SplitSearch {
        word_ends,
        fewest,
        found: Vec::new(),
        steps_left: MAX_STEPS,
    };
    for count in search.fewest[0].max(2)..=MAX_PARTS {
        search.collect(0, count, &mut Vec::new());
    }
    search.found
}

struct SplitSearch {
    word_ends: Vec<Vec<usize>>,
    fewest: Vec<usize>,
    found: Vec<Vec<usize>>,
    steps_left: usize,
}

impl SplitSearch {
    /// Adds the splits that start with `ends` and have `count` more words from `from` on.
    fn collect(&mut self, from: usize, count: usize, ends: &mut Vec<usize>) {
        if count == 0 {
            self.found.push(ends.clone());
            return;
        }
        for at in (0..self.word_ends[from].len()).rev() {
            if self.steps_left == 0 || self.found.len() >= MAX_SPLITS {
                return;
            }
            self.steps_left -= 1;
            let to = self.word_ends[from][at];
            let is_end = to + 1 == self.fewest.len();
            if self.fewest[to] < count && is_end == (count == 1) {
                ends.push(to);
                self.collect(to, count - 1, ends);
                ends.pop();
            }
        }
    }
}

/// Returns where the words of the dictionary that start at `from` end, in ascending order.
fn word_ends(segment: Segment<'_>, letters: &str, from: usize) -> Vec<usize> {
    // In ASCII text, each letter is one symbol.
    let mut symbols = Vec::with_capacity(letters.len());
    trie::encode(&letters[from..], &mut symbols);
    let trie = segment.trie();
    let mut cursor = trie.root();
    let mut ends = Vec::new();
    for (depth, &symbol) in symbols.iter().enumerate() {
        cursor = cursor.and_then(|cursor| trie.step(cursor, depth, symbol));
        let Some(reached) = cursor else { break };
        let is_word = reached.exact_term().is_some();
        if is_word && (depth > 0 || letters[from..].starts_with(SINGLE_LETTER_WORDS)) {
            ends.push(from + depth + 1);
        }
    }
    ends
}
