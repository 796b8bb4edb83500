//! Checks the documents: every link, file, name, command, setting, route and make target in them exists, and
//! every shell block marked `sh try` runs against a server with the demo directory.
#![allow(
    unreachable_pub,
    reason = "nothing outside can name what a test program contains"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests measure real time and are set up by the environment"
)]

mod commands;
mod links;
mod markdown;
mod metrics;
mod names;
mod personal_data;
mod repository;
mod routes;
mod settings;
mod shell;
mod targets;
mod try_blocks;

use markdown::Document;

#[test]
fn every_link_and_file_exists() {
    let files = repository::files();
    report(
        Document::all()
            .iter()
            .flat_map(|document| links::check(document, &files)),
    );
}

#[test]
fn every_name_of_the_code_exists() {
    let sources = names::Sources::read();
    report(
        Document::all()
            .iter()
            .flat_map(|document| names::check(document, &sources)),
    );
}

#[test]
fn every_command_and_option_exists() {
    let mut help = commands::HelpPages::default();
    report(
        Document::all()
            .iter()
            .flat_map(|document| commands::check(document, &mut help)),
    );
}

#[test]
fn every_column_with_personal_data_is_documented() {
    assert_eq!(personal_data::check(), Vec::<String>::new());
}

#[test]
fn every_setting_exists() {
    let known = settings::KnownNames::read();
    report(
        Document::all()
            .iter()
            .flat_map(|document| settings::check(document, &known)),
    );
}

#[test]
fn every_metric_is_documented_and_every_documented_metric_exists() {
    report(metrics::check_guide(&repository::read(metrics::GUIDE)).into_iter());
}

#[test]
fn alert_rules_and_the_dashboard_use_metrics_that_exist() {
    let files = [
        "deploy/prometheus/alerts.yml",
        "deploy/prometheus/alerts.test.yml",
        "deploy/grafana/dashboard.json",
    ];
    report(
        files
            .iter()
            .flat_map(|path| metrics::check_queries(path, &repository::read(path))),
    );
}

#[test]
fn every_route_of_the_api_exists() {
    let routes = routes::Routes::read();
    report(
        Document::all()
            .iter()
            .flat_map(|document| routes::check(document, &routes)),
    );
}

#[test]
fn every_make_target_exists() {
    let targets = targets::read();
    report(
        Document::all()
            .iter()
            .flat_map(|document| targets::check(document, &targets)),
    );
}

#[test]
fn every_try_block_runs() {
    report(Document::all().iter().filter_map(try_blocks::run));
}

#[test]
fn every_other_shell_block_has_a_reason_not_to_run() {
    let not_run = try_blocks::NotRun::read(include_str!("not-run.txt"));
    report(not_run.check(&Document::all()).into_iter());
}

#[test]
fn the_readme_has_fewer_than_120_lines() {
    let lines = repository::read("README.md").lines().count();
    assert!(
        lines < 120,
        "README.md has {lines} lines; move some of it to docs/"
    );
}

/// Fails with all problems at once.
fn report(problems: impl Iterator<Item = String>) {
    let problems: Vec<String> = problems.collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}
