//! Making a picture smaller without a second copy of it.
//!
//! First whole blocks of pixels are averaged in place, which takes no memory beyond the picture; then the small rest
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Channels {
    Grey,
    GreyAlpha,
    Rgb,
    Rgba,
}

/// The same picture in a size that is not larger, with eight bits a channel.
pub fn shrink(picture: DynamicImage, width: u32, height: u32) -> DynamicImage {
    let mut pixels = Pixels::new(picture);
    if (pixels.width, pixels.height) != (width, height) {
        pixels.average(pixels.width / width, pixels.height / height);
        pixels = pixels.resample(width, height);
    }
    pixels.picture()
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

    /// Makes one pixel of each block, in place. Columns and rows that fill no block are left out.
    fn average(&mut self, across: u32, down: u32) {
        if across <= 1 && down <= 1 {
            return;
        }
        let block = (across.max(1) as usize, down.max(1) as usize);
        let size = (self.width as usize, self.height as usize);
        match self.channels {
            Channels::Grey => average_blocks::<1, false>(&mut self.data, size, block),
            Channels::GreyAlpha => average_blocks::<2, true>(&mut self.data, size, block),
            Channels::Rgb => average_blocks::<3, false>(&mut self.data, size, block),
            Channels::Rgba => average_blocks::<4, true>(&mut self.data, size, block),
        }
        self.width = (size.0 / block.0) as u32;
        self.height = (size.1 / block.1) as u32;
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
        let (width, height, data) = (self.width, self.height, self.data);
        let picture = match self.channels {
            Channels::Grey => GrayImage::from_raw(width, height, data).map(DynamicImage::from),
            Channels::GreyAlpha => GrayAlphaImage::from_raw(width, height, data).map(DynamicImage::from),
            Channels::Rgb => RgbImage::from_raw(width, height, data).map(DynamicImage::from),
            Channels::Rgba => RgbaImage::from_raw(width, height, data).map(DynamicImage::from),
        };
        picture.expect("the pixels fill the picture")
    }
}

impl Channels {
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

/// The pixel that is written never lies behind those that are still to be read.
fn average_blocks<const N: usize, const ALPHA: bool>(
    data: &mut [u8],
    (width, height): (usize, usize),
    (across, down): (usize, usize),
) {
    let mut written = 0;
    for top in 0..height / down {
        for left in 0..width / across {
            let mut sums = [0_u32; N];
            let mut weights = 0;
            for row in top * down..(top + 1) * down {
                let start = (row * width + left * across) * N;
                for pixel in data[start..start + across * N].as_chunks::<N>().0 {
                    let weight = if ALPHA { u32::from(pixel[N - 1]) } else { 1 };
                    weights += weight;
                    for (sum, value) in sums.iter_mut().zip(pixel) {
                        *sum += u32::from(*value) * weight;
                    }
                }
            }
            let count = (across * down) as u32;
            let mut pixel = sums.map(|sum| (sum + weights / 2).checked_div(weights).unwrap_or(0) as u8);
            if ALPHA {
                pixel[N - 1] = ((weights + count / 2) / count) as u8;
            }
            data[written..written + N].copy_from_slice(&pixel);
            written += N;
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
