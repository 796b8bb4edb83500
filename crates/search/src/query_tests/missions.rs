//! Words of missions.

use std::collections::BTreeSet;

use super::{build, build_with, found, named};
use crate::builder::{Document, IndexBuilder};
use crate::intent::{Intent, WordVectors, test_table_of};
use crate::query::{MatchKind, Query};
use proptest::collection::vec;
use proptest::prelude::*;

fn with_mission<'a>(name: &'a str, mission: &'a [&'a str]) -> Document<'a> {
    Document {
        mission,
        location: &["Portland", "OR"],
        ..named(name)
    }
}

#[test]
fn a_mission_is_found_by_its_words_below_names() {
    let index = build(&[
        with_mission(
            "Harbor Group",
            &["We teach refugees to sew.", "Sewing machines for families"],
        ),
        with_mission("Sew Refugees", &[]),
        with_mission("River Group", &["We clean rivers and teach children."]),
    ]);
    assert_eq!(found(&index, "teach refugees"), [0]);
    assert_eq!(found(&index, "refugees sew"), [1, 0]);
    assert_eq!(found(&index, "refugee family"), [0]);
    assert_eq!(found(&index, "clean the river"), [2]);
    assert_eq!(found(&index, "clean rivers portland"), [2]);
    assert!(found(&index, "clean rivers salem").is_empty());
}

#[test]
fn only_the_last_word_may_be_incomplete_or_misspelled() {
    let index = build(&[with_mission("Harbor Group", &["We teach refugees languages."])]);
    for (typed, is_found) in [
        ("teach refu", true),
        ("teach refuges", true),
        ("teach lanugages", true),
        ("tea refugees", false),
        ("taech refugees", false),
        ("teach re", false),
    ] {
        assert_eq!(found(&index, typed) == [0], is_found, "{typed}");
    }
}

#[test]
fn the_matched_words_are_those_typed() {
    let index = build(&[with_mission("Harbor Group", &["We teach refugees languages."])]);
    let results = index.search(&Query::new("Teach the Refugee"));
    let hit = &results.hits[0];
    assert_eq!(hit.kind, MatchKind::Mission);
    assert_eq!(
        results.matched_words(hit).collect::<Vec<_>>(),
        ["teach", "refugee"]
    );
    assert_eq!(
        index.explain(&Query::new("teach refugee"))[0].to_string(),
        "-55.00 = 9.00 prominence + -64.00 because its mission has the words"
    );
}

#[test]
fn a_word_of_a_mission_changes_nothing_about_names() {
    let names = ["Harbor House", "Garden Club"];
    let missions: [&[&str]; 2] = [&["harbr gardn clubs housing hc"], &["hh"]];
    let without = build(&names.map(named));
    let with = build(&[
        with_mission(names[0], missions[0]),
        with_mission(names[1], missions[1]),
    ]);
    for typed in ["harbr", "gardn club", "hc", "harborhouse", "gard"] {
        assert!(
            found(&with, typed).starts_with(&found(&without, typed)),
            "{typed}"
        );
    }
}

#[test]
fn missions_that_mean_what_was_typed_come_first() {
    let halves = std::array::from_fn(|at| if at < 128 { 9 } else { -9 });
    let turns = std::array::from_fn(|at| if at % 2 == 0 { 9 } else { -9 });
    let senses = [
        (["clean", "water", "wells"], halves),
        (["school", "rooms", "color"], turns),
    ];
    let words = senses
        .iter()
        .flat_map(|(words, sense)| words.map(|word| (word, *sense)));
    let table = test_table_of(words.collect());
    let vectors: &'static WordVectors = Box::leak(Box::new(WordVectors::open(table.clone()).unwrap()));
    let documents = [
        with_mission(
            "Harbor Group",
            &["A school with clean rooms and water color lessons"],
        ),
        with_mission("River Group", &["Clean water from wells"]),
    ];
    let index = build_with(IndexBuilder::new().with_vectors(vectors), &documents);
    assert_eq!(found(&index, "clean water"), [0, 1], "the more prominent one");
    let mut intent = Intent::default();
    intent.set_vectors(WordVectors::open(table).unwrap(), []);
    for limit in [1, 10] {
        let query = Query {
            limit,
            intent: Some(&intent),
            ..Query::new("clean water")
        };
        let hits = index.search(&query).hits;
        let documents: Vec<u32> = hits.iter().map(|hit| hit.document).collect();
        assert_eq!(documents, [1, 0][..limit.min(2)]);
        assert!(hits.iter().all(|hit| hit.kind == MatchKind::Mission));
    }
}

const WORDS: &[&str] = &[
    "river", "rivers", "teach", "teaching", "sewing", "garden", "portland",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn missions_are_found_as_by_a_scan(
        missions in vec(vec(0..WORDS.len(), 0..4), 1..20), typed in vec(0..WORDS.len(), 1..4),
    ) {
        let texts: Vec<String> = missions
            .iter()
            .map(|words| words.iter().map(|&word| WORDS[word]).collect::<Vec<_>>().join(" "))
            .collect();
        let texts: Vec<[&str; 1]> = texts.iter().map(|text| [text.as_str()]).collect();
        let documents: Vec<Document<'_>> =
            texts.iter().map(|text| with_mission("Nameless Group", text)).collect();
        let index = build(&documents);
        let words: Vec<&str> = typed.iter().map(|&word| WORDS[word]).collect();
        let text = words.join(" ") + " ";
        let results = index.search(&Query { limit: 50, ..Query::new(&text) });
        let by_mission = results.hits.iter().filter(|hit| hit.kind == MatchKind::Mission);
        let found: BTreeSet<u32> = by_mission.map(|hit| hit.document).collect();
        let has = |mission: &str, word: &str| {
            mission.split(' ').any(|other| other.trim_end_matches('s') == word.trim_end_matches('s'))
        };
        let expected = (0..texts.len() as u32).filter(|&number| {
            let mission = texts[number as usize][0];
            words.iter().all(|word| *word == "portland" || has(mission, word))
                && words.iter().any(|word| has(mission, word))
        });
        // A place alone finds all documents by their location.
        if words.iter().any(|word| *word != "portland") {
            prop_assert_eq!(found, expected.collect::<BTreeSet<u32>>(), "{:?}", text);
        }
    }
}
