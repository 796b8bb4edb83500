//! Making a picture smaller while its rows arrive, so that it need not be there as a whole.
//!
//! Each pixel that comes out is the mean of what it covers, with the share of pixels that it covers in part. Pixels
//! weigh as much as they are opaque, so that what cannot be seen does not bleed into what can.

use image::{DynamicImage, GrayAlphaImage, GrayImage, RgbImage, RgbaImage};

/// A row or a column that comes out is cut into so many parts; what goes in covers whole ones.
const PARTS: u64 = 256;
/// Quotients are products with a number that has so many bits behind the point.
const POINT: u32 = 48;

/// What the bytes of a pixel mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    Grey,
    GreyAlpha,
    Rgb,
    Rgba,
    /// Three colors, and a byte that says nothing.
    Rgbx,
}

/// The same picture in a size that is not larger, with eight bits a channel.
pub fn shrink(picture: DynamicImage, width: u32, height: u32) -> DynamicImage {
    let size = (picture.width(), picture.height());
    let (channels, pixels) = Channels::of(picture);
    match size == (width, height) {
        true => channels.picture(size, pixels),
        false => shrink_pixels(&pixels, channels, size, (width, height)),
    }
}

/// The same, of pixels of these channels that fill a size.
pub fn shrink_pixels(pixels: &[u8], channels: Channels, size: (u32, u32), to: (u32, u32)) -> DynamicImage {
    let mut rows = Shrinking::new(size, to, channels);
    for row in pixels.chunks_exact(size.0 as usize * channels.count()) {
        rows.push(row);
    }
    rows.finish()
}

/// The size that fits into a square and has the same proportions; never larger than it was.
pub fn fitting(width: u32, height: u32, longest: u32) -> (u32, u32) {
    let now = width.max(height);
    if now <= longest {
        return (width, height);
    }
    let scaled = |side: u32| {
        let side = (u64::from(side) * u64::from(longest) + u64::from(now) / 2) / u64::from(now);
        side.max(1) as u32
    };
    (scaled(width), scaled(height))
}

/// A picture that is made smaller row by row.
pub struct Shrinking {
    channels: Channels,
    from: (u32, u32),
    to: (u32, u32),
    /// Rows that arrived.
    rows: u32,
    /// The row that comes out next, still as wide as those that go in; and one pixel more, which stays empty.
    sums: Vec<u32>,
    /// The same, summed up from the left.
    before: Vec<u64>,
    cuts: Vec<Cut>,
    pixels: Vec<u8>,
}

/// Where a column that comes out ends.
struct Cut {
    /// The pixel that is cut, and how many parts of it lie before.
    at: usize,
    parts: u64,
    /// What half of the sum of a pixel of 1 is, and what a sum is to be multiplied with.
    half: u64,
    factor: u64,
}

impl Shrinking {
    /// Of a picture of a size, to one that is not larger.
    pub fn new(from: (u32, u32), to: (u32, u32), channels: Channels) -> Shrinking {
        let is_same = from == to;
        let length = (from.0 as usize + 1) * channels.count();
        Shrinking {
            channels,
            from,
            to,
            rows: 0,
            sums: vec![0; if is_same { 0 } else { length }],
            before: vec![0; if is_same { 0 } else { length }],
            cuts: cuts(u64::from(from.0), u64::from(to.0)),
            pixels: Vec::with_capacity(to.0 as usize * to.1 as usize * channels.shown()),
        }
    }

    /// Takes the next row.
    pub fn push(&mut self, row: &[u8]) {
        if self.from == self.to {
            match self.channels {
                Channels::Rgbx => {
                    let colors = row.as_chunks::<4>().0.iter();
                    self.pixels
                        .extend(colors.flat_map(|[red, green, blue, _]| [*red, *green, *blue]));
                }
                _ => self.pixels.extend_from_slice(row),
            }
            return;
        }
        let end_of = |rows: u32| u64::from(rows) * u64::from(self.to.1) * PARTS / u64::from(self.from.1);
        let (begin, end) = (end_of(self.rows), end_of(self.rows + 1));
        let cut = (begin / PARTS + 1) * PARTS;
        self.rows += 1;
        self.add(row, (end.min(cut) - begin) as u16);
        if end >= cut {
            self.emit();
            if end > cut {
                self.add(row, (end - cut) as u16);
            }
        }
    }

    /// The small picture, once all rows are there.
    pub fn finish(self) -> DynamicImage {
        self.channels.picture(self.to, self.pixels)
    }

