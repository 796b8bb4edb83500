//! What people mean who type what they want to do, not a name: "help kids read", "clean up beaches".
//!
//! An [`Intent`] has what a search needs to know about the language for this, none of which depends on the
//! documents: which words carry no meaning, what Spanish words are called in English, which phrases mean
//! which kind of organization, where places are, and a table of word vectors. A search that has an intent
//! fills the first page with documents that have only some of the words, or that are of the nearest kinds;
//! `search/relaxed.rs` describes how. All of these are below every document that has the words.

mod code;
mod concepts;
mod lexicon;
mod vector;
mod word_pieces;
mod word_vectors;

pub use word_vectors::{WordVectors, WordVectorsError};

pub(crate) use code::{CODE_BYTES, WordSum, WordVector};
pub(crate) use concepts::Concepts;
pub(crate) use lexicon::{Lexicon, WordRole};
pub(crate) use vector::Vector;
#[cfg(test)]
pub(crate) use word_vectors::tests::{test_table, test_table_of};

use std::fmt;

use crate::text::english;
use crate::text::tokenizer::Tokens;

/// Finds the labels of the documents in a place, given its name in normalized words.
pub type PlaceLabels = dyn Fn(&str) -> Vec<String> + Send + Sync;

/// What a search knows about the meaning of words.
///
/// ```
/// use search::{Document, Index, IndexBuilder, Intent, Query};
///
/// let mut intent = Intent::default();
/// intent.add_fillers(["where", "can", "i"]);
/// intent.add_weak_words(["learn"]);
/// intent.add_translation("ajedrez", "chess");
/// let mut builder = IndexBuilder::new();
/// builder.add(&Document { name: "Tulsa Chess Club", prominence: 1.0, ..Document::default() })?;
/// let index = Index::open(builder.finish()?)?;
/// for text in ["where can i learn chess", "ajedrez"] {
///     assert!(index.search(&Query::new(text)).hits.is_empty());
///     let query = Query { intent: Some(&intent), ..Query::new(text) };
///     assert_eq!(index.search(&query).hits.len(), 1);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Intent {
    lexicon: Lexicon,
    place_labels: Option<Box<PlaceLabels>>,
    meaning: Option<Meaning>,
}

/// What a text means, to be compared with other texts.
#[derive(Clone, Debug)]
pub struct TextMeaning {
    vector: Vector,
    length: f32,
}

impl TextMeaning {
    /// Returns how similar the meanings of two texts are: the cosine of the angle between their vectors.
    pub fn similarity(&self, other: &Self) -> f32 {
        self.vector.dot(&other.vector) / (self.length * other.length)
    }
}

/// Word vectors, and those of the phrases that mean kinds.
struct Meaning {
    vectors: WordVectors,
    concepts: Concepts,
}

impl Intent {
    /// Adds words that carry no meaning, such as question words.
    pub fn add_fillers<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        for word in words {
            self.lexicon.add(word, WordRole::Filler);
        }
    }

    /// Adds words that say little without others, such as verbs of giving.
    pub fn add_weak_words<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        for word in words {
            self.lexicon.add(word, WordRole::Weak);
        }
    }

    /// Adds a word of another language with one or several words that mean the same.
    pub fn add_translation(&mut self, word: &str, translation: &str) {
        self.lexicon.add_translation(word, translation);
    }

    /// Sets the function that finds places.
    pub fn set_place_labels(&mut self, place_labels: Box<PlaceLabels>) {
        self.place_labels = Some(place_labels);
    }

    /// Sets the word vectors, and the phrases that mean kinds: pairs of a phrase and a kind of
    /// [`Document::kinds`](crate::Document::kinds).
    pub fn set_vectors<'p>(
        &mut self,
        vectors: WordVectors,
        phrases: impl IntoIterator<Item = (&'p str, &'p str)>,
    ) {
        let concepts = Concepts::new(&vectors, &self.lexicon, phrases);
        self.meaning = Some(Meaning { vectors, concepts });
    }

    /// Returns the phrase and the kind with a number that a [`Rewrite::Meaning`](crate::Rewrite::Meaning)
    /// has.
    pub fn concept(&self, number: u16) -> Option<(&str, &str)> {
        self.meaning.as_ref()?.concepts.phrase(number)
    }

    /// Returns `true` unless a normalized word is a filler or a stop word.
    pub fn carries_meaning(&self, word: &str) -> bool {
        self.lexicon.role(word) != WordRole::Filler && !english::is_stop_word(word)
    }

    /// Returns `true` unless a normalized word is a filler, a stop word, or says little without others.
    pub fn says_much(&self, word: &str) -> bool {
        self.carries_meaning(word) && self.lexicon.role(word) != WordRole::Weak
    }

    /// Returns what a text means, or `None` if there are no word vectors or none of its words is known.
    pub fn meaning(&self, text: &str) -> Option<TextMeaning> {
        let vectors = self.vectors()?;
        let mut vector = Vector::default();
        for word in Tokens::new(text).iter().filter(|word| self.carries_meaning(word)) {
            vectors.add_word(word, &mut vector);
        }
        let length = vector.length();
        (length > 0.0).then_some(TextMeaning { vector, length })
    }

    pub(crate) fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// Returns the labels of the documents in a place.
    pub(crate) fn place_labels(&self, name: &str) -> Vec<String> {
        self.place_labels
            .as_ref()
            .map_or_else(Vec::new, |find| find(name))
    }

    pub(crate) fn vectors(&self) -> Option<&WordVectors> {
        self.meaning.as_ref().map(|meaning| &meaning.vectors)
    }

    pub(crate) fn concepts(&self) -> Option<&Concepts> {
        self.meaning.as_ref().map(|meaning| &meaning.concepts)
    }
}

impl fmt::Debug for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intent")
            .field("lexicon", &self.lexicon)
            .field("has_vectors", &self.meaning.is_some())
            .finish_non_exhaustive()
    }
}
