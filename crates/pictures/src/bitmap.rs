//! Decoded pictures with eight bits per channel.

use crate::orientation::Orientation;

/// The meaning of the bytes of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channels {
    Gray,
    GrayAlpha,
    Rgb,
    Rgba,
}

/// A picture in memory, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bitmap {
    pub width: u32,
    pub height: u32,
    pub channels: Channels,
    pub pixels: Vec<u8>,
}

impl Channels {
    /// Returns the number of bytes per pixel.
    pub(crate) fn count(self) -> usize {
        match self {
            Channels::Gray => 1,
            Channels::GrayAlpha => 2,
            Channels::Rgb => 3,
            Channels::Rgba => 4,
        }
    }
}

impl Bitmap {
    /// Creates a picture from the pixels of a `(width, height)` rectangle.
    pub(crate) fn new((width, height): (u32, u32), channels: Channels, pixels: Vec<u8>) -> Bitmap {
        assert_eq!(
            pixels.len(),
            width as usize * height as usize * channels.count(),
            "the pixels must fill the picture"
        );
        Bitmap {
            width,
            height,
            channels,
            pixels,
        }
    }

    /// Returns red, green, blue and opacity between pixels, in proportion to their distance. Outside of the picture, its edge
    /// goes on.
    pub(crate) fn sample(&self, x: f64, y: f64) -> [u8; 4] {
        let clamp = |at: f64, size: u32| at.clamp(0.0, f64::from(size - 1));
        let (x, y) = (clamp(x, self.width), clamp(y, self.height));
        let (left, top) = (x as u32, y as u32);
        let (right, bottom) = ((left + 1).min(self.width - 1), (top + 1).min(self.height - 1));
        let (to_right, to_bottom) = (x.fract(), y.fract());
        let rows = [(top, 1.0 - to_bottom), (bottom, to_bottom)];
        let columns = [(left, 1.0 - to_right), (right, to_right)];
        let mut sums = [0.0; 4];
        for (row, row_weight) in rows {
            for (column, column_weight) in columns {
                for (sum, value) in sums.iter_mut().zip(self.pixel(column, row)) {
                    *sum += f64::from(value) * row_weight * column_weight;
                }
            }
        }
        sums.map(|sum| sum.round() as u8)
    }

    fn pixel(&self, column: u32, row: u32) -> [u8; 4] {
        let size = self.channels.count();
        let start = (row as usize * self.width as usize + column as usize) * size;
        match self.pixels[start..start + size] {
            [gray] => [gray, gray, gray, u8::MAX],
            [gray, alpha] => [gray, gray, gray, alpha],
            [red, green, blue] => [red, green, blue, u8::MAX],
            [red, green, blue, alpha] => [red, green, blue, alpha],
            _ => [0; 4],
        }
    }

    /// Returns whether no pixel is transparent.
    pub(crate) fn is_opaque(&self) -> bool {
        match self.channels {
            Channels::Gray | Channels::Rgb => true,
            Channels::GrayAlpha => self
                .pixels
                .as_chunks::<2>()
                .0
                .iter()
                .all(|[_, alpha]| *alpha == u8::MAX),
            Channels::Rgba => {
                let (pixels, _) = self.pixels.as_chunks::<4>();
                pixels.iter().all(|[.., alpha]| *alpha == u8::MAX)
            }
        }
    }

    /// Returns the picture turned upright.
    pub(crate) fn oriented(self, orientation: Orientation) -> Bitmap {
        if orientation == Orientation::default() {
            return self;
        }
        let pixels = match self.channels {
            Channels::Gray => self.rearrange::<1>(orientation),
            Channels::GrayAlpha => self.rearrange::<2>(orientation),
            Channels::Rgb => self.rearrange::<3>(orientation),
            Channels::Rgba => self.rearrange::<4>(orientation),
        };
        let size = if orientation.swaps_axes {
            (self.height, self.width)
        } else {
            (self.width, self.height)
        };
        Bitmap::new(size, self.channels, pixels)
    }

    fn rearrange<const N: usize>(&self, orientation: Orientation) -> Vec<u8> {
        let (pixels, _) = self.pixels.as_chunks::<N>();
        let (width, height) = (self.width as usize, self.height as usize);
        let pixel = |x: usize, y: usize| {
            let x = if orientation.flips_x { width - 1 - x } else { x };
            let y = if orientation.flips_y { height - 1 - y } else { y };
            pixels[y * width + x]
        };
        let mut rearranged = Vec::with_capacity(self.pixels.len());
        if orientation.swaps_axes {
            for x in 0..width {
                for y in 0..height {
                    rearranged.extend_from_slice(&pixel(x, y));
                }
            }
        } else {
            for y in 0..height {
                for x in 0..width {
                    rearranged.extend_from_slice(&pixel(x, y));
                }
            }
        }
        rearranged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTERS: &[u8; 6] = b"abcdef";

    fn letters(flips_x: bool, flips_y: bool, swaps_axes: bool) -> (u32, u32, String) {
        let bitmap = Bitmap::new((3, 2), Channels::Gray, LETTERS.to_vec());
        let upright = bitmap.oriented(Orientation {
            flips_x,
            flips_y,
            swaps_axes,
        });
        let text = String::from_utf8(upright.pixels).unwrap();
        (upright.width, upright.height, text)
    }

    #[test]
    fn flips_keep_the_size_and_swapped_axes_swap_it() {
        assert_eq!(letters(false, false, false), (3, 2, "abcdef".to_owned()));
        assert_eq!(letters(true, false, false), (3, 2, "cbafed".to_owned()));
        assert_eq!(letters(false, true, false), (3, 2, "defabc".to_owned()));
        assert_eq!(letters(false, false, true), (2, 3, "adbecf".to_owned()));
        assert_eq!(letters(false, true, true), (2, 3, "daebfc".to_owned()));
    }

    #[test]
    fn a_sample_between_pixels_is_their_mean_and_edges_go_on() {
        let bitmap = Bitmap::new((2, 1), Channels::GrayAlpha, vec![0, 255, 100, 255]);
        for (x, expected) in [(-3.0, 0), (0.0, 0), (0.5, 50), (1.0, 100), (9.0, 100)] {
            assert_eq!(bitmap.sample(x, 0.4), [expected, expected, expected, 255]);
        }
    }

    #[test]
    fn one_transparent_pixel_makes_a_picture_transparent() {
        let mut bitmap = Bitmap::new((2, 1), Channels::GrayAlpha, vec![0, 255, 0, 255]);
        assert!(bitmap.is_opaque());
        bitmap.pixels[3] = 254;
        assert!(!bitmap.is_opaque());
    }
}