    /// Its bytes.
    pub fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }

    fn add(&mut self, row: &[u8], parts: u16) {
        match self.channels {
            Channels::Grey | Channels::Rgb | Channels::Rgbx => {
                for (sum, value) in self.sums.iter_mut().zip(row) {
                    *sum += u32::from(u16::from(*value) * parts);
                }
            }
            Channels::GreyAlpha => self.add_weighted::<2>(row, parts),
            Channels::Rgba => self.add_weighted::<4>(row, parts),
        }
    }

    fn add_weighted<const N: usize>(&mut self, row: &[u8], parts: u16) {
        let (sums, _) = self.sums.as_chunks_mut::<N>();
        let (pixels, _) = row.as_chunks::<N>();
        // Most rows are opaque from end to end, and then there is nothing to weigh.
        let alpha = pixels.first().map_or(0, |pixel| pixel[N - 1]);
        if pixels.iter().fold(0, |other, pixel| other | pixel[N - 1] ^ alpha) == 0 {
            let mut weights = [u32::from(alpha) * u32::from(parts); N];
            weights[N - 1] = u32::from(parts);
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
                *sum += u32::from(u16::from(*value) * weight) * u32::from(parts);
            }
        }
    }

    fn emit(&mut self) {
        match self.channels {
            Channels::Grey => self.emit_row(|cut, sums: [u64; 1]| sums.map(|sum| cut.mean(sum))),
            Channels::GreyAlpha => self.emit_row(|cut, sums: [u64; 2]| cut.visible(sums)),
            Channels::Rgb => self.emit_row(|cut, sums: [u64; 3]| sums.map(|sum| cut.mean(sum))),
            Channels::Rgba => self.emit_row(|cut, sums: [u64; 4]| cut.visible(sums)),
            Channels::Rgbx => self
                .emit_row(|cut, [red, green, blue, _]: [u64; 4]| [red, green, blue].map(|sum| cut.mean(sum))),
        }
    }

    /// Writes a row and begins the next.
    fn emit_row<const N: usize, const M: usize>(&mut self, pixel_of: impl Fn(&Cut, [u64; N]) -> [u8; M]) {
        let (sums, _) = self.sums.as_chunks_mut::<N>();
        let (before, _) = self.before.as_chunks_mut::<N>();
        let mut all = [0; N];
        for (before, sums) in before.iter_mut().zip(sums.iter()) {
            *before = all;
            for (all, sum) in all.iter_mut().zip(sums) {
                *all += u64::from(*sum);
            }
        }
        let mut left = [0; N];
        for cut in &self.cuts {
            let (before, sums) = (&before[cut.at], &sums[cut.at]);
            let mut covered = [0; N];
            for channel in 0..N {
                let right = before[channel] * PARTS + u64::from(sums[channel]) * cut.parts;
                covered[channel] = right - left[channel];
                left[channel] = right;
            }
            self.pixels.extend_from_slice(&pixel_of(cut, covered));
        }
        sums.fill([0; N]);
    }
}

impl Cut {
    #[inline]
    fn mean(&self, sum: u64) -> u8 {
        (((sum + self.half) * self.factor) >> POINT) as u8
    }

    /// The mean of pixels that weigh as much as they are opaque.
    #[inline]
    fn visible<const N: usize>(&self, sums: [u64; N]) -> [u8; N] {
        let weight = sums[N - 1];
        let share = if weight == 0 {
            0.0
        } else {
            1.0 / weight as i64 as f32
        };
        let mut pixel = sums.map(|sum| (sum as i64 as f32 * share + 0.5) as u8);
        pixel[N - 1] = self.mean(weight);
        pixel
    }
}

fn cuts(from: u64, to: u64) -> Vec<Cut> {
    let end_of = |column: u64| column * from * PARTS / to;
    let cut = |column: u64| {
        let (begin, end) = (end_of(column), end_of(column + 1));
        let one = PARTS * (end - begin);
        Cut {
            at: (end / PARTS) as usize,
            parts: end % PARTS,
            half: one / 2,
            factor: (1_u64 << POINT).div_ceil(one),
        }
    };
    (0..to).map(cut).collect()
}

impl Channels {
    /// The pixels of a picture, with eight bits a channel.
    fn of(picture: DynamicImage) -> (Channels, Vec<u8>) {
        match picture {
            DynamicImage::ImageLuma8(image) => (Channels::Grey, image.into_raw()),
            DynamicImage::ImageLumaA8(image) => (Channels::GreyAlpha, image.into_raw()),
            DynamicImage::ImageRgb8(image) => (Channels::Rgb, image.into_raw()),
            picture => (Channels::Rgba, picture.into_rgba8().into_raw()),
        }
    }

