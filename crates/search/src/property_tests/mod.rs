//! Laws of the index, checked on thousands of small directories: what it finds is what a plain scan over all documents
//! finds, in the same order with the same scores; a document is found by its own name; and nothing depends on chance.

mod reference_matching;
mod reference_search;

use crate::{Document, Index, IndexBuilder, Query, Tier};
use proptest::collection::vec;
use proptest::prelude::*;

/// A document as the tests make it.
#[derive(Clone, Debug)]
pub struct Body {
    pub name: String,
    pub aliases: Vec<String>,
    pub also: Vec<String>,
    pub place: Vec<String>,
    pub number: Option<String>,
    pub labels: Vec<&'static str>,
    pub weight: f32,
}

/// Words that meet each other in every way: beginnings, plurals, other writings, noise, forms of law, near misses, run
/// together, initials.
const WORDS: &[&str] = &[
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
];
const PLACES: &[&str] = &["hope", "austin", "tx", "texas", "new york", "va"];
const LABELS: &[&str] = &["cause:arts", "cause:food", "state:TX"];

fn name() -> impl Strategy<Value = String> {
    vec(proptest::sample::select(WORDS), 1..5).prop_map(|words| words.join(" "))
}

fn body() -> impl Strategy<Value = Body> {
    let numbers = proptest::option::of((0u32..40).prop_map(|n| format!("{:09}", 120_000_000 + n * 7)));
    let place = vec(proptest::sample::select(PLACES).prop_map(str::to_owned), 0..2);
    let labels = proptest::sample::subsequence(LABELS, 0..=LABELS.len());
    (
        name(),
        vec(name(), 0..2),
        vec(name(), 0..2),
        place,
        numbers,
        labels,
        0u8..5,
    )
        .prop_map(|(name, aliases, also, place, number, labels, weight)| {
            let weight = f32::from(weight) * 2.0;
            Body {
                name,
                aliases,
                also,
                place,
                number,
                labels,
                weight,
            }
        })
}

fn directory() -> impl Strategy<Value = Vec<Body>> {
    vec(body(), 1..12).prop_map(|mut bodies| {
        bodies.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        bodies
    })
}

/// What may be typed: words of the directory, cut, misspelled or run together.
fn typed() -> impl Strategy<Value = String> {
    let word = (
        proptest::sample::select(WORDS),
        0u8..12,
        0usize..9,
        proptest::char::range('a', 'z'),
    )
        .prop_map(|(word, kind, at, letter)| {
            let mut letters: Vec<char> = word.chars().collect();
            let at = at % letters.len();
            match kind {
                0 => letters.truncate(at + 1),
                1 => letters[at] = letter,
                2 => letters.insert(at, letter),
                3 if letters.len() > 1 => drop(letters.remove(at)),
                4 if at > 0 => letters.swap(at - 1, at),
                _ => {}
            }
            letters.into_iter().collect::<String>()
        });
    let gap = proptest::sample::select(&[" ", " ", " ", "", "-"][..]);
    (vec((word, gap), 1..4), proptest::bool::weighted(0.3)).prop_map(|(words, closed)| {
        let mut text: String = words
            .iter()
            .flat_map(|(word, gap)| [word.as_str(), gap])
            .collect();
        text.truncate(text.trim_end_matches([' ', '-']).len());
        if closed { text + " " } else { text }
    })
}

pub fn build(bodies: &[Body]) -> Index<Vec<u8>> {
    Index::open(bytes(bodies)).expect("a new segment opens")
}

fn bytes(bodies: &[Body]) -> Vec<u8> {
    let mut builder = IndexBuilder::new();
    for body in bodies {
        builder
            .add(&Document {
                name: &body.name,
                aliases: &body.aliases.iter().map(String::as_str).collect::<Vec<_>>(),
                secondary_names: &body.also.iter().map(String::as_str).collect::<Vec<_>>(),
                location: &body.place.iter().map(String::as_str).collect::<Vec<_>>(),
                registration_number: body.number.as_deref(),
                domain: None,
                prominence: body.weight,
                labels: &body.labels,
            })
            .expect("the documents are in order");
    }
    builder.finish().expect("a vector takes all bytes")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_index_finds_what_a_scan_finds(
        bodies in directory(), text in typed(), take in 1usize..12, label in 0usize..6,
    ) {
        let index = build(&bodies);
        let labels = LABELS.get(label).map(|label| [*label]);
        let groups: Vec<&[&str]> = labels.iter().map(<[&str; 1]>::as_slice).collect();
        let query = Query { text: &text, take, filter: &groups, hidden: None };
        let found: Vec<_> =
            index.search(&query).hits.iter().map(|hit| (hit.document, hit.score, hit.tier, hit.reading)).collect();
        let wanted = reference_search::scan(&bodies, &query);
        prop_assert_eq!(found, wanted, "{:?}", text);
    }

}

