//! Measures and draws the characters of the embedded font.
//!
//! Supports only what share cards need: text is not shaped, and each character is one glyph.

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use std::collections::HashMap;
use std::fmt::Write;
use std::io::Cursor;
use std::sync::LazyLock;
use truetype::tables::character_mapping::{CharacterMapping, Encoding};
use truetype::tables::glyph_data::{Arguments, Component, Description, Glyph, Options, SimpleDescription};
use truetype::tables::{
    FontHeader, GlyphMapping, HorizontalHeader, HorizontalMetrics, MaximumProfile, Offsets,
};
use truetype::tape::Read;
use truetype::{Error, GlyphID};

/// The font that has the most characters: Latin, Greek and Cyrillic. It draws texts for which the fonts of the site lack one.
pub(super) static FONT: LazyLock<Font> = LazyLock::new(|| {
    let data = include_bytes!("../../fonts/Roboto-Medium.ttf");
    Font::read(data).expect("the embedded font is valid")
});

/// The typeface of headings on pages, with the characters of Western languages.
pub(super) static HEADING_FONT: LazyLock<Font> = LazyLock::new(|| {
    let data = include_bytes!("../../fonts/Fraunces-SemiBold.ttf");
    Font::read(data).expect("the embedded font is valid")
});

/// The typeface of all other texts on pages, with the same characters.
pub(super) static TEXT_FONT: LazyLock<Font> = LazyLock::new(|| {
    let data = include_bytes!("../../fonts/Figtree-SemiBold.ttf");
    Font::read(data).expect("the embedded font is valid")
});