    /// The picture of a size that these pixels fill.
    pub fn picture(self, (width, height): (u32, u32), data: Vec<u8>) -> DynamicImage {
        let picture = match self {
            Channels::Grey => GrayImage::from_raw(width, height, data).map(DynamicImage::from),
            Channels::GreyAlpha => GrayAlphaImage::from_raw(width, height, data).map(DynamicImage::from),
            Channels::Rgb | Channels::Rgbx => RgbImage::from_raw(width, height, data).map(DynamicImage::from),
            Channels::Rgba => RgbaImage::from_raw(width, height, data).map(DynamicImage::from),
        };
        picture.expect("the pixels fill the picture")
    }

    fn count(self) -> usize {
        match self {
            Channels::Grey => 1,
            Channels::GreyAlpha => 2,
            Channels::Rgb => 3,
            Channels::Rgba | Channels::Rgbx => 4,
        }
    }

    /// Bytes of a pixel that comes out.
    fn shown(self) -> usize {
        match self {
            Channels::Rgbx => 3,
            channels => channels.count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{Luma, Rgba};
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_seen_does_not_bleed_into_what_can() {
        let picture = RgbaImage::from_fn(64, 64, |x, _| match x % 2 {
            0 => Rgba([200, 10, 10, 255]),
            _ => Rgba([0, 255, 0, 0]),
        });
        for side in [32, 20, 7] {
            let small = shrink(picture.clone().into(), side, side).into_rgba8();
            for pixel in small.pixels().filter(|pixel| pixel[3] > 0) {
                assert!(pixel[0] >= 190 && pixel[1] <= 20, "{pixel:?}");
            }
        }
    }

    #[test]
    fn sixteen_bits_become_eight() {
        let picture = DynamicImage::ImageRgb16(image::ImageBuffer::from_pixel(
            3,
            2,
            image::Rgb([65_535, 0, 32_768]),
        ));
        let small = shrink(picture, 3, 2).into_rgb8();
        assert_eq!(small.get_pixel(1, 1).0, [255, 0, 128]);
    }

    proptest! {
        #[test]
        fn a_pixel_is_the_mean_of_what_it_covers(
            width in 1..16_u32, height in 1..16_u32, longest in 1..16_u32, seed in any::<u32>()
        ) {
            let picture = RgbaImage::from_fn(width, height, |x, y| {
                Rgba((x * 31 + y * 17 + 1).wrapping_mul(seed | 1).to_le_bytes())
            });
            let (to_width, to_height) = fitting(width, height, longest);
            let small = shrink(picture.clone().into(), to_width, to_height).into_rgba8();
            let covered = |from: u32, to: u32, at: u32, pixel: u32| {
                let scale = f64::from(from) / f64::from(to);
                let (begin, end) = (f64::from(at) * scale, f64::from(at + 1) * scale);
                (end.min(f64::from(pixel + 1)) - begin.max(f64::from(pixel))).max(0.0) / scale
            };
            for (x, y, pixel) in small.enumerate_pixels() {
                let (mut sums, mut alpha) = ([0.0; 3], 0.0);
                for (from_x, from_y, from) in picture.enumerate_pixels() {
                    let share = covered(width, to_width, x, from_x) * covered(height, to_height, y, from_y);
                    let weight = share * f64::from(from[3]);
                    alpha += weight;
                    for (sum, value) in sums.iter_mut().zip(from.0) {
                        *sum += weight * f64::from(value);
                    }
                }
                prop_assert!((f64::from(pixel[3]) - alpha).abs() < 6.0, "{} {alpha}", pixel[3]);
                if alpha > 64.0 {
                    for (sum, value) in sums.iter().zip(pixel.0) {
                        prop_assert!((f64::from(value) - sum / alpha).abs() < 8.0, "{value} {}", sum / alpha);
                    }
                }
            }
        }

        #[test]
        fn one_grey_stays_this_grey_in_every_size(
            width in 1..300_u32, height in 1..300_u32, longest in 1..300_u32, grey in any::<u8>()
        ) {
            let picture = GrayImage::from_pixel(width, height, Luma([grey]));
            let (to_width, to_height) = fitting(width, height, longest);
            prop_assert!(to_width <= width && to_height <= height);
            let small = shrink(picture.into(), to_width, to_height).into_luma8();
            prop_assert_eq!(small.dimensions(), (to_width, to_height));
            prop_assert!(small.pixels().all(|pixel| pixel[0] == grey));
        }

        #[test]
        fn the_longer_side_is_exact_and_the_other_keeps_the_proportion(
            width in 1..8_193_u32, height in 1..8_193_u32, longest in 1..8_193_u32
        ) {
            let (to_width, to_height) = fitting(width, height, longest);
            prop_assert_eq!(to_width.max(to_height), longest.min(width.max(height)));
            let exact = f64::from(width.min(height)) * f64::from(to_width.max(to_height)) / f64::from(width.max(height));
            prop_assert!((f64::from(to_width.min(to_height)) - exact.max(1.0)).abs() <= 0.5);
        }
    }
}
