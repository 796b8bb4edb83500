//! Links to files, and files that are named as inline code.

use crate::markdown::{Document, SITE_GUIDES};
use crate::repository;

/// Endings by which inline code is recognized as a file.
const ENDINGS: [&str; 16] = [
    ".rs", ".md", ".toml", ".json", ".jsonl", ".csv", ".txt", ".html", ".css", ".js", ".svg", ".sh", ".sql",
    ".yml", ".yaml", ".service",
];
/// Folders that exist only after a build or a start.
const GENERATED: [&str; 2] = ["target/", "causeway-data/"];

/// Checks a document against `files`, as [`repository::files`] returns them.
pub fn check(document: &Document, files: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for link in document.links() {
        if let Some(problem) = broken_link(document, &link.text, files) {
            problems.push(document.problem(link.line, &problem));
        }
    }
    for span in document.code_spans() {
        if is_path(&span.text) && !exists(document, &span.text, files) {
            let problem = format!("`{}` does not exist", span.text);
            problems.push(document.problem(span.line, &problem));
        }
    }
    problems
}

fn broken_link(document: &Document, target: &str, files: &[String]) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    if folder == SITE_GUIDES && path.starts_with('/') {
        return None;
    }
    let linked = match path {
        "" => document.path.clone(),
        path => normalized(folder, path),
    };
    let is_known = |file: &String| file.trim_end_matches('/') == linked.trim_end_matches('/');
    if !files.iter().any(is_known) {
        return Some(format!("the link to {target} leads nowhere"));
    }
    if anchor.is_empty() {
        return None;
    }
    let linked = Document {
        text: if path.is_empty() {
            document.text.clone()
        } else {
            repository::read(&linked)
        },
        path: linked,
    };
    let is_found = linked.anchors().iter().any(|known| known == anchor);
    (!is_found).then(|| format!("the link to {target} names a heading that does not exist"))
}

/// The path from the root of a relative `path` in `folder`.
fn normalized(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether inline code names a file or a folder of the repository.
fn is_path(text: &str) -> bool {
    let is_plain = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-'));
    is_plain
        && text.contains('/')
        && !text.starts_with('/')
        && !GENERATED.iter().any(|folder| text.starts_with(folder))
        && (text.ends_with('/') || ENDINGS.iter().any(|ending| text.ends_with(ending)))
}

/// Whether a path exists, from the root, from the document, or as the end of the path of some file.
fn exists(document: &Document, path: &str, files: &[String]) -> bool {
    let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = format!("{folder}/{path}");
    let is_end = |file: &String| file.strip_suffix(path).is_some_and(|start| start.ends_with('/'));
    files
        .iter()
        .any(|file| file == path || *file == beside || is_end(file))
}

#[test]
fn a_missing_file_is_reported() {
    use crate::markdown::document;
    let files = [
        "docs/",
        "docs/test.md",
        "src/",
        "src/app.rs",
        "src/http/",
        "src/http/mod.rs",
    ]
    .map(str::to_owned);
    let good = document(
        "# Top\n[a](../src/app.rs) [b](#top) `src/http/` `http/mod.rs` `/v0.2/x.json` `target/x.rs` <https://x>",
    );
    assert_eq!(check(&good, &files), [""; 0]);
    for wrong in [
        "[a](../src/ap.rs)",
        "[a](#bottom)",
        "`src/https/`",
        "`http/mud.rs`",
        "`p/mod.rs`",
    ] {
        assert_eq!(check(&document(wrong), &files).len(), 1, "{wrong}");
    }
}
