//! The rewrites of a query, and when each is tried.
//!
//! First come the words as typed, and adjacent words joined if the dictionary has the compound. If that finds
//! a few documents that are not all obscure, the words are taken as meant. Otherwise a word may be a compound,
//! initials or misspelled: the word that no document has or, if all are known, the rare ones among them (every
//! word if nothing was found). A wrong first letter, two misspelled words, and a word too many are tried last;
//! of the words too many, the most frequent first.

use crate::query::{MatchKind, Rewrite};
use crate::search::boolean_query::BooleanQuery;
use crate::search::budget::ENOUGH_HITS;
use crate::search::compound::{self, MIN_COMPOUND_LENGTH, MIN_LAST_PART_LENGTH};
use crate::search::fuzzy;
use crate::search::postings;
use crate::search::ranking;
use crate::search::searcher::Searcher;
use crate::search::sound;
use crate::segment::format::Section;
use crate::segment::forward_index::{STOP_WORD_FLAG, TermList};
use crate::segment::signature;
use crate::segment::trie::{self, Cursor, TermRange};
use crate::text::english;
use crate::text::initials::{INITIALS_LENGTHS, hash_initials};

/// A word with at most this many postings may be misspelled although the dictionary has it.
const MAX_RARE_POSTINGS: usize = 256;
/// The same if there are enough hits, but all of them are obscure.
pub(crate) const MAX_VERY_RARE_POSTINGS: usize = 16;
/// Maximum number of words that are suspected to be misspelled.
const MAX_SUSPECTS: usize = 6;
/// The same for a query of more than [`LONG_QUERY_WORDS`] words.
const MAX_SUSPECTS_OF_LONG_QUERY: usize = 2;
const LONG_QUERY_WORDS: usize = 12;

