//! Another spelling for a search with words that no nonprofit has.
//!
//! A keystroke corrects words by itself and shows what it found. The results page also says which words no nonprofit has, and
//! offers the search that was probably meant, so this is computed there alone.

use crate::nonprofits::ein::Ein;
use crate::query::filter::SearchFilter;
use crate::snapshot::view::View;
use ::search::{Index, SearchResults, Tokens, parse_domain};

/// The maximum number of corrections of a word that are tried.
const MAX_CORRECTIONS: usize = 6;
/// The maximum number of words that are corrected.
const MAX_CORRECTED_WORDS: usize = 2;
/// The maximum number of corrected texts that are tried.
const MAX_CANDIDATES: usize = 12;

/// What is wrong with the spelling of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// The words that no nonprofit has, as typed.
    pub unknown_words: Vec<String>,
    /// A text in which these words are corrected and that finds nonprofits with all words.
    pub corrected: Option<String>,
}

impl View {
    /// Checks the spelling of a search. At most two words are corrected; a word without corrections is left out if another
    /// one has some.
    pub fn check_spelling(&self, text: &str) -> Spelling {
        // The parts of a number and of a URL are not words.
        if Ein::find_in(text).is_some() || parse_domain(text).is_some() {
            return Spelling::default();
        }
        let tokens = Tokens::new(text);
        let unknown = self.unknown_words(&tokens);
        let ranges: Vec<_> = unknown.iter().map(|index| tokens.source_range(*index)).collect();
        let mut candidates = vec![Vec::new()];
        if unknown.len() <= MAX_CORRECTED_WORDS {
            for index in &unknown {
                let mut corrections = self.corrections(tokens.word(*index));
                if corrections.is_empty() {
                    corrections.push(String::new());
                }
                let with_each = |words: &Vec<String>| {
                    let words = words.clone();
                    let each = corrections.iter();
                    each.map(move |word| [words.as_slice(), std::slice::from_ref(word)].concat())
                        .collect::<Vec<_>>()
                };
                candidates = candidates.iter().flat_map(with_each).collect();
            }
        }
        candidates.retain(|words| words.iter().any(|word| !word.is_empty()));
        let corrected = candidates.iter().map(|words| {
            let mut corrected = text.to_owned();
            for (range, word) in ranges.iter().zip(words).rev() {
                corrected.replace_range(range.clone(), word);
            }
            corrected.split_whitespace().collect::<Vec<_>>().join(" ")
        });
        let corrected = corrected
            .take(MAX_CANDIDATES)
            .find(|corrected| self.has_with_all_words(corrected));
        Spelling {
            corrected,
            unknown_words: ranges.into_iter().map(|range| text[range].to_owned()).collect(),
        }
    }

    /// Returns words that are one edit away from a word, the most frequent first.
    pub(crate) fn corrections(&self, word: &str) -> Vec<String> {
        let in_snapshot = self.snapshot.as_ref().map(|snapshot| snapshot.index());
        let mut words = in_snapshot.map_or_else(Vec::new, |index| index.corrections(word, MAX_CORRECTIONS));
        let in_overlay = self.overlay.index();
        let in_overlay = in_overlay.map_or_else(Vec::new, |index| index.corrections(word, MAX_CORRECTIONS));
        words.extend(in_overlay);
        words
    }

    /// Returns whether a nonprofit has all words of a text as they are.
    fn has_with_all_words(&self, text: &str) -> bool {
        let Some(snapshot) = &self.snapshot else {
            return false;
        };
        let filter = SearchFilter {
            words_only: true,
            ..SearchFilter::default()
        };
        let is_found = |results: SearchResults<'_>| {
            let best = results.hits.first();
            best.is_some_and(|hit| !hit.rewrite.is_correction())
        };
        // With a space after it, the last word is not the beginning of a longer one.
        self.with_queries(
            snapshot,
            &format!("{text} "),
            1,
            &filter,
            |query, overlay_query| {
                let in_overlay = self
                    .overlay
                    .index()
                    .map(|index: &Index<_>| index.search(overlay_query));
                is_found(snapshot.index().search(query)) || in_overlay.is_some_and(is_found)
            },
        )
    }
}
