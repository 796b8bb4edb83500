//! The phrases that mean kinds, as vectors, and the search for the nearest ones.
//!
//! The components of the vectors are sorted by how much they say. So the first quarter of the dimensions
//! finds some candidates among all phrases, and only these are compared in full.

use crate::intent::lexicon::{Lexicon, WordRole};
use crate::intent::vector::{DIMENSIONS, Vector};
use crate::intent::word_vectors::WordVectors;
use crate::text::tokenizer::Tokens;

/// Number of dimensions that are compared for all phrases.
const COARSE_DIMENSIONS: usize = 64;
/// Number of phrases that are compared in full.
const CANDIDATES: usize = 48;
/// The length of a vector of integers: 16 bits of each product, of which 64 are added, fit into 32 bits.
const QUANTIZED_LENGTH: f32 = 8_192.0;

/// A kind that is near a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NearKind {
    /// The number of the nearest phrase of the kind.
    pub phrase: u16,
    /// The cosine of the angle between phrase and text.
    pub similarity: f32,
}

/// All phrases with their kinds and vectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Concepts {
    phrases: Vec<(String, String)>,
    coarse: Vec<[i16; COARSE_DIMENSIONS]>,
    vectors: Vec<[i16; DIMENSIONS]>,
}

impl Concepts {
    /// Computes the vectors of phrases. Phrases without a known word are left out.
    pub(crate) fn new<'p>(
        vectors: &WordVectors,
        lexicon: &Lexicon,
        phrases: impl IntoIterator<Item = (&'p str, &'p str)>,
    ) -> Self {
        let mut concepts = Self::default();
        for (phrase, kind) in phrases {
            let mut vector = Vector::default();
            for word in Tokens::new(phrase).iter() {
                if lexicon.role(word) != WordRole::Filler {
                    vectors.add_word(word, &mut vector);
                }
            }
            let length = vector.length();
            if length > 0.0 && concepts.phrases.len() < usize::from(u16::MAX) {
                concepts.phrases.push((phrase.to_owned(), kind.to_owned()));
                concepts.coarse.push(vector.quantize(QUANTIZED_LENGTH));
                concepts.vectors.push(vector.quantize(QUANTIZED_LENGTH));
            }
        }
        concepts
    }

    /// Returns the phrase with a number, and its kind.
    pub(crate) fn phrase(&self, number: u16) -> Option<(&str, &str)> {
        let (phrase, kind) = self.phrases.get(usize::from(number))?;
        Some((phrase, kind))
    }

    /// Returns at most `limit` kinds, the nearest first.
    pub(crate) fn nearest(&self, vector: &Vector, limit: usize) -> Vec<NearKind> {
        let mut nearest: Vec<NearKind> = Vec::with_capacity(limit + 1);
        let coarse: [i16; COARSE_DIMENSIONS] = vector.quantize(QUANTIZED_LENGTH);
        let products = self.coarse.iter().map(|other| dot(&coarse, other));
        let mut candidates: Vec<(i32, usize)> = products.zip(0..).collect();
        if candidates.len() > CANDIDATES {
            candidates.select_nth_unstable_by(CANDIDATES, |left, right| right.cmp(left));
            candidates.truncate(CANDIDATES);
        }
        let whole: [i16; DIMENSIONS] = vector.quantize(QUANTIZED_LENGTH);
        for (_, number) in candidates {
            let similarity =
                dot(&whole, &self.vectors[number]) as f32 / (QUANTIZED_LENGTH * QUANTIZED_LENGTH);
            let kind = &self.phrases[number].1;
            let same = nearest
                .iter()
                .position(|near| self.phrases[usize::from(near.phrase)].1 == *kind);
            match same {
                Some(at) if nearest[at].similarity >= similarity => continue,
                Some(at) => {
                    nearest.remove(at);
                }
                None => {}
            }
            let at = nearest.partition_point(|near| near.similarity >= similarity);
            nearest.insert(
                at,
                NearKind {
                    phrase: number as u16,
                    similarity,
                },
            );
        }
        nearest.truncate(limit);
        nearest
    }
}

/// Returns the dot product of two vectors of integers. Vectors are not longer than [`QUANTIZED_LENGTH`], so that
/// the sum fits.
fn dot<const N: usize>(left: &[i16; N], right: &[i16; N]) -> i32 {
    left.iter()
        .zip(right)
        .map(|(&left, &right)| i32::from(left) * i32::from(right))
        .sum()
}
