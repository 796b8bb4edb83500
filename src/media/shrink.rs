//! Making a picture smaller without a second copy of it.
//!
//! First whole blocks of pixels are averaged: in place, or while the rows of the picture arrive. Then the small rest
//! of the way goes to the resampler. Pixels weigh as much as they are opaque, so that what cannot be seen does not
//! bleed into what can.

use fast_image_resize::images::Image;
use fast_image_resize::{FilterType, MulDiv, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::{DynamicImage, GrayAlphaImage, GrayImage, RgbImage, RgbaImage};

/// Pixels of one byte a channel, row by row.
struct Pixels {
    width: u32,
    height: u32,
    channels: Channels,
    data: Vec<u8>,
}

/// What the bytes of a pixel mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    Grey,
    GreyAlpha,
    Rgb,
    Rgba,
}

/// The same picture in a size that is not larger, with eight bits a channel.
pub fn shrink(picture: DynamicImage, width: u32, height: u32) -> DynamicImage {
    let mut pixels = Pixels::new(picture);
    pixels.average(pixels.width / width, pixels.height / height);
    pixels.fitted(width, height).picture()
}

/// A picture that is made smaller while its rows arrive, so that it is never there as a whole.
pub struct Shrinking {
    averages: Averages,
    /// Rows that the block under way has.
    rows: usize,
    pixels: Pixels,
    to: (u32, u32),
}

impl Shrinking {
    /// Of a picture of a size, to one that is not larger.
    pub fn new((width, height): (u32, u32), to: (u32, u32), channels: Channels) -> Shrinking {
        let averages = Averages::new(channels, width, (width / to.0, height / to.1));
        let (across, down) = averages.block;
        let (width, height) = (width / across as u32, height / down as u32);
        Shrinking {
            averages,
            rows: 0,
            pixels: Pixels {
                width,
                height,
                channels,
                data: Vec::with_capacity(width as usize * height as usize * channels.count()),
            },
            to,
        }
    }

    /// Takes the next row. Rows at the end that fill no block are left out.
    pub fn push(&mut self, row: &[u8]) {
        if self.averages.block == (1, 1) {
            self.pixels.data.extend_from_slice(row);
            return;
        }
        self.averages.add(row);
        self.rows += 1;
        if self.rows == self.averages.block.1 {
            let (data, length) = (&mut self.pixels.data, self.averages.length());
            let written = data.len();
            data.resize(written + length, 0);
            self.averages.emit(&mut data[written..]);
            self.rows = 0;
        }
    }

    /// The small picture, once all rows are there.
    pub fn finish(self) -> DynamicImage {
        self.pixels.fitted(self.to.0, self.to.1).picture()
    }
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

impl Pixels {
    fn new(picture: DynamicImage) -> Pixels {
        let (width, height) = (picture.width(), picture.height());
        let (channels, data) = match picture {
            DynamicImage::ImageLuma8(image) => (Channels::Grey, image.into_raw()),
            DynamicImage::ImageLumaA8(image) => (Channels::GreyAlpha, image.into_raw()),
            DynamicImage::ImageRgb8(image) => (Channels::Rgb, image.into_raw()),
            DynamicImage::ImageRgba8(image) => (Channels::Rgba, image.into_raw()),
            DynamicImage::ImageLuma16(_) => (Channels::Grey, picture.into_luma8().into_raw()),
            DynamicImage::ImageLumaA16(_) => (Channels::GreyAlpha, picture.into_luma_alpha8().into_raw()),
            DynamicImage::ImageRgb16(_) => (Channels::Rgb, picture.into_rgb8().into_raw()),
            _ => (Channels::Rgba, picture.into_rgba8().into_raw()),
        };
        Pixels {
            width,
            height,
            channels,
            data,
        }
    }

    /// Makes one pixel of each block, in place: what is written never lies behind what is still to be read. Columns and
    /// rows that fill no block are left out.
    fn average(&mut self, across: u32, down: u32) {
        let mut averages = Averages::new(self.channels, self.width, (across, down));
        let (across, down) = averages.block;
        if (across, down) == (1, 1) {
            return;
        }
        let row = self.width as usize * self.channels.count();
        let mut written = 0;
        for block in 0..self.height as usize / down {
            for at in block * down..(block + 1) * down {
                averages.add(&self.data[at * row..(at + 1) * row]);
            }
            averages.emit(&mut self.data[written..written + averages.length()]);
            written += averages.length();
        }
        self.width /= across as u32;
        self.height /= down as u32;
    }

    /// Exactly this size.
    fn fitted(mut self, width: u32, height: u32) -> Pixels {
        if (self.width, self.height) != (width, height) {
            return self.resample(width, height);
        }
        let length = width as usize * height as usize * self.channels.count();
        self.data.truncate(length);
        self
    }

