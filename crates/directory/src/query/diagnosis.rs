//! Explains why a search found little: words that no nonprofit has, filters, corrected typos.
//!
//! Computed only on request, because it repeats the search without each of its filters.

use crate::nonprofits::ein::Ein;
use crate::query::filter::{FilterField, SearchFilter};
use crate::query::intent::intent;
use crate::query::interpretation;
use crate::query::near::Area;
use crate::snapshot::view::{HitLocation, View};
use ::search::{Explanation, MatchKind, Rewrite, Tokens, is_same_word};

/// How many results are considered for each filter.
pub const MAX_CONSIDERED: usize = 50;

/// How many results decide how the words were read.
const FIRST_PAGE: usize = 10;

/// Why a search found what it found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// The words that no nonprofit has, as typed.
    pub unknown_words: Vec<String>,
    /// Words that were read as another one, as typed, and what they were read as.
    pub typos: Vec<(String, String)>,
    /// The words that the results may lack, as typed.
    pub dropped_words: Vec<String>,
    /// What the kinds of nonprofits are called as which the words were read.
    pub kinds: Vec<String>,
    /// For each field of the filter, how many of the first results it removed: of those that the other fields accept, at
    /// most [`MAX_CONSIDERED`].
    pub removed: Vec<(FilterField, usize)>,
}

impl View {
    /// Explains the results of a search.
    pub fn diagnose(&self, text: &str, filter: &SearchFilter) -> Diagnosis {
        let tokens = Tokens::new(text);
        let as_typed = |index: usize| text[tokens.source_range(index)].to_owned();
        let mut diagnosis = Diagnosis {
            removed: filter
                .fields()
                .map(|field| (field, self.count_removed(text, filter, field)))
                .collect(),
            ..Diagnosis::default()
        };
        let explanations = self.explain_hits(text, filter);
        // The parts of an EIN and of a URL are not words.
        if Ein::find_in(text).is_none() && explanations.first().is_none_or(is_found_by_words) {
            let unknown = self.unknown_words(&tokens);
            diagnosis.unknown_words = unknown.into_iter().map(as_typed).collect();
        }
        let hits = explanations
            .iter()
            .take(FIRST_PAGE)
            .map(|explanation| &explanation.hit);
        let read = interpretation::of_hits(intent(self.by_meaning), text, &tokens, hits);
        diagnosis.kinds = read.kinds;
        diagnosis.dropped_words = read.left_out;
        for Explanation { hit, words, .. } in explanations {
            let corrected = match hit.rewrite {
                Rewrite::Typo(one) | Rewrite::FirstLetter(one) => vec![one],
                Rewrite::TwoTypos(one, two) => vec![one, two],
                Rewrite::Drop(dropped) if usize::from(dropped) < tokens.len() => {
                    push_new(&mut diagnosis.dropped_words, as_typed(dropped.into()));
                    continue;
                }
                _ => continue,
            };
            for index in corrected
                .into_iter()
                .map(usize::from)
                .filter(|index| *index < tokens.len())
            {
                let read_as = words.iter().find(|(typed, _)| typed == tokens.word(index));
                if let Some((_, read_as)) = read_as {
                    push_new(&mut diagnosis.typos, (as_typed(index), read_as.clone()));
                }
            }
        }
        diagnosis
    }

    /// Returns the indexes of the words that neither the snapshot nor the overlay has.
    pub(crate) fn unknown_words(&self, tokens: &Tokens) -> Vec<usize> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        let mut unknown = snapshot.index().unknown_words(tokens);
        if let Some(index) = self.overlay.index() {
            let in_overlay = index.unknown_words(tokens);
            unknown.retain(|word| in_overlay.contains(word));
        }
        // Another form of a word, such as its singular, is found as a correction.
        unknown.retain(|index| {
            let word = tokens.word(*index);
            let mut corrections = self.corrections(word).into_iter();
            !corrections.any(|correction| is_same_word(word, &correction))
        });
        unknown
    }

    /// Returns how each of the first results was found, best first in the snapshot and in the overlay.
    fn explain_hits(&self, text: &str, filter: &SearchFilter) -> Vec<Explanation> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        self.with_queries(snapshot, text, MAX_CONSIDERED, filter, |query, overlay_query| {
            let in_overlay = self.overlay.index().map(|index| index.explain(overlay_query));
            let explanations = snapshot.index().explain(query).into_iter();
            explanations.chain(in_overlay.into_iter().flatten()).collect()
        })
    }

    /// Returns how many of the first results without a field of the filter it does not accept.
    fn count_removed(&self, text: &str, filter: &SearchFilter, field: FilterField) -> usize {
        let hits = self.find_hits(text, MAX_CONSIDERED, &filter.without(field));
        let locations = hits.iter().map(|hit| hit.location);
        if let (FilterField::Near, Some(near)) = (field, &filter.near) {
            let area = Area::new(near);
            return locations
                .filter(|location| !area.contains(self.zip(*location)))
                .count();
        }
        let labels = filter.labels(field);
        locations
            .filter(|location| !labels.iter().any(|label| self.has_label(*location, label)))
            .count()
    }

    fn has_label(&self, location: HitLocation, label: &str) -> bool {
        let (list, document) = match location {
            HitLocation::Snapshot(index) => {
                let snapshot = self.snapshot.as_ref();
                (
                    snapshot.and_then(|snapshot| snapshot.index().documents_with_label(label)),
                    index,
                )
            }
            HitLocation::Overlay(index) => {
                let overlay = self.overlay.index();
                (
                    overlay.and_then(|overlay| overlay.documents_with_label(label)),
                    index,
                )
            }
        };
        list.is_some_and(|list| list.contains(document))
    }
}

/// Returns whether a nonprofit was found by words, rather than by its number, its ZIP code or its domain.
fn is_found_by_words(explanation: &Explanation) -> bool {
    let kind = explanation.hit.kind;
    !matches!(
        kind,
        MatchKind::RegistrationNumber | MatchKind::PostalCode | MatchKind::Domain
    )
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}
