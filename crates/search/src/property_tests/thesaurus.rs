//! What a thesaurus must not change: an alias, a synonym or a kind never hides a literal match.

use crate::builder::Thesaurus;
use crate::index::Index;
use crate::property_tests::fixtures::{
    TestDocument, WORDS, build, build_segment_with, documents, query_text,
};
use crate::query::{Query, Rewrite};
use proptest::collection::vec;
use proptest::prelude::*;

/// A phrase of one or two words.
fn phrase() -> impl Strategy<Value = String> {
    vec(proptest::sample::select(WORDS), 1..3).prop_map(|words| words.join(" "))
}

fn thesaurus() -> impl Strategy<Value = Thesaurus> {
    vec((0u8..4, phrase(), phrase()), 1..6).prop_map(|rows| {
        let mut thesaurus = Thesaurus::default();
        for (row, one, other) in rows {
            match row {
                0 => thesaurus.add_alias(&one, &other),
                1 => thesaurus.add_spelling(&one, &other),
                2 => thesaurus.add_place_alias(&one, &other),
                _ => thesaurus.add_kind_phrase(&one, "kind"),
            }
        }
        thesaurus
    })
}

fn build_with(documents: &[TestDocument], thesaurus: Thesaurus) -> Index<Vec<u8>> {
    Index::open(build_segment_with(documents, thesaurus)).expect("a new segment is valid")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn adding_an_alias_never_hides_a_literal_match(
        documents in documents(), text in query_text(), thesaurus in thesaurus(),
    ) {
        let query = Query { limit: 100, ..Query::new(&text) };
        let (before, after) = (build(&documents), build_with(&documents, thesaurus));
        let after = after.search(&query).hits;
        for hit in before.search(&query).hits {
            if hit.rewrite == Rewrite::AsTyped {
                let is_found = after.iter().any(|other| other.document == hit.document);
                prop_assert!(is_found, "{:?}: {:?}", text, hit);
            }
        }
    }
}
