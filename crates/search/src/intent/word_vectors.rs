//! A table of word vectors, read in place.
//!
//! The table has the pieces of words in the order of their bytes, and for each a vector of 8-bit integers
//! with a scale. The text vector of a model that was distilled so is the mean of the vectors of its pieces;
//! `data/word-vectors/build.py` writes such a table.

use std::borrow::Cow;
use std::fmt;

use crate::intent::vector::{DIMENSIONS, Vector};
use crate::intent::word_pieces::{self, PieceList};

const MAGIC: &[u8] = b"wordvec1";
const HEADER_BYTES: usize = 20;
/// Minimum number of letters of each piece of a word, on average. What is split more finely is no word.
const MIN_PIECE_LETTERS: usize = 2;
/// The parent of a piece that has none.
const NO_PARENT: u16 = u16::MAX;

/// An open table of word vectors.
pub struct WordVectors {
    bytes: Cow<'static, [u8]>,
    count: usize,
    /// Where the text of the pieces starts. Offsets, scales and parents are before it, vectors after it.
    text_start: usize,
    text_length: usize,
}

/// The bytes are not a table of word vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordVectorsError;

impl fmt::Display for WordVectorsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are not a table of word vectors")
    }
}

impl std::error::Error for WordVectorsError {}

impl fmt::Debug for WordVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordVectors")
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl WordVectors {
    /// Opens a table.
    pub fn open(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, WordVectorsError> {
        let bytes = bytes.into();
        let number = |at: usize| -> Option<usize> {
            let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes) as usize)
        };
        let header = || Some((number(8)?, number(12)?, number(16)?));
        let (count, dimensions, text_length) = header().ok_or(WordVectorsError)?;
        let text_start = count
            .checked_mul(10)
            .and_then(|size| size.checked_add(HEADER_BYTES + 4))
            .ok_or(WordVectorsError)?;
        let length = count
            .checked_mul(DIMENSIONS)
            .and_then(|size| size.checked_add(text_start)?.checked_add(text_length));
        let is_valid = bytes.starts_with(MAGIC) && dimensions == DIMENSIONS && length == Some(bytes.len());
        if !is_valid {
            return Err(WordVectorsError);
        }
        Ok(Self {
            bytes,
            count,
            text_start,
            text_length,
        })
    }

    /// Returns `true` if the table has the word as a whole.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        matches!(word_pieces::split(self, word)[..], [_])
    }

    /// Adds the vectors of the pieces of a normalized word to `sum`. Returns `false` if the word has none.
    pub(crate) fn add_word(&self, word: &str, sum: &mut Vector) -> bool {
        let mut pieces = word_pieces::split(self, word);
        if pieces.len() > 1 && word.len() < pieces.len() * MIN_PIECE_LETTERS {
            pieces.clear();
        }
        for &piece in &pieces {
            let scale = f32::from_le_bytes(self.array(HEADER_BYTES + 4 + self.count * 4 + piece * 4));
            let from = self.text_start + self.text_length + piece * DIMENSIONS;
            let values = self.bytes.get(from..from + DIMENSIONS).unwrap_or_default();
            for (sum, &value) in sum.0.iter_mut().zip(values) {
                *sum += scale * f32::from(value.cast_signed());
            }
        }
        !pieces.is_empty()
    }

    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let bytes = self.bytes.get(at..at + N);
        bytes.and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
    }

    fn offset(&self, number: usize) -> usize {
        u32::from_le_bytes(self.array(HEADER_BYTES + number * 4)) as usize
    }
}

impl PieceList for WordVectors {
    fn len(&self) -> usize {
        self.count
    }

    fn piece(&self, number: usize) -> &[u8] {
        let text = self.text_start..self.text_start + self.text_length;
        let text = self.bytes.get(text).unwrap_or_default();
        text.get(self.offset(number)..self.offset(number + 1))
            .unwrap_or_default()
    }

    fn parent(&self, number: usize) -> Option<usize> {
        let at = HEADER_BYTES + 4 + self.count * 8 + number * 2;
        let parent = u16::from_le_bytes(self.array(at));
        (parent != NO_PARENT && usize::from(parent) < number).then_some(parent.into())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a table of words. Each has the length 1 in one dimension.
    pub(crate) fn test_table(words: &[(&str, usize)]) -> Vec<u8> {
        let one_dimension = |dimension| std::array::from_fn(|at| if at == dimension { 127 } else { 0 });
        let words = words
            .iter()
            .map(|(word, dimension)| (*word, one_dimension(*dimension)));
        test_table_of(words.collect())
    }

    /// Returns a table of words with any vectors.
    pub(crate) fn test_table_of(mut words: Vec<(&str, [i8; DIMENSIONS])>) -> Vec<u8> {
        words.sort_unstable();
        let text: String = words.iter().map(|(word, _)| *word).collect();
        let mut bytes = MAGIC.to_vec();
        for number in [words.len(), DIMENSIONS, text.len()] {
            bytes.extend((number as u32).to_le_bytes());
        }
        let mut offset = 0u32;
        bytes.extend(offset.to_le_bytes());
        for (word, _) in &words {
            offset += word.len() as u32;
            bytes.extend(offset.to_le_bytes());
        }
        bytes.extend(words.iter().flat_map(|_| (1.0f32 / 127.0).to_le_bytes()));
        bytes.extend(words.iter().flat_map(|_| NO_PARENT.to_le_bytes()));
        bytes.extend(text.as_bytes());
        for (_, vector) in words {
            bytes.extend(vector.map(i8::cast_unsigned));
        }
        bytes
    }

    #[test]
    fn words_that_mean_the_same_have_the_same_vector() {
        let vectors = WordVectors::open(test_table(&[("dog", 1), ("canine", 1), ("cat", 2)])).unwrap();
        let vector = |word| {
            let mut vector = Vector::default();
            assert!(vectors.add_word(word, &mut vector), "{word}");
            vector
        };
        assert!((vector("dog").dot(&vector("canine")) - 1.0).abs() < 1e-3);
        assert!(vector("dog").dot(&vector("cat")).abs() < 1e-3);
        assert!(vectors.has_word("cat") && !vectors.has_word("cats"));
        assert!(!vectors.add_word("cats", &mut Vector::default()));
    }

    #[test]
    fn bytes_that_are_no_table_are_refused() {
        let table = test_table(&[("dog", 1)]);
        for length in 0..table.len() {
            assert!(WordVectors::open(table[..length].to_vec()).is_err(), "{length}");
        }
        let mut other = table;
        other[0] = b'x';
        assert!(WordVectors::open(other).is_err());
    }
}