/// Words that thousands of documents share, so that lists are long and have sieves, windows and bits.
fn crowd(seeds: &[(u8, u8, u8, u8)]) -> Vec<Body> {
    const OFTEN: &[&str] = &[
        "garden", "gardens", "river", "valley", "union", "choir", "lodge", "council",
    ];
    let mut bodies: Vec<Body> = (0..3_000u32)
        .map(|number| {
            let (a, b, c, label) = seeds[number as usize % seeds.len()];
            let of = |seed: u8, every: u32| {
                let drawn = number.wrapping_mul(2_654_435_761).rotate_left(u32::from(seed)) / 7;
                OFTEN[((drawn ^ u32::from(seed)) / every) as usize % OFTEN.len()]
            };
            let name = format!("{} {} n{number}", of(a, 1), of(b, 3));
            Body {
                name,
                aliases: Vec::new(),
                also: Vec::new(),
                place: vec![of(c, 5).to_owned()],
                number: None,
                labels: LABELS
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| number.wrapping_add(u32::from(label)) % (11 + 40 * *at as u32) == 0)
                    .map(|(_, label)| *label)
                    .collect(),
                weight: f32::from(a % 5),
            }
        })
        .collect();
    bodies.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    bodies
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_page_that_is_not_full_holds_every_document_that_has_all_words_and_a_label(
        seeds in vec(any::<(u8, u8, u8, u8)>(), 1..40),
        asked in vec((vec(0usize..8, 1..4), 0usize..5, any::<prop::sample::Index>()), 40),
    ) {
        let bodies = crowd(&seeds);
        let index = build(&bodies);
        for (words, label, own) in asked {
            let words_of = |body: &Body| format!("{} {}", body.name, body.place.concat());
            let own = &bodies[own.index(bodies.len())];
            let own: Vec<_> = words_of(own).split(' ').map(str::to_owned).collect();
            let mut words: Vec<_> = words.iter().map(|at| own[at % own.len()].clone()).collect();
            words.sort();
            words.dedup();
            let text = words.join(" ") + " ";
            let labels = LABELS.get(label).map(|label| [*label]);
            let groups: Vec<&[&str]> = labels.iter().map(<[&str; 1]>::as_slice).collect();
            let query = Query { filter: &groups, ..Query::new(&text) };
            let found: Vec<u32> = index.search(&query).hits.iter().map(|hit| hit.document).collect();
            let stem = |word: &str| word.trim_end_matches('s').to_owned();
            let wanted = (0..bodies.len() as u32).filter(|&at| {
                let body = &bodies[at as usize];
                let has: Vec<_> = words_of(body).split(' ').map(stem).collect();
                words.iter().all(|word| has.contains(&stem(word)))
                    && labels.iter().all(|label| body.labels.contains(&label[0]))
            });
            let wanted: Vec<u32> = wanted.collect();
            if found.len() < query.take {
                prop_assert!(wanted.iter().all(|document| found.contains(document)), "{:?}: {:?} of {:?}", text, found, wanted);
            } else {
                prop_assert!(wanted.len() >= query.take || found.iter().any(|document| !wanted.contains(document)));
            }
        }
    }
}

#[test]
fn a_name_is_exact_although_its_form_of_law_begins_a_longer_word_of_another() {
    let index = build(&["hope corp va", "hope co"].map(|name| Body {
        name: name.to_owned(),
        aliases: Vec::new(),
        also: Vec::new(),
        place: Vec::new(),
        number: None,
        labels: Vec::new(),
        weight: 1.0,
    }));
    let answer = index.search(&Query::new("hope co"));
    assert_eq!((answer.hits[0].document, answer.hits[0].tier), (1, Tier::Exact));
}

proptest! {
    #[test]
    fn every_document_is_first_or_tied_by_its_own_name(bodies in directory()) {
        let index = build(&bodies);
        for body in &bodies {
            let answer = index.search(&Query::new(&body.name));
            let first = &bodies[answer.hits[0].document as usize];
            prop_assert_eq!(&first.name, &body.name);
            prop_assert_eq!(answer.hits[0].tier, Tier::Exact);
        }
    }

    #[test]
    fn the_same_question_has_the_same_answer_and_a_matched_word(bodies in directory(), text in typed()) {
        let (index, again) = (build(&bodies), build(&bodies));
        let answer = index.search(&Query::new(&text));
        prop_assert_eq!(&answer.hits, &again.search(&Query::new(&text)).hits);
        for hit in &answer.hits {
            prop_assert!(answer.matched(hit).next().is_some_and(|word| !word.is_empty()));
        }
    }

    #[test]
    fn a_hidden_document_is_never_found(bodies in directory(), text in typed()) {
        let index = build(&bodies);
        let hidden = |document: u32| document.is_multiple_of(2);
        let query = Query { hidden: Some(&hidden), ..Query::new(&text) };
        prop_assert!(index.search(&query).hits.iter().all(|hit| hit.document % 2 == 1));
    }

    #[test]
    fn lists_hold_each_labelled_document_once_in_rank_order(bodies in directory()) {
        let index = build(&bodies);
        for label in LABELS {
            let wanted: Vec<u32> =
                (0..bodies.len() as u32).filter(|&at| bodies[at as usize].labels.contains(label)).collect();
            let listed = index.list(label).map_or_else(Vec::new, |list| list.page(0, usize::MAX).collect());
            prop_assert_eq!(&listed, &wanted);
            for from in 0..=wanted.len() {
                let page = index.list(label).map_or_else(Vec::new, |list| list.page(from, 2).collect());
                prop_assert_eq!(&page[..], &wanted[from..wanted.len().min(from + 2)]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_changed_or_cut_segment_is_refused(bodies in directory(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let bytes = bytes(&bodies);
        let at = at.index(bytes.len());
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << bit;
        prop_assert!(Index::open(flipped).is_err());
        prop_assert!(Index::open(&bytes[..at]).is_err());
    }

    #[test]
    fn false_content_behind_a_true_header_does_no_harm(
        bodies in directory(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..40), text in typed(),
    ) {
        let mut bytes = bytes(&bodies);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            if at >= 32 {
                bytes[at] = byte;
            }
        }
        if let Ok(index) = Index::open_trusted(bytes) {
            let _ = index.search(&Query::new(&text)).hits.len();
            let _ = index.labels("").map(|(_, list)| list.len()).sum::<usize>();
        }
    }
}
