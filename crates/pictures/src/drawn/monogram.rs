//! Draws the logo of a nonprofit that has none: up to two initials on a colored background.

use super::palette::{ColorScheme, mix_seed, scheme_for};
use super::svg;
use std::fmt::Write;

const SIDE: u32 = 480;

/// Words that do not get an initial.
const STOP_WORDS: [&str; 13] = [
    "the", "of", "and", "for", "a", "an", "in", "at", "on", "to", "de", "la", "inc",
];

/// Returns a square logo as an SVG document. The same name and seed always give the same picture.
pub fn logo_svg(name: &str, seed: u128) -> String {
    let scheme = scheme_for(seed);
    let initials = initials(name);
    let (font_size, letter_spacing) = if initials.chars().count() > 1 {
        (200, 4)
    } else {
        (236, 0)
    };
    let mut out = String::with_capacity(1_024);
    svg::open(&mut out, SIDE, SIDE, name);
    // Writing to a String cannot fail. The baseline is computed, because not every viewer supports dominant-baseline.
    let _ = write!(
        out,
        concat!(
            r#"<rect width="480" height="480" fill="{background}"/>"#,
            r#"{corner}<text x="{x}" y="{y}" fill="{text}" font-family="Helvetica Neue, Helvetica, Arial, "#,
            r#"Liberation Sans, DejaVu Sans, sans-serif" font-size="{font_size}" font-weight="600" "#,
            r#"letter-spacing="{letter_spacing}" text-anchor="middle">"#
        ),
        background = scheme.background,
        corner = corner(seed, scheme),
        x = 240 + letter_spacing / 2,
        y = 240 + font_size * 36 / 100,
        text = scheme.text,
        font_size = font_size,
        letter_spacing = letter_spacing,
    );
    svg::push_escaped(&mut out, &initials);
    out.push_str("</text></svg>\n");
    out
}

/// Draws a large circle in one of the corners, so that two logos of the same color still differ.
fn corner(seed: u128, scheme: ColorScheme) -> String {
    let bits = mix_seed(seed ^ 0x5ee_d0f);
    let (x, y) = [(0, 0), (480, 0), (480, 480), (0, 480)][(bits & 3) as usize];
    let radius = 200 + (bits >> 2) % 180;
    format!(
        r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{}" fill-opacity=".55"/>"#,
        scheme.dark
    )
}

/// Returns the initials of the first two words that are not stop words, or the first letter if there are none.
fn initials(name: &str) -> String {
    let is_significant = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_stop_word = STOP_WORDS.iter().any(|other| word.eq_ignore_ascii_case(other));
        !word.is_empty() && !is_stop_word
    };
    let first_letter = |word: &str| word.chars().find(|c| c.is_alphanumeric());
    let mut letters = name
        .split_whitespace()
        .filter(is_significant)
        .filter_map(first_letter)
        .take(2)
        .peekable();
    if letters.peek().is_none() {
        return first_letter(name).map_or_else(|| "·".to_owned(), |c| c.to_uppercase().collect());
    }
    letters.flat_map(char::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn initials_skip_stop_words() {
        for (name, expected) in [
            ("The Museum of Modern Art", "MM"),
            ("American National Red Cross", "AN"),
            ("UNICEF", "U"),
            ("(RED)", "R"),
            ("Friends of the Library", "FL"),
            ("The", "T"),
            ("église de dieu", "ÉD"),
            ("", "·"),
            ("4-H Club", "4C"),
        ] {
            assert_eq!(initials(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_cannot_inject_markup() {
        let svg = logo_svg("</title><script>alert(1)</script>", 7);
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;"));
    }

    proptest! {
        #[test]
        fn every_logo_is_small_and_self_contained(name in any::<String>(), seed in any::<u128>()) {
            let svg = logo_svg(&name, seed);
            prop_assert!(svg.len() < 4_096);
            prop_assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
            prop_assert_eq!(svg.matches("<title>").count(), 1);
            prop_assert!(!svg.contains("href=") && !svg.contains("<script"));
            prop_assert_eq!(logo_svg(&name, seed), svg);
        }
    }
}
