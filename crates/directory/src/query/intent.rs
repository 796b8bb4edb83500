//! What search knows about the meaning of words: fillers, translations, places, kinds and word vectors.
//!
//! `data/search-intent.csv` has the words: the role of each is `filler` (says nothing), `weak` (says little without
//! others) or `word`, a Spanish word with its translation. `data/word-vectors/README.md` describes the vectors.

use crate::nonprofits::{kinds, location};
use crate::snapshot::documents::{city_label, state_label};
use crate::snapshot::word_vectors;
use ::search::Intent;
use std::sync::LazyLock;

const WORDS: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../data/search-intent.csv"
));

static WITH_MEANING: LazyLock<Intent> = LazyLock::new(|| {
    let mut intent = read_words(WORDS);
    intent.set_vectors(word_vectors::open(), kinds::typed_phrases());
    intent
});

static WITHOUT_MEANING: LazyLock<Intent> = LazyLock::new(|| read_words(WORDS));

/// Returns what search knows, with or without word vectors.
pub(crate) fn intent(by_meaning: bool) -> &'static Intent {
    if by_meaning {
        &WITH_MEANING
    } else {
        &WITHOUT_MEANING
    }
}

fn read_words(file: &str) -> Intent {
    let mut intent = Intent::default();
    let mut rows = csv::Reader::from_reader(file.as_bytes());
    for row in rows.deserialize::<(String, String, String, String)>() {
        let (role, _, word, english) =
            row.expect("data/search-intent.csv has the columns role, language, word, english");
        match role.as_str() {
            "filler" => intent.add_fillers([word.as_str()]),
            "weak" => intent.add_weak_words([word.as_str()]),
            "word" => intent.add_translation(&word, &english),
            _ => panic!("data/search-intent.csv: {role} is not one of filler, weak, word"),
        }
    }
    intent.set_place_labels(Box::new(place_labels));
    intent
}

/// Returns the labels of the nonprofits in a city with this name, and in a state with this name or code.
fn place_labels(name: &str) -> Vec<String> {
    let mut labels = vec![city_label(name)];
    labels.extend(location::state_code(name).map(state_label));
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_file_of_words_is_valid_and_has_no_word_twice() {
        let mut seen = HashSet::new();
        for line in WORDS.lines() {
            let fields: Vec<&str> = line.split(',').collect();
            assert_eq!(fields.len(), 4, "{line}");
            assert!(seen.insert((fields[1], fields[2])), "{line}");
            assert!(line.is_ascii() && line == line.to_lowercase(), "{line}");
            assert_eq!(
                fields[0] == "word",
                !fields[3].is_empty() && fields[0] != "role",
                "{line}"
            );
        }
        let intent = intent(false);
        assert!(intent.meaning("dentist").is_none());
        assert!(!intent.carries_meaning("where") && intent.carries_meaning("dentist"));
    }

    #[test]
    fn texts_about_the_same_are_more_similar_than_others() {
        let intent = intent(true);
        let similarity = |left: &str, right: &str| {
            let [left, right] = [left, right].map(|text| intent.meaning(text).unwrap());
            left.similarity(&right)
        };
        for (text, near, far) in [
            ("teeth", "dental clinic", "basketball league"),
            ("someone to teach me to read", "adult literacy", "animal shelter"),
            ("stray cats", "pet rescue", "opera house"),
        ] {
            assert!(similarity(text, near) > similarity(text, far) + 0.1, "{text}");
        }
    }
}
