//! What generated pictures share as SVG: they stand alone, load nothing, and carry a title for those who cannot see.

use std::fmt::Write;

const LONGEST_TITLE: usize = 120;

/// Opens a picture of this size with its title.
pub fn open(svg: &mut String, width: u32, height: u32, title: &str) {
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"><title>"#
    );
    push_escaped(svg, cut(title, LONGEST_TITLE));
    svg.push_str("</title>");
}

/// Writes text into an element: marks are escaped, what XML forbids is left out.
pub fn push_escaped(svg: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => svg.push_str("&amp;"),
            '<' => svg.push_str("&lt;"),
            '>' => svg.push_str("&gt;"),
            '"' => svg.push_str("&quot;"),
            '\'' => svg.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => svg.push(c),
        }
    }
}

/// The first `max_chars` characters of `text`, or all of it.
fn cut(text: &str, max_chars: usize) -> &str {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_cannot_leave_its_element() {
        let mut svg = String::new();
        push_escaped(&mut svg, "<a href='x'>&\u{0}\u{ffff}</a>");
        assert_eq!(svg, "&lt;a href=&#39;x&#39;&gt;&amp;&lt;/a&gt;");
    }

    #[test]
    fn a_picture_says_its_size_and_its_title() {
        let mut svg = String::new();
        open(&mut svg, 30, 10, "A & B");
        assert!(svg.contains(r#"viewBox="0 0 30 10""#) && svg.ends_with("<title>A &amp; B</title>"));
    }
}
