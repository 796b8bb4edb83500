//! Relevance of search: hand-written queries over the demo directory, scored by kind.
//!
//! `want` must be within the first `top` results, and none of `notFirst` may be first. Each kind has a minimum score;
//! `cargo test --test stories relevance -- --nocapture` prints every score.

use causeway::app::App;
use causeway::config::Config;
use directory::query::filter::SearchFilter;
use serde::Deserialize;
use std::collections::BTreeMap;

const CASES: &str = include_str!("relevance.jsonl");
/// The percentage of cases of each kind that must succeed.
const MIN_PERCENT: usize = 95;
const MIN_CASES: usize = 300;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    kind: String,
    q: String,
    want: String,
    top: usize,
    #[serde(default)]
    not_first: Vec<String>,
}

#[tokio::test]
async fn every_kind_of_query_finds_the_intended_nonprofit() {
    let folder = tempfile::tempdir().unwrap();
    let app = App::build(Config::for_tests(folder.path())).await.unwrap();
    app.importer().import_demo().await.unwrap();
    app.refresh_directory().await.unwrap();
    let view = app.directory.view();
    let cases: Vec<Case> = CASES
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(cases.len() >= MIN_CASES);
    let mut scores: BTreeMap<&str, (usize, usize, Vec<String>)> = BTreeMap::new();
    for case in &cases {
        let found = view.find_hits(&case.q, 10, &SearchFilter::default());
        let eins: Vec<String> = found
            .iter()
            .filter_map(|hit| Some(view.nonprofit(hit.location)?.ein?.to_string()))
            .collect();
        let is_found = eins.iter().take(case.top).any(|ein| *ein == case.want);
        let is_wrong_first = eins.first().is_some_and(|first| case.not_first.contains(first));
        let (right, all, misses) = scores.entry(&case.kind).or_default();
        *all += 1;
        if is_found && !is_wrong_first {
            *right += 1;
        } else {
            misses.push(format!(
                "{:?} should find {} in the top {}, but found {:?}",
                case.q, case.want, case.top, eins
            ));
        }
    }
    println!("{:12} {:>5} {:>5}", "kind", "right", "of");
    for (kind, (right, all, misses)) in &scores {
        println!("{kind:12} {right:5} {all:5}");
        for miss in misses {
            println!("    {miss}");
        }
    }
    for (kind, (right, all, misses)) in &scores {
        assert!(
            right * 100 >= all * MIN_PERCENT,
            "{kind}: {right} of {all}\n{}",
            misses.join("\n")
        );
    }
}

#[tokio::test]
async fn every_demo_nonprofit_is_first_or_tied_for_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let app = App::build(Config::for_tests(folder.path())).await.unwrap();
    app.importer().import_demo().await.unwrap();
    app.refresh_directory().await.unwrap();
    let view = app.directory.view();
    let snapshot = view.snapshot.as_ref().unwrap();
    for place in 0..snapshot.len() {
        let name = snapshot.nonprofit(place).unwrap().name;
        let found = view.search(name, 10);
        let first = found.first().map(|found| found.nonprofit.name.to_lowercase());
        assert_eq!(first, Some(name.to_lowercase()), "{name}");
    }
}
