//! Documents that have only some of the words, or that are of the kinds that the words mean.
//!
//! This runs after all other steps, if the first page is not full and the query is not a complete name. The
//! query is read as a few units (`reading.rs`), and there are two sorts of searches for them: for some of the
//! units, leaving out the others, and for the kinds of organizations whose phrases are nearest to the query in
//! meaning. Both have the same measure, the cosine of the angle between what is searched for and the whole
//! query: leaving out a word that says little hardly changes the direction, and neither does a synonym. So
//! the searches are sorted by it, and it decides how they mix on the page. Without word vectors, the rarity of
//! words takes their place.
//!
//! Every hit is below those of all other steps.

use crate::intent::{Intent, Vector};
use crate::query::{MatchKind, Rewrite};
use crate::search::boolean_query::BooleanQuery;
use crate::search::ranking;
use crate::search::reading::{Reading, Unit};
use crate::search::searcher::Searcher;
use crate::segment::signature;
use crate::segment::trie::{Cursor, TermRange};
use crate::text::tag;

/// Steps for all searches together.
const STEPS: u32 = 24_000;
/// Maximum number of searches.
const MAX_SEARCHES: usize = 12;
/// Maximum number of kinds by meaning.
const MAX_KINDS: usize = 3;
/// Minimum similarity of a part of the units to all of them.
const MIN_PART_SIMILARITY: f32 = 0.45;
/// What each unit that is left out costs, unless it says little: two units rarely mean what one of them means.
const LEFT_OUT_PENALTY: f32 = 0.1;
/// Minimum similarity of a kind, chosen with queries that state an intent.
const MIN_KIND_SIMILARITY: f32 = 0.4;
/// What a kind is preferred by to a part of the units: all of its documents are about the subject.
const KIND_BONUS: f32 = 0.15;
/// A kind is used only if the nearest is at most this much nearer.
const MAX_KIND_DISTANCE: f32 = 0.12;

/// One search: for some of the units or for a kind.
#[derive(Clone, Debug)]
struct Candidate {
    similarity: f32,
    target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    /// The units with these bits.
    Units(u32),
    /// The kind of the phrase with this number.
    Concept(u16),
}

impl Searcher<'_> {
    /// Fills the first page with documents that match a part of the query or its meaning.
    pub(crate) fn search_intent(&mut self) {
        let Some(intent) = self.query.intent else { return };
        if self.top.page_is_full() || self.has_whole_name() {
            return;
        }
        let reading = self.read_intent(intent);
        if reading.units.is_empty() || (self.has_typed_prefix_match && !reading.is_sentence) {
            return;
        }
        self.steps_left = STEPS;
        self.further_steps_left = 0;
        let candidates = candidates(intent, &reading);
        let found = self.top.len();
        if !reading.places.is_empty() {
            let everywhere = self.filter.clone();
            for place in &reading.places {
                self.filter.add_group(place.clone());
            }
            self.search_candidates(intent, &reading, &candidates);
            if self.top.len() > found {
                return;
            }
            self.filter = everywhere;
        }
        self.search_candidates(intent, &reading, &candidates);
    }

    /// Returns `true` if the words as typed are a complete name.
    fn has_whole_name(&self) -> bool {
        self.top.hits().iter().any(|hit| {
            hit.rewrite == Rewrite::AsTyped && matches!(hit.kind, MatchKind::ExactName | MatchKind::FullName)
        })
    }

    fn search_candidates(&mut self, intent: &Intent, reading: &Reading<'_>, candidates: &[Candidate]) {
        for candidate in candidates {
            let penalty = ranking::relaxed_penalty(candidate.similarity);
            let query = match candidate.target {
                Target::Units(part) => self.part_query(reading, part, penalty),
                Target::Concept(number) => self.concept_query(intent, reading, number, penalty),
            };
            if let Some(query) = query {
                self.evaluate_postings(query);
            }
        }
    }

    /// Builds the query for a part of the units.
    fn part_query(&self, reading: &Reading<'_>, part: u32, penalty: f32) -> Option<BooleanQuery> {
        let chosen = || {
            let units = reading.units.iter().enumerate();
            units
                .filter(|(index, _)| part >> index & 1 == 1)
                .map(|(_, unit)| unit)
        };
        let kept = chosen().fold(reading.place_mask, |mask, unit| mask | unit.mask);
        let mut query = BooleanQuery::new(Rewrite::Part(kept as u32), penalty, false);
        for unit in chosen() {
            if unit.terms.is_empty() {
                return None;
            }
            query.push(unit.terms.iter().copied(), [], None, unit.mask);
            self.set_term_signatures(&mut query, &unit.terms);
        }
        Some(query)
    }

    /// Builds the query for the kind of a phrase.
    fn concept_query(
        &self,
        intent: &Intent,
        reading: &Reading<'_>,
        number: u16,
        penalty: f32,
    ) -> Option<BooleanQuery> {
        let (_, kind) = intent.concept(number)?;
        let term = self
            .segment
            .trie()
            .find(&tag::kind_tag(kind))
            .and_then(Cursor::exact_term)?;
        let mask = reading.units.iter().fold(0, |mask, unit| mask | unit.mask);
        let mut query = BooleanQuery::new(Rewrite::Meaning(number), penalty, false);
        let terms = [TermRange::single(term)];
        query.push(terms, [], None, mask);
        self.set_term_signatures(&mut query, &terms);
        Some(query)
    }

    fn set_term_signatures(&self, query: &mut BooleanQuery, terms: &[TermRange]) {
        let trie = self.segment.trie();
        query.set_signatures(terms.iter().map(|range| {
            // The terms of a range share only their first letters, of which the signature says nothing.
            if range.count() == 1 {
                signature::prefix_bits(trie.word_bytes(range.low))
            } else {
                0
            }
        }));
    }
}

