//! QR codes, drawn as one path of an SVG.

use askama::Template;
use askama::filters::HtmlSafe;
use qrcode::{Color, EcLevel};
use std::fmt::Write;

/// The empty margin that scanners need, in modules.
const MARGIN: usize = 4;

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
        let code = qrcode::QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
        let width = code.width();
        let mut path = String::new();
        for (row, colors) in code.to_colors().chunks(width).enumerate() {
            for run in runs(colors) {
                let (x, y, length) = (run.start + MARGIN, row + MARGIN, run.len());
                // Writing to a String cannot fail.
                let _ = write!(path, "M{x} {y}h{length}v1h-{length}z");
            }
        }
        Some(QrCode {
            label,
            size: width + 2 * MARGIN,
            path,
        })
    }
}

/// Returns the ranges of dark modules in a row.
fn runs(colors: &[Color]) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, color) in colors.iter().enumerate() {
        match runs.last_mut() {
            _ if *color == Color::Light => {}
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dark_modules_become_rectangles_within_the_margin() {
        let code = QrCode::new("https://example.org", "Link <b>").unwrap();
        // The finder pattern in the top left corner: seven dark modules, then a light one.
        assert!(code.path.starts_with("M4 4h7v1h-7z"), "{}", code.path);
        assert_eq!(code.size, 25 + 2 * MARGIN);
        let svg = code.render().unwrap();
        assert!(
            svg.contains("role=\"img\"") && !svg.contains("<b>") && !svg.contains("style"),
            "{svg}"
        );
        assert!(QrCode::new(&"x".repeat(10_000), "Link").is_none());
    }
}
