//! Property tests of the index on thousands of small sets of documents.
//!
//! The index finds what a scan over all documents finds, in the same order and with the same scores; every
//! document is found near the top by its own name; the first hits do not depend on the limit; results are deterministic; damaged segments are rejected or harmless.

pub(crate) mod fixtures;
mod intent;
mod reference_matching;
mod reference_search;
mod thesaurus;

use crate::index::Index;
use crate::query::{MatchKind, Query};
use fixtures::{LABELS, TestDocument, build, build_segment, documents, query_text};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_index_finds_what_a_scan_finds(
        documents in documents(), text in query_text(), limit in 1usize..12, label in 0usize..6,
    ) {
        let index = build(&documents);
        let labels = LABELS.get(label).map(|label| [*label]);
        let groups: Vec<Vec<String>> = labels.iter().map(|label| vec![label[0].to_owned()]).collect();
        let query = Query { filter: &groups, limit, ..Query::new(&text) };
        let found: Vec<_> =
            index.search(&query).hits.iter().map(|hit| (hit.document, hit.score, hit.kind, hit.rewrite)).collect();
        let expected = reference_search::search(&documents, &query);
        prop_assert_eq!(found, expected, "{:?}", text);
    }

}

const FREQUENT_WORDS: &[&str] = &[
    "garden", "gardens", "river", "valley", "union", "choir", "lodge", "council",
];

