//! Search in the words of missions, for what names do not say: "teach refugees to sew".
//!
//! It runs if names, aliases and kinds do not fill the page, and its hits rank below all others. Every word
//! must be in the mission, in a name or in the location, and at least one in the mission. The list of the
//! rarest word is read in rank order, then that of the next, because the rarest may be a place. Words match
//! as a whole, in singular or plural; only the last may be incomplete or have a typo.
//!
//! Of the documents that are found so, the most prominent are ranked by what their missions mean, too: the
//! words of "clean water" are also in the mission of a school that has clean rooms and water colors.

use crate::intent::Vector;
use crate::query::{MatchKind, Rewrite};
use crate::search::boolean_query::{BooleanQuery, Clause};
use crate::search::fuzzy;
use crate::search::ranking;
use crate::search::searcher::Searcher;
use crate::segment::forward_index::STOP_WORD_FLAG;
use crate::segment::missions::MissionIndex;
use crate::segment::packed::PackedU32s;
use crate::segment::trie::{self, Cursor, TermRange};
use crate::text::mission;

/// Minimum length of a last word that may be incomplete.
const MIN_PREFIX_LENGTH: usize = 3;
/// Maximum number of words that a word may match. Of more, the most frequent are kept.
const MAX_TERMS: usize = 32;
/// Maximum number of words with a common beginning that are looked at to find them.
const MAX_TERMS_COMPARED: usize = 2_048;
/// Steps of a search: one for each document that is read, and one for every few lists that it is looked up in.
const STEPS: u32 = 2_000;
/// Further steps of an exhaustive search.
const EXHAUSTIVE_STEPS: u32 = 1_000_000;
/// Number of lists in which a document is looked up in one step.
const LISTS_PER_STEP: usize = 4;

/// Number of documents that are ranked by meaning, an equal share of each list. The others rank as if they were
/// unrelated.
const MAX_COMPARED: usize = 32;

/// A word of the query.
struct MissionWord<'a> {
    /// The documents with the word in their mission, one list for each form.
    lists: Vec<PackedU32s<'a>>,
    /// The clause for names and locations.
    clause: Clause,
}

impl MissionWord<'_> {
    fn posting_count(&self) -> usize {
        self.lists.iter().map(|list| list.len()).sum()
    }

    /// Returns about `limit` of the most prominent documents, in rank order.
    fn first_documents(&self, limit: usize) -> Vec<u32> {
        let from_each = limit.div_ceil(self.lists.len().max(1));
        let lists = self.lists.iter();
        let mut documents: Vec<u32> = lists.flat_map(|list| list.slice(0, from_each).iter()).collect();
        documents.sort_unstable();
        documents.dedup();
        documents
    }

    fn is_in_mission(&self, document: u32) -> bool {
        self.lists.iter().any(|list| list.contains(document))
    }
}

impl<'a> Searcher<'a> {
    /// Offers documents by the words of their missions. Does nothing the second time.
    pub(crate) fn search_missions(&mut self) {
        let index = self.segment.missions();
        let reads_on = self.query.is_exhaustive && !self.top.is_full();
        if self.has_searched_missions || index.is_empty() || (self.top.page_is_full() && !reads_on) {
            return;
        }
        self.has_searched_missions = true;
        let Some(query) = self.rewrite(Rewrite::AsTyped, ranking::MISSION_PENALTY, |_, _| Some(0)) else {
            return;
        };
        if let Some(words) = self.mission_words(index, &query) {
            self.offer_missions(&query, &words);
        }
        self.finish_rewrite(query);
    }

