//! Random documents and queries for property tests.

use crate::builder::{Document, IndexBuilder, Thesaurus};
use crate::index::Index;
use proptest::collection::vec;
use proptest::prelude::*;

/// An owned [`Document`].
#[derive(Clone, Debug)]
pub(crate) struct TestDocument {
    pub name: String,
    pub aliases: Vec<String>,
    pub secondary_names: Vec<String>,
    pub location: Vec<String>,
    pub registration_number: Option<String>,
    pub labels: Vec<&'static str>,
    pub prominence: f32,
}

/// Words that are related in every way that matters: prefixes, plurals, synonyms, stop words, legal suffixes,
/// typos, compounds, initials.
pub(crate) const WORDS: &[&str] = &[
    "food",
    "foods",
    "bank",
    "foodbank",
    "st",
    "saint",
    "mary",
    "marys",
    "mari",
    "the",
    "of",
    "inc",
    "corp",
    "va",
    "virginia",
    "van",
    "hope",
    "hopes",
    "hops",
    "house",
    "horse",
    "a",
    "art",
    "arts",
    "artist",
    "new",
    "fund",
    "found",
    "foundation",
    "and",
    "co",
    "coop",
    "hfv",
    "4",
    "for",
    "h",
    "v",
];
const LOCATIONS: &[&str] = &["hope", "austin", "tx", "texas", "new york", "va"];
pub(crate) const LABELS: &[&str] = &["cause:arts", "cause:food", "state:TX"];

fn name() -> impl Strategy<Value = String> {
    vec(proptest::sample::select(WORDS), 1..5).prop_map(|words| words.join(" "))
}

fn document() -> impl Strategy<Value = TestDocument> {
    let number = (0u32..40).prop_map(|n| format!("{:09}", 120_000_000 + n * 7));
    let location = vec(proptest::sample::select(LOCATIONS).prop_map(str::to_owned), 0..2);
    let labels = proptest::sample::subsequence(LABELS, 0..=LABELS.len());
    (
        name(),
        vec(name(), 0..2),
        vec(name(), 0..2),
        location,
        proptest::option::of(number),
        labels,
        0u8..5,
    )
        .prop_map(
            |(name, aliases, secondary_names, location, registration_number, labels, prominence)| {
                TestDocument {
                    name,
                    aliases,
                    secondary_names,
                    location,
                    registration_number,
                    labels,
                    prominence: f32::from(prominence) * 2.0,
                }
            },
        )
}

/// Up to eleven documents in descending order of prominence.
pub(crate) fn documents() -> impl Strategy<Value = Vec<TestDocument>> {
    vec(document(), 1..12).prop_map(|mut documents| {
        documents.sort_by(|a, b| b.prominence.total_cmp(&a.prominence));
        documents
    })
}

/// A query of up to three words: as they are, cut short, misspelled, or joined.
pub(crate) fn query_text() -> impl Strategy<Value = String> {
    let word = (
        proptest::sample::select(WORDS),
        0u8..12,
        0usize..9,
        proptest::char::range('a', 'z'),
    )
        .prop_map(|(word, edit, at, letter)| {
            let mut letters: Vec<char> = word.chars().collect();
            let at = at % letters.len();
            match edit {
                0 => letters.truncate(at + 1),
                1 => letters[at] = letter,
                2 => letters.insert(at, letter),
                3 if letters.len() > 1 => drop(letters.remove(at)),
                4 if at > 0 => letters.swap(at - 1, at),
                _ => {}
            }
            letters.into_iter().collect::<String>()
        });
    let separator = proptest::sample::select(&[" ", " ", " ", "", "-"][..]);
    (vec((word, separator), 1..4), proptest::bool::weighted(0.3)).prop_map(|(words, ends_in_space)| {
        let mut text: String = words
            .iter()
            .flat_map(|(word, separator)| [word.as_str(), separator])
            .collect();
        text.truncate(text.trim_end_matches([' ', '-']).len());
        if ends_in_space { text + " " } else { text }
    })
}

/// Builds an index of `documents`.
pub(crate) fn build(documents: &[TestDocument]) -> Index<Vec<u8>> {
    Index::open(build_segment(documents)).expect("a new segment is valid")
}

/// Builds a segment of `documents`.
pub(crate) fn build_segment(documents: &[TestDocument]) -> Vec<u8> {
    build_segment_with(documents, Thesaurus::default())
}

/// Builds a segment of `documents` with a thesaurus. Every other document is of the kind `kind`.
pub(crate) fn build_segment_with(documents: &[TestDocument], thesaurus: Thesaurus) -> Vec<u8> {
    let mut builder = IndexBuilder::with_thesaurus(thesaurus.into());
    for (number, document) in documents.iter().enumerate() {
        builder
            .add(&Document {
                name: &document.name,
                aliases: &document.aliases.iter().map(String::as_str).collect::<Vec<_>>(),
                secondary_names: &document
                    .secondary_names
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>(),
                location: &document.location.iter().map(String::as_str).collect::<Vec<_>>(),
                postal_code: None,
                kinds: if number.is_multiple_of(2) { &["kind"] } else { &[] },
                registration_number: document.registration_number.as_deref(),
                domain: None,
                filed_domain: Some("https://never-indexed.example"),
                mission: &["xylophone quizzes"],
                prominence: document.prominence,
                labels: &document.labels,
            })
            .expect("the documents are in descending order");
    }
    builder.finish().expect("writing to memory succeeds")
}