/// Thousands of documents that share a few words, so that posting lists are long and have Bloom filters,
/// windows and bitmaps.
fn many_documents(seeds: &[(u8, u8, u8, u8)]) -> Vec<TestDocument> {
    let mut documents: Vec<TestDocument> = (0..3_000u32)
        .map(|number| {
            let (a, b, c, label) = seeds[number as usize % seeds.len()];
            let pick = |seed: u8, divisor: u32| {
                let hash = number.wrapping_mul(2_654_435_761).rotate_left(u32::from(seed)) / 7;
                FREQUENT_WORDS[((hash ^ u32::from(seed)) / divisor) as usize % FREQUENT_WORDS.len()]
            };
            let name = format!("{} {} n{number}", pick(a, 1), pick(b, 3));
            TestDocument {
                name,
                aliases: Vec::new(),
                secondary_names: Vec::new(),
                location: vec![pick(c, 5).to_owned()],
                registration_number: None,
                labels: LABELS
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| number.wrapping_add(u32::from(label)) % (11 + 40 * *at as u32) == 0)
                    .map(|(_, label)| *label)
                    .collect(),
                prominence: f32::from(a % 5),
            }
        })
        .collect();
    documents.sort_by(|a, b| b.prominence.total_cmp(&a.prominence));
    documents
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_page_that_is_not_full_has_every_document_with_all_words_and_the_label(
        seeds in vec(any::<(u8, u8, u8, u8)>(), 1..40),
        queries in vec((vec(0usize..8, 1..4), 0usize..5, any::<prop::sample::Index>()), 40),
    ) {
        let documents = many_documents(&seeds);
        let index = build(&documents);
        for (words, label, source) in queries {
            let words_of =
                |document: &TestDocument| format!("{} {}", document.name, document.location.concat());
            let source = words_of(&documents[source.index(documents.len())]);
            let source: Vec<_> = source.split(' ').map(str::to_owned).collect();
            let mut words: Vec<_> = words.iter().map(|at| source[at % source.len()].clone()).collect();
            words.sort();
            words.dedup();
            let text = words.join(" ") + " ";
            let labels = LABELS.get(label).map(|label| [*label]);
            let groups: Vec<Vec<String>> = labels.iter().map(|label| vec![label[0].to_owned()]).collect();
            let query = Query { filter: &groups, ..Query::new(&text) };
            let found: Vec<u32> = index.search(&query).hits.iter().map(|hit| hit.document).collect();
            let singular = |word: &str| word.trim_end_matches('s').to_owned();
            let matching = (0..documents.len() as u32).filter(|&number| {
                let document = &documents[number as usize];
                let has: Vec<_> = words_of(document).split(' ').map(singular).collect();
                words.iter().all(|word| has.contains(&singular(word)))
                    && labels.iter().all(|label| document.labels.contains(&label[0]))
            });
            let matching: Vec<u32> = matching.collect();
            if found.len() < query.limit {
                prop_assert!(
                    matching.iter().all(|document| found.contains(document)),
                    "{:?}: {:?} of {:?}", text, found, matching
                );
            } else {
                prop_assert!(
                    matching.len() >= query.limit || found.iter().any(|document| !matching.contains(document))
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_exhaustive_search_finds_every_document_with_all_words_and_the_label(
        seeds in vec(any::<(u8, u8, u8, u8)>(), 1..40),
        queries in vec((0usize..8, 0usize..8, 1usize..8, 0usize..5, 1u32..40), 20),
    ) {
        let documents = many_documents(&seeds);
        let index = build(&documents);
        for (first, last, length, label, divisor) in queries {
            let (first, last) = (FREQUENT_WORDS[first], FREQUENT_WORDS[last]);
            let prefix = &last[..last.len().min(length)];
            // A word and its plural count as one word, and the last word must be another one.
            if first.starts_with(prefix) || prefix.starts_with(first.trim_end_matches('s')) {
                continue;
            }
            let labels = LABELS.get(label).map(|label| [*label]);
            let groups: Vec<Vec<String>> = labels.iter().map(|label| vec![label[0].to_owned()]).collect();
            let is_excluded = |document: u32| !document.is_multiple_of(divisor);
            let is_match = |number: &u32, words: &[&str]| {
                let document = &documents[*number as usize];
                let text = format!("{} {}", document.name, document.location.concat());
                let has: Vec<_> = text.split(' ').collect();
                !is_excluded(*number)
                    && words.iter().all(|word| has.iter().any(|other| other.starts_with(word)))
                    && labels.iter().all(|label| document.labels.contains(&label[0]))
            };
            // A prefix alone is read from all documents, and together with a word from the list of the word.
            for words in [&[prefix][..], &[first, prefix]] {
                let text = words.join(" ");
                let query = |limit| Query {
                    filter: &groups,
                    exclude: Some(&is_excluded),
                    limit,
                    ..Query::new(&text)
                };
                let exhaustive = index.search(&Query { is_exhaustive: true, ..query(10_000) });
                let mut found: Vec<u32> = exhaustive.hits.iter().map(|hit| hit.document).collect();
                let page = index.search(&query(10)).hits;
                prop_assert!(found.starts_with(&page.iter().map(|hit| hit.document).collect::<Vec<_>>()) || page.len() < 10, "{:?}", text);
                prop_assert!(exhaustive.is_complete, "{:?}", text);
                found.sort_unstable();
                prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", text);
                let matching: Vec<u32> =
                    (0..documents.len() as u32).filter(|number| is_match(number, words)).collect();
                prop_assert!(
                    matching.iter().all(|document| found.binary_search(document).is_ok()),
                    "{:?}: {} of {}", text, found.len(), matching.len()
                );
                let capped = index.search(&Query { is_exhaustive: true, ..query(100) });
                prop_assert_eq!(capped.hits.len(), found.len().min(100), "{:?}", text);
                prop_assert_eq!(capped.is_complete, found.len() < 100, "{:?}", text);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn ten_names_with_all_words_fill_the_page_and_no_limit_changes_it(
        seeds in vec(any::<(u8, u8, u8, u8)>(), 1..40),
        queries in vec((0usize..8, 0usize..8, 1usize..8), 20),
    ) {
        let documents = many_documents(&seeds);
        let index = build(&documents);
        for (first, last, length) in queries {
            let (first, last) = (FREQUENT_WORDS[first], FREQUENT_WORDS[last]);
            let prefix = &last[..last.len().min(length)];
            if first.starts_with(prefix) {
                continue;
            }
            let text = format!("{first} {prefix}");
            let has_both = |document: &&TestDocument| {
                let words: Vec<_> = document.name.split(' ').collect();
                words.contains(&first) && words.iter().any(|word| word.starts_with(prefix))
            };
            let matching = documents.iter().filter(has_both).count();
            let hits = |limit| index.search(&Query { limit, ..Query::new(&text) }).hits;
            let page = hits(10);
            prop_assert!(page.len() >= matching.min(10), "{:?}: {} of {}", text, page.len(), matching);
            let more = hits(50);
            for limit in [1, 3, 10, 11, 25] {
                prop_assert_eq!(&hits(limit)[..], &more[..more.len().min(limit)], "{:?}, {}", text, limit);
            }
        }
    }
}

#[test]
fn a_name_is_exact_although_its_legal_suffix_is_a_prefix_of_another_word() {
    let index = build(&["hope corp va", "hope co"].map(|name| TestDocument {
        name: name.to_owned(),
        aliases: Vec::new(),
        secondary_names: Vec::new(),
        location: Vec::new(),
        registration_number: None,
        labels: Vec::new(),
        prominence: 1.0,
    }));
    let results = index.search(&Query::new("hope co"));
    assert_eq!(
        (results.hits[0].document, results.hits[0].kind),
        (1, MatchKind::ExactName)
    );
}

proptest! {
    #[test]
    fn an_exact_name_is_outranked_only_by_aliases_and_by_far_larger_documents(documents in documents()) {
        let index = build(&documents);
        for document in &documents {
            let hits = index.search(&Query::new(&document.name)).hits;
            let rank = hits.iter().position(|hit| documents[hit.document as usize].name == document.name);
            let Some(rank) = rank else {
                return Err(TestCaseError::fail(format!("{:?} is not found", document.name)));
            };
            prop_assert!(rank < 3, "{:?} has rank {}", document.name, rank + 1);
            let exact = documents[hits[rank].document as usize].prominence;
            for hit in &hits[..rank] {
                let other = &documents[hit.document as usize];
                // A display name may be listed as an alias as well.
                let is_alias =
                    hit.kind == MatchKind::FullName && (hit.name > 0 || other.aliases.contains(&other.name));
                let difference = other.prominence - exact;
                prop_assert!(
                    (is_alias && difference >= 0.0) || difference >= 4.0,
                    "{:?}: {:?}", document.name, hit
                );
            }
        }
    }

    #[test]
    fn the_first_hits_are_the_same_for_every_limit(documents in documents(), text in query_text()) {
        let index = build(&documents);
        let hits = |limit| index.search(&Query { limit, ..Query::new(&text) }).hits;
        let all = hits(50);
        for limit in 1..12 {
            prop_assert_eq!(&hits(limit)[..], &all[..all.len().min(limit)], "{:?}, {}", text, limit);
        }
    }

    #[test]
    fn the_same_query_has_the_same_results_and_a_matched_word(documents in documents(), text in query_text()) {
        let (index, other) = (build(&documents), build(&documents));
        let results = index.search(&Query::new(&text));
        prop_assert_eq!(&results.hits, &other.search(&Query::new(&text)).hits);
        for hit in &results.hits {
            prop_assert!(results.matched_words(hit).next().is_some_and(|word| !word.is_empty()));
        }
    }

    #[test]
    fn an_excluded_document_is_never_found(documents in documents(), text in query_text()) {
        let index = build(&documents);
        let is_even = |document: u32| document.is_multiple_of(2);
        let query = Query { exclude: Some(&is_even), ..Query::new(&text) };
        prop_assert!(index.search(&query).hits.iter().all(|hit| hit.document % 2 == 1));
    }

    #[test]
    fn a_label_has_each_of_its_documents_once_in_rank_order(documents in documents()) {
        let index = build(&documents);
        for label in LABELS {
            let expected: Vec<u32> = (0..documents.len() as u32)
                .filter(|&number| documents[number as usize].labels.contains(label))
                .collect();
            let page = |offset: usize, limit: usize| {
                let postings = index.documents_with_label(label);
                postings.map_or_else(Vec::new, |postings| postings.page(offset, limit).collect())
            };
            prop_assert_eq!(&page(0, usize::MAX), &expected);
            for offset in 0..=expected.len() {
                let end = expected.len().min(offset + 2);
                prop_assert_eq!(&page(offset, 2)[..], &expected[offset..end]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_changed_or_truncated_segment_is_rejected(
        documents in documents(), at in any::<prop::sample::Index>(), bit in 0u8..8,
    ) {
        let bytes = build_segment(&documents);
        let at = at.index(bytes.len());
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << bit;
        prop_assert!(Index::open(flipped).is_err());
        prop_assert!(Index::open(&bytes[..at]).is_err());
    }

    #[test]
    fn invalid_content_behind_a_valid_header_does_not_panic(
        documents in documents(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        text in query_text(),
    ) {
        let mut bytes = build_segment(&documents);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            if at >= 32 {
                bytes[at] = byte;
            }
        }
        if let Ok(index) = Index::open_trusted(bytes) {
            let _ = index.search(&Query::new(&text)).hits.len();
            let _ = index.labels_with_prefix("").map(|(_, postings)| postings.len()).sum::<usize>();
        }
    }
}