    /// Returns the words to search for, or `None` if one of them is unknown or all are optional.
    fn mission_words(&self, index: MissionIndex<'a>, query: &BooleanQuery) -> Option<Vec<MissionWord<'a>>> {
        let mut words = Vec::new();
        for (number, clause) in query.clauses().iter().enumerate() {
            if clause.is_optional {
                continue;
            }
            let word = self.tokens.word(number);
            let terms = mission_terms(
                index,
                word,
                self.is_prefix(number),
                number + 1 == self.word_count(),
            );
            let lists = terms.iter().map(|&term| index.postings(term));
            let lists: Vec<_> = lists.filter(|list| list.len() > 0).collect();
            if lists.is_empty() && query.ranges(clause).is_empty() {
                return None;
            }
            words.push(MissionWord {
                lists,
                clause: *clause,
            });
        }
        words.sort_by_key(MissionWord::posting_count);
        Some(words)
    }

    /// Offers what the usual steps find. An exhaustive search reads on, and what it finds then comes after.
    fn offer_missions(&mut self, query: &BooleanQuery, words: &[MissionWord<'_>]) {
        let meaning = self.query_meaning(self.segment.missions());
        let meaning = meaning.as_ref();
        self.offer_within(STEPS, f32::INFINITY, query, words, meaning);
        if self.query.is_exhaustive && !self.top.is_full() {
            let last = self.top.hits().last();
            let max_score = last.map_or(f32::INFINITY, |hit| hit.score.next_down());
            self.is_cut_short |= !self.offer_within(EXHAUSTIVE_STEPS, max_score, query, words, meaning);
        }
    }

    /// Returns what the query means, or `None` if its meaning is not used.
    fn query_meaning(&self, index: MissionIndex<'_>) -> Option<Vector> {
        let intent = self.query.intent.filter(|_| index.has_codes())?;
        let (vectors, mut sum) = (intent.vectors()?, Vector::default());
        for number in 0..self.word_count() {
            let word = self.tokens.word(number);
            let is_complete = !self.is_prefix(number) || vectors.has_word(word);
            if is_complete && intent.carries_meaning(word) {
                vectors.add_word(word, &mut sum);
            }
        }
        (sum.length() > 0.0).then_some(sum)
    }

    /// Reads the lists of each word in turn, with an equal share of the steps, so that the hits do not depend on
    /// how many are wanted. Returns `false` if a list was left before its end.
    fn offer_within(
        &mut self,
        steps: u32,
        max_score: f32,
        query: &BooleanQuery,
        words: &[MissionWord<'_>],
        meaning: Option<&Vector>,
    ) -> bool {
        let index = self.segment.missions();
        let mut reads_all = true;
        let steps = steps as usize / words.len().max(1);
        for (driver, word) in words.iter().enumerate() {
            let others = || words.iter().enumerate().filter(|(number, _)| *number != driver);
            let lists: usize = others().map(|(_, word)| word.lists.len() + 1).sum();
            let limit = steps / (1 + lists / LISTS_PER_STEP);
            reads_all &= word.posting_count() <= limit;
            let (max_compared, mut compared) = (MAX_COMPARED.div_ceil(words.len()), 0);
            for document in word.first_documents(limit) {
                let score = (self.segment.prominence(document) + query.penalty).min(max_score);
                if self.top.rejects(score, document) {
                    break;
                }
                if others().all(|(_, word)| self.has_word(document, query, word)) {
                    let mut penalty = 0.0;
                    if let Some(meaning) = meaning {
                        let code = index.code(document).filter(|_| compared < max_compared);
                        let similarity = code.map_or(0.0, |code| meaning.similarity_to_code(code));
                        penalty = ranking::DISSIMILARITY_PENALTY * (1.0 - similarity);
                        compared += 1;
                    }
                    self.offer(document, score + penalty, MatchKind::Mission, 0, Rewrite::AsTyped);
                }
            }
        }
        reads_all
    }

    fn has_word(&self, document: u32, query: &BooleanQuery, word: &MissionWord<'_>) -> bool {
        let is_in_record = || {
            let terms = self.segment.record(document).all_terms();
            terms
                .iter()
                .any(|term| query.matches(&word.clause, term & !STOP_WORD_FLAG))
        };
        word.is_in_mission(document) || is_in_record()
    }
}

/// Returns the words of missions that a typed word matches.
fn mission_terms(index: MissionIndex<'_>, word: &str, is_prefix: bool, is_last: bool) -> Vec<u32> {
    let trie = index.trie();
    let forms = mission::forms(word).filter_map(|form| trie.find(&form)?.exact_term());
    let mut terms: Vec<u32> = forms.collect();
    if is_prefix && word.len() >= MIN_PREFIX_LENGTH {
        terms.extend(
            trie.find(word)
                .map(Cursor::terms)
                .into_iter()
                .flat_map(frequent(index)),
        );
    }
    if terms.is_empty() && is_last {
        let mut symbols = Vec::new();
        trie::encode(word, &mut symbols);
        let mut ranges = Vec::new();
        if symbols.len() >= fuzzy::MIN_SYMBOLS {
            fuzzy::find_within_one_edit(trie, &symbols, is_prefix, &mut ranges);
        }
        terms.extend(ranges.into_iter().flat_map(frequent(index)));
        terms.sort_by_key(|&term| std::cmp::Reverse(index.postings(term).len()));
        terms.truncate(MAX_TERMS);
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Returns a function that maps a range to its most frequent terms.
fn frequent(index: MissionIndex<'_>) -> impl Fn(TermRange) -> Vec<u32> {
    move |range| {
        let mut terms: Vec<u32> = (range.low..range.high).take(MAX_TERMS_COMPARED).collect();
        if terms.len() > MAX_TERMS {
            terms.sort_by_key(|&term| std::cmp::Reverse(index.postings(term).len()));
            terms.truncate(MAX_TERMS);
        }
        terms
    }
}
