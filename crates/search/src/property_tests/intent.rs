//! Searches with an intent: what follows the hits for all words, and what never changes.

use crate::builder::{Document, IndexBuilder, Thesaurus};
use crate::index::Index;
use crate::intent::Intent;
use crate::intent::WordVectors;
use crate::intent::test_table;
use crate::property_tests::fixtures::{build, documents, query_text};
use crate::query::{Query, Rewrite};
use proptest::prelude::*;

fn intent() -> Intent {
    let mut intent = Intent::default();
    intent.add_fillers(["where", "can", "i", "my", "para"]);
    intent.add_weak_words(["help", "free", "learn"]);
    intent.add_translation("perro", "dog");
    intent.set_place_labels(Box::new(|name| vec![format!("city:{name}")]));
    intent
}

/// An intent whose vectors say that "canine" means nearly the same as "dog", and "teeth" as "dental".
fn intent_with_meaning() -> Intent {
    let mut intent = intent();
    let table = test_table(&[
        ("canine", 1),
        ("dog", 1),
        ("dental", 2),
        ("teeth", 2),
        ("chess", 3),
    ]);
    let vectors = WordVectors::open(table).unwrap();
    intent.set_vectors(
        vectors,
        [("dog rescue", "animal-shelter"), ("dental clinic", "dental")],
    );
    intent
}

fn index() -> Index<Vec<u8>> {
    let mut thesaurus = Thesaurus::default();
    thesaurus.add_kind_phrase("dental clinic", "dental");
    thesaurus.add_kind_phrase("dog rescue", "animal-shelter");
    let mut builder = IndexBuilder::with_thesaurus(thesaurus.into());
    for (name, city, kind) in [
        ("Paws of Salem", "salem", "animal-shelter"),
        ("Smiles for All", "salem", "dental"),
        ("Smiles of Reno", "reno", "dental"),
        ("Tulsa Chess Club", "tulsa", ""),
        ("Dog Park Friends", "reno", ""),
    ] {
        let label = format!("city:{city}");
        let document = Document {
            name,
            location: &[city],
            labels: &[&label],
            kinds: &[kind],
            prominence: 1.0,
            ..Document::default()
        };
        builder.add(&document).unwrap();
    }
    Index::open(builder.finish().unwrap()).unwrap()
}

fn found(index: &Index<Vec<u8>>, intent: &Intent, text: &str) -> Vec<u32> {
    let query = Query {
        intent: Some(intent),
        ..Query::new(text)
    };
    index.search(&query).hits.iter().map(|hit| hit.document).collect()
}

#[test]
fn words_without_meaning_are_left_out() {
    let (index, intent) = (index(), intent());
    assert_eq!(found(&index, &intent, "where can i learn chess"), [3]);
    assert_eq!(found(&index, &intent, "help my chess quilt"), [3]);
    assert_eq!(found(&index, &intent, "perro"), [4]);
    assert!(found(&index, &intent, "where can i").is_empty());
}

#[test]
fn a_kind_by_meaning_is_found_in_the_place_that_was_typed() {
    let (index, intent) = (index(), intent_with_meaning());
    assert_eq!(found(&index, &intent, "my teeth"), [1, 2]);
    assert_eq!(found(&index, &intent, "free teeth reno"), [2]);
    assert_eq!(found(&index, &intent, "free teeth in salem"), [1]);
    // No clinic is there, and a place is left out last.
    assert_eq!(found(&index, &intent, "free teeth in tulsa"), [1, 2]);
}

#[test]
fn filters_apply_to_kinds_by_meaning() {
    let (index, intent) = (index(), intent_with_meaning());
    let filter = [vec!["city:reno".to_owned()]];
    let query = Query {
        filter: &filter,
        intent: Some(&intent),
        ..Query::new("help teeth")
    };
    let hits = index.search(&query).hits;
    assert_eq!(hits.iter().map(|hit| hit.document).collect::<Vec<_>>(), [2]);
    assert!(matches!(hits[0].rewrite, Rewrite::Meaning(_)));
    let explained = index.explain(&query)[0].to_string();
    assert!(explained.contains("read as \"dental clinic\""), "{explained}");
}

#[test]
fn a_complete_name_is_not_read_as_an_intent() {
    let (index, intent) = (index(), intent_with_meaning());
    assert_eq!(found(&index, &intent, "dog park friends"), [4]);
    assert_eq!(found(&index, &intent, "tulsa chess"), [3]);
}

#[test]
fn strange_texts_are_harmless() {
    let (index, intent) = (index(), intent_with_meaning());
    let unknown: Vec<String> = (0..200).map(|number| format!("q{number}zx")).collect();
    for text in [
        unknown.join(" "),
        "помощь детям".to_owned(),
        "🐶🦷".to_owned(),
        "in ".repeat(3_000),
        "z".repeat(10_000),
        "teeth ".repeat(2_000),
    ] {
        assert!(found(&index, &intent, &text).len() <= 10);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn hits_for_all_words_come_first_and_stay_the_same(documents in documents(), text in query_text()) {
        let index = build(&documents);
        let intent = intent();
        let mut whole = index.search(&Query::new(&text)).hits;
        whole.retain(|hit| !matches!(hit.rewrite, Rewrite::Drop(_)));
        let query = Query { intent: Some(&intent), ..Query::new(&text) };
        let all = index.search(&query).hits;
        prop_assert!(all.len() >= whole.len());
        for (with, without) in all.iter().zip(&whole) {
            prop_assert_eq!((with.document, with.score), (without.document, without.score));
        }
        for hit in &all[whole.len()..] {
            prop_assert!(hit.rewrite.is_relaxed());
        }
        for limit in [1, 3, 30] {
            let fewer = index.search(&Query { limit, ..query }).hits;
            let count = limit.min(all.len());
            let documents = |hits: &[crate::query::Hit]| hits[..count].iter().map(|hit| hit.document).collect::<Vec<_>>();
            prop_assert_eq!(documents(&fewer), documents(&all));
        }
    }
}
