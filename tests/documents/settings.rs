//! Settings: as inline code (`limits.search`), in TOML blocks, and as environment variables.

use crate::markdown::Document;
use crate::repository;
use giving::webhooks::EventKind;
use std::collections::HashSet;

/// What follows the dot in inline code that is no setting: endings of files and domains.
const NO_SETTINGS: [&str; 18] = [
    "rs", "md", "toml", "json", "jsonl", "csv", "txt", "xml", "html", "css", "js", "svg", "sh", "sql", "db",
    "gz", "org", "com",
];
/// What precedes the dot in inline code that is a field of a response or of an event.
const FIELDS: [&str; 2] = ["data", "event"];

/// The settings, and the variables of scripts that look like settings.
#[derive(Default)]
pub struct KnownNames {
    /// `listen`, `limits.search`.
    settings: HashSet<String>,
    /// The Makefile and the scripts of the tests.
    scripts: String,
}

impl KnownNames {
    pub fn read() -> KnownNames {
        let mut scripts = String::new();
        let is_script = |path: &String| {
            path == "Makefile" || (path.starts_with("tests/") && repository::has_ending(path, "sh"))
        };
        for path in repository::files().iter().filter(|path| is_script(path)) {
            scripts.push_str(&repository::read(path));
        }
        KnownNames {
            settings: names(&repository::read("config.default.toml"))
                .map(|(_, name)| name)
                .collect(),
            scripts,
        }
    }
}

/// Checks every setting of a document.
pub fn check(document: &Document, known: &KnownNames) -> Vec<String> {
    let mut problems = Vec::new();
    let mut add = |line: usize, name: &str| {
        problems.push(document.problem(line, &format!("there is no setting {name}")));
    };
    for span in document.code_spans() {
        let is_event = EventKind::ALL.iter().any(|kind| kind.name() == span.text);
        if is_setting(&span.text) && !is_event && !known.settings.contains(&span.text) {
            add(span.line, &span.text);
        }
    }
    for block in document.blocks().iter().filter(|block| block.info == "toml") {
        for (line, name) in names(&block.text).filter(|(_, name)| !known.settings.contains(name)) {
            add(block.line + line, &name);
        }
    }
    for (line, text) in (1..).zip(document.text.lines()) {
        for variable in variables(text) {
            let setting = variable.to_lowercase().replace("__", ".");
            let is_known =
                known.settings.contains(&setting) || known.scripts.contains(&format!("CAUSEWAY_{variable}"));
            if !is_known && !variable.is_empty() {
                add(line, &format!("CAUSEWAY_{variable}"));
            }
        }
    }
    problems
}

/// The names in a settings file, with their lines counted from 0.
fn names(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut section = "";
    text.lines().enumerate().filter_map(move |(line, text)| {
        let text = text.trim();
        if let Some(name) = text.strip_prefix('[') {
            section = name.trim_end_matches(']');
            return None;
        }
        let name = text.split_once('=').filter(|_| !text.starts_with('#'))?.0.trim();
        match section {
            "" => Some((line, name.to_owned())),
            section => Some((line, format!("{section}.{name}"))),
        }
    })
}

fn is_setting(span: &str) -> bool {
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    span.split_once('.').is_some_and(|(section, name)| {
        is_name(section) && is_name(name) && !NO_SETTINGS.contains(&name) && !FIELDS.contains(&section)
    })
}

/// What follows `CAUSEWAY_` in the names of environment variables.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.split("CAUSEWAY_").skip(1).map(|rest| {
        let end = rest
            .find(|c: char| !c.is_ascii_uppercase() && c != '_')
            .unwrap_or(rest.len());
        rest[..end].trim_end_matches('_')
    })
}

#[test]
fn a_wrong_setting_is_reported() {
    use crate::markdown::document;
    let known = KnownNames {
        settings: names("# a = 1\nlisten = \"x\"\n\n[limits]\nsearch  = 500\n")
            .map(|(_, name)| name)
            .collect(),
        scripts: "CAUSEWAY_ROUNDS=3 make".to_owned(),
    };
    assert_eq!(known.settings.len(), 2);
    let good = document(
        "`limits.search` `eo.csv` `data.fundraiser` `CAUSEWAY_LISTEN` `CAUSEWAY_LIMITS__SEARCH` CAUSEWAY_ROUNDS `CAUSEWAY_` and\n\
         ```toml\nlisten = \"y\"\n[limits]\nsearch = 1\n```\n",
    );
    assert_eq!(check(&good, &known), [""; 0]);
    for wrong in [
        "`limits.serch`",
        "`limit.search`",
        "CAUSEWAY_LISTENS=1",
        "`CAUSEWAY_LIMITS_SEARCH`",
        "```toml\nlisen = 1\n```",
        "```toml\n[limits]\nlisten = 1\n```",
    ] {
        assert_eq!(check(&document(wrong), &known).len(), 1, "{wrong}");
    }
}
