//! What search knows about the meaning of words: fillers, translations, places, kinds and word vectors.
//!
//! `data/search-intent.csv` has the words: the role of each is `filler` (says nothing), `weak` (says little without
//! others) or `word`, a Spanish word with its translation. `data/word-vectors/README.md` describes the vectors.

use crate::nonprofits::{kinds, location};
use crate::snapshot::documents::{city_label, state_label};
use ::search::{Intent, WordVectors};
use std::sync::LazyLock;

const WORDS: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../data/search-intent.csv"
));

/// The table is read in place, so that only the pages of words that people type are in memory.
static VECTORS: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../data/word-vectors/word-vectors.bin"
));

static WITH_MEANING: LazyLock<Intent> = LazyLock::new(|| {
    let mut intent = read_words(WORDS);
    let vectors = WordVectors::open(VECTORS).expect("word-vectors.bin is a table of word vectors");
    intent.set_vectors(vectors, kinds::typed_phrases());
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

/// Returns the labels of the nonprofits in a city or state with this name. A code of a state is no name.
fn place_labels(name: &str) -> Vec<String> {
    let mut labels = vec![city_label(name)];
    labels.extend(location::state_code(name).map(state_label));
    labels
}
