//! The words of a query that no document has.

use crate::query::{MAX_WORDS, Rewrite};
use crate::search::boolean_query::BooleanQuery;
use crate::segment::reader::Segment;
use crate::text::mission;
use crate::text::tokenizer::Tokens;

/// Returns the indexes of the words that are neither in the dictionary or in a mission nor, at the end of the text, the beginning of a
/// word that is. Words such as "of" are never missed.
pub(crate) fn unknown_words(segment: Segment<'_>, tokens: &Tokens) -> Vec<usize> {
    let count = tokens.len().min(MAX_WORDS);
    let mut query = BooleanQuery::new(Rewrite::AsTyped, 0.0, tokens.last_is_prefix());
    for index in 0..count {
        let is_prefix = tokens.last_is_prefix() && index + 1 == tokens.len();
        query.push_word(segment, tokens.word(index), is_prefix, 1 << index);
    }
    let clauses = query.clauses().iter().enumerate();
    clauses
        .filter(|(_, clause)| query.ranges(clause).is_empty() && !clause.is_optional)
        .map(|(index, _)| index)
        .filter(|&index| !is_in_missions(segment, tokens.word(index)))
        .collect()
}

fn is_in_missions(segment: Segment<'_>, word: &str) -> bool {
    let trie = segment.missions().trie();
    mission::forms(word).any(|form| {
        trie.find(&form)
            .is_some_and(|cursor| cursor.exact_term().is_some())
    })
}
