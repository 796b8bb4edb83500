//! Kinds of nonprofits, such as zoos, hospices and food banks, for search.
//!
//! People search for a kind in a place ("zoo boise"), but the name of the zoo may not say that it is one. Each row of
//! `data/kinds.csv` is a kind: what people type for it, and the NTEE codes and the words in a name that show it.

use ::search::Tokens;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What separates entries in a field of the file.
const SEPARATOR: char = '|';

/// The rules that assign kinds.
struct Rules {
    /// The kinds and what people type for them.
    typed: Vec<(String, String)>,
    /// The names of all kinds.
    kinds: Vec<String>,
    /// Kinds by NTEE code.
    by_code: HashMap<String, Vec<usize>>,
    /// Kinds by the first word of a phrase in the name, with the words that must follow.
    by_word: HashMap<String, Vec<(Vec<String>, usize)>>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    parse(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/kinds.csv"
    )))
});

fn parse(file: &str) -> Rules {
    let mut rules = Rules {
        typed: Vec::new(),
        kinds: Vec::new(),
        by_code: HashMap::new(),
        by_word: HashMap::new(),
    };
    let mut rows = csv::Reader::from_reader(file.as_bytes());
    for row in rows.deserialize::<(String, String, String, String)>() {
        let (kind, typed, codes, names) =
            row.expect("data/kinds.csv has the columns kind, typed, ntee, names");
        let number = rules.kinds.len();
        for phrase in entries(&typed) {
            rules.typed.push((phrase.to_owned(), kind.clone()));
            rules
                .typed
                .extend(plural(phrase).map(|phrase| (phrase, kind.clone())));
        }
        for code in entries(&codes) {
            rules.by_code.entry(code.to_owned()).or_default().push(number);
        }
        for phrase in entries(&names) {
            let mut words = Tokens::new(phrase).iter().map(str::to_owned).collect::<Vec<_>>();
            let first = words.remove(0);
            rules.by_word.entry(first).or_default().push((words, number));
        }
        rules.kinds.push(kind);
    }
    rules
}

fn entries(field: &str) -> impl Iterator<Item = &str> {
    field.split(SEPARATOR).filter(|entry| !entry.is_empty())
}

/// Returns the plural of an English phrase, unless it seems to be one.
fn plural(phrase: &str) -> Option<String> {
    if phrase.ends_with('s') || phrase.len() < 4 {
        return None;
    }
    Some(match phrase.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        _ if phrase.ends_with("ch") || phrase.ends_with('x') => format!("{phrase}es"),
        _ => format!("{phrase}s"),
    })
}

/// Iterates over what people type, each with the kind that it means.
pub(crate) fn typed_phrases() -> impl Iterator<Item = (&'static str, &'static str)> {
    RULES
        .typed
        .iter()
        .map(|(phrase, kind)| (phrase.as_str(), kind.as_str()))
}

/// Returns the kinds of a nonprofit with this NTEE code and these names.
pub(crate) fn kinds_of<'n>(
    ntee: Option<&str>,
    names: impl IntoIterator<Item = &'n str>,
) -> Vec<&'static str> {
    let rules = &*RULES;
    let mut kinds: Vec<usize> = ntee
        .and_then(|code| rules.by_code.get(code))
        .cloned()
        .unwrap_or_default();
    let mut tokens = Tokens::new("");
    for name in names {
        tokens.tokenize(name);
        for (at, word) in tokens.iter().enumerate() {
            for (rest, kind) in rules.by_word.get(word).into_iter().flatten() {
                let follows = at + rest.len() < tokens.len()
                    && rest
                        .iter()
                        .zip(at + 1..)
                        .all(|(word, at)| tokens.word(at) == word);
                if follows {
                    kinds.push(*kind);
                }
            }
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds.into_iter().map(|kind| rules.kinds[kind].as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_or_the_name_shows_the_kind() {
        assert!(kinds_of(Some("P74"), ["Hosparus Inc"]).contains(&"hospice"));
        assert!(kinds_of(None, ["Idaho Zoological Society"]).contains(&"zoo"));
        assert!(kinds_of(None, ["Second Name", "Friends of the Animal Shelter"]).contains(&"animal-shelter"));
        assert!(
            kinds_of(None, ["Animal Crackers", "Shelter Bay Yacht Basin"])
                .iter()
                .all(|kind| *kind != "animal-shelter")
        );
    }

    #[test]
    fn every_kind_can_be_typed_and_found() {
        let rules = &*RULES;
        for (number, kind) in rules.kinds.iter().enumerate() {
            assert!(
                typed_phrases().any(|(_, typed)| typed == kind),
                "nothing is typed for {kind}"
            );
            let has_code = rules.by_code.values().any(|kinds| kinds.contains(&number));
            let has_words = rules.by_word.values().flatten().any(|(_, kind)| *kind == number);
            assert!(has_code || has_words, "nothing shows {kind}");
            assert!(
                kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'),
                "{kind}"
            );
        }
        for code in rules.by_code.keys() {
            let is_code =
                code.len() == 3 && code.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
            assert!(is_code, "{code}");
        }
    }

    #[test]
    fn plurals_are_typed_too() {
        assert_eq!(plural("food pantry").as_deref(), Some("food pantries"));
        assert_eq!(plural("church").as_deref(), Some("churches"));
        assert_eq!(plural("seniors"), None);
    }
}
