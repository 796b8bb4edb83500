//! Downscales pictures row by row, so that the full-size picture need not be in memory.
//!
//! Each output pixel is the mean of the area that it covers, including the fractions of pixels at the edges. Pixels are
//! weighted by their opacity, so that invisible colors do not bleed into visible ones.

use crate::bitmap::{Bitmap, Channels};

/// Each output row and column is divided into this many units, and each input row and column covers whole units.
const UNITS: u64 = 256;
/// The number of fraction bits in the fixed-point reciprocals that replace divisions.
const FRACTION_BITS: u32 = 48;

/// The layout of input pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The channels and nothing else.
    Packed(Channels),
    /// Red, green, blue, and a byte that is ignored.
    Rgbx,
}

/// Downscales a picture that is in memory as a whole.
pub(crate) fn downscale(pixels: Vec<u8>, layout: Layout, size: (u32, u32), target: (u32, u32)) -> Bitmap {
    if size == target
        && let Layout::Packed(channels) = layout
    {
        return Bitmap::new(size, channels, pixels);
    }
    let mut downscaler = Downscaler::new(size, target, layout);
    for row in pixels.chunks_exact(size.0 as usize * layout.bytes_per_pixel()) {
        downscaler.push_row(row);
    }
    downscaler.finish()
}

/// Returns the size with the same proportions whose longer side is at most `max_side`; never enlarges.
pub(crate) fn fit_within(width: u32, height: u32, max_side: u32) -> (u32, u32) {
    let side = width.max(height);
    if side <= max_side {
        return (width, height);
    }
    let scale = |length: u32| {
        let scaled = (u64::from(length) * u64::from(max_side) + u64::from(side) / 2) / u64::from(side);
        scaled.max(1) as u32
    };
    (scale(width), scale(height))
}

/// Downscales a picture whose rows arrive one by one.
pub(crate) struct Downscaler {
    layout: Layout,
    size: (u32, u32),
    target: (u32, u32),
    rows_received: u32,
    /// Weighted sums of the current output row, still as wide as the input, followed by one empty pixel.
    sums: Vec<u32>,
    /// For each pixel, the sum of all pixels to its left.
    prefix_sums: Vec<u64>,
    boundaries: Vec<Boundary>,
    pixels: Vec<u8>,
}

/// The right edge of an output column.
struct Boundary {
    /// The input pixel that contains the edge, and the number of its units to the left of the edge.
    pixel: usize,
    units: u64,
    /// Half of the area of an output pixel, which is added for rounding, and the fixed-point reciprocal of the area.
    half_area: u64,
    reciprocal: u64,
}

impl Downscaler {
    /// Creates a downscaler from one `(width, height)` to another that is not larger.
    pub(crate) fn new(size: (u32, u32), target: (u32, u32), layout: Layout) -> Downscaler {
        let is_same_size = size == target;
        let length = if is_same_size {
            0
        } else {
            (size.0 as usize + 1) * layout.bytes_per_pixel()
        };
        let output_length = target.0 as usize * target.1 as usize * layout.channels().count();
        Downscaler {
            layout,
            size,
            target,
            rows_received: 0,
            sums: vec![0; length],
            prefix_sums: vec![0; length],
            boundaries: boundaries(u64::from(size.0), u64::from(target.0)),
            pixels: Vec::with_capacity(output_length),
        }
    }

    /// Adds the next row.
    pub(crate) fn push_row(&mut self, row: &[u8]) {
        if self.size == self.target {
            self.copy_row(row);
            return;
        }
        let end_of = |rows: u32| u64::from(rows) * u64::from(self.target.1) * UNITS / u64::from(self.size.1);
        let (start, end) = (end_of(self.rows_received), end_of(self.rows_received + 1));
        let output_end = (start / UNITS + 1) * UNITS;
        self.rows_received += 1;
        self.add_row(row, (end.min(output_end) - start) as u16);
        if end >= output_end {
            self.emit_row();
            if end > output_end {
                self.add_row(row, (end - output_end) as u16);
            }
        }
    }

    /// Returns the downscaled picture after the last row was added.
    pub(crate) fn finish(self) -> Bitmap {
        Bitmap::new(self.target, self.layout.channels(), self.pixels)
    }

    fn copy_row(&mut self, row: &[u8]) {
        match self.layout {
            Layout::Packed(_) => self.pixels.extend_from_slice(row),
            Layout::Rgbx => {
                let pixels = row.as_chunks::<4>().0.iter();
                self.pixels
                    .extend(pixels.flat_map(|[red, green, blue, _]| [*red, *green, *blue]));
            }
        }
    }

    fn add_row(&mut self, row: &[u8], units: u16) {
        match self.layout {
            Layout::Packed(Channels::Gray | Channels::Rgb) | Layout::Rgbx => {
                for (sum, value) in self.sums.iter_mut().zip(row) {
                    *sum += u32::from(u16::from(*value) * units);
                }
            }
            Layout::Packed(Channels::GrayAlpha) => self.add_weighted_row::<2>(row, units),
            Layout::Packed(Channels::Rgba) => self.add_weighted_row::<4>(row, units),
        }
    }

