//! Explains why a search found little: words that no nonprofit has, filters, corrected typos.

use crate::nonprofits::ein::Ein;
use crate::query::near::{Area, Near};
use crate::query::search::HitLocation;
use crate::snapshot::view::View;
use ::search::{Rewrite, Tokens};

/// How many results are considered for each filter.
pub const MAX_CONSIDERED: usize = 50;

/// A condition that the results of a search meet.
#[derive(Clone, Debug)]
pub enum Condition {
    /// One of these labels.
    AnyLabel(Vec<String>),
    Near(Near),
}

/// Why a search found what it found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// The words that no nonprofit has, as typed.
    pub unknown_words: Vec<String>,
    /// Words that were read as another one, as typed, and what they were read as.
    pub typos: Vec<(String, String)>,
    /// The words that the results may lack, as typed.
    pub dropped_words: Vec<String>,
    /// For each condition, how many of the first results it removed: of those that meet all other conditions, at most
    /// [`MAX_CONSIDERED`].
    pub removed: Vec<usize>,
}

impl View {
    /// Explains the results of a search.
    pub fn diagnose(&self, text: &str, conditions: &[Condition]) -> Diagnosis {
        let tokens = Tokens::new(text);
        let as_typed = |index: usize| text[tokens.source_range(index)].to_owned();
        let mut diagnosis = Diagnosis {
            removed: (0..conditions.len())
                .map(|index| self.count_removed(text, conditions, index))
                .collect(),
            ..Diagnosis::default()
        };
        // The digits of an EIN are not a word.
        if Ein::parse_lenient(text).is_none() {
            let unknown = self.unknown_words(&tokens);
            diagnosis.unknown_words = unknown.into_iter().map(as_typed).collect();
        }
        for (rewrite, words) in self.find_rewrites(text, conditions) {
            let corrected = match rewrite {
                Rewrite::Typo(one) => vec![one],
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
    fn unknown_words(&self, tokens: &Tokens) -> Vec<usize> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        let mut unknown = snapshot.index().unknown_words(tokens);
        if let Some(index) = self.overlay.index() {
            let in_overlay = index.unknown_words(tokens);
            unknown.retain(|word| in_overlay.contains(word));
        }
        unknown
    }

    /// Returns how each of the first results was found, with the typed words and the words that they matched.
    fn find_rewrites(&self, text: &str, conditions: &[Condition]) -> Vec<(Rewrite, Vec<(String, String)>)> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        let (groups, near) = split(conditions, usize::MAX);
        let groups: Vec<&[&str]> = groups.iter().map(Vec::as_slice).collect();
        self.with_queries(
            snapshot,
            text,
            MAX_CONSIDERED,
            &groups,
            near,
            |query, overlay_query| {
                let in_overlay = self.overlay.index().map(|index| index.explain(overlay_query));
                let explanations = snapshot.index().explain(query).into_iter();
                explanations
                    .chain(in_overlay.into_iter().flatten())
                    .map(|explanation| (explanation.hit.rewrite, explanation.words))
                    .collect()
            },
        )
    }

    /// Returns how many of the first results without the condition at `index` do not meet it.
    fn count_removed(&self, text: &str, conditions: &[Condition], index: usize) -> usize {
        let (groups, near) = split(conditions, index);
        let groups: Vec<&[&str]> = groups.iter().map(Vec::as_slice).collect();
        let hits = self.find_hits(text, MAX_CONSIDERED, &groups, near);
        let locations = hits.iter().map(|hit| hit.location);
        match &conditions[index] {
            Condition::AnyLabel(labels) => locations
                .filter(|location| !labels.iter().any(|label| self.has_label(*location, label)))
                .count(),
            Condition::Near(near) => {
                let area = Area::new(near);
                locations
                    .filter(|location| !area.contains(self.zip(*location)))
                    .count()
            }
        }
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

/// Returns the groups of labels and the circle of all conditions but the one at `without`.
fn split(conditions: &[Condition], without: usize) -> (Vec<Vec<&str>>, Option<&Near>) {
    let (mut groups, mut near) = (Vec::new(), None);
    for (index, condition) in conditions.iter().enumerate() {
        match condition {
            _ if index == without => {}
            Condition::AnyLabel(labels) => groups.push(labels.iter().map(String::as_str).collect()),
            Condition::Near(circle) => near = Some(circle),
        }
    }
    (groups, near)
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}
