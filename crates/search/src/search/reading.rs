//! Reads a query as what somebody wants: places, kinds of organizations and other words that carry meaning.
//!
//! Words that carry none are left out. A place becomes a filter. Each other word, or phrase that means a
//! kind, becomes a [`Unit`] with the terms that match it: the word in other forms, its translation, and its
//! correction if it is misspelled.

use crate::intent::{Intent, Vector, WordRole};
use crate::search::compound;
use crate::search::fuzzy;
use crate::search::kinds::KindWords;
use crate::search::prefilter::MAX_LISTS;
use crate::search::searcher::Searcher;
use crate::segment::format::Section;
use crate::segment::labels::LabelPostings;
use crate::segment::trie::{self, Cursor, TermRange};
use crate::text::english;

/// Maximum number of units. Of more, those that say the most are kept.
pub(crate) const MAX_UNITS: usize = 6;
/// Maximum number of words of a query that are read at all.
const MAX_WORDS_READ: usize = 16;
/// Maximum number of words in the name of a place.
const MAX_PLACE_WORDS: usize = 3;
/// Of the documents with the words of a place, at least this part is in the place if the words mean it ...
const MIN_PLACE_RATIO: f32 = 0.4;
/// ... and this part after a preposition, which says that a place follows.
const MIN_PLACE_RATIO_AFTER_PREPOSITION: f32 = 0.05;
/// How much a weak word weighs in the meaning of a query.
const WEAK_WEIGHT: f32 = 0.5;
/// A word with at most this many postings that the vocabulary lacks may be misspelled.
const MAX_SUSPECT_POSTINGS: usize = 24;
/// A correction has at least this many times the postings of the typed word.
const MIN_CORRECTION_RATIO: usize = 8;
/// Minimum length of an incomplete word that stands for the words it may become.
const MIN_PREFIX_LETTERS: usize = 4;
/// Minimum length of a word whose other forms are searched.
const MIN_STEM_LETTERS: usize = 3;
/// Endings of the forms of a word.
const ENDINGS: &[&str] = &["", "s", "es", "ing", "ed", "er", "ers", "e"];

/// A word or phrase that carries meaning.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// The words of the query, one bit for each.
    pub mask: u64,
    /// What a document must have one of.
    pub terms: Vec<TermRange>,
    /// Whether the unit says little without others.
    pub is_weak: bool,
    /// Its meaning; zero if it is unknown.
    pub vector: Vector,
    /// How rare it is, as a substitute for its meaning: the logarithm of the number of documents per posting.
    pub rarity: f32,
}

/// What a query says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading<'a> {
    pub units: Vec<Unit>,
    /// The labels of a place, any of which will do; a city with its state is two places.
    pub places: Vec<Vec<LabelPostings<'a>>>,
    /// The words that name places, one bit for each.
    pub place_mask: u64,
    /// Whether a word was left out because it carries no or little meaning, or a place was found.
    pub is_sentence: bool,
}