/// Returns the searches, the most similar to the query first.
fn candidates(intent: &Intent, reading: &Reading<'_>) -> Vec<Candidate> {
    let mut candidates = parts(&reading.units);
    let mut vector = Vector::default();
    for unit in &reading.units {
        vector.add(&unit.vector, 1.0);
    }
    if let Some(concepts) = intent.concepts()
        && vector.length() > 0.0
    {
        let nearest = concepts.nearest(&vector, MAX_KINDS);
        let best = nearest.first().map_or(0.0, |near| near.similarity);
        let min = MIN_KIND_SIMILARITY.max(best - MAX_KIND_DISTANCE);
        let near = nearest.iter().filter(|near| near.similarity >= min);
        candidates.extend(near.map(|near| Candidate {
            similarity: near.similarity + KIND_BONUS,
            target: Target::Concept(near.phrase),
        }));
    }
    candidates.sort_by(|left, right| right.similarity.total_cmp(&left.similarity));
    candidates.truncate(MAX_SEARCHES);
    candidates
}

/// Returns all parts of the units that say most of what all of them say.
fn parts(units: &[Unit]) -> Vec<Candidate> {
    let known: Vec<f32> = units
        .iter()
        .map(|unit| unit.vector.length())
        .filter(|length| *length > 0.0)
        .collect();
    let has_vectors = !known.is_empty();
    let usual = known.iter().sum::<f32>() / known.len().max(1) as f32;
    // The products of all pairs of units. A unit without a vector has nothing in common with others.
    let product = |left: usize, right: usize| {
        if !has_vectors {
            let weight = units[left].rarity * units[right].rarity;
            return if left == right { weight } else { 0.0 };
        }
        let product = units[left].vector.dot(&units[right].vector);
        if left == right && product <= 0.0 {
            usual * usual
        } else {
            product
        }
    };
    let count = units.len();
    let products: Vec<f32> = (0..count * count)
        .map(|at| product(at / count, at % count))
        .collect();
    let sum = |left: u32, right: u32| -> f32 {
        let chosen = |mask: u32| (0..count).filter(move |index| mask >> index & 1 == 1);
        chosen(left)
            .flat_map(|row| chosen(right).map(move |column| (row, column)))
            .map(|(row, column)| products[row * count + column])
            .sum()
    };
    let all = (1u32 << count) - 1;
    let has_strong = units.iter().any(|unit| !unit.is_weak);
    let says_something = |part: u32| {
        !has_strong
            || units
                .iter()
                .enumerate()
                .any(|(index, unit)| part >> index & 1 == 1 && !unit.is_weak)
    };
    // How many units that say something are left out.
    let missing = |part: u32| {
        let left_out = units
            .iter()
            .enumerate()
            .filter(|(index, unit)| part >> index & 1 == 0 && !unit.is_weak);
        left_out.count() as f32
    };
    let length = sum(all, all).max(f32::MIN_POSITIVE).sqrt();
    (1..=all)
        .filter(|&part| says_something(part))
        .map(|part| Candidate {
            similarity: sum(part, all) / (sum(part, part).max(f32::MIN_POSITIVE).sqrt() * length)
                - LEFT_OUT_PENALTY * missing(part),
            target: Target::Units(part),
        })
        .filter(|candidate| candidate.similarity >= MIN_PART_SIMILARITY)
        .collect()
}
