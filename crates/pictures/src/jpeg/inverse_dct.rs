//! Computes the inverse discrete cosine transform directly into a smaller size: the lowest of the 8 × 8 frequencies of a
//! block are enough for fewer pixels.

use super::tables::QuantizationTable;
use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// The natural position of each coefficient in its block, by zigzag index.
const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
    14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39,
    46, 53, 60, 61, 54, 47, 55, 62, 63,
];
/// 2^23. Added to a number from 0 to 255, it leaves the rounded number in the lowest byte.
const ROUNDING_BIAS: f32 = 8_388_608.0;

/// The width and height in pixels that a block is rendered to, 1 to 8 each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockScale {
    pub width: usize,
    pub height: usize,
}

/// Collects the coefficients of a block and renders its pixels.
pub(super) struct InverseDct {
    scale: BlockScale,
    /// For each horizontal frequency, its value in each column of pixels.
    horizontal_basis: [[f32; 8]; 8],
    /// For each row of pixels, the value of each vertical frequency.
    vertical_basis: [[f32; 8]; 8],
    /// The quantization factors by zigzag index; 0 for coefficients that are not retained.
    factors: [f32; 64],
    /// For each vertical frequency, the sum of its horizontal frequencies in each column of pixels.
    rows: [[f32; 8]; 8],
    /// The zigzag index of the last coefficient that was added.
    last_added: usize,
    /// For each zigzag index, the number of `rows` that coefficients up to it can touch.
    row_counts: [u8; 64],
    last_retained: usize,
}

impl InverseDct {
    pub(super) fn new(scale: BlockScale, quantization: &QuantizationTable) -> InverseDct {
        let mut vertical_basis = [[0.0; 8]; 8];
        for (frequency, values) in cosines(scale.height).iter().enumerate() {
            for (y, value) in values.iter().enumerate() {
                vertical_basis[y][frequency] = *value;
            }
        }
        let retained = scale.retained_coefficients();
        InverseDct {
            scale,
            horizontal_basis: cosines(scale.width),
            vertical_basis,
            factors: std::array::from_fn(|index| {
                if retained >> index & 1 == 1 {
                    f32::from(quantization[index])
                } else {
                    0.0
                }
            }),
            rows: [[0.0; 8]; 8],
            last_added: 0,
            row_counts: std::array::from_fn(|last| {
                let highest = (0..=last).map(|index| frequencies(index).0).max().unwrap_or(0);
                (highest + 1).min(scale.height) as u8
            }),
            last_retained: 63 - retained.leading_zeros() as usize,
        }
    }

    /// Returns the zigzag index of the last coefficient that affects the pixels.
    #[inline]
    pub(super) fn last_retained(&self) -> usize {
        self.last_retained
    }

    /// Adds a coefficient. Zigzag indices must be in ascending order.
    #[inline]
    pub(super) fn add(&mut self, index: usize, value: i32) {
        let value = value as f32 * self.factors[index];
        let (vertical, horizontal) = frequencies(index);
        let basis = &self.horizontal_basis[horizontal];
        for (sum, cosine) in self.rows[vertical].iter_mut().zip(basis) {
            *sum += value * cosine;
        }
        self.last_added = index;
    }

    /// Writes the pixels of the block to an output with a given row length, and starts the next block.
    #[inline]
    pub(super) fn finish(&mut self, output: &mut [u8], output_width: usize) {
        let BlockScale { width, height } = self.scale;
        let row_count = usize::from(self.row_counts[self.last_added & 63]);
        if self.last_added == 0 {
            let [value, ..] = to_pixels(&[self.rows[0][0] * self.vertical_basis[0][0] + 128.0; 8]);
            for row in output.chunks_mut(output_width).take(height) {
                row[..width].fill(value);
            }
        } else {
            for (row, basis) in output
                .chunks_mut(output_width)
                .zip(&self.vertical_basis[..height])
            {
                let mut sums = [128.0; 8];
                for (values, cosine) in self.rows[..row_count].iter().zip(basis) {
                    for (sum, value) in sums.iter_mut().zip(values) {
                        *sum += value * cosine;
                    }
                }
                row[..width].copy_from_slice(&to_pixels(&sums)[..width]);
            }
        }
        self.rows.fill([0.0; 8]);
        self.last_added = 0;
    }
}

impl BlockScale {
    /// Returns the smallest scale that renders a component at least a quarter larger than the target.
    ///
    /// After the rest is averaged, the difference to a full-size rendering is not visible.
    pub(super) fn for_target((width, height): (u32, u32), target: (u32, u32)) -> BlockScale {
        let pixels = |side: u32, target: u32| {
            let is_enough = |pixels: &u64| u64::from(side) * pixels * 4 >= u64::from(target) * 5 * 8;
            (1..8).find(is_enough).unwrap_or(8) as usize
        };
        BlockScale {
            width: pixels(width, target.0),
            height: pixels(height, target.1),
        }
    }

    /// Returns the coefficients that affect the pixels, one bit for each zigzag index.
    pub(super) fn retained_coefficients(self) -> u64 {
        let is_retained = |index: &usize| {
            let (vertical, horizontal) = frequencies(*index);
            vertical < self.height && horizontal < self.width
        };
        (0..64)
            .filter(is_retained)
            .fold(0, |mask, index| mask | 1 << index)
    }

    /// Returns the rendered size of a component.
    pub(super) fn apply(self, (width, height): (u32, u32)) -> (u32, u32) {
        (
            (width * self.width as u32).div_ceil(8),
            (height * self.height as u32).div_ceil(8),
        )
    }
}

/// Returns the vertical and the horizontal frequency of a coefficient.
#[inline]
fn frequencies(index: usize) -> (usize, usize) {
    let position = usize::from(ZIGZAG[index & 63]);
    (position >> 3, position & 7)
}

/// Returns the value of each frequency at each of `count` pixels.
fn cosines(count: usize) -> [[f32; 8]; 8] {
    let mut cosines = [[0.0; 8]; 8];
    for (frequency, values) in cosines.iter_mut().enumerate().take(count) {
        let amplitude = if frequency == 0 { FRAC_1_SQRT_2 / 2.0 } else { 0.5 };
        for (pixel, value) in values.iter_mut().enumerate().take(count) {
            let angle = (2 * pixel + 1) as f32 * frequency as f32 * PI / (2 * count) as f32;
            *value = amplitude * angle.cos();
        }
    }
    cosines
}

#[inline]
fn to_pixels(sums: &[f32; 8]) -> [u8; 8] {
    sums.map(|sum| {
        let at_least_0 = if sum > 0.0 { sum } else { 0.0 };
        let in_range = if at_least_0 < 255.0 { at_least_0 } else { 255.0 };
        (in_range + ROUNDING_BIAS).to_bits() as u8
    })
}