impl<'a> Searcher<'a> {
    /// Reads the query.
    pub(crate) fn read_intent(&self, intent: &Intent) -> Reading<'a> {
        let mut reading = Reading::default();
        self.read_place(intent, &mut reading);
        let kinds = self.find_kinds();
        let count = self.word_count().min(MAX_WORDS_READ);
        let mut index = 0;
        while index < count {
            if reading.place_mask >> index & 1 == 1 {
                index += 1;
                continue;
            }
            let kind = kinds
                .iter()
                .find(|kind| kind.words.start == index && reading.place_mask & kind.mask() == 0);
            if let Some(kind) = kind {
                reading.units.push(self.kind_unit(intent, kind));
                index = kind.words.end;
                continue;
            }
            let word = self.tokens.word(index);
            let role = intent.lexicon().role(word);
            if role == WordRole::Filler || english::is_stop_word(word) {
                reading.is_sentence |= role == WordRole::Filler && !english::is_stop_word(word);
            } else {
                reading.is_sentence |= role == WordRole::Weak;
                reading.units.push(self.word_unit(intent, index, role));
            }
            index += 1;
        }
        if reading.units.len() > MAX_UNITS {
            let says = |unit: &Unit| (!unit.is_weak, unit.vector.length().max(unit.rarity));
            reading.units.sort_by(|left, right| {
                let (left, right) = (says(left), says(right));
                right.0.cmp(&left.0).then(right.1.total_cmp(&left.1))
            });
            reading.units.truncate(MAX_UNITS);
            reading.units.sort_by_key(|unit| unit.mask.trailing_zeros());
        }
        reading
    }

    /// Finds the name of a place: after a preposition, at the end or at the start.
    fn read_place(&self, intent: &Intent, reading: &mut Reading<'a>) {
        let count = self.word_count().min(MAX_WORDS_READ);
        let mut best: Option<(f32, usize, usize, Vec<LabelPostings<'a>>)> = None;
        for start in 0..count {
            let is_after_preposition = start > 0 && is_preposition(self.tokens.word(start - 1));
            for length in 1..=MAX_PLACE_WORDS.min(count - start) {
                let end = start + length;
                if !(is_after_preposition || start == 0 || end == count) {
                    continue;
                }
                let min_ratio = if is_after_preposition {
                    MIN_PLACE_RATIO_AFTER_PREPOSITION
                } else if length == 1 && self.starts_kind_phrase(start) {
                    // "mentor" is a city, too.
                    continue;
                } else {
                    MIN_PLACE_RATIO
                };
                let Some((ratio, labels)) = self.place_at(intent, start, end) else {
                    continue;
                };
                // A longer name is a better one, and so is a place after a preposition or at the end.
                let rank = length as f32 + if is_after_preposition { 2.0 } else { 0.0 };
                let rank = rank + if end == count { 1.0 } else { 0.0 };
                if ratio >= min_ratio && best.as_ref().is_none_or(|best| rank > best.0) {
                    best = Some((rank, start, end, labels));
                }
            }
        }
        let Some((_, start, end, labels)) = best else {
            return;
        };
        reading.places.push(labels);
        let (mut first, mut last) = (start, end);
        // A city before a state, or a state after a city.
        for length in (1..=MAX_PLACE_WORDS).rev() {
            let before = start.checked_sub(length).map(|from| (from, start));
            let after = Some((end, end + length)).filter(|(_, to)| *to <= count);
            for (from, to) in before.into_iter().chain(after) {
                if reading.places.len() == 1
                    && let Some((ratio, labels)) = self.place_at(intent, from, to)
                    && ratio >= MIN_PLACE_RATIO
                {
                    reading.places.push(labels);
                    (first, last) = (first.min(from), last.max(to));
                }
            }
        }
        reading.place_mask = (first..last).fold(0, |mask, word| mask | 1 << word);
        reading.is_sentence = true;
    }

    /// Returns `true` if a phrase for a kind starts with the word.
    fn starts_kind_phrase(&self, index: usize) -> bool {
        let mut phrases = self.segment.kind_phrases().starting_with(self.tokens.word(index));
        phrases.next().is_some()
    }

    /// Returns the labels of the place that words name, and which part of the documents with these words is
    /// there.
    fn place_at(&self, intent: &Intent, start: usize, end: usize) -> Option<(f32, Vec<LabelPostings<'a>>)> {
        let words: Vec<&str> = (start..end).map(|index| self.tokens.word(index)).collect();
        if words
            .iter()
            .all(|word| intent.lexicon().role(word) != WordRole::Content)
        {
            return None;
        }
        let names = intent.place_labels(&words.join(" "));
        let labels: Vec<_> = names
            .iter()
            .filter_map(|name| self.segment.find_label(name))
            .collect();
        let documents: usize = labels.iter().map(LabelPostings::len).sum();
        let postings = (start..end)
            .map(|index| {
                let term = self.cursors[index].and_then(Cursor::exact_term);
                term.map_or(0, |term| self.posting_count(TermRange::single(term)))
            })
            .min()?;
        (documents > 0).then(|| (documents as f32 / postings.max(1) as f32, labels))
    }

    /// Returns the number of postings of a range of terms.
    fn posting_count(&self, range: TermRange) -> usize {
        let offsets = self.segment.u32s(Section::PostingOffsets);
        let (from, to) = (offsets.get(range.low as usize), offsets.get(range.high as usize));
        to.saturating_sub(from) as usize
    }

    fn kind_unit(&self, intent: &Intent, kind: &KindWords) -> Unit {
        let mut unit = Unit {
            mask: kind.mask(),
            terms: kind.tags.iter().map(|&tag| TermRange::single(tag)).collect(),
            is_weak: false,
            vector: Vector::default(),
            rarity: 0.0,
        };
        if let [index] = *kind.words.clone().collect::<Vec<_>>() {
            let word = self.word_unit(intent, index, WordRole::Content);
            unit.terms.extend(word.terms);
            unit.terms.truncate(MAX_LISTS);
            unit.vector = word.vector;
            unit.rarity = word.rarity;
            return unit;
        }
        for index in kind.words.clone() {
            let word = self.tokens.word(index);
            if intent.lexicon().role(word) != WordRole::Filler {
                add_vector(intent, word, &mut unit.vector);
            }
        }
        unit.rarity = self.rarity(&unit.terms);
        unit
    }

    fn word_unit(&self, intent: &Intent, index: usize, role: WordRole) -> Unit {
        let word = self.tokens.word(index);
        let mut terms = Vec::new();
        let mut vector = Vector::default();
        let translation = intent.lexicon().translation(word);
        let exact = self.cursors[index].and_then(Cursor::exact_term);
        let typed_postings = exact.map_or(0, |term| self.posting_count(TermRange::single(term)));
        self.push_forms(word, &mut terms);
        if let [single] = translation {
            self.push_forms(single, &mut terms);
        }
        let is_known = !translation.is_empty()
            || intent.vectors().is_some_and(|vectors| vectors.has_word(word))
            || typed_postings > MAX_SUSPECT_POSTINGS;
        let is_unfinished = self.is_prefix(index) && exact.is_none() && self.cursors[index].is_some();
        let mut correction = None;
        if !is_known && word.len() >= fuzzy::MIN_SYMBOLS {
            let postings: usize = terms.iter().map(|&range| self.posting_count(range)).sum();
            correction = self
                .find_correction(word)
                .filter(|(_, found)| *found >= postings.max(1) * MIN_CORRECTION_RATIO);
        }
        if let Some((term, _)) = correction {
            self.push_forms(self.segment.trie().word(term), &mut terms);
            add_vector(intent, self.segment.trie().word(term), &mut vector);
        } else if is_unfinished && terms.is_empty() {
            if word.len() >= MIN_PREFIX_LETTERS {
                terms.extend(self.cursors[index].map(Cursor::terms));
            }
        } else if let Some(lengths) = self.split_unknown(word, is_known || !terms.is_empty()) {
            // The last part of a compound says what it is.
            let mut rest = word;
            for length in lengths {
                let (part, after) = rest.split_at(length);
                add_vector(intent, part, &mut vector);
                rest = after;
            }
            add_vector(intent, rest, &mut vector);
            self.push_forms(rest, &mut terms);
        } else {
            add_vector(intent, word, &mut vector);
        }
        let is_weak = role == WordRole::Weak;
        if is_weak {
            vector.0.iter_mut().for_each(|value| *value *= WEAK_WEIGHT);
        }
        let rarity = self.rarity(&terms) * if is_weak { WEAK_WEIGHT } else { 1.0 };
        Unit {
            mask: 1 << index,
            terms,
            is_weak,
            vector,
            rarity,
        }
    }

    /// Returns the lengths of the first parts of a compound that is not a word itself.
    fn split_unknown(&self, word: &str, is_known: bool) -> Option<Vec<usize>> {
        if is_known {
            return None;
        }
        compound::split_compound(self.segment, word, false)
    }

    fn rarity(&self, terms: &[TermRange]) -> f32 {
        let postings: usize = terms.iter().map(|&range| self.posting_count(range)).sum();
        let documents = self.segment.document_count() as f32;
        (documents.max(1.0) / postings.max(1) as f32).ln().max(0.1)
    }

    /// Adds the terms that are forms of a word: singular and plural, with other endings, and its synonyms.
    fn push_forms(&self, word: &str, terms: &mut Vec<TermRange>) {
        let trie = self.segment.trie();
        let mut push = |form: &str| {
            let term = trie.find(form).and_then(Cursor::exact_term);
            if let Some(range) = term.map(TermRange::single)
                && terms.len() < MAX_LISTS
                && !terms.contains(&range)
            {
                terms.push(range);
            }
            term
        };
        if let Some(term) = push(word) {
            for synonym in self.segment.synonyms(term).iter() {
                push(trie.word(synonym));
            }
        }
        if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return;
        }
        let mut form = String::new();
        for stem in stems(word) {
            for ending in ENDINGS {
                form.clear();
                form.push_str(stem);
                form.push_str(ending);
                if form != word {
                    push(&form);
                }
            }
        }
    }

    /// Returns the most frequent word within one edit of `word`, with its number of postings.
    fn find_correction(&self, word: &str) -> Option<(u32, usize)> {
        let (mut symbols, mut ranges) = (Vec::new(), Vec::new());
        trie::encode(word, &mut symbols);
        fuzzy::find_within_one_edit(self.segment.trie(), &symbols, false, &mut ranges);
        let terms = ranges.iter().flat_map(|range| range.low..range.high);
        terms
            .map(|term| (term, self.posting_count(TermRange::single(term))))
            .max_by_key(|(_, postings)| *postings)
    }
}

/// Adds the vector of a word, or of its translation.
fn add_vector(intent: &Intent, word: &str, vector: &mut Vector) {
    let Some(vectors) = intent.vectors() else { return };
    match intent.lexicon().translation(word) {
        [] => {
            vectors.add_word(word, vector);
        }
        translation => {
            for word in translation {
                vectors.add_word(word, vector);
            }
        }
    }
}

/// Returns `true` if a place often follows the word, in English or in Spanish.
fn is_preposition(word: &str) -> bool {
    english::is_place_preposition(word) || matches!(word, "from" | "en")
}

/// Iterates over the stems of a word: the word itself without the endings of other forms.
fn stems(word: &str) -> impl Iterator<Item = &str> {
    let stems = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
    stems.filter(|stem| {
        stem.len() > MIN_STEM_LETTERS || (stem.len() == MIN_STEM_LETTERS && word.ends_with('s'))
    })
}
