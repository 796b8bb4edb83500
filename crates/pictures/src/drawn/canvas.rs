//! A picture to draw on: filled shapes and text, smooth at their edges.

use super::palette::Colour;
use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, Rgb, RgbImage};
use std::sync::LazyLock;

static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    let bytes = include_bytes!("../../fonts/Roboto-Medium.ttf");
    FontRef::try_from_slice(bytes).expect("the font that comes with the program can be read")
});

/// Has the font a picture for this letter?
pub fn can_draw(letter: char) -> bool {
    FONT.glyph_id(letter).0 != 0
}

/// How wide a text is, in pixels.
pub fn width(text: &str, size: f32) -> f32 {
    let font = FONT.as_scaled(PxScale::from(size));
    let mut last = None;
    let mut width = 0.0;
    for letter in text.chars() {
        let glyph = font.glyph_id(letter);
        width += last.map_or(0.0, |last| font.kern(last, glyph)) + font.h_advance(glyph);
        last = Some(glyph);
    }
    width
}

/// A rectangle by its corner and its size.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

#[derive(Debug)]
pub struct Canvas(RgbImage);

impl Canvas {
    pub fn new(width: u32, height: u32, ground: Colour) -> Canvas {
        Canvas(RgbImage::from_pixel(width, height, rgb(ground)))
    }

    pub fn circle(&mut self, (x, y): (f32, f32), radius: f32, colour: Colour) {
        let (width, height) = self.0.dimensions();
        let range = |middle: f32, end: u32| {
            let first = (middle - radius - 1.0).clamp(0.0, end as f32) as u32;
            first..(middle + radius + 2.0).clamp(0.0, end as f32) as u32
        };
        for row in range(y, height) {
            for column in range(x, width) {
                let (right, down) = (column as f32 + 0.5 - x, row as f32 + 0.5 - y);
                self.blend(column, row, colour, radius + 0.5 - right.hypot(down));
            }
        }
    }

    /// A bar with round ends.
    pub fn bar(&mut self, area: Area, colour: Colour) {
        let Area { x, y, width, height } = area;
        let radius = height / 2.0;
        let width = width.max(height);
        let (picture_width, picture_height) = self.0.dimensions();
        for row in y as u32..((y + height).ceil() as u32).min(picture_height) {
            for column in x as u32..((x + width).ceil() as u32).min(picture_width) {
                let (across, down) = (column as f32 + 0.5, row as f32 + 0.5);
                let nearest = across.clamp(x + radius, x + width - radius);
                let distance = (across - nearest).hypot(down - y - radius);
                self.blend(column, row, colour, radius + 0.5 - distance);
            }
        }
    }

    /// One line of text on the line `y`, from `x` on.
    pub fn text(&mut self, text: &str, (mut x, y): (f32, f32), size: f32, colour: Colour) {
        let font = FONT.as_scaled(PxScale::from(size));
        let mut last = None;
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            x += last.map_or(0.0, |last| font.kern(last, id));
            let glyph = id.with_scale_and_position(PxScale::from(size), point(x, y));
            if let Some(outline) = FONT.outline_glyph(glyph) {
                let bounds = outline.px_bounds();
                outline.draw(|right, down, coverage| {
                    let (column, row) = (bounds.min.x + right as f32, bounds.min.y + down as f32);
                    if column >= 0.0 && row >= 0.0 {
                        self.blend(column as u32, row as u32, colour, coverage);
                    }
                });
            }
            x += font.h_advance(id);
            last = Some(id);
        }
    }

    /// Lays a colour over one pixel; what is outside the picture is not drawn.
    fn blend(&mut self, column: u32, row: u32, colour: Colour, coverage: f32) {
        let coverage = coverage.clamp(0.0, 1.0);
        let Some(pixel) = self.0.get_pixel_mut_checked(column, row) else {
            return;
        };
        for (part, over) in pixel.0.iter_mut().zip(rgb(colour).0) {
            let mixed = f32::from(*part) * (1.0 - coverage) + f32::from(over) * coverage;
            *part = mixed.round() as u8;
        }
    }

    /// The picture as a PNG.
    pub fn encoded(&self) -> image::ImageResult<Vec<u8>> {
        let mut png = Vec::new();
        let (width, height) = self.0.dimensions();
        PngEncoder::new_with_quality(&mut png, CompressionType::Default, FilterType::NoFilter).write_image(
            self.0.as_raw(),
            width,
            height,
            ExtendedColorType::Rgb8,
        )?;
        Ok(png)
    }
}

fn rgb(Colour(rgb): Colour) -> Rgb<u8> {
    let [_, red, green, blue] = rgb.to_be_bytes();
    Rgb([red, green, blue])
}
