//! Runs the fuzz targets on their committed corpus: the seeds, and inputs that once caused a failure.
#![allow(
    unreachable_pub,
    reason = "nothing outside can name what a test program contains"
)]

mod fuzz_targets;

use std::path::Path;

fn for_each_input(target: &str, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is committed") {
        run(&std::fs::read(entry.expect("the folder is readable").path()).expect("the file is readable"));
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn every_query_of_the_corpus_has_valid_results() {
    for_each_input("query", fuzz_targets::query);
}

#[test]
fn every_segment_of_the_corpus_is_rejected_or_harmless() {
    for_each_input("open", fuzz_targets::open);
}
