//! Merging the results of several segments.
//!
//! Each segment is searched on its own. A segment without the intended document goes on to rewrites that a
//! single segment of all documents would never have tried; their hits would appear next to the right hit of
//! another segment, or above it. Two choices depend on a whole segment and are not repeated: whether a last
//! word of two or three letters is corrected, and which word is dropped first.

use crate::query::{Hit, MatchKind, Rewrite};
use crate::search::budget::ENOUGH_HITS;
use crate::search::ranking;
use crate::search::top_k::PAGE_SIZE;

/// Decides which hits of several segments belong in the merged results.
///
/// ```
/// use search::{Document, Index, IndexBuilder, MergeFilter, Query};
///
/// let index = |name| {
///     let mut builder = IndexBuilder::new();
///     builder.add(&Document { name, prominence: 1.0, ..Document::default() })?;
///     Ok::<_, Box<dyn std::error::Error>>(Index::open(builder.finish()?)?)
/// };
/// let (main, recent) = (index("Portland Zoo")?, index("Portland Quoll Rescue")?);
/// let query = Query::new("portland quoll");
/// let (main, recent) = (main.search(&query).hits, recent.search(&query).hits);
/// let filter = MergeFilter::new(main.iter().chain(&recent), query.limit);
/// assert!(filter.accepts(&recent[0]) && !filter.accepts(&main[0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent property of the hits"
)]
pub struct MergeFilter {
    /// A hit matches the complete registration number or domain.
    has_identified: bool,
    /// A hit matches the words as typed.
    has_typed: bool,
    /// There are so many hits for the words as typed, not all of them obscure, that no corrections are tried.
    has_enough: bool,
    /// A hit was found by changing one word: splitting it, reading it as initials or correcting a typo.
    has_one_changed: bool,
    /// A hit was found by correcting a first letter.
    has_first_letter: bool,
    /// A hit was found without dropping a word.
    has_complete: bool,
    /// The hits for the whole query fill the first page.
    has_page: bool,
}

impl MergeFilter {
    /// Creates a filter from the hits of all segments for a query with this `limit`.
    pub fn new<'h>(hits: impl IntoIterator<Item = &'h Hit>, limit: usize) -> Self {
        let mut filter = Self::default();
        let (mut unchanged, mut whole) = (0, 0);
        let mut best_score = f32::NEG_INFINITY;
        for hit in hits {
            let by_identifier = is_by_identifier(hit);
            filter.has_identified |= by_identifier && hit.score >= ranking::MIN_IDENTIFIED_SCORE;
            filter.has_complete |= !matches!(hit.rewrite, Rewrite::Drop(_)) && !hit.rewrite.is_relaxed();
            whole += usize::from(!hit.rewrite.is_relaxed());
            if hit.kind == MatchKind::Mission {
                // Missions are searched after names and say nothing about hits in names.
                continue;
            }
            filter.has_typed |= !by_identifier && hit.rewrite == Rewrite::AsTyped;
            filter.has_first_letter |= matches!(hit.rewrite, Rewrite::FirstLetter(_));
            filter.has_one_changed |= matches!(
                hit.rewrite,
                Rewrite::Split(_) | Rewrite::Initials(_) | Rewrite::Typo(_)
            );
            if matches!(
                hit.rewrite,
                Rewrite::AsTyped | Rewrite::Join(_) | Rewrite::Shorthand(_) | Rewrite::Kind(_)
            ) {
                unchanged += 1;
                best_score = best_score.max(hit.score);
            }
        }
        filter.has_page = whole >= PAGE_SIZE;
        filter.has_enough = unchanged >= ENOUGH_HITS.min(limit) && best_score >= ranking::OBSCURE_SCORE;
        filter
    }

    /// Returns `true` if a single segment of all documents would have found this hit.
    pub fn accepts(&self, hit: &Hit) -> bool {
        if self.has_identified {
            return is_by_identifier(hit);
        }
        match hit.rewrite {
            Rewrite::AsTyped | Rewrite::Join(_) | Rewrite::Shorthand(_) | Rewrite::Kind(_) => true,
            Rewrite::Area(_) | Rewrite::Initials(_) => !self.has_typed && !self.has_enough,
            Rewrite::Split(_) | Rewrite::Typo(_) => !self.has_enough,
            Rewrite::FirstLetter(_) => !self.has_typed && !self.has_enough && !self.has_one_changed,
            Rewrite::TwoTypos(..) => {
                !self.has_typed && !self.has_enough && !self.has_one_changed && !self.has_first_letter
            }
            Rewrite::Drop(_) => !self.has_complete,
            Rewrite::Part(_) | Rewrite::Meaning(_) => !self.has_page,
        }
    }
}

