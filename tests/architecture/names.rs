//! Field names of JSON live in the entry points: no string in `crates/` looks like one.

use crate::findings::{Exception, Finding, check, texts};
use crate::source::{Source, crate_names, read_sources};

/// Files that may contain such names, with the reason: formats that are not those of an entry point.
const EXCEPTIONS: &[Exception] = &[
    (
        "crates/directory/src/snapshot/item.rs",
        "the JSON of search results is part of the snapshot, so that a search does not format it",
    ),
    (
        "crates/directory/src/eligibility/changes.rs",
        "the database stores the history of a nonprofit under these names",
    ),
    (
        "crates/directory/src/history/change.rs",
        "the database stores the history of a nonprofit under these names",
    ),
    (
        "crates/directory/src/returns/facts.rs",
        "the database stores the facts of a return as JSON",
    ),
    (
        "crates/directory/src/nonprofits/aliases.rs",
        "a field of a built-in data file",
    ),
    (
        "crates/giving/src/donations/import.rs",
        "fields of files with donations",
    ),
    ("crates/giving/src/export.rs", "fields of files with donations"),
    (
        "crates/giving/src/fundraisers/history.rs",
        "the database stores the history of a fundraiser under these names",
    ),
    (
        "crates/giving/src/fundraisers/write.rs",
        "the outbox stores events as JSON",
    ),
    (
        "crates/giving/src/monthly/seen.rs",
        "the outbox stores events as JSON",
    ),
    (
        "crates/giving/src/ledger/batch.rs",
        "the outbox stores events as JSON",
    ),
    (
        "crates/giving/src/webhooks/events/fan_out.rs",
        "the outbox stores events as JSON",
    ),
    ("crates/ingest/src/demo/", "fields of the demo file"),
    ("crates/ingest/src/enrichment/", "fields of files in JSON Lines"),
    ("crates/ingest/src/form990/", "names in the XML of the IRS"),
    (
        "crates/ingest/src/lists/",
        "the database stores the history of a nonprofit under these names",
    ),
    (
        "crates/ingest/src/summary.rs",
        "the report of an import, as `causeway import --json` prints it",
    ),
    ("crates/pictures/src/drawn/cover.rs", "an attribute of SVG"),
    (
        "crates/pictures/src/header/png.rs",
        "the names of chunks in a PNG",
    ),
    (
        "crates/platform/src/backup/manifest.rs",
        "fields of the manifest of a backup",
    ),
];

/// Returns whether a string is a single word in camel case, such as `startDate`.
fn is_camel_case(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.contains(|sign: char| sign.is_ascii_uppercase())
        && text
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
}

fn findings(sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for Source { path, strings, .. } in sources {
        for (line, text) in strings {
            // The whole literal, or a name in quotes inside of it.
            let names = text.split('"').filter(|name| is_camel_case(name));
            found.extend(names.map(|name| Finding {
                subject: path.clone(),
                text: format!("{path}:{line}: \"{name}\" looks like the name of a JSON field"),
            }));
        }
    }
    found
}

#[test]
fn no_crate_knows_the_field_names_of_json() {
    let crates = crate_names().into_iter();
    let sources: Vec<Source> = crates
        .flat_map(|name| read_sources(&format!("crates/{name}/src")))
        .collect();
    check(&findings(&sources), EXCEPTIONS);
}

#[test]
fn a_planted_field_name_is_found() {
    let text = "const A: &str = \"goal\";\nconst B: &str = \"startDate\"; // \"endDate\"\nconst C: &str = \"a startDate\";\n\
                const D: &str = r#\"{\"logoUrl\":\"#;";
    assert_eq!(
        texts(&findings(&[Source::parse("fields.rs", text)])),
        [
            "fields.rs:2: \"startDate\" looks like the name of a JSON field",
            "fields.rs:4: \"logoUrl\" looks like the name of a JSON field",
        ]
    );
}
