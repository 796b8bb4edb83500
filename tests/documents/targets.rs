//! Targets of the Makefile.

use crate::markdown::Document;
use crate::repository;
use crate::shell;
use std::collections::HashSet;

/// The targets of the Makefile.
pub fn read() -> HashSet<String> {
    parse(&repository::read("Makefile"))
}

fn parse(makefile: &str) -> HashSet<String> {
    let rules = makefile.lines().filter_map(|line| line.split_once(':'));
    let is_target = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    rules
        .map(|(name, _)| name.to_owned())
        .filter(|name| is_target(name))
        .collect()
}

/// Checks every `make` command of a document.
pub fn check(document: &Document, targets: &HashSet<String>) -> Vec<String> {
    let mut problems = Vec::new();
    for script in document.scripts() {
        for command in shell::commands(&script.text)
            .iter()
            .filter(|command| command[0] == "make")
        {
            for word in &command[1..] {
                if !word.contains('=') && !targets.contains(word) {
                    let problem = format!("the Makefile has no target {word}");
                    problems.push(document.problem(script.line, &problem));
                }
            }
        }
    }
    problems
}

#[test]
fn a_wrong_target_is_reported() {
    use crate::markdown::document;
    let targets =
        parse(".PHONY: help\nDATA ?= x:y\ntest: lint ## Run tests\n\tcargo test\nbench-site: build\n");
    assert_eq!(targets.len(), 2);
    let good = document("`make` `make test` and\n```sh\nmake bench-site DATA=eo.csv test\n```\n");
    assert_eq!(check(&good, &targets), [""; 0]);
    for wrong in ["`make tset`", "```sh\nmake test bench\n```"] {
        assert_eq!(check(&document(wrong), &targets).len(), 1, "{wrong}");
    }
}
