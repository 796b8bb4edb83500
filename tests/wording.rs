//! A guard against words that were replaced on purpose: `tests/wording.txt` lists them with what to write instead.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files that are read.
const READ: &[&str] = &[
    "src",
    "crates",
    "templates",
    "tests",
    "load",
    "simulators",
    "benches",
    "docs",
    "assets",
    "deploy",
    "clients",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "config.default.toml",
    "openapi.json",
    "Makefile",
];

/// Files whose text is read; everything else is data.
const ENDINGS: &[&str] = &[
    "rs", "html", "md", "toml", "js", "css", "sh", "json", "service", "ts", "py",
];

/// One entry of the list.
struct Rule {
    text: String,
    instead: String,
    is_name: bool,
}

fn rules(list: &str) -> Vec<Rule> {
    list.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let mut parts = line.split('\t');
            let kind = parts.next().unwrap_or_default();
            let text = parts.next().unwrap_or_else(|| panic!("no text in {line:?}"));
            let instead = parts
                .next()
                .unwrap_or_else(|| panic!("no replacement in {line:?}"));
            assert!(matches!(kind, "phrase" | "name"), "{line:?}");
            Rule {
                text: text.to_owned(),
                instead: instead.trim_start_matches("-> ").to_owned(),
                is_name: kind == "name",
            }
        })
        .collect()
}

/// Does the text hold the words, and not as part of longer ones?
fn contains(text: &str, words: &str) -> bool {
    let is_word = |sign: Option<char>| sign.is_some_and(|sign| sign.is_alphanumeric() || sign == '_');
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        !is_word(before.chars().next_back()) && !is_word(after.chars().next())
    })
}

/// A line for every place in a file that breaks a rule.
fn violations(name: &str, text: &str, rules: &[Rule]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let folded = line.to_lowercase();
        for rule in rules {
            let is_broken = if rule.is_name {
                // Identifiers: comments are prose, where the same word may be right.
                Path::new(name).extension().is_some_and(|ending| ending == "rs")
                    && contains(line.split("//").next().unwrap_or_default(), &rule.text)
            } else {
                contains(&folded, &rule.text)
            };
            if is_broken {
                found.push(format!(
                    "{name}:{}: {:?}; write {}",
                    number + 1,
                    rule.text,
                    rule.instead
                ));
            }
        }
    }
    found
}

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let is_built = path.file_name().is_some_and(|name| {
            ["target", "corpus", "node_modules", "dist", "test-dist"]
                .iter()
                .any(|built| name == *built)
        });
        if !is_built {
            for entry in fs::read_dir(path).unwrap() {
                files(&entry.unwrap().path(), found);
            }
        }
    } else if path.file_name().is_some_and(|name| name == "Makefile")
        || path
            .extension()
            .is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
    {
        found.push(path.to_owned());
    }
}

#[test]
fn words_that_were_replaced_do_not_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules = rules(include_str!("wording.txt"));
    let mut paths = Vec::new();
    for name in READ {
        files(&root.join(name), &mut paths);
    }
    assert!(paths.len() > 300, "only {} files were read", paths.len());
    let mut found = Vec::new();
    for path in paths {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if name != "tests/wording.rs" {
            found.extend(violations(&name, &fs::read_to_string(&path).unwrap(), &rules));
        }
    }
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_planted_phrase_and_a_planted_name_are_found() {
    let rules = rules("phrase\tmake a key\t-> create a key\nname\tShelf\t-> FundraiserCache\n");
    let page = "<p>Make a key first.</p>";
    assert_eq!(
        violations("home.html", page, &rules),
        ["home.html:1: \"make a key\"; write create a key"]
    );
    assert_eq!(violations("cache.rs", "struct Shelf;", &rules).len(), 1);
    assert!(violations("cache.rs", "struct Bookshelf; // a Shelf", &rules).is_empty());
    assert!(violations("home.html", "remake a keyboard", &rules).is_empty());
}