impl Searcher<'_> {
    /// Searches for the words as typed and tries no rewrite.
    pub(crate) fn search_typed_words(&mut self) {
        self.find_cursors();
        if !self.tokens.is_empty()
            && let Some(typed) = self.rewrite(Rewrite::AsTyped, 0.0, |_, _| Some(0))
        {
            self.evaluate(typed);
        }
    }

    /// Finds the position of each word in the trie.
    fn find_cursors(&mut self) {
        let trie = self.segment.trie();
        let mut symbols = Vec::with_capacity(32);
        let cursor = |index| {
            trie::encode(self.tokens.word(index), &mut symbols);
            trie.find_symbols(&symbols)
        };
        self.cursors = (0..self.word_count()).map(cursor).collect();
    }

    /// Tries the rewrites in turn.
    pub(crate) fn search_words(&mut self) {
        let count = self.word_count();
        self.find_cursors();
        let Some(typed) = self.rewrite(Rewrite::AsTyped, 0.0, |_, _| Some(0)) else {
            return;
        };
        let typed_index = self.rewrites.len();
        self.evaluate(typed);
        self.has_typed_prefix_match = self.has_prefix_match;
        for index in 0..count.saturating_sub(1) {
            self.try_join(index);
        }
        self.try_join_letters();
        self.try_expand_shorthand();
        self.search_kinds();
        self.search_postal_area();
        if self.is_filtered_out() {
            return;
        }
        let found_nothing = self.top.len() == 0;
        let has_enough = self.top.len() >= ENOUGH_HITS;
        if has_enough && !self.is_obscure() {
            return;
        }
        if !has_enough {
            self.try_shorten();
        }
        let suspects = if count > LONG_QUERY_WORDS {
            MAX_SUSPECTS_OF_LONG_QUERY
        } else {
            count.min(MAX_SUSPECTS)
        };
        let typed = &self.rewrites[typed_index];
        let counts: Vec<usize> = typed
            .clauses()
            .iter()
            .map(|clause| postings::count(self.segment, typed, clause))
            .collect();
        let (mut unknown, mut rare) = (Vec::new(), Vec::new());
        for (index, clause) in typed.clauses().iter().enumerate() {
            if typed.ranges(clause).is_empty() && !clause.is_optional {
                unknown.push(index);
            } else if counts[index] <= MAX_RARE_POSTINGS {
                rare.push(index);
            }
        }
        for index in 0..count {
            if unknown == [index] || (unknown.is_empty() && found_nothing && index < suspects) {
                self.try_split(index, ranking::COMPOUND_PENALTY);
                self.try_initials(index);
            }
        }
        if has_enough && unknown.is_empty() {
            // What was found is obscure: perhaps a misspelled name that hides the right one.
            let very_rare = |index: &usize| counts[*index] <= MAX_VERY_RARE_POSTINGS;
            for &index in rare.iter().filter(|index| very_rare(index)).take(suspects) {
                self.try_split(index, ranking::TYPO_PENALTY);
                self.try_typos(&[index]);
            }
            return;
        }
        if self.top.page_is_full() && !self.is_obscure() {
            return;
        }
        match unknown[..] {
            [] if found_nothing => (0..suspects).for_each(|index| self.try_typos(&[index])),
            [] => {
                for &index in rare.iter().take(suspects) {
                    self.try_split(index, ranking::TYPO_PENALTY);
                    self.try_typos(&[index]);
                }
            }
            [_] | [_, _] => self.try_typos(&unknown),
            _ => {}
        }
        self.try_missions_and_first_letters(&unknown, suspects);
        if self.top.len() > 0 || count < 2 {
            return;
        }
        if let [one] = unknown[..] {
            for other in (0..suspects).filter(|&index| index != one) {
                self.try_typos(&[one.min(other), one.max(other)]);
            }
        }
        if self.top.len() > 0 || self.query.intent.is_some() {
            return;
        }
        // The most frequent word says the least, and the rarest is dropped last.
        let mut dropped: Vec<usize> = (0..count)
            .filter(|&index| unknown == [index] || (unknown.is_empty() && index < suspects))
            .collect();
        dropped.sort_by_key(|&index| std::cmp::Reverse(counts[index]));
        for index in dropped {
            self.try_drop(index);
            let best = self.top.hits().first();
            if best.is_some_and(|hit| self.segment.prominence(hit.document) >= ranking::OBSCURE_PROMINENCE) {
                return;
            }
        }
    }

    /// Searches missions for the words as typed, which is likelier than further corrections, and then corrects
    /// the first letter of one word. Does nothing if something has been found.
    fn try_missions_and_first_letters(&mut self, unknown: &[usize], suspects: usize) {
        if self.top.len() > 0 {
            return;
        }
        self.search_missions();
        if self.top.len() > 0 {
            return;
        }
        match *unknown {
            [] => (0..suspects).for_each(|index| self.try_first_letter(index)),
            [one] => self.try_first_letter(one),
            _ => {}
        }
    }

    /// Returns `true` if the best hit is small enough for a correction to be better.
    fn is_obscure(&self) -> bool {
        let best = self.top.hits().first();
        best.is_some_and(|hit| hit.score < ranking::OBSCURE_SCORE)
    }

    /// Returns `true` if names start with the words but the filter excludes most of them, which is no reason
    /// to suspect a typo.
    fn is_filtered_out(&self) -> bool {
        self.has_prefix_match && self.filter.has_labels()
    }

    /// Builds the query of a rewrite.
    ///
    /// `special` is called with the index of each word. It may add clauses of its own and returns the number
    /// of words they represent, 0 to keep the word as typed, or `None` if the rewrite is impossible.
    pub(crate) fn rewrite(
        &self,
        rewrite: Rewrite,
        penalty: f32,
        mut special: impl FnMut(usize, &mut BooleanQuery) -> Option<usize>,
    ) -> Option<BooleanQuery> {
        let count = self.word_count();
        let mut query = BooleanQuery::new(rewrite, penalty, self.last_is_prefix());
        let mut index = 0;
        while index < count {
            match special(index, &mut query)? {
                0 => {
                    query.push_word_at(
                        self.segment,
                        self.tokens.word(index),
                        self.cursors[index],
                        self.is_prefix(index),
                        1 << index,
                    );
                    if self.is_word_for_people(index) {
                        query.make_last_optional();
                    }
                    index += 1;
                }
                words => index += words,
            }
        }
        Some(query)
    }

    /// Returns `true` if the word says that a place follows, or is the "me" of "near me".
    fn is_word_for_people(&self, index: usize) -> bool {
        if index == 0 {
            return false;
        }
        let has_next = index + 1 < self.word_count();
        let word = self.tokens.word(index);
        (has_next && english::is_place_preposition(word))
            || (!has_next
                && english::is_place_pronoun(word)
                && index > 1
                && english::is_place_preposition(self.tokens.word(index - 1)))
    }

    /// Joins the words at `first` and after it, if the dictionary has the compound.
    fn try_join(&mut self, first: usize) {
        let is_prefix = self.is_prefix(first + 1);
        let lengths = [first, first + 1].map(|index| self.tokens.word(index).len());
        if lengths.iter().any(|&length| length < 2) || lengths[0] + lengths[1] < MIN_COMPOUND_LENGTH {
            return;
        }
        let Some(cursor) = self.cursors[first] else { return };
        let mut symbols = Vec::with_capacity(32);
        trie::encode(self.tokens.word(first), &mut symbols);
        let depth = symbols.len();
        trie::encode(self.tokens.word(first + 1), &mut symbols);
        let end = self.segment.trie().walk(cursor, depth, &symbols);
        if end.is_none_or(|end| !is_prefix && end.exact_term().is_none()) {
            return;
        }
        let compound = format!("{}{}", self.tokens.word(first), self.tokens.word(first + 1));
        let query = self.rewrite(
            Rewrite::Join(first as u8),
            ranking::COMPOUND_PENALTY,
            |index, query| {
                if index != first {
                    return Some(0);
                }
                query.push_word(self.segment, &compound, is_prefix, 0b11 << first);
                Some(2)
            },
        );
        if let Some(query) = query {
            self.evaluate(query);
        }
    }

    /// Splits the word at `compound` into two or three words of the dictionary.
    ///
    /// A last part of one or two letters that is still being typed may become any word, and is no better than a
    /// correction.
    fn try_split(&mut self, compound: usize, penalty: f32) {
        let is_prefix = self.is_prefix(compound);
        let word = self.tokens.word(compound);
        let Some(lengths) = compound::split_compound(self.segment, word, is_prefix) else {
            return;
        };
        let last_length = word.len() - lengths.iter().sum::<usize>();
        let penalty = if is_prefix && last_length < MIN_LAST_PART_LENGTH {
            ranking::TYPO_PENALTY
        } else {
            penalty
        };
        let query = self.rewrite(Rewrite::Split(compound as u8), penalty, |index, query| {
            if index != compound {
                return Some(0);
            }
            let mut rest = self.tokens.word(compound);
            for &length in &lengths {
                let (part, after) = rest.split_at(length);
                query.push_word(self.segment, part, false, 1 << compound);
                rest = after;
            }
            query.push_word(self.segment, rest, is_prefix, 1 << compound);
            Some(1)
        });
        if let Some(query) = query {
            self.evaluate(query);
        }
    }

    /// Reads the word at `index` as the initials of a name, unless it is a word of the dictionary.
    fn try_initials(&mut self, index: usize) {
        let word = self.tokens.word(index).to_owned();
        if !INITIALS_LENGTHS.contains(&word.len()) {
            return;
        }
        let Some(query) = self.rewrite(Rewrite::Initials(index as u8), 0.0, |_, _| Some(0)) else {
            return;
        };
        if query.clauses()[index].exact_term.is_some() {
            return;
        }
        let hash = hash_initials(&word);
        let hashes = self.segment.u32s(Section::InitialsHashes);
        let (from, to) = (
            hashes.lower_bound(hash),
            hashes.lower_bound(hash.saturating_add(1)),
        );
        let documents = self.segment.u32s(Section::InitialsDocuments);
        for document in documents.slice(from, to).iter() {
            let record = self.segment.record(document);
            let matches_others = query.clauses().iter().enumerate().all(|(other, clause)| {
                other == index
                    || clause.is_optional
                    || record
                        .all_terms()
                        .iter()
                        .any(|term| query.matches(clause, term & !STOP_WORD_FLAG))
            });
            let name =
                (0..record.name_count()).find(|&name| self.has_initials(record.name(name).core(), &word));
            if let (true, Some(name)) = (matches_others, name) {
                let score = self.segment.prominence(document) + ranking::INITIALS_BONUS;
                self.offer(document, score, MatchKind::Initials, name as u8, query.rewrite);
            }
        }
        self.finish_rewrite(query);
    }

    /// Returns `true` if `word` is the initials of a name, with or without its stop words.
    fn has_initials(&self, name: TermList<'_>, word: &str) -> bool {
        [true, false].into_iter().any(|with_stop_words| {
            let terms = name
                .iter()
                .filter(|term| with_stop_words || term & STOP_WORD_FLAG == 0);
            let letters =
                terms.filter_map(|term| self.segment.trie().word(term & !STOP_WORD_FLAG).chars().next());
            letters.eq(word.chars())
        })
    }

    /// Corrects one typo in each of the words at `misspelled`, or replaces it with words that sound alike.
    fn try_typos(&mut self, misspelled: &[usize]) {
        let rewrite = match *misspelled {
            [one] => Rewrite::Typo(one as u8),
            [one, two] => Rewrite::TwoTypos(one as u8, two as u8),
            _ => return,
        };
        let trie = self.segment.trie();
        let mut symbols = Vec::new();
        let mut corrections = Vec::new();
        let penalty = ranking::TYPO_PENALTY * misspelled.len() as f32;
        let query = self.rewrite(rewrite, penalty, |index, query| {
            if !misspelled.contains(&index) {
                return Some(0);
            }
            let is_prefix = self.is_prefix(index);
            trie::encode(self.tokens.word(index), &mut symbols);
            corrections.clear();
            if symbols.len() >= self.min_corrected_length(index) {
                fuzzy::find_within_one_edit(trie, &symbols, is_prefix, &mut corrections);
            }
            let mut synonyms: Vec<TermRange> = Vec::new();
            if !is_prefix || symbols.len() >= fuzzy::MIN_SYMBOLS {
                let edited = corrections.len();
                sound::find_sound_alikes(trie, self.tokens.word(index), &mut corrections);
                let sound_alikes = corrections[edited..].iter();
                let related = sound_alikes.flat_map(|range| self.segment.synonyms(range.low).iter());
                synonyms.extend(related.map(TermRange::single));
                fuzzy::sort_and_merge(&mut corrections);
                fuzzy::sort_and_merge(&mut synonyms);
                let is_corrected = |term: u32| corrections.iter().any(|range| range.contains(term));
                let is_typed = |term: u32| trie.word(term) == self.tokens.word(index);
                synonyms.retain(|range| !is_corrected(range.low) && !is_typed(range.low));
            }
            if corrections.is_empty() {
                return None;
            }
            query.push(
                corrections.iter().copied(),
                synonyms.iter().copied(),
                None,
                1 << index,
            );
            // The terms of a range share all letters but one of the typed word.
            let shared = if is_prefix { symbols.len() - 1 } else { usize::MAX };
            query.set_signatures(corrections.iter().chain(&synonyms).map(|range| {
                let letters = trie.word_bytes(range.low);
                signature::prefix_bits(&letters[..letters.len().min(shared)])
            }));
            Some(1)
        });
        if let Some(query) = query {
            self.evaluate(query);
        }
    }

    /// Corrects the first letter of the word at `misspelled`.
    fn try_first_letter(&mut self, misspelled: usize) {
        let is_prefix = self.is_prefix(misspelled);
        let min_length = if is_prefix {
            fuzzy::MIN_SYMBOLS_AFTER_WRONG_LETTER
        } else {
            fuzzy::MIN_SYMBOLS
        };
        let trie = self.segment.trie();
        let mut symbols = Vec::new();
        trie::encode(self.tokens.word(misspelled), &mut symbols);
        let mut corrections = Vec::new();
        if symbols.len() >= min_length {
            fuzzy::find_with_other_first_letter(trie, &symbols, is_prefix, &mut corrections);
            fuzzy::sort_and_merge(&mut corrections);
        }
        if corrections.is_empty() {
            return;
        }
        let rewrite = Rewrite::FirstLetter(misspelled as u8);
        let query = self.rewrite(rewrite, ranking::TYPO_PENALTY, |index, query| {
            if index != misspelled {
                return Some(0);
            }
            query.push(corrections.iter().copied(), [], None, 1 << index);
            // The terms of a range share all letters of the typed word after the first.
            let shared = if is_prefix { symbols.len() - 1 } else { usize::MAX };
            query.set_signatures(corrections.iter().map(|range| {
                let letters = trie.word_bytes(range.low);
                signature::prefix_bits(&letters[..letters.len().min(shared)])
            }));
            Some(1)
        });
        if let Some(query) = query {
            self.evaluate(query);
        }
    }

    /// Returns the minimum length of the word at `index` if it is corrected.
    ///
    /// A short word is rarely a typo of one other word. A last word that has only been started, after words
    /// that are known, can still be one if nothing else has been found.
    fn min_corrected_length(&self, index: usize) -> usize {
        let is_known = |cursor: &Option<Cursor<'_>>| cursor.and_then(Cursor::exact_term).is_some();
        let is_after_known_words = index > 0 && self.cursors[..index].iter().all(is_known);
        if self.is_prefix(index) && is_after_known_words && self.top.len() == 0 {
            fuzzy::MIN_SYMBOLS_OF_LAST_WORD
        } else {
            fuzzy::MIN_SYMBOLS
        }
    }

    /// Drops the word at `dropped`.
    fn try_drop(&mut self, dropped: usize) {
        let query = self.rewrite(
            Rewrite::Drop(dropped as u8),
            ranking::DROPPED_WORD_PENALTY,
            |index, _| Some(usize::from(index == dropped)),
        );
        if let Some(query) = query {
            self.evaluate(query);
        }
    }
}
