//! Measures keystrokes and the build on generated documents.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use search::{Document, Index, IndexBuilder, Query};

const WORDS: &[&str] = &[
    "American",
    "Animal",
    "Arts",
    "Baptist",
    "Bank",
    "Center",
    "Children",
    "Christian",
    "Church",
    "Community",
    "County",
    "Education",
    "Family",
    "Fire",
    "Food",
    "Foundation",
    "Friends",
    "Health",
    "Historical",
    "Hope",
    "Hospital",
    "House",
    "Humane",
    "Institute",
    "International",
    "Lake",
    "Library",
    "Museum",
    "National",
    "Park",
    "Rescue",
    "River",
    "Saint",
    "School",
    "Society",
    "Trust",
    "University",
    "Valley",
    "Veterans",
    "Youth",
];

/// Builds an index of `count` generated names, the same on every run.
fn build_index(count: u32) -> Index<Vec<u8>> {
    let mut state = 1u64;
    let mut random = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut builder = IndexBuilder::new();
    for number in 0..count {
        let word_count = 2 + random(4);
        let mut name: Vec<String> = (0..word_count)
            .map(|_| WORDS[random(WORDS.len())].to_owned())
            .collect();
        name.push(format!(
            "{}{}",
            WORDS[random(WORDS.len())].to_lowercase(),
            random(5000)
        ));
        let prominence = 10.0 * (1.0 - f64::from(number) / f64::from(count)) as f32;
        let label = if random(50) == 0 {
            "cause:animals"
        } else {
            "cause:other"
        };
        let document = Document {
            name: &name.join(" "),
            prominence,
            labels: &[label],
            ..Document::default()
        };
        builder.add(&document).expect("prominence descends");
    }
    Index::open(builder.finish().expect("writing to memory succeeds")).expect("a new segment is valid")
}

fn search(criterion: &mut Criterion) {
    let index = build_index(100_000);
    for (name, text) in [
        ("one letter", "a"),
        ("an incomplete word", "found"),
        ("two words", "american ch"),
        ("words in any order", "church valley hope"),
        ("typos", "amercan hospitl"),
        ("frequent words with a rare end", "national trust for zz"),
        ("the same letter again and again", "a a a a a a a a"),
    ] {
        criterion.bench_function(name, |bench| {
            bench.iter(|| black_box(index.search(&Query::new(black_box(text)))));
        });
    }
    criterion.bench_function("filtered", |bench| {
        let query = Query {
            filter: &[vec!["cause:animals".to_owned()]],
            ..Query::new("american ch")
        };
        bench.iter(|| black_box(index.search(&query)));
    });
}

fn build(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build");
    group.sample_size(10);
    group.bench_function("10,000 documents", |bench| {
        bench.iter(|| black_box(build_index(10_000)));
    });
}

criterion_group!(benches, search, build);
criterion_main!(benches);