    fn add_weighted_row<const N: usize>(&mut self, row: &[u8], units: u16) {
        let (sums, _) = self.sums.as_chunks_mut::<N>();
        let (pixels, _) = row.as_chunks::<N>();
        // Most rows have the same opacity from end to end, which is faster.
        let alpha = pixels.first().map_or(0, |pixel| pixel[N - 1]);
        let has_one_alpha = pixels.iter().fold(0, |bits, pixel| bits | pixel[N - 1] ^ alpha) == 0;
        if has_one_alpha {
            let mut weights = [u32::from(alpha) * u32::from(units); N];
            weights[N - 1] = u32::from(units);
            for (sums, pixel) in sums.iter_mut().zip(pixels) {
                for ((sum, value), weight) in sums.iter_mut().zip(pixel).zip(weights) {
                    *sum += u32::from(*value) * weight;
                }
            }
            return;
        }
        for (sums, pixel) in sums.iter_mut().zip(pixels) {
            let mut weights = [u16::from(pixel[N - 1]); N];
            weights[N - 1] = 1;
            for ((sum, value), weight) in sums.iter_mut().zip(pixel).zip(weights) {
                *sum += u32::from(u16::from(*value) * weight) * u32::from(units);
            }
        }
    }

    fn emit_row(&mut self) {
        match self.layout {
            Layout::Packed(Channels::Gray) => {
                self.emit_pixels(|column, sums: [u64; 1]| sums.map(|sum| column.mean(sum)));
            }
            Layout::Packed(Channels::GrayAlpha) => {
                self.emit_pixels(|column, sums: [u64; 2]| column.weighted_mean(sums));
            }
            Layout::Packed(Channels::Rgb) => {
                self.emit_pixels(|column, sums: [u64; 3]| sums.map(|sum| column.mean(sum)));
            }
            Layout::Packed(Channels::Rgba) => {
                self.emit_pixels(|column, sums: [u64; 4]| column.weighted_mean(sums));
            }
            Layout::Rgbx => self.emit_pixels(|column, [red, green, blue, _]: [u64; 4]| {
                [red, green, blue].map(|sum| column.mean(sum))
            }),
        }
    }

    /// Writes an output row and clears the sums for the next one.
    fn emit_pixels<const N: usize, const M: usize>(
        &mut self,
        to_pixel: impl Fn(&Boundary, [u64; N]) -> [u8; M],
    ) {
        let (sums, _) = self.sums.as_chunks_mut::<N>();
        let (prefix_sums, _) = self.prefix_sums.as_chunks_mut::<N>();
        let mut total = [0; N];
        for (prefix_sum, sums) in prefix_sums.iter_mut().zip(sums.iter()) {
            *prefix_sum = total;
            for (total, sum) in total.iter_mut().zip(sums) {
                *total += u64::from(*sum);
            }
        }
        let mut left = [0; N];
        for boundary in &self.boundaries {
            let (prefix_sum, sums) = (&prefix_sums[boundary.pixel], &sums[boundary.pixel]);
            let mut area = [0; N];
            for channel in 0..N {
                let right = prefix_sum[channel] * UNITS + u64::from(sums[channel]) * boundary.units;
                area[channel] = right - left[channel];
                left[channel] = right;
            }
            self.pixels.extend_from_slice(&to_pixel(boundary, area));
        }
        sums.fill([0; N]);
    }
}

impl Boundary {
    #[inline]
    fn mean(&self, sum: u64) -> u8 {
        (((sum + self.half_area) * self.reciprocal) >> FRACTION_BITS) as u8
    }

    /// Returns the mean of pixels weighted by their opacity, which is the last channel.
    #[inline]
    fn weighted_mean<const N: usize>(&self, sums: [u64; N]) -> [u8; N] {
        let weight = sums[N - 1];
        let reciprocal = if weight == 0 {
            0.0
        } else {
            1.0 / weight as i64 as f32
        };
        let mut pixel = sums.map(|sum| (sum as i64 as f32 * reciprocal + 0.5) as u8);
        pixel[N - 1] = self.mean(weight);
        pixel
    }
}

fn boundaries(width: u64, target_width: u64) -> Vec<Boundary> {
    let end_of = |column: u64| column * width * UNITS / target_width;
    let boundary = |column: u64| {
        let (start, end) = (end_of(column), end_of(column + 1));
        let area = UNITS * (end - start);
        Boundary {
            pixel: (end / UNITS) as usize,
            units: end % UNITS,
            half_area: area / 2,
            reciprocal: (1_u64 << FRACTION_BITS).div_ceil(area),
        }
    };
    (0..target_width).map(boundary).collect()
}