fn is_by_identifier(hit: &Hit) -> bool {
    matches!(hit.kind, MatchKind::RegistrationNumber | MatchKind::Domain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property_tests::fixtures::{TestDocument, build};
    use crate::query::Query;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index as Pick, subsequence};

    /// Prefixes of each other, typos and compounds. None is a plural of another, which a segment knows only
    /// for its own words.
    const WORDS: &[&str] = &[
        "harbor", "rescue", "portland", "port", "garden", "choir", "chair", "quilt", "quill", "food", "bank",
        "foodbank", "oak", "oakland", "of", "inc",
    ];
    /// More than the number of documents.
    const LIMIT: usize = 50;

    /// No document has both spellings of a typo: a document that matches both counts only by the one with the
    /// better score.
    fn document((mut words, prominence, number): (Vec<&str>, u8, u32)) -> TestDocument {
        for (word, typo) in [("choir", "chair"), ("quilt", "quill")] {
            if words.contains(&word) {
                words.retain(|other| *other != typo);
            }
        }
        let (name, location) = words.split_at(words.len().min(3));
        TestDocument {
            name: name.join(" "),
            aliases: Vec::new(),
            secondary_names: Vec::new(),
            location: vec![location.join(" ")],
            registration_number: Some((100_000_000 + number).to_string()),
            labels: Vec::new(),
            prominence: f32::from(prominence),
        }
    }

    fn documents() -> impl Strategy<Value = Vec<TestDocument>> {
        let document = (subsequence(WORDS, 1..5).prop_shuffle(), 0u8..6, 0u32..1_000).prop_map(document);
        vec(document, 2..14).prop_map(|mut documents| {
            documents.sort_by(|a, b| b.prominence.total_cmp(&a.prominence));
            documents
        })
    }

    /// Returns some words of a document, in their order, or its registration number.
    fn query_text(document: &TestDocument, selected: u8, cut: usize) -> String {
        if selected == 0 {
            return document.registration_number.clone().unwrap_or_default();
        }
        let words = document.name.split(' ').chain(document.location[0].split(' '));
        let words = words.enumerate().filter(|(index, _)| selected >> index & 1 == 1);
        let mut text = words.map(|(_, word)| word).collect::<Vec<_>>().join(" ");
        text.truncate(text.len().saturating_sub(cut).max(1));
        text
    }

    /// Searches segments of these documents and returns the merged hits in a fixed order.
    fn search(segments: &[Vec<TestDocument>], text: &str) -> Vec<Vec<String>> {
        let indexes: Vec<_> = segments.iter().map(|documents| build(documents)).collect();
        let query = Query {
            limit: LIMIT,
            ..Query::new(text)
        };
        let results: Vec<_> = indexes.iter().map(|index| index.search(&query).hits).collect();
        let filter = MergeFilter::new(results.iter().flatten(), LIMIT);
        let mut found = Vec::new();
        for (hits, documents) in results.iter().zip(segments) {
            let accepted = hits.iter().filter(|hit| filter.accepts(hit));
            found.extend(accepted.map(|hit| {
                let document = &documents[hit.document as usize];
                vec![
                    document.name.clone(),
                    document.location.join(" "),
                    document.registration_number.clone().unwrap_or_default(),
                ]
            }));
        }
        found.sort();
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn two_segments_find_what_one_of_all_documents_finds(
            documents in documents(), recent in any::<u16>(), source in any::<Pick>(), selected in 0u8..16,
            cut in 0usize..3,
        ) {
            let text = query_text(&documents[source.index(documents.len())], selected, cut);
            let segment = |is_recent: bool| {
                let indexed = documents.iter().enumerate();
                let selected = indexed.filter(|(index, _)| (recent >> index & 1 == 1) == is_recent);
                selected.map(|(_, document)| document.clone()).collect::<Vec<_>>()
            };
            // Whether a short last word is corrected, and which word is dropped first, depends on what the
            // whole segment has, so that two segments can differ from one.
            let is_short = text.rsplit(' ').next().is_some_and(|word| word.len() < 4);
            let depends_on_segment = |hit: &Hit| match hit.rewrite {
                Rewrite::Typo(_) | Rewrite::TwoTypos(..) => is_short,
                Rewrite::Drop(_) => true,
                _ => false,
            };
            let query = Query { limit: LIMIT, ..Query::new(&text) };
            if [&documents, &segment(false), &segment(true)]
                .into_iter()
                .any(|documents| build(documents).search(&query).hits.iter().any(depends_on_segment) && is_short)
                || build(&documents).search(&query).hits.iter().any(depends_on_segment)
            {
                return Ok(());
            }
            let merged = search(&[segment(false), segment(true)], &text);
            prop_assert_eq!(merged, search(std::slice::from_ref(&documents), &text), "{:?}", text);
        }
    }
}
