//! QR codes of pages, drawn as SVG.

use qrcode::{Color, EcLevel, QrCode};
use std::fmt::Write;

/// The empty modules around the code that the standard asks for.
const QUIET_ZONE: usize = 4;

/// Draws the QR code of a text, or returns `None` if the text is too long for one.
///
/// It is always black on white: many readers cannot read a code in inverted colors.
pub fn draw(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let (width, colors) = (code.width(), code.to_colors());
    let size = width + 2 * QUIET_ZONE;
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
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size} {size}\" width=\"512\" height=\"512\" \
         shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h{size}v{size}H0z\"/><path d=\"{path}\"/></svg>"
    ))
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
        let code = QrCode::with_error_correction_level(text, EcLevel::M).unwrap();
        let (width, colors) = (code.width(), code.to_colors());
        let size = width + 2 * QUIET_ZONE;
        let dark = modules(&draw(text).unwrap(), size);
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
        assert_eq!(draw(&"x".repeat(5_000)), None);
    }
}