impl Layout {
    fn bytes_per_pixel(self) -> usize {
        match self {
            Layout::Packed(channels) => channels.count(),
            Layout::Rgbx => 4,
        }
    }

    /// Returns the channels of the output.
    fn channels(self) -> Channels {
        match self {
            Layout::Packed(channels) => channels,
            Layout::Rgbx => Channels::Rgb,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RGBA: Layout = Layout::Packed(Channels::Rgba);

    fn rgba(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 4]) -> Vec<u8> {
        (0..height)
            .flat_map(|y| (0..width).flat_map(move |x| [(x, y)]))
            .flat_map(|(x, y)| pixel(x, y))
            .collect()
    }

    #[test]
    fn invisible_colors_do_not_bleed_into_visible_ones() {
        let stripes = rgba(64, 64, |x, _| {
            if x % 2 == 0 {
                [200, 10, 10, 255]
            } else {
                [0, 255, 0, 0]
            }
        });
        for side in [32, 20, 7] {
            let small = downscale(stripes.clone(), RGBA, (64, 64), (side, side));
            for pixel in small.pixels.as_chunks::<4>().0 {
                assert!(pixel[3] == 0 || (pixel[0] >= 190 && pixel[1] <= 20), "{pixel:?}");
            }
        }
    }

    #[test]
    fn the_fourth_byte_of_rgbx_is_ignored() {
        let pixels = rgba(4, 4, |_, _| [7, 8, 9, 0]);
        for side in [4, 2] {
            let small = downscale(pixels.clone(), Layout::Rgbx, (4, 4), (side, side));
            assert_eq!(small.channels, Channels::Rgb);
            assert!(
                small
                    .pixels
                    .as_chunks::<3>()
                    .0
                    .iter()
                    .all(|pixel| *pixel == [7, 8, 9])
            );
        }
    }

    proptest! {
        #[test]
        fn each_pixel_is_the_mean_of_the_area_that_it_covers(
            width in 1..16_u32, height in 1..16_u32, max_side in 1..16_u32, seed in any::<u32>()
        ) {
            let color = |x: u32, y: u32| (x * 31 + y * 17 + 1).wrapping_mul(seed | 1).to_le_bytes();
            let target = fit_within(width, height, max_side);
            let small = downscale(rgba(width, height, color), RGBA, (width, height), target);
            let overlap = |size: u32, target: u32, at: u32, pixel: u32| {
                let scale = f64::from(size) / f64::from(target);
                let (start, end) = (f64::from(at) * scale, f64::from(at + 1) * scale);
                (end.min(f64::from(pixel + 1)) - start.max(f64::from(pixel))).max(0.0) / scale
            };
            for (index, pixel) in (0..).zip(small.pixels.as_chunks::<4>().0) {
                let (x, y) = (index % target.0, index / target.0);
                let (mut sums, mut alpha) = ([0.0; 3], 0.0);
                for from_y in 0..height {
                    for from_x in 0..width {
                        let from = color(from_x, from_y);
                        let share = overlap(width, target.0, x, from_x) * overlap(height, target.1, y, from_y);
                        let weight = share * f64::from(from[3]);
                        alpha += weight;
                        for (sum, value) in sums.iter_mut().zip(from) {
                            *sum += weight * f64::from(value);
                        }
                    }
                }
                prop_assert!((f64::from(pixel[3]) - alpha).abs() < 6.0, "{} {alpha}", pixel[3]);
                if alpha > 64.0 {
                    for (sum, value) in sums.iter().zip(*pixel) {
                        prop_assert!((f64::from(value) - sum / alpha).abs() < 8.0, "{value} {}", sum / alpha);
                    }
                }
            }
        }

        #[test]
        fn a_single_shade_of_gray_keeps_its_value_in_every_size(
            width in 1..300_u32, height in 1..300_u32, max_side in 1..300_u32, gray in any::<u8>()
        ) {
            let pixels = vec![gray; (width * height) as usize];
            let target = fit_within(width, height, max_side);
            prop_assert!(target.0 <= width && target.1 <= height);
            let small = downscale(pixels, Layout::Packed(Channels::Gray), (width, height), target);
            prop_assert_eq!((small.width, small.height), target);
            prop_assert!(small.pixels.iter().all(|value| *value == gray));
        }

        #[test]
        fn the_longer_side_is_exact_and_the_proportions_are_kept(
            width in 1..8_193_u32, height in 1..8_193_u32, max_side in 1..8_193_u32
        ) {
            let (to_width, to_height) = fit_within(width, height, max_side);
            prop_assert_eq!(to_width.max(to_height), max_side.min(width.max(height)));
            let exact = f64::from(width.min(height)) * f64::from(to_width.max(to_height)) / f64::from(width.max(height));
            prop_assert!((f64::from(to_width.min(to_height)) - exact.max(1.0)).abs() <= 0.5);
        }
    }
}
