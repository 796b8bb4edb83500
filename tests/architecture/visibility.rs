//! What is public is used: every `pub` item of a crate in `crates/` is named somewhere outside its crate.
//!
//! The check compares words, so an item counts as used if anything outside has the same name. A type also counts as used
//! if the signature of a used item names it, because the compiler then requires it to be public. Documentation examples,
//! integration tests, benchmarks and fuzz targets are outside of a crate.

use crate::findings::{Exception, Finding, check, texts};
use crate::source::{Source, crate_names, read_files, read_sources};
use std::collections::{BTreeMap, BTreeSet};

/// Items that are public and not used, with the reason.
const EXCEPTIONS: &[Exception] = &[];

/// The keywords of items that can be public.
const KINDS: &[&str] = &[
    "fn", "struct", "enum", "union", "trait", "type", "mod", "const", "static",
];

/// A public item.
struct Item {
    path: String,
    line: usize,
    kind: &'static str,
    name: String,
    /// The words that the compiler requires to be public with the item.
    signature: BTreeSet<String>,
}

/// Returns the public items of a file.
fn items(source: &Source) -> Vec<Item> {
    let mut found = Vec::new();
    let mut start = 0;
    for (index, line) in source.code.lines().enumerate() {
        let text = &source.code[start..];
        start += line.len() + 1;
        let Some((kind, name)) = declaration(line) else {
            continue;
        };
        found.push(Item {
            path: source.path.clone(),
            line: index + 1,
            kind,
            name: name.to_owned(),
            signature: words(&signature(kind, text)).map(str::to_owned).collect(),
        });
    }
    found
}

/// Returns the kind and the name of the public item that a line declares.
fn declaration(line: &str) -> Option<(&'static str, &str)> {
    let mut rest = line.trim_start().strip_prefix("pub ")?;
    loop {
        let (word, after) = rest.split_once(' ')?;
        let is_qualifier = matches!(word, "async" | "unsafe" | "extern" | "\"\"")
            || word == "const" && after.split(' ').any(|word| word == "fn");
        if !is_qualifier {
            let kind = KINDS.iter().find(|kind| **kind == word)?;
            let after = after.strip_prefix("mut ").unwrap_or(after);
            return words(after)
                .next()
                .filter(|name| after.starts_with(name))
                .map(|name| (*kind, name));
        }
        rest = after;
    }
}

/// Returns the part of an item that others see. `text` starts at the item.
fn signature(kind: &str, text: &str) -> String {
    let until = |signs: &[char]| text.find(signs).map_or(text, |end| &text[..end]);
    match kind {
        "mod" => String::new(),
        "fn" => until(&['{', ';']).to_owned(),
        "const" | "static" => until(&['=', ';']).to_owned(),
        "type" => until(&[';']).to_owned(),
        _ => {
            let head = until(&['{', ';']);
            let body = body(&text[head.len()..]);
            let is_seen = |line: &&str| kind != "struct" || line.trim_start().starts_with("pub ");
            let lines: Vec<&str> = body.lines().filter(is_seen).collect();
            format!("{head}\n{}", lines.join("\n"))
        }
    }
}

/// Returns the text from an opening brace to the closing one.
fn body(text: &str) -> &str {
    if !text.starts_with('{') {
        return "";
    }
    let mut depth = 0;
    for (index, sign) in text.char_indices() {
        depth += i32::from(sign == '{') - i32::from(sign == '}');
        if depth == 0 {
            return &text[..=index];
        }
    }
    text
}

/// Returns the identifiers and keywords of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !(sign.is_alphanumeric() || sign == '_'))
        .filter(|word| !word.is_empty())
}

/// Returns the words of a crate's own source that count as used outside: those of documentation examples, of macros that
/// expand in other crates, and of associated types, which must be as public as the trait.
fn words_for_others(text: &str, code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_example = false;
    for line in text.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(comment) = comment else {
            is_example = false;
            continue;
        };
        if comment.trim_start().starts_with("```") {
            is_example = !is_example;
        } else if is_example {
            found.extend(words(comment).map(str::to_owned));
        }
    }
    for (index, _) in code.match_indices("macro_rules!") {
        let start = code[index..].find('{').map_or(code.len(), |start| index + start);
        let expansion = body(&code[start..]);
        if expansion.contains("$crate") {
            found.extend(words(expansion).map(str::to_owned));
        }
    }
    let types = code.lines().filter(|line| line.starts_with("    type "));
    found.extend(types.flat_map(words).map(str::to_owned));
    found
}

