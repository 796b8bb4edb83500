//! The seeds of the fuzz targets, and what they once found, run on every test.

mod fuzzed;

use std::path::Path;

fn each(folder: &str, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(folder);
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is committed") {
        run(&std::fs::read(entry.expect("a readable folder").path()).expect("a readable file"));
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn every_query_of_the_corpus_is_answered() {
    each("query", fuzzed::query);
}

#[test]
fn every_segment_of_the_corpus_is_refused_or_harmless() {
    each("open", fuzzed::open);
}
