//! QR codes, drawn as one path of an SVG: part of a page, or a file of its own.
//!
//! They are always black on white, because many readers cannot read a code in inverted colors.

use askama::Template;
use askama::filters::HtmlSafe;
use qrcode::{Color, EcLevel};
use std::fmt::Write;

/// The empty modules around the code that the standard asks for.
const QUIET_ZONE: usize = 4;

/// A QR code. In a template, `{{ qr_code }}` renders it.
#[derive(Clone, Debug, Template)]
#[template(
    source = r##"<svg class="qr-code" viewBox="0 0 {{ size }} {{ size }}" role="img" aria-label="{{ label }}" xmlns="http://www.w3.org/2000/svg"><rect width="{{ size }}" height="{{ size }}" fill="#fff"/><path d="{{ path }}" fill="#000"/></svg>"##,
    ext = "html"
)]
pub struct QrCode {
    label: &'static str,
    size: usize,
    path: String,
}

impl HtmlSafe for QrCode {}

impl QrCode {
    /// Creates the QR code of a text. Returns `None` if the text is too long for one, which is about 2,300 bytes.
    pub fn new(text: &str, label: &'static str) -> Option<QrCode> {
        let (size, path) = draw(text)?;
        Some(QrCode { label, size, path })
    }
}

/// Returns an SVG file with the QR code of a text, or `None` if the text is too long for one.
pub fn svg_file(text: &str) -> Option<String> {
    let (size, path) = draw(text)?;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size} {size}\" width=\"512\" height=\"512\" \
         shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h{size}v{size}H0z\"/><path d=\"{path}\"/></svg>"
    ))
}

/// Returns the width of the drawing in modules, and a path with one rectangle for each run of dark modules.
fn draw(text: &str) -> Option<(usize, String)> {
    let code = qrcode::QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let (width, colors) = (code.width(), code.to_colors());
    let mut path = String::new();
    for (y, row) in colors.chunks(width).enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|one, next| one == next) {
            if run[0] == Color::Dark {
                let (left, top, length) = (x + QUIET_ZONE, y + QUIET_ZONE, run.len());
                // Writing to a String cannot fail.
                let _ = write!(path, "M{left} {top}h{length}v1h-{length}z");
            }
            x += run.len();
        }
    }
    Some((width + 2 * QUIET_ZONE, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the modules back from the path of the drawing.
    fn modules(svg: &str, size: usize) -> Vec<Vec<bool>> {
        let mut dark = vec![vec![false; size]; size];
        let path = svg
            .rsplit("<path d=\"")
            .next()
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        for run in path.split('z').filter(|run| !run.is_empty()) {
            let numbers: Vec<usize> = run
                .split(|letter: char| !letter.is_ascii_digit())
                .filter_map(|number| number.parse().ok())
                .collect();
            let [left, top, length, ..] = numbers[..] else {
                panic!("{run}")
            };
            dark[top][left..left + length].fill(true);
        }
        dark
    }

    #[test]
    fn the_drawing_has_the_modules_of_the_code_and_a_quiet_zone() {
        let text = "https://give.example.org/american-red-cross/f/spring-run";
        let code = qrcode::QrCode::with_error_correction_level(text, EcLevel::M).unwrap();
        let (width, colors) = (code.width(), code.to_colors());
        let size = width + 2 * QUIET_ZONE;
        let dark = modules(&svg_file(text).unwrap(), size);
        for (y, row) in dark.iter().enumerate() {
            for (x, is_dark) in row.iter().enumerate() {
                let inside = (QUIET_ZONE..size - QUIET_ZONE).contains(&x)
                    && (QUIET_ZONE..size - QUIET_ZONE).contains(&y);
                let expected = inside
                    && colors[(y - QUIET_ZONE.min(y)) * width + (x - QUIET_ZONE.min(x))] == Color::Dark;
                assert_eq!(*is_dark, expected, "{x} {y}");
            }
        }
    }

    #[test]
    fn a_text_that_is_too_long_has_no_code() {
        assert_eq!(svg_file(&"x".repeat(5_000)), None);
        assert!(QrCode::new(&"x".repeat(5_000), "Link").is_none());
    }

    #[test]
    fn a_code_in_a_page_has_an_escaped_label_and_no_style() {
        let svg = QrCode::new("https://example.org", "Link <b>")
            .unwrap()
            .render()
            .unwrap();
        assert!(
            svg.contains("role=\"img\"") && !svg.contains("<b>") && !svg.contains("style"),
            "{svg}"
        );
    }
}