/// Returns the items that are neither named by `outside` nor required by an item that is.
fn unused(items: &[Item], outside: &BTreeSet<String>) -> Vec<Finding> {
    let mut used: BTreeSet<&str> = outside.iter().map(String::as_str).collect();
    loop {
        let before = used.len();
        for item in items {
            if used.contains(item.name.as_str()) {
                used.extend(item.signature.iter().map(String::as_str));
            }
        }
        if used.len() == before {
            break;
        }
    }
    let found = items.iter().filter(|item| !used.contains(item.name.as_str()));
    found
        .map(
            |Item {
                 path,
                 line,
                 kind,
                 name,
                 ..
             }| Finding {
                subject: format!("{path}::{name}"),
                text: format!("{path}:{line}: pub {kind} {name} is not used outside its crate"),
            },
        )
        .collect()
}

#[test]
fn every_public_item_of_a_crate_is_used_outside_of_it() {
    // The words of each package, and of the pages, whose templates call methods.
    let mut packages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let folders = ["src", "tests", "benches", "load", "crates"];
    let files: Vec<(String, String)> = folders
        .iter()
        .flat_map(|folder| read_files(folder, "rs"))
        .collect();
    for (path, text) in &files {
        let parts: Vec<&str> = path.splitn(4, '/').collect();
        let package = match parts[..] {
            ["crates", name, "src", _] => name,
            _ => "",
        };
        let code = Source::parse(path, text).code;
        let found = packages.entry(package.to_owned()).or_default();
        found.extend(words(&code).map(str::to_owned));
    }
    for (_, text) in read_files("templates", "html") {
        let found = packages.entry(String::new()).or_default();
        found.extend(words(&text).map(str::to_owned));
    }
    let mut found = Vec::new();
    for name in crate_names() {
        let folder = format!("crates/{name}/src");
        let others = packages.iter().filter(|(package, _)| **package != name);
        let mut outside: BTreeSet<String> = others.flat_map(|(_, words)| words).cloned().collect();
        for (path, text) in files.iter().filter(|(path, _)| path.starts_with(&folder)) {
            outside.extend(words_for_others(text, &Source::parse(path, text).code));
        }
        let items: Vec<Item> = read_sources(&folder).iter().flat_map(items).collect();
        found.extend(unused(&items, &outside));
    }
    check(&found, EXCEPTIONS);
}

#[test]
fn a_planted_unused_item_is_found() {
    let text = "pub mod part;\npub async fn find() -> Found {}\npub(crate) fn inner() {}\npub const fn limit() {}\n\
                pub struct Found {\n    pub row: Row,\n    hidden: Hidden,\n}\npub struct Row(pub u8);\n\
                pub struct Hidden;\n    pub const MAX: u8 = 1;\npub use part::Other;\n";
    let items = items(&Source::parse("crates/a/src/lib.rs", text));
    let outside = ["find", "part"].map(str::to_owned).into();
    assert_eq!(
        texts(&unused(&items, &outside)),
        [
            "crates/a/src/lib.rs:4: pub fn limit is not used outside its crate",
            "crates/a/src/lib.rs:10: pub struct Hidden is not used outside its crate",
            "crates/a/src/lib.rs:11: pub const MAX is not used outside its crate",
        ]
    );
}

#[test]
fn examples_macros_and_associated_types_use_items() {
    let text = "/// ```\n/// open();\n/// ```\n/// close();\nmacro_rules! read {\n    () => { $crate::db::permit() };\n}\n\
                macro_rules! sum {\n    () => { inner() };\n}\nimpl A for B {\n    type Error = Failure;\n}\n";
    let found = words_for_others(text, &Source::parse("", text).code);
    for (word, is_used) in [
        ("open", true),
        ("close", false),
        ("permit", true),
        ("inner", false),
        ("Failure", true),
    ] {
        assert_eq!(found.contains(word), is_used, "{word}");
    }
}
