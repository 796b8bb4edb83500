//! What a long text means, in 32 bytes: the sign of each dimension of its vector.
//!
//! A thirty-second of the vector keeps most of the order in which texts are similar to a query.

use crate::intent::vector::{DIMENSIONS, Vector};

/// Size of a code.
pub(crate) const CODE_BYTES: usize = DIMENSIONS / 8;

/// Factor between the elements of a [`Vector`] and those of a [`WordSum`].
const PRECISION: f32 = 64.0;

/// The vector of a word, to be added to the sums of many texts.
pub(crate) type WordVector = [i16; DIMENSIONS];

/// The sum of the vectors of the words of a text.
#[derive(Clone, Debug)]
pub(crate) struct WordSum([i32; DIMENSIONS]);

impl Default for WordSum {
    fn default() -> Self {
        Self([0; DIMENSIONS])
    }
}

impl WordSum {
    /// Adds the vector of a word.
    pub(crate) fn add(&mut self, word: &WordVector) {
        for (sum, &value) in self.0.iter_mut().zip(word) {
            *sum += i32::from(value);
        }
    }

    /// Returns the code of the text.
    pub(crate) fn code(&self) -> [u8; CODE_BYTES] {
        let mut code = [0; CODE_BYTES];
        for (at, &sum) in self.0.iter().enumerate() {
            code[at / 8] |= u8::from(sum > 0) << (at % 8);
        }
        code
    }
}

impl Vector {
    /// Returns the vector as integers.
    pub(crate) fn to_word_vector(&self) -> WordVector {
        self.0.map(|value| (value * PRECISION).round() as i16)
    }

    /// Returns how similar a text with a code is, from 0 for unrelated to 1. `code` has [`CODE_BYTES`] bytes.
    pub(crate) fn similarity_to_code(&self, code: &[u8]) -> f32 {
        let (mut product, mut maximum) = (0.0, 0.0);
        for (values, byte) in self.0.chunks_exact(8).zip(code) {
            for (bit, value) in values.iter().enumerate() {
                let is_positive = byte >> bit & 1 == 1;
                product += if is_positive { *value } else { -value };
                maximum += value.abs();
            }
        }
        if maximum > 0.0 {
            (product / maximum).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code_of(vectors: &[&Vector]) -> [u8; CODE_BYTES] {
        let mut sum = WordSum::default();
        for vector in vectors {
            sum.add(&vector.to_word_vector());
        }
        sum.code()
    }

    #[test]
    fn nothing_is_similar_to_a_vector_without_a_direction() {
        assert!(Vector::default().similarity_to_code(&[0; CODE_BYTES]) <= 0.0);
    }

    proptest! {
        #[test]
        fn a_text_is_most_similar_to_its_own_code(
            elements in proptest::collection::vec(-40.0f32..40.0, DIMENSIONS),
            others in proptest::collection::vec(-40.0f32..40.0, DIMENSIONS),
        ) {
            let vector = |elements: &[f32]| Vector(std::array::from_fn(|at| elements[at]));
            let (one, other) = (vector(&elements), vector(&others));
            prop_assert!(one.similarity_to_code(&code_of(&[&one])) > 0.99);
            let mixed = one.similarity_to_code(&code_of(&[&one, &other]));
            prop_assert!(mixed < 1.0 && mixed > one.similarity_to_code(&code_of(&[&other])));
        }
    }
}
