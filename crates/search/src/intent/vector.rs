//! Vectors of texts.

/// Number of dimensions.
pub(crate) const DIMENSIONS: usize = 256;

/// The sum of the vectors of word pieces. Only its direction says what a text means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vector(pub [f32; DIMENSIONS]);

impl Default for Vector {
    fn default() -> Self {
        Self([0.0; DIMENSIONS])
    }
}

impl Vector {
    /// Adds another vector, multiplied by a weight.
    pub(crate) fn add(&mut self, other: &Self, weight: f32) {
        for (sum, value) in self.0.iter_mut().zip(&other.0) {
            *sum += weight * value;
        }
    }

    /// Returns the dot product.
    pub(crate) fn dot(&self, other: &Self) -> f32 {
        // Independent sums, which the compiler can compute at once.
        let mut sums = [0.0; 8];
        for (left, right) in self.0.chunks_exact(8).zip(other.0.chunks_exact(8)) {
            for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
                *sum += left * right;
            }
        }
        sums.iter().sum()
    }

    /// Returns the length.
    pub(crate) fn length(&self) -> f32 {
        self.dot(self).sqrt()
    }

    /// Returns the first `N` elements as integers in proportion to a length of `length`.
    pub(crate) fn quantize<const N: usize>(&self, length: f32) -> [i16; N] {
        let own_length = self.length();
        let factor = if own_length > 0.0 {
            length / own_length
        } else {
            0.0
        };
        std::array::from_fn(|index| (self.0[index] * factor).round() as i16)
    }
}