    /// Writes into what averaging left free, where that is enough: to give it back first, the pixels would be copied.
    fn resample(mut self, width: u32, height: u32) -> Pixels {
        let kind = self.channels.pixel_type();
        let size = |width: u32, height: u32| width as usize * height as usize * self.channels.count();
        let (from, free) = self.data.split_at_mut(size(self.width, self.height));
        let mut beside = Vec::new();
        let to = if let Some(free) = free.get_mut(..size(width, height)) {
            free
        } else {
            beside.resize(size(width, height), 0);
            &mut beside[..]
        };
        let mut from =
            Image::from_slice_u8(self.width, self.height, from, kind).expect("the pixels fill the picture");
        let mut to = Image::from_slice_u8(width, height, to, kind).expect("there is room for it");
        let has_alpha = matches!(self.channels, Channels::GreyAlpha | Channels::Rgba);
        let alpha = MulDiv::new();
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom))
            .use_alpha(false);
        if has_alpha {
            alpha.multiply_alpha_inplace(&mut from).expect("it has alpha");
        }
        Resizer::new()
            .resize(&from, &mut to, &options)
            .expect("both are of one kind");
        if has_alpha {
            alpha.divide_alpha_inplace(&mut to).expect("it has alpha");
        }
        Pixels {
            width,
            height,
            channels: self.channels,
            data: to.into_vec(),
        }
    }

    fn picture(self) -> DynamicImage {
        self.channels.picture((self.width, self.height), self.data)
    }
}

impl Channels {
    /// The picture of a size that these pixels fill.
    pub fn picture(self, (width, height): (u32, u32), data: Vec<u8>) -> DynamicImage {
        let picture = match self {
            Channels::Grey => GrayImage::from_raw(width, height, data).map(DynamicImage::from),
            Channels::GreyAlpha => GrayAlphaImage::from_raw(width, height, data).map(DynamicImage::from),
            Channels::Rgb => RgbImage::from_raw(width, height, data).map(DynamicImage::from),
            Channels::Rgba => RgbaImage::from_raw(width, height, data).map(DynamicImage::from),
        };
        picture.expect("the pixels fill the picture")
    }

    fn count(self) -> usize {
        match self {
            Channels::Grey => 1,
            Channels::GreyAlpha => 2,
            Channels::Rgb => 3,
            Channels::Rgba => 4,
        }
    }

    fn pixel_type(self) -> PixelType {
        match self {
            Channels::Grey => PixelType::U8,
            Channels::GreyAlpha => PixelType::U8x2,
            Channels::Rgb => PixelType::U8x3,
            Channels::Rgba => PixelType::U8x4,
        }
    }
}

/// The sums of one row of blocks.
struct Averages {
    channels: Channels,
    /// Columns and rows of a block.
    block: (usize, usize),
    sums: Vec<u32>,
    weights: Vec<u32>,
}

impl Averages {
    fn new(channels: Channels, width: u32, (across, down): (u32, u32)) -> Averages {
        let block = (across.max(1) as usize, down.max(1) as usize);
        let blocks = width as usize / block.0;
        Averages {
            channels,
            block,
            sums: vec![0; blocks * channels.count()],
            weights: vec![0; blocks],
        }
    }

    /// Bytes of a row that comes out.
    fn length(&self) -> usize {
        self.sums.len()
    }

    fn add(&mut self, row: &[u8]) {
        match self.channels {
            Channels::Grey => self.add_row::<1, false>(row),
            Channels::GreyAlpha => self.add_row::<2, true>(row),
            Channels::Rgb => self.add_row::<3, false>(row),
            Channels::Rgba => self.add_row::<4, true>(row),
        }
    }

    fn add_row<const N: usize, const ALPHA: bool>(&mut self, row: &[u8]) {
        let (sums, _) = self.sums.as_chunks_mut::<N>();
        let blocks = row.chunks_exact(self.block.0 * N);
        for ((block, sums), weights) in blocks.zip(sums).zip(&mut self.weights) {
            for pixel in block.as_chunks::<N>().0 {
                let weight = if ALPHA { u32::from(pixel[N - 1]) } else { 1 };
                if ALPHA {
                    *weights += weight;
                }
                for (sum, value) in sums.iter_mut().zip(pixel) {
                    *sum += u32::from(*value) * weight;
                }
            }
        }
    }

    /// Writes the averages and begins anew.
    fn emit(&mut self, to: &mut [u8]) {
        match self.channels {
            Channels::Grey => self.emit_row::<1, false>(to),
            Channels::GreyAlpha => self.emit_row::<2, true>(to),
            Channels::Rgb => self.emit_row::<3, false>(to),
            Channels::Rgba => self.emit_row::<4, true>(to),
        }
    }

    fn emit_row<const N: usize, const ALPHA: bool>(&mut self, to: &mut [u8]) {
        let count = (self.block.0 * self.block.1) as u32;
        let (pixels, _) = to.as_chunks_mut::<N>();
        let (sums, _) = self.sums.as_chunks_mut::<N>();
        for ((pixel, sums), weights) in pixels.iter_mut().zip(sums).zip(&mut self.weights) {
            let all = if ALPHA { *weights } else { count };
            *pixel = sums.map(|sum| (sum + all / 2).checked_div(all).unwrap_or(0) as u8);
            if ALPHA {
                pixel[N - 1] = ((all + count / 2) / count) as u8;
            }
            *sums = [0; N];
            *weights = 0;
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
        fn rows_that_arrive_one_by_one_give_the_same_picture(
            width in 1..70_u32, height in 1..70_u32, longest in 1..70_u32, seed in any::<u32>()
        ) {
            let picture = RgbaImage::from_fn(width, height, |x, y| {
                Rgba((x * 31 + y * 17 + 1).wrapping_mul(seed | 1).to_le_bytes())
            });
            let to = fitting(width, height, longest);
            let mut rows = Shrinking::new((width, height), to, Channels::Rgba);
            picture.as_raw().chunks_exact(width as usize * 4).for_each(|row| rows.push(row));
            prop_assert_eq!(rows.finish(), shrink(picture.into(), to.0, to.1));
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
            prop_assert!(small.pixels().all(|pixel| pixel[0].abs_diff(grey) <= 1));
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
