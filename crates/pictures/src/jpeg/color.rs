//! Converts the planes of a JPEG to the pixels of a picture.

use super::frame::Frame;
use super::plane::Plane;
use crate::bitmap::{Bitmap, Channels};

/// The color space of a JPEG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColorSpace {
    Gray,
    Rgb,
    YCbCr,
    /// Inverted components hold the light that is left rather than the amount of ink.
    Cmyk {
        is_inverted: bool,
    },
    Ycck {
        is_inverted: bool,
    },
}

impl ColorSpace {
    /// Detects the color space from the components and the color transform named by an Adobe segment.
    pub(super) fn detect(frame: &Frame, adobe_transform: Option<u8>, has_jfif: bool) -> ColorSpace {
        let ids: Vec<u8> = frame.components.iter().map(|component| component.id).collect();
        match (ids.len(), adobe_transform) {
            (1, _) => ColorSpace::Gray,
            (3, Some(0)) => ColorSpace::Rgb,
            (3, None) if !has_jfif && ids == *b"RGB" => ColorSpace::Rgb,
            (3, _) => ColorSpace::YCbCr,
            (_, Some(2)) => ColorSpace::Ycck { is_inverted: true },
            (_, adobe_transform) => ColorSpace::Cmyk {
                is_inverted: adobe_transform.is_some(),
            },
        }
    }

    /// Combines the planes, whose sizes may differ, into a picture.
    pub(super) fn to_bitmap(self, planes: Vec<Plane>, target: (u32, u32)) -> Bitmap {
        if let (ColorSpace::Gray, [_]) = (self, &planes[..]) {
            let pixels = planes.into_iter().flat_map(|plane| plane.pixels).collect();
            return Bitmap::new(target, Channels::Gray, pixels);
        }
        let width = target.0 as usize;
        let mut pixels = vec![0; width * target.1 as usize * 3];
        let mut upsamplers: Vec<Upsampler> =
            planes.iter().map(|plane| Upsampler::new(plane, target)).collect();
        for (y, row) in (0..target.1).zip(pixels.chunks_exact_mut(width * 3)) {
            for upsampler in &mut upsamplers {
                upsampler.move_to_row(y);
            }
            let (row, _) = row.as_chunks_mut::<3>();
            match &upsamplers[..] {
                [one, two, three] => self.convert_three(row, [one.row(), two.row(), three.row()]),
                [one, two, three, black] => {
                    self.convert_four(row, [one.row(), two.row(), three.row()], black.row());
                }
                _ => {}
            }
        }
        Bitmap::new(target, Channels::Rgb, pixels)
    }

    fn convert_three(self, row: &mut [[u8; 3]], [one, two, three]: [&[u8]; 3]) {
        let values = one.iter().zip(two).zip(three);
        for (pixel, ((one, two), three)) in row.iter_mut().zip(values) {
            *pixel = match self {
                ColorSpace::YCbCr => ycbcr_to_rgb(*one, *two, *three),
                _ => [*one, *two, *three],
            };
        }
    }

    fn convert_four(self, row: &mut [[u8; 3]], colors: [&[u8]; 3], black: &[u8]) {
        self.convert_three(row, colors);
        let (is_ycck, is_inverted) = match self {
            ColorSpace::Ycck { is_inverted } => (true, is_inverted),
            ColorSpace::Cmyk { is_inverted } => (false, is_inverted),
            _ => return,
        };
        for (pixel, black) in row.iter_mut().zip(black) {
            let [one, two, three] = *pixel;
            let inks = if is_ycck {
                ycbcr_to_rgb(one, two, three)
            } else {
                *pixel
            };
            let light = |ink: u8| if is_inverted { ink } else { u8::MAX - ink };
            let black = u16::from(light(*black));
            *pixel = inks.map(|ink| ((u16::from(light(ink)) * black + 127) / 255) as u8);
        }
    }
}

/// Converts a pixel with 16 fraction bits (ITU-T T.871, section 7).
#[inline]
fn ycbcr_to_rgb(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    let (y, cb, cr) = (
        (i32::from(y) << 16) + (1 << 15),
        i32::from(cb) - 128,
        i32::from(cr) - 128,
    );
    let rgb = [y + 91_881 * cr, y - 22_554 * cb - 46_802 * cr, y + 116_130 * cb];
    rgb.map(|channel| (channel >> 16).clamp(0, 255) as u8)
}

/// Yields the rows of a plane in the target size, which may be larger: chroma often has half the resolution.
struct Upsampler<'a> {
    plane: &'a Plane,
    target: (u32, u32),
    /// For each output column, its two source columns and the weight of the second; empty if the plane has the target size.
    columns: Vec<Interpolation>,
    y: u32,
    output: Vec<u8>,
}

/// The two source positions around an output position, and the weight of the second in 256ths.
#[derive(Clone, Copy)]
struct Interpolation {
    first: u32,
    second: u32,
    weight: u16,
}

impl<'a> Upsampler<'a> {
    fn new(plane: &'a Plane, target: (u32, u32)) -> Upsampler<'a> {
        let columns = if plane.size == target {
            Vec::new()
        } else {
            (0..target.0)
                .map(|x| Interpolation::at(x, plane.extent.0, target.0, plane.size.0))
                .collect()
        };
        Upsampler {
            plane,
            target,
            output: vec![0; columns.len()],
            columns,
            y: 0,
        }
    }

    fn source_row(&self, y: u32) -> &'a [u8] {
        let width = self.plane.size.0 as usize;
        &self.plane.pixels[y as usize * width..][..width]
    }

    fn move_to_row(&mut self, y: u32) {
        self.y = y;
        if self.columns.is_empty() {
            return;
        }
        let rows = Interpolation::at(y, self.plane.extent.1, self.target.1, self.plane.size.1);
        let (upper, lower) = (self.source_row(rows.first), self.source_row(rows.second));
        let (lower_weight, upper_weight) = (u32::from(rows.weight), 256 - u32::from(rows.weight));
        let blend = |x: u32| {
            u32::from(upper[x as usize]) * upper_weight + u32::from(lower[x as usize]) * lower_weight
        };
        for (value, column) in self.output.iter_mut().zip(&self.columns) {
            let weight = u32::from(column.weight);
            let sum = blend(column.first) * (256 - weight) + blend(column.second) * weight;
            *value = ((sum + (1 << 15)) >> 16) as u8;
        }
    }

    fn row(&self) -> &[u8] {
        if self.columns.is_empty() {
            self.source_row(self.y)
        } else {
            &self.output
        }
    }
}

impl Interpolation {
    /// Maps one of `target_count` output positions to `source_count` source positions.
    ///
    /// The output covers `extent` of the source, in 256ths of a position.
    fn at(index: u32, extent: u32, target_count: u32, source_count: u32) -> Interpolation {
        let center = u64::from(2 * index + 1) * u64::from(extent) / u64::from(2 * target_count);
        let position = center.saturating_sub(128);
        let first = (position >> 8) as u32;
        Interpolation {
            first: first.min(source_count - 1),
            second: (first + 1).min(source_count - 1),
            weight: (position & 255) as u16,
        }
    }
}
