//! Writes the parts that all drawn SVGs share.
//!
//! Drawn SVGs load nothing from elsewhere, and have a title for people who cannot see them.

use std::fmt::Write;

const MAX_TITLE_CHARS: usize = 120;

/// Writes the opening tag of a picture and its title.
pub(super) fn open(svg: &mut String, width: u32, height: u32, title: &str) {
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"><title>"#
    );
    push_escaped(svg, truncate(title, MAX_TITLE_CHARS));
    svg.push_str("</title>");
}

/// Writes text into an element: markup is escaped, and characters that XML forbids are left out.
pub(super) fn push_escaped(svg: &mut String, text: &str) {
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

/// Returns the first `max_chars` characters of a text, or all of it.
fn truncate(text: &str, max_chars: usize) -> &str {
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
    fn a_picture_has_its_size_and_its_title() {
        let mut svg = String::new();
        open(&mut svg, 30, 10, "A & B");
        assert!(svg.contains(r#"viewBox="0 0 30 10""#) && svg.ends_with("<title>A &amp; B</title>"));
    }

    #[test]
    fn a_long_title_is_cut_between_characters() {
        assert_eq!(truncate("déjà", 2), "dé");
        assert_eq!(truncate("déjà", 4), "déjà");
        assert_eq!(truncate("", 4), "");
    }
}
