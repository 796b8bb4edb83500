//! Knowledge of words: which are written in several ways, and which say nothing.
//!
//! This is the only file that knows English. Words of one *class* stand for each other whole ("st" and "saint",
//! "theatre" and "theater", "alzheimer" and "alzheimers"); *noise* may be typed or left out; *legal* forms end a
//! name without being part of what people call it.

/// Ways to write the same word.
const CLASSES: &[&[&str]] = &[
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

/// Words that people leave out or add without meaning anything by it.
const NOISE: &[&str] = &[
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

/// Forms of law that end a name.
const LEGAL: &[&str] = &[
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

/// Words that look like a plural and its singular but are not.
const NOT_PLURAL: &[&str] = &["new", "jame", "texa", "kansa", "illinoi"];

/// Whether the word may be left out without changing what is meant.
pub fn is_noise(word: &str) -> bool {
    NOISE.contains(&word)
}

/// Whether the word is a form of law such as "inc".
pub fn is_legal(word: &str) -> bool {
    LEGAL.contains(&word)
}

/// Whether a form of law begins with these letters.
pub fn begins_legal(letters: &str) -> bool {
    LEGAL.iter().any(|word| word.starts_with(letters))
}

/// The article that may stand before a name.
pub const ARTICLE: &str = "the";

/// The classes of equivalent words.
pub fn classes() -> &'static [&'static [&'static str]] {
    CLASSES
}

/// What `word` is called in the singular, if it may be a plural. A guess: the caller knows which words exist.
pub fn singulars(word: &str) -> impl Iterator<Item = String> {
    let regular = word.strip_suffix('s').filter(|stem| !stem.ends_with('s'));
    let hissing = word
        .strip_suffix("es")
        .filter(|stem| stem.ends_with(['s', 'x', 'z', 'h']));
    let soft = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    regular
        .into_iter()
        .chain(hissing)
        .map(str::to_owned)
        .chain(soft)
        .filter(|stem| stem.len() >= 3 && stem.bytes().all(|b| b.is_ascii_lowercase()))
        .filter(|stem| !NOT_PLURAL.contains(&stem.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_law_is_noise() {
        assert!(LEGAL.iter().all(|word| is_noise(word) || *word == "limited"));
    }

    #[test]
    fn no_word_stands_in_two_classes() {
        let mut all: Vec<_> = CLASSES.iter().flat_map(|class| class.iter()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn a_plural_has_its_singular() {
        let of = |word| singulars(word).collect::<Vec<_>>();
        assert_eq!(of("alzheimers"), ["alzheimer"]);
        assert_eq!(of("charities"), ["charitie", "charity"]);
        assert_eq!(of("churches"), ["churche", "church"]);
        assert!(of("news").is_empty());
        assert!(of("as").is_empty());
        assert!(of("glass").is_empty());
    }
}
