//! Draws antialiased shapes and text into a picture.

use super::font::Font;
use super::palette::Color;
use crate::bitmap::{Bitmap, Channels};
use crate::encode::{JPEG_QUALITY, encode_jpeg, encode_png};
use png::{Compression, EncodingError, Filter};

/// Returns the width of a text in pixels.
pub(super) fn text_width(text: &str, font: &Font, size: f32) -> f32 {
    text.chars().map(|c| font.advance(c, size)).sum()
}

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

/// A picture to draw on.
#[derive(Debug)]
pub(super) struct Canvas(Bitmap);

impl Canvas {
    /// Creates a canvas filled with one color.
    pub(super) fn new(width: u32, height: u32, background: Color) -> Canvas {
        let pixels = rgb(background).repeat(width as usize * height as usize);
        Canvas(Bitmap::new((width, height), Channels::Rgb, pixels))
    }

    pub(super) fn draw_circle(&mut self, (x, y): (f32, f32), radius: f32, color: Color) {
        let range = |center: f32, end: u32| {
            let first = (center - radius - 1.0).clamp(0.0, end as f32) as u32;
            first..(center + radius + 2.0).clamp(0.0, end as f32) as u32
        };
        for row in range(y, self.0.height) {
            for column in range(x, self.0.width) {
                let (dx, dy) = (column as f32 + 0.5 - x, row as f32 + 0.5 - y);
                self.blend(column, row, color, radius + 0.5 - dx.hypot(dy));
            }
        }
    }

    /// Draws a horizontal bar with round ends.
    pub(super) fn draw_bar(&mut self, area: Area, color: Color) {
        let Area { x, y, width, height } = area;
        let radius = height / 2.0;
        let width = width.max(height);
        for row in y as u32..((y + height).ceil() as u32).min(self.0.height) {
            for column in x as u32..((x + width).ceil() as u32).min(self.0.width) {
                let (center_x, center_y) = (column as f32 + 0.5, row as f32 + 0.5);
                let nearest_x = center_x.clamp(x + radius, x + width - radius);
                let distance = (center_x - nearest_x).hypot(center_y - y - radius);
                self.blend(column, row, color, radius + 0.5 - distance);
            }
        }
    }

    /// Draws one line of text that begins at `x` on the baseline `y`.
    pub(super) fn draw_text(
        &mut self,
        text: &str,
        (mut x, y): (f32, f32),
        (font, size): (&Font, f32),
        color: Color,
    ) {
        for c in text.chars() {
            font.draw(c, size, (x, y), |column, row, coverage| {
                if let (Ok(column), Ok(row)) = (column.try_into(), row.try_into()) {
                    self.blend(column, row, color, coverage);
                }
            });
            x += font.advance(c, size);
        }
    }

    /// Blends a color over a pixel; pixels outside of the picture are ignored.
    fn blend(&mut self, column: u32, row: u32, color: Color, coverage: f32) {
        if column >= self.0.width || row >= self.0.height {
            return;
        }
        let coverage = coverage.clamp(0.0, 1.0);
        let index = row as usize * self.0.width as usize + column as usize;
        let (pixels, _) = self.0.pixels.as_chunks_mut::<3>();
        for (below, above) in pixels[index].iter_mut().zip(rgb(color)) {
            let blended = f32::from(*below) * (1.0 - coverage) + f32::from(above) * coverage;
            *below = blended.round() as u8;
        }
    }

    /// Fills the top of the picture with a part of another one: the largest part with the proportions of the area, around the
    /// focus, which is in percent from the left and from the top. Transparent pixels show the background.
    pub(super) fn draw_cover(&mut self, cover: &Bitmap, height: u32, (focus_x, focus_y): (u8, u8)) {
        let width = self.0.width;
        let scale =
            (f64::from(width) / f64::from(cover.width)).max(f64::from(height) / f64::from(cover.height));
        let left = (f64::from(cover.width) - f64::from(width) / scale) * f64::from(focus_x) / 100.0;
        let top = (f64::from(cover.height) - f64::from(height) / scale) * f64::from(focus_y) / 100.0;
        for row in 0..height.min(self.0.height) {
            for column in 0..width {
                let at = |start: f64, index: u32| start + (f64::from(index) + 0.5) / scale - 0.5;
                let [red, green, blue, alpha] = cover.sample(at(left, column), at(top, row));
                let color = u32::from_be_bytes([0, red, green, blue]);
                self.blend(column, row, Color(color), f32::from(alpha) / 255.0);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn sample(&self, x: f64, y: f64) -> [u8; 4] {
        self.0.sample(x, y)
    }

    /// Encodes the picture as a JPEG, which suits photographs.
    pub(super) fn to_jpeg(&self) -> Option<Vec<u8>> {
        encode_jpeg(&self.0, JPEG_QUALITY).ok()
    }

    /// Encodes the picture as a PNG.
    pub(super) fn to_png(&self) -> Result<Vec<u8>, EncodingError> {
        // Filters do not pay off for large areas of a single color.
        encode_png(&self.0, Compression::Balanced, Filter::NoFilter)
    }
}

fn rgb(Color(rgb): Color) -> [u8; 3] {
    let [_, red, green, blue] = rgb.to_be_bytes();
    [red, green, blue]
}
