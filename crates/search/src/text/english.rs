//! Synonyms, stop words, legal suffixes and plurals of English.
//!
//! No other file of the crate depends on the language. *Synonyms* match each other as whole words ("st" and
//! "saint", "theatre" and "theater", "alzheimer" and "alzheimers"). *Stop words* may be typed or omitted.
//! *Legal suffixes* end a name but are rarely part of what people call it.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Spellings of the same word.
pub(crate) const SYNONYMS: &[&[&str]] = &[
    &["st", "saint", "ste"],
    &["mt", "mount"],
    &["ft", "fort"],
    &["u", "univ", "university"],
    &["intl", "international", "internatl"],
    &["assn", "assoc", "association", "asso"],
    &["fdn", "fndn", "foundation"],
    &["natl", "national"],
    &["ctr", "center", "centre"],
    &["theatre", "theater"],
    &["dept", "department"],
    &["inc", "incorporated"],
    &["corp", "corporation"],
    &["hosp", "hospital"],
    &["soc", "society"],
    &["amer", "american"],
    &["bros", "brothers"],
    &["jr", "junior"],
    &["sr", "senior"],
    &["dr", "doctor"],
    &["govt", "government"],
    &["elem", "elementary"],
    &["mem", "memorial"],
    &["organization", "organisation"],
    &["1st", "first"],
    &["2nd", "second"],
    &["3rd", "third"],
    &["vets", "veterans"],
    &["ak", "alaska"],
    &["az", "arizona"],
    &["ca", "california"],
    &["ct", "connecticut"],
    &["fl", "florida"],
    &["ga", "georgia"],
    &["ia", "iowa"],
    &["il", "illinois"],
    &["ks", "kansas"],
    &["ky", "kentucky"],
    &["mi", "michigan"],
    &["mn", "minnesota"],
    &["ms", "mississippi"],
    &["ne", "nebraska"],
    &["nv", "nevada"],
    &["tn", "tennessee"],
    &["tx", "texas"],
    &["ut", "utah"],
    &["va", "virginia"],
    &["vt", "vermont"],
    &["wa", "washington"],
    &["wi", "wisconsin"],
    &["wy", "wyoming"],
];

/// Words that people add or omit without changing the meaning.
const STOP_WORDS: &[&str] = &[
    "a",
    "an",
    "and",
    "at",
    "by",
    "co",
    "corp",
    "corporation",
    "for",
    "in",
    "inc",
    "incorporated",
    "llc",
    "ltd",
    "nfp",
    "of",
    "on",
    "the",
    "to",
];

/// Words before a place. They are for people: no document need have them.
const PLACE_PREPOSITIONS: &[&str] = &["around", "at", "by", "in", "near", "nearby", "within"];

/// Words after a preposition that stand for the place of the person who types.
const PLACE_PRONOUNS: &[&str] = &["here", "me", "us", "you"];

/// Digits and letters that stand for short words between others.
const SHORTHAND: &[(&str, &str)] = &[
    ("2", "to"),
    ("4", "for"),
    ("n", "and"),
    ("r", "are"),
    ("u", "you"),
];

/// Words at the end of a name that say which legal form the organization has.
const LEGAL_SUFFIXES: &[&str] = &[
    "co",
    "corp",
    "corporation",
    "inc",
    "incorporated",
    "limited",
    "llc",
    "ltd",
    "nfp",
];

/// Stems that are not the singular of the word with an "s".
const FALSE_SINGULARS: &[&str] = &["new", "jame", "texa", "kansa", "illinoi"];

/// The article that may precede a name.
pub(crate) const ARTICLE: &str = "the";

/// Returns `true` if the word may be omitted without changing the meaning.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Returns the first of the synonyms of a word, or the word itself if it has none.
///
/// ```
/// assert_eq!(search::canonical_word("saint"), search::canonical_word("st"));
/// assert_eq!(search::canonical_word("river"), "river");
/// ```
pub fn canonical_word(word: &str) -> &str {
    static FIRST: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
        let pairs = SYNONYMS
            .iter()
            .flat_map(|group| group.iter().map(|word| (*word, group[0])));
        pairs.collect()
    });
    FIRST.get(word).copied().unwrap_or(word)
}

/// Returns the word that a digit or a letter stands for: "for" for "4".
pub(crate) fn expand_shorthand(word: &str) -> Option<&'static str> {
    let mut pairs = SHORTHAND.iter();
    pairs.find(|(short, _)| *short == word).map(|(_, long)| *long)
}

/// Returns the digit or letter that stands for a word: "4" for "for".
pub(crate) fn find_shorthand(word: &str) -> Option<&'static str> {
    let mut pairs = SHORTHAND.iter();
    pairs.find(|(_, long)| *long == word).map(|(short, _)| *short)
}

/// Returns `true` if a place follows the word.
pub(crate) fn is_place_preposition(word: &str) -> bool {
    PLACE_PREPOSITIONS.contains(&word)
}

/// Returns `true` if the word stands for the place of the person who types.
pub(crate) fn is_place_pronoun(word: &str) -> bool {
    PLACE_PRONOUNS.contains(&word)
}

/// Returns `true` if the word is a legal suffix such as "inc".
pub(crate) fn is_legal_suffix(word: &str) -> bool {
    LEGAL_SUFFIXES.contains(&word)
}

/// Returns `true` if a legal suffix starts with `prefix`.
pub(crate) fn is_prefix_of_legal_suffix(prefix: &str) -> bool {
    LEGAL_SUFFIXES.iter().any(|suffix| suffix.starts_with(prefix))
}

/// Returns the possible singular forms of `word`.
///
/// The forms are guesses: "churches" gives "churche" and "church". The caller keeps those that exist.
pub(crate) fn singular_forms(word: &str) -> impl Iterator<Item = String> {
    let without_s = word.strip_suffix('s').filter(|stem| !stem.ends_with('s'));
    let without_es = word
        .strip_suffix("es")
        .filter(|stem| stem.ends_with(['s', 'x', 'z', 'h']));
    let with_y = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    without_s
        .into_iter()
        .chain(without_es)
        .map(str::to_owned)
        .chain(with_y)
        .filter(|stem| stem.len() >= 3 && stem.bytes().all(|b| b.is_ascii_lowercase()))
        .filter(|stem| !FALSE_SINGULARS.contains(&stem.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_legal_suffix_but_limited_is_a_stop_word() {
        assert!(
            LEGAL_SUFFIXES
                .iter()
                .all(|word| is_stop_word(word) || *word == "limited")
        );
    }

    #[test]
    fn no_word_has_two_groups_of_synonyms() {
        let mut all: Vec<_> = SYNONYMS.iter().flat_map(|group| group.iter()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn plurals_have_singular_forms() {
        let forms = |word| singular_forms(word).collect::<Vec<_>>();
        assert_eq!(forms("alzheimers"), ["alzheimer"]);
        assert_eq!(forms("charities"), ["charitie", "charity"]);
        assert_eq!(forms("churches"), ["churche", "church"]);
        assert!(forms("news").is_empty());
        assert!(forms("as").is_empty());
        assert!(forms("glass").is_empty());
    }
}
