//! Draws the logo of a nonprofit that has none: up to two initials on a colored background.

use super::font::{FONT, Font, HEADING_FONT};
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
    let mut out = String::with_capacity(2_048);
    svg::open(&mut out, SIDE, SIDE, name);
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        out,
        r#"<rect width="480" height="480" fill="{}"/>"#,
        scheme.background
    );
    push_backdrop(&mut out, seed, scheme);
    match [&HEADING_FONT, &FONT]
        .into_iter()
        .find(|font| initials.chars().all(|c| font.has_glyph(c)))
    {
        Some(font) => push_outlines(&mut out, font, &initials, scheme),
        None => push_text(&mut out, &initials, scheme),
    }
    out.push_str("</svg>\n");
    out
}

/// Draws one large, calm shape behind the letters, so that two logos of the same color still differ.
fn push_backdrop(out: &mut String, seed: u128, scheme: ColorScheme) {
    let bits = mix_seed(seed ^ 0x5ee_d0f);
    let offset = (bits >> 8) % 60;
    let _ = match bits % 4 {
        0 => write!(
            out,
            r#"<circle cx="480" cy="480" r="{}" fill="{}" fill-opacity=".5"/>"#,
            300 + offset,
            scheme.dark
        ),
        1 => write!(
            out,
            r#"<path d="M0 {y}C160 {top} 320 {top} 480 {y}V480H0Z" fill="{}" fill-opacity=".5"/>"#,
            scheme.dark,
            y = 330 + offset,
            top = 250 + offset
        ),
        2 => write!(
            out,
            r#"<circle cx="240" cy="240" r="{}" fill="none" stroke="{}" stroke-opacity=".55" stroke-width="10"/>"#,
            190 + offset / 4,
            scheme.light
        ),
        _ => write!(
            out,
            r#"<circle cx="0" cy="0" r="{}" fill="{}" fill-opacity=".35"/>"#,
            280 + offset,
            scheme.light
        ),
    };
}

/// Draws letters as outlines, which look the same everywhere, centered by what is visible of them.
fn push_outlines(out: &mut String, font: &Font, initials: &str, scheme: ColorScheme) {
    let letters: Vec<char> = initials.chars().collect();
    let extent = |c: char| font.horizontal_extent(c).unwrap_or((0.0, 0.0));
    let tracking = font.cap_height() * 0.04;
    let mut origins = Vec::with_capacity(letters.len());
    let mut x = 0.0;
    for c in &letters {
        origins.push(x);
        x += font.advance_units(*c) + tracking;
    }
    let (Some(first), Some(last), Some(end)) = (letters.first(), letters.last(), origins.last()) else {
        return;
    };
    let (left, right) = (extent(*first).0, end + extent(*last).1);
    let height = if letters.len() > 1 { 164.0 } else { 204.0 };
    let scale = (height / font.cap_height()).min(316.0 / (right - left).max(1.0));
    let center = SIDE as f32 / 2.0;
    let baseline = center + font.cap_height() * scale / 2.0;
    out.push_str("<path d=\"");
    for (c, origin) in letters.iter().zip(origins) {
        let x = center + (origin - f32::midpoint(left, right)) * scale;
        font.push_svg_path(*c, scale, (x, baseline), out);
    }
    let _ = write!(out, "\" fill=\"{}\"/>", scheme.text);
}

/// Writes letters that no embedded font has. The baseline is computed, because not every viewer supports
/// dominant-baseline.
fn push_text(out: &mut String, initials: &str, scheme: ColorScheme) {
    let _ = write!(
        out,
        concat!(
            r#"<text x="240" y="312" fill="{}" font-family="Georgia, Noto Serif, serif" font-size="200" "#,
            r#"font-weight="600" text-anchor="middle">"#
        ),
        scheme.text
    );
    svg::push_escaped(out, initials);
    out.push_str("</text>");
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
    fn letters_are_outlines_if_a_font_has_them_and_text_otherwise() {
        for (name, is_outline) in [
            ("American Red Cross", true),
            ("Égalité", true),
            ("Дом", true),
            ("東京", false),
        ] {
            let svg = logo_svg(name, 3);
            assert_eq!(svg.contains("<path d=\"M"), is_outline, "{name}");
            assert_eq!(svg.contains("<text"), !is_outline, "{name}");
        }
    }

    #[test]
    fn the_letters_of_a_logo_stay_inside_of_it() {
        for name in ["WW", "Wide Waters", "M M", "I I", "J Q", "Ø"] {
            let svg = logo_svg(name, 7);
            let outline = svg
                .rsplit_once("<path d=\"")
                .unwrap()
                .1
                .split('"')
                .next()
                .unwrap();
            let numbers = outline.split(|c: char| c.is_ascii_uppercase() || c == ' ');
            for number in numbers.filter(|number| !number.is_empty()) {
                let value: f32 = number.parse().unwrap();
                assert!((60.0..=420.0).contains(&value), "{name}: {value}");
            }
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
