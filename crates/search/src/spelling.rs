//! Corrections of one word, for callers that offer another spelling.

use crate::query::Rewrite;
use crate::search::boolean_query::BooleanQuery;
use crate::search::fuzzy;
use crate::search::postings;
use crate::segment::reader::Segment;
use crate::segment::trie::{self, TermRange};
use crate::text::tag::TAG_START;
use std::cmp::Reverse;

/// Minimum length of a word that is corrected.
const MIN_SYMBOLS: usize = 3;

/// Returns the words of the dictionary that are one edit away from `word`, those of the most documents first.
pub(crate) fn corrections(segment: Segment<'_>, word: &str, limit: usize) -> Vec<String> {
    let trie = segment.trie();
    let mut symbols = Vec::new();
    trie::encode(word, &mut symbols);
    if symbols.len() < MIN_SYMBOLS {
        return Vec::new();
    }
    let (mut ranges, mut with_other_first_letter) = (Vec::new(), Vec::new());
    fuzzy::find_within_one_edit(trie, &symbols, false, &mut ranges);
    fuzzy::find_with_other_first_letter(trie, &symbols, false, &mut with_other_first_letter);
    ranges.append(&mut with_other_first_letter);
    fuzzy::sort_and_merge(&mut ranges);
    let terms = ranges.iter().flat_map(|range| range.low..range.high);
    let words = terms.map(|term| (term, trie.word(term)));
    let mut found: Vec<(usize, &str)> = words
        .filter(|(_, found)| !found.starts_with(TAG_START) && *found != word)
        .map(|(term, word)| (count(segment, term), word))
        .collect();
    found.sort_unstable_by_key(|&(count, word)| (Reverse(count), word));
    found.truncate(limit);
    found.into_iter().map(|(_, word)| word.to_owned()).collect()
}

/// Returns the number of documents with a word.
fn count(segment: Segment<'_>, term: u32) -> usize {
    let mut query = BooleanQuery::new(Rewrite::AsTyped, 0.0, false);
    query.push([TermRange::single(term)], [], None, 1);
    let clauses = query.clauses().iter();
    clauses
        .map(|clause| postings::count(segment, &query, clause))
        .sum()
}
