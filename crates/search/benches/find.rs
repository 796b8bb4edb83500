//! How long one keystroke takes, on a generated directory.

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

/// A directory of `count` made names; the same on every run.
fn directory(count: u32) -> Index<Vec<u8>> {
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut builder = IndexBuilder::new();
    for at in 0..count {
        let words = 2 + draw(4);
        let mut name: Vec<String> = (0..words).map(|_| WORDS[draw(WORDS.len())].to_owned()).collect();
        name.push(format!(
            "{}{}",
            WORDS[draw(WORDS.len())].to_lowercase(),
            draw(5000)
        ));
        let weight = 10.0 * (1.0 - f64::from(at) / f64::from(count)) as f32;
        let label = if draw(50) == 0 {
            "cause:animals"
        } else {
            "cause:other"
        };
        let document = Document {
            name: &name.join(" "),
            prominence: weight,
            labels: &[label],
            ..Document::default()
        };
        builder.add(&document).expect("weights fall");
    }
    Index::open(builder.finish().expect("memory takes all bytes")).expect("a new segment opens")
}

fn find(criterion: &mut Criterion) {
    let index = directory(100_000);
    for (name, text) in [
        ("one letter", "a"),
        ("a word cut short", "found"),
        ("two words", "american ch"),
        ("words in any order", "church valley hope"),
        ("a mistake", "amercan hospitl"),
        ("frequent words with a rare end", "national trust for zz"),
        ("the same letter again and again", "a a a a a a a a"),
    ] {
        criterion.bench_function(name, |bench| {
            bench.iter(|| black_box(index.search(&Query::new(black_box(text)))));
        });
    }
    criterion.bench_function("filtered", |bench| {
        let query = Query {
            filter: &[&["cause:animals"]],
            ..Query::new("american ch")
        };
        bench.iter(|| black_box(index.search(&query)));
    });
}

fn build(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build");
    group.sample_size(10);
    group.bench_function("10,000 documents", |bench| {
        bench.iter(|| black_box(directory(10_000)));
    });
}

criterion_group!(benches, find, build);
criterion_main!(benches);
