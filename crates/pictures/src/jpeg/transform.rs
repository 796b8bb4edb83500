//! The inverse cosine transform, straight into a smaller size: of the 8 × 8 frequencies of a block, the lowest are
//! enough for fewer pixels.

use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// Where the frequencies of a block stand, in the order in which they are sent.
pub const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
    14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39,
    46, 53, 60, 61, 54, 47, 55, 62, 63,
];
/// Added to a number from 0 to 255, it rounds it into the lowest byte.
const WHOLE: f32 = 8_388_608.0;

/// Pixels across and down that come out of a block, 1 to 8 each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    pub across: usize,
    pub down: usize,
}

/// Gathers the frequencies of a block and gives its pixels.
pub struct Transform {
    scale: Scale,
    /// For each frequency across, its wave; and for each row of pixels, what each frequency down adds to it.
    waves: [[f32; 8]; 8],
    shares: [[f32; 8]; 8],
    /// By the place in the order of sending, 0 for frequencies that do not matter.
    factors: [f32; 64],
    rows: [[f32; 8]; 8],
    /// The place of the last frequency that was added, and how many rows there are up to each.
    last: usize,
    heights: [u8; 64],
    last_kept: usize,
}

impl Transform {
    pub fn new(scale: Scale, factors: &[u16; 64]) -> Transform {
        let mut shares = [[0.0; 8]; 8];
        for (frequency, wave) in waves(scale.down).iter().enumerate() {
            for (y, share) in wave.iter().enumerate() {
                shares[y][frequency] = *share;
            }
        }
        Transform {
            scale,
            waves: waves(scale.across),
            shares,
            factors: std::array::from_fn(|place| {
                let is_kept = scale.kept() >> place & 1 == 1;
                if is_kept { f32::from(factors[place]) } else { 0.0 }
            }),
            rows: [[0.0; 8]; 8],
            last: 0,
            heights: std::array::from_fn(|last| {
                let highest = (0..=last).map(|place| position(place).0).max().unwrap_or(0);
                (highest + 1).min(scale.down) as u8
            }),
            last_kept: 63 - scale.kept().leading_zeros() as usize,
        }
    }

    /// The place of the last frequency that matters.
    #[inline]
    pub fn last_kept(&self) -> usize {
        self.last_kept
    }

    /// Adds a frequency, named by its place in the order of sending, which must go up.
    #[inline]
    pub fn add(&mut self, place: usize, value: i32) {
        let value = value as f32 * self.factors[place];
        let (down, across) = position(place);
        let wave = &self.waves[across];
        for (sum, share) in self.rows[down].iter_mut().zip(wave) {
            *sum += value * share;
        }
        self.last = place;
    }

    /// Writes the pixels of the block and begins anew.
    #[inline]
    pub fn finish(&mut self, to: &mut [u8], width: usize) {
        let Scale { across, down } = self.scale;
        let height = usize::from(self.heights[self.last & 63]);
        if self.last == 0 {
            let [value, ..] = pixels(&[self.rows[0][0] * self.shares[0][0] + 128.0; 8]);
            for row in to.chunks_mut(width).take(down) {
                row[..across].fill(value);
            }
        } else {
            for (row, shares) in to.chunks_mut(width).zip(&self.shares[..down]) {
                let mut sums = [128.0; 8];
                for (frequencies, share) in self.rows[..height].iter().zip(shares) {
                    for (sum, value) in sums.iter_mut().zip(frequencies) {
                        *sum += value * share;
                    }
                }
                row[..across].copy_from_slice(&pixels(&sums)[..across]);
            }
        }
        self.rows.fill([0.0; 8]);
        self.last = 0;
    }
}

impl Scale {
    /// The smallest that gives a quarter more than is wanted, which the eye does not miss once it is averaged.
    pub fn of((width, height): (u32, u32), wanted: (u32, u32)) -> Scale {
        let pixels = |side: u32, wanted: u32| {
            let enough = |pixels: &u64| u64::from(side) * pixels * 4 >= u64::from(wanted) * 5 * 8;
            (1..8).find(enough).unwrap_or(8) as usize
        };
        Scale {
            across: pixels(width, wanted.0),
            down: pixels(height, wanted.1),
        }
    }

    /// The frequencies that matter, each a bit at its place in the order of sending.
    pub fn kept(self) -> u64 {
        let is_kept = |place: &usize| {
            let (down, across) = position(*place);
            down < self.down && across < self.across
        };
        (0..64).filter(is_kept).fold(0, |all, place| all | 1 << place)
    }

    /// How large something becomes.
    pub fn scaled(self, (width, height): (u32, u32)) -> (u32, u32) {
        (
            (width * self.across as u32).div_ceil(8),
            (height * self.down as u32).div_ceil(8),
        )
    }
}

/// The row and the column of a frequency.
#[inline]
fn position(place: usize) -> (usize, usize) {
    let natural = usize::from(ZIGZAG[place & 63]);
    (natural >> 3, natural & 7)
}

/// The cosine of each frequency at so many pixels.
fn waves(count: usize) -> [[f32; 8]; 8] {
    let mut waves = [[0.0; 8]; 8];
    for (frequency, wave) in waves.iter_mut().enumerate().take(count) {
        let height = if frequency == 0 { FRAC_1_SQRT_2 / 2.0 } else { 0.5 };
        for (at, value) in wave.iter_mut().enumerate().take(count) {
            let angle = (2 * at + 1) as f32 * frequency as f32 * PI / (2 * count) as f32;
            *value = height * angle.cos();
        }
    }
    waves
}

#[inline]
fn pixels(sums: &[f32; 8]) -> [u8; 8] {
    sums.map(|sum| {
        let above = if sum > 0.0 { sum } else { 0.0 };
        let within = if above < 255.0 { above } else { 255.0 };
        (within + WHOLE).to_bits() as u8
    })
}
