//! Names of the code: functions, types, modules and columns.

use crate::markdown::Document;
use crate::repository::{self, has_ending};
use std::collections::{HashMap, HashSet};

/// What introduces a definition in Rust.
const KEYWORDS: [&str; 10] = [
    "fn",
    "struct",
    "enum",
    "trait",
    "const",
    "static",
    "type",
    "mod",
    "union",
    "macro_rules!",
];
/// Where the names of ARCHITECTURE.md may come from besides Rust: tables, settings and templates.
const OTHER_SOURCES: [&str; 3] = ["sql", "toml", "html"];

/// The source files and what they define.
#[derive(Default)]
pub struct Sources {
    /// Definitions, and the files that have them.
    defined: HashMap<String, Vec<usize>>,
    /// Every word of each file.
    words: Vec<HashSet<String>>,
    paths: Vec<String>,
    /// Packages of other people.
    packages: HashSet<String>,
}

impl Sources {
    pub fn read() -> Sources {
        let mut sources = Sources::default();
        let is_source = |path: &String| {
            let is_text = is_rust(path) || OTHER_SOURCES.iter().any(|ending| has_ending(path, ending));
            is_text && !path.starts_with("tests/documents/")
        };
        for path in repository::files().into_iter().filter(is_source) {
            let text = repository::read(&path);
            sources.add(path, &text);
        }
        sources.packages = foreign_packages(&repository::read("Cargo.lock"));
        sources
    }

    fn add(&mut self, path: String, text: &str) {
        let number = self.paths.len();
        if is_rust(&path) {
            for line in text.lines() {
                for name in definitions(line) {
                    self.defined.entry(name.to_owned()).or_default().push(number);
                }
            }
        }
        // Tests may quote names that are gone.
        let text = if path.starts_with("tests/") { "" } else { text };
        self.words.push(words(text).map(str::to_owned).collect());
        self.paths.push(path);
    }

    /// The files that define a name.
    fn files_with(&self, name: &str) -> &[usize] {
        self.defined.get(name).map_or(&[], Vec::as_slice)
    }

    fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|words| words.contains(word))
    }

    /// Whether `parent::name` exists: `name` is defined in a file that names the type `parent`, or in a
    /// module or a file of that name.
    fn has_member(&self, parent: &str, name: &str) -> bool {
        let is_type = parent.starts_with(|first: char| first.is_ascii_uppercase());
        let is_in_parent = |number: &usize| match parent.strip_suffix(".rs") {
            Some(_) => is_at_end(&self.paths[*number], parent),
            None if is_type => self.words[*number].contains(parent),
            None => {
                let path = self.paths[*number].trim_end_matches(".rs");
                path.split('/').any(|part| part == parent)
            }
        };
        let is_variant = is_type && name.starts_with(|first: char| first.is_ascii_uppercase());
        let mut files = self.files_with(name).iter();
        let is_parent_known = !is_type || !self.files_with(parent).is_empty();
        is_parent_known
            && (files.any(is_in_parent)
                || (is_variant
                    && self
                        .files_with(parent)
                        .iter()
                        .any(|file| self.words[*file].contains(name))))
    }
}

/// The documents about the code. The others are about the product.
const CHECKED: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/develop.md"];

/// Checks a document. Only ARCHITECTURE.md names types and columns on their own.
pub fn check(document: &Document, sources: &Sources) -> Vec<String> {
    if !CHECKED.contains(&document.path.as_str()) {
        return Vec::new();
    }
    let is_architecture = document.path == "ARCHITECTURE.md";
    let spans = document.code_spans().into_iter();
    let unknown = spans.filter(|span| is_unknown(&span.text, sources, is_architecture));
    unknown
        .map(|span| document.problem(span.line, &format!("`{}` is not in the code", span.text)))
        .collect()
}

fn is_unknown(span: &str, sources: &Sources, is_architecture: bool) -> bool {
    let name = match span.split_once('(') {
        Some((name, rest)) if rest.ends_with(')') => name,
        Some(_) => return false,
        None => span,
    };
    let is_call = name.len() < span.len();
    let name = without_generics(name);
    let parts: Vec<&str> = name.split("::").collect();
    if !parts.iter().all(|part| is_identifier(part) || is_rust(part)) {
        return false;
    }
    match parts.as_slice() {
        [name] if is_call => sources.files_with(name).is_empty(),
        [word] => is_architecture && is_specific(word) && !sources.has_word(word),
        [first, ..] if sources.packages.contains(*first) => false,
        [.., parent, name] => !sources.has_member(parent, name),
        [] => false,
    }
}

/// Whether a single word can only be a name of the code: `CamelCase` or `snake_case`.
fn is_specific(word: &str) -> bool {
    let is_snake = word.contains('_')
        && word
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let humps = word.chars().filter(char::is_ascii_uppercase).count();
    let is_camel = word.starts_with(|c: char| c.is_ascii_uppercase())
        && humps > 1
        && word.contains(|c: char| c.is_ascii_lowercase());
    is_snake || is_camel
}

fn is_rust(path: &str) -> bool {
    has_ending(path, "rs")
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// `PublicKey<Details>` as `PublicKey`.
fn without_generics(name: &str) -> String {
    let mut depth = 0;
    let mut plain = String::new();
    for c in name.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

fn is_at_end(path: &str, end: &str) -> bool {
    path == end || path.strip_suffix(end).is_some_and(|start| start.ends_with('/'))
}

/// The names that a line defines.
fn definitions(line: &str) -> impl Iterator<Item = &str> {
    let mut previous = "";
    line.split_whitespace().filter_map(move |word| {
        let is_definition = KEYWORDS.contains(&previous);
        previous = word;
        let end = word
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(word.len());
        (is_definition && end > 0).then(|| &word[..end])
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// The packages in a lock file that come from a registry, and the standard library.
fn foreign_packages(lock: &str) -> HashSet<String> {
    let mut packages: HashSet<String> = ["std", "core", "alloc"].map(str::to_owned).into();
    for package in lock.split("[[package]]") {
        let name = package.lines().find_map(|line| line.strip_prefix("name = "));
        if let Some(name) = name.filter(|_| package.contains("\nsource = ")) {
            packages.insert(name.trim_matches('"').replace('-', "_"));
        }
    }
    packages
}

#[test]
fn a_wrong_name_is_reported() {
    let mut sources = Sources::default();
    sources.add(
        "src/app.rs".to_owned(),
        "pub struct App<T>(T);\nimpl App {\n    pub async fn build() {}\n}\nenum State { Open, Closed }\nconst MAX: u8 = 1;",
    );
    sources.add("src/db/mod.rs".to_owned(), "pub fn open(path: &str) {}");
    sources.packages.insert("tokio".to_owned());
    for good in [
        "app.rs::build",
        "src/app.rs::MAX",
        "App::build",
        "App::build(config)",
        "App<Db>",
        "db::open",
        "open()",
        "State::Open",
        "tokio::spawn",
        "a word",
        "/healthz",
        "GET /x(y)",
    ] {
        assert!(!is_unknown(good, &sources, true), "{good}");
    }
    for wrong in [
        "app.rs::open",
        "App::open",
        "App::bild(config)",
        "Apps::build",
        "db::build",
        "close()",
        "State::Ajar",
        "AppParts",
        "overlay_limit",
    ] {
        assert!(is_unknown(wrong, &sources, true), "{wrong}");
    }
    assert!(!is_unknown("AppParts", &sources, false));
}