/// Returns a font of the site, or the one with more characters if it cannot draw a text.
pub(super) fn font_for(text: &str, own: &'static Font) -> &'static Font {
    if text.chars().all(|c| own.has_glyph(c)) {
        own
    } else {
        &FONT
    }
}

/// A TrueType font. Lengths in font units are scaled so that the distance from the highest to the lowest line of a glyph is
/// the font size.
pub(super) struct Font {
    data: &'static [u8],
    glyph_ids: HashMap<u32, GlyphID>,
    /// The start of each glyph in the data, followed by the end of the last one.
    glyph_positions: Vec<u64>,
    metrics: HorizontalMetrics,
    line_height: f32,
}

/// A piece of an outline in font units, with the y axis pointing up.
enum Curve {
    Line(Point, Point),
    Quadratic(Point, Point, Point),
}

impl Font {
    fn read(data: &'static [u8]) -> Result<Font, Error> {
        let mut tape = Cursor::new(data);
        let offsets: Offsets = tape.take()?;
        let position_of = |tag: &[u8; 4]| {
            let record = offsets.records.iter().find(|record| record.tag == *tag);
            record
                .map(|record| u64::from(record.offset))
                .ok_or_else(|| Error::other("the font lacks a table"))
        };
        tape.set_position(position_of(b"head")?);
        let font_header: FontHeader = tape.take()?;
        tape.set_position(position_of(b"maxp")?);
        let profile: MaximumProfile = tape.take()?;
        tape.set_position(position_of(b"hhea")?);
        let horizontal_header: HorizontalHeader = tape.take()?;
        tape.set_position(position_of(b"hmtx")?);
        let metrics: HorizontalMetrics = tape.take_given((&horizontal_header, &profile))?;
        tape.set_position(position_of(b"loca")?);
        let glyph_mapping: GlyphMapping = tape.take_given((&font_header, &profile))?;
        tape.set_position(position_of(b"cmap")?);
        let characters: CharacterMapping = tape.take()?;
        let glyphs = position_of(b"glyf")?;
        let glyph_positions = match glyph_mapping {
            GlyphMapping::HalfOffsets(offsets) => {
                let offsets = offsets.into_iter();
                offsets.map(|offset| glyphs + 2 * u64::from(offset)).collect()
            }
            GlyphMapping::Offsets(offsets) => {
                let offsets = offsets.into_iter();
                offsets.map(|offset| glyphs + u64::from(offset)).collect()
            }
        };
        let mut glyph_ids = HashMap::new();
        for encoding in &characters.encodings {
            match encoding {
                Encoding::Format4(encoding) => glyph_ids.extend(encoding.mapping::<u32>()),
                Encoding::Format12(encoding) => glyph_ids.extend(encoding.mapping::<u32>()),
                _ => {}
            }
        }
        Ok(Font {
            data,
            glyph_ids,
            glyph_positions,
            metrics,
            line_height: f32::from(horizontal_header.ascender) - f32::from(horizontal_header.descender),
        })
    }

    /// Returns whether the font has a glyph for a character.
    pub(super) fn has_glyph(&self, c: char) -> bool {
        self.glyph_id(c) != 0
    }

    /// Returns the distance from a character to the next one, in pixels.
    pub(super) fn advance(&self, c: char, size: f32) -> f32 {
        let (advance, _) = self.metrics.get(self.glyph_id(c));
        f32::from(advance) * size / self.line_height
    }

    /// Draws a character with its origin at `(x, y)`.
    ///
    /// Calls `plot` with the column, the row and the coverage of each pixel in the bounding box. The coverage is 0 outside of
    /// the glyph and 1 or more inside.
    pub(super) fn draw(&self, c: char, size: f32, (x, y): (f32, f32), mut plot: impl FnMut(i32, i32, f32)) {
        let mut curves = Vec::new();
        self.outline(self.glyph_id(c), &mut curves);
        let scale = size / self.line_height;
        let to_pixels = |at: Point| point(x + at.x * scale, y - at.y * scale);
        for curve in &mut curves {
            *curve = match curve {
                Curve::Line(start, end) => Curve::Line(to_pixels(*start), to_pixels(*end)),
                Curve::Quadratic(start, control, end) => {
                    Curve::Quadratic(to_pixels(*start), to_pixels(*control), to_pixels(*end))
                }
            };
        }
        let points = curves.iter().flat_map(|curve| match curve {
            Curve::Line(start, end) => [*start, *start, *end],
            Curve::Quadratic(start, control, end) => [*start, *control, *end],
        });
        let Some((min, max)) = points.map(|at| (at, at)).reduce(|(min, max), (at, _)| {
            (
                point(min.x.min(at.x), min.y.min(at.y)),
                point(max.x.max(at.x), max.y.max(at.y)),
            )
        }) else {
            return;
        };
        let origin = point(min.x.floor(), min.y.floor());
        let extent = point(max.x.ceil(), max.y.ceil()) - origin;
        let mut rasterizer = Rasterizer::new(extent.x as usize, extent.y as usize);
        for curve in curves {
            match curve {
                Curve::Line(start, end) => rasterizer.draw_line(start - origin, end - origin),
                Curve::Quadratic(start, control, end) => {
                    rasterizer.draw_quad(start - origin, control - origin, end - origin);
                }
            }
        }
        let (left, top) = (origin.x as i32, origin.y as i32);
        rasterizer.for_each_pixel_2d(|column, row, coverage| {
            plot(left + column as i32, top + row as i32, coverage);
        });
    }

    /// Returns the height of capital letters in font units.
    pub(super) fn cap_height(&self) -> f32 {
        self.extent('H').map_or(self.line_height, |(_, max)| max.y)
    }

    /// Returns the distance from a character to the next one in font units.
    pub(super) fn advance_units(&self, c: char) -> f32 {
        let (advance, _) = self.metrics.get(self.glyph_id(c));
        f32::from(advance)
    }

    /// Returns the horizontal extent of a character in font units, from its origin.
    pub(super) fn horizontal_extent(&self, c: char) -> Option<(f32, f32)> {
        self.extent(c).map(|(min, max)| (min.x, max.x))
    }

    fn extent(&self, c: char) -> Option<(Point, Point)> {
        let mut curves = Vec::new();
        self.outline(self.glyph_id(c), &mut curves);
        let ends = curves.iter().map(|curve| match curve {
            Curve::Line(_, end) | Curve::Quadratic(_, _, end) => *end,
        });
        ends.map(|at| (at, at)).reduce(|(min, max), (at, _)| {
            (
                point(min.x.min(at.x), min.y.min(at.y)),
                point(max.x.max(at.x), max.y.max(at.y)),
            )
        })
    }

    /// Appends the outline of a character with its origin at `(x, y)` to the `d` attribute of an SVG path.
    pub(super) fn push_svg_path(&self, c: char, scale: f32, (x, y): (f32, f32), path: &mut String) {
        let mut curves = Vec::new();
        self.outline(self.glyph_id(c), &mut curves);
        // A tenth of a pixel is precise enough.
        let tenths = |value: f32| (value * 10.0).round() / 10.0;
        let place = |at: Point| (tenths(x + at.x * scale), tenths(y - at.y * scale));
        let mut current = None;
        for curve in curves {
            let (Curve::Line(start, end) | Curve::Quadratic(start, _, end)) = curve;
            let (start, end) = (place(start), place(end));
            // Writing to a String cannot fail.
            if current != Some(start) {
                let _ = write!(path, "M{} {}", start.0, start.1);
            }
            let _ = match curve {
                Curve::Line(..) => write!(path, "L{} {}", end.0, end.1),
                Curve::Quadratic(_, control, _) => {
                    let control = place(control);
                    write!(path, "Q{} {} {} {}", control.0, control.1, end.0, end.1)
                }
            };
            current = Some(end);
        }
    }

    fn glyph_id(&self, c: char) -> GlyphID {
        self.glyph_ids.get(&u32::from(c)).copied().unwrap_or(0)
    }

    /// Appends the outline of a glyph, in font units.
    fn outline(&self, id: GlyphID, curves: &mut Vec<Curve>) {
        match self.glyph(id).map(|glyph| glyph.description) {
            Some(Description::Simple(simple)) => append_contours(&simple, curves),
            Some(Description::Composite(composite)) => {
                for component in composite.components {
                    let start = curves.len();
                    self.outline(component.glyph_id, curves);
                    for curve in &mut curves[start..] {
                        place_component(curve, &component);
                    }
                }
            }
            None => {}
        }
    }

    /// Reads a glyph; returns `None` for a blank one.
    fn glyph(&self, id: GlyphID) -> Option<Glyph> {
        let start = *self.glyph_positions.get(usize::from(id))?;
        let end = *self.glyph_positions.get(usize::from(id) + 1)?;
        let mut tape = Cursor::new(self.data);
        tape.set_position(start);
        (start < end).then(|| tape.take().ok())?
    }
}

/// Appends the contours of a glyph, each of which is a closed sequence of on-curve points and quadratic control points.
fn append_contours(glyph: &SimpleDescription, curves: &mut Vec<Curve>) {
    let (mut x, mut y) = (0.0, 0.0);
    let mut points = Vec::with_capacity(glyph.flags.len());
    for (flags, (dx, dy)) in glyph.flags.iter().zip(glyph.x.iter().zip(&glyph.y)) {
        x += f32::from(*dx);
        y += f32::from(*dy);
        points.push((point(x, y), flags.is_on_curve()));
    }
    let mut first = 0;
    for last in &glyph.end_points {
        let end = usize::from(*last) + 1;
        append_contour(&points[first..end], curves);
        first = end;
    }
}

fn append_contour(points: &[(Point, bool)], curves: &mut Vec<Curve>) {
    // A contour may begin with a control point; it then starts at the last point or halfway to it.
    let start = match points {
        [] => return,
        [(first, true), ..] => *first,
        [.., (last, true)] => *last,
        [(first, _), .., (last, _)] => middle(*first, *last),
        [(only, false)] => *only,
    };
    let mut current = start;
    let mut control: Option<Point> = None;
    for (at, is_on_curve) in points.iter().copied().chain([(start, true)]) {
        match (control, is_on_curve) {
            (None, true) => {
                curves.push(Curve::Line(current, at));
                current = at;
            }
            (None, false) => control = Some(at),
            (Some(previous), true) => {
                curves.push(Curve::Quadratic(current, previous, at));
                (current, control) = (at, None);
            }
            (Some(previous), false) => {
                // Between two control points lies an implied on-curve point.
                let implied = middle(previous, at);
                curves.push(Curve::Quadratic(current, previous, implied));
                (current, control) = (implied, Some(at));
            }
        }
    }
}

fn middle(one: Point, other: Point) -> Point {
    point(f32::midpoint(one.x, other.x), f32::midpoint(one.y, other.y))
}

/// Applies the scale and the offset of a component of a composite glyph.
fn place_component(curve: &mut Curve, component: &Component) {
    let [xx, xy, yx, yy] = match component.options {
        Options::None => [1.0, 0.0, 0.0, 1.0],
        Options::Scalar(scale) => [scale.into(), 0.0, 0.0, scale.into()],
        Options::Vector(x, y) => [x.into(), 0.0, 0.0, y.into()],
        Options::Matrix(xx, xy, yx, yy) => [xx, xy, yx, yy].map(f32::from),
    };
    let (dx, dy) = match component.arguments {
        Arguments::Offsets(x, y) => (f32::from(x), f32::from(y)),
        Arguments::Indices(..) => (0.0, 0.0),
    };
    let place = |at: &mut Point| {
        *at = point(at.x * xx + at.y * yx + dx, at.x * xy + at.y * yy + dy);
    };
    match curve {
        Curve::Line(start, end) => [start, end].into_iter().for_each(place),
        Curve::Quadratic(start, control, end) => [start, control, end].into_iter().for_each(place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the total coverage of a character and the area of its bounding box.
    fn ink(c: char) -> (f32, f32) {
        let (mut covered, mut area) = (0.0, 0.0);
        FONT.draw(c, 60.0, (5.3, 50.7), |_, _, coverage| {
            covered += coverage.min(1.0);
            area += 1.0;
        });
        (covered, area)
    }

    #[test]
    fn latin_greek_and_cyrillic_have_glyphs_and_other_scripts_do_not() {
        for c in "AZaz09 &éñßΩяїỹ€№…·".chars() {
            assert!(FONT.has_glyph(c), "{c}");
        }
        for c in "東م🎉\u{202e}".chars() {
            assert!(!FONT.has_glyph(c), "{c}");
        }
    }

    #[test]
    fn every_glyph_can_be_drawn_and_stays_in_its_bounding_box() {
        let mut drawn = 0;
        for id in FONT.glyph_ids.keys() {
            let Some(c) = char::from_u32(*id) else { continue };
            let (covered, area) = ink(c);
            assert!((0.0..=area).contains(&covered), "{c:?}: {covered} of {area}");
            drawn += u32::from(covered > 1.0);
        }
        assert!(drawn > 2_000, "{drawn}");
    }

    #[test]
    fn an_accented_letter_is_composed_of_its_parts() {
        let (e, _) = ink('e');
        let (acute, _) = ink('\u{b4}');
        let (composed, _) = ink('é');
        assert!((composed - e - acute).abs() < 2.0, "{composed} {e} {acute}");
    }

    #[test]
    fn texts_are_drawn_in_the_typefaces_of_the_site_if_these_have_all_characters() {
        for text in [
            "Food Bank",
            "$1,250.00 of $5,000.00 · 12 supporters",
            "Église “Côté” — Ñandú…",
        ] {
            for own in [&*HEADING_FONT, &*TEXT_FONT] {
                assert!(std::ptr::eq(font_for(text, own), own), "{text}");
            }
        }
        assert!(std::ptr::eq(font_for("Київ", &TEXT_FONT), &raw const *FONT));
    }

    #[test]
    fn initials_have_outlines_in_the_typeface_of_headings() {
        for c in ('A'..='Z').chain('0'..='9').chain("ÀÉÖØÞ".chars()) {
            assert!(HEADING_FONT.has_glyph(c), "{c}");
            let mut path = String::new();
            HEADING_FONT.push_svg_path(c, 0.1, (0.0, 100.0), &mut path);
            assert!(path.starts_with('M') && path.len() < 1_500, "{c}: {path}");
        }
        assert!(!HEADING_FONT.has_glyph('Ж'));
        assert!(HEADING_FONT.cap_height() > 0.0);
    }

    #[test]
    fn a_space_advances_without_drawing() {
        assert_eq!(ink(' '), (0.0, 0.0));
        assert!(FONT.advance(' ', 60.0) > 10.0);
    }
}
