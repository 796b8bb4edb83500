//! The logo of a nonprofit that has none: up to two initials on a quiet ground.

use super::{palette, svg};
use std::fmt::Write;

const SIDE: u32 = 480;

/// A square picture as standalone SVG; the same name and seed always give the same picture.
pub fn logo_svg(name: &str, seed: u128) -> String {
    let scheme = palette::scheme_of(seed);
    let initials = initials(name);
    let (size, spacing) = if initials.chars().count() > 1 {
        (200, 4)
    } else {
        (236, 0)
    };
    let mut out = String::with_capacity(1_024);
    svg::open(&mut out, SIDE, SIDE, name);
    // Writing to a String cannot fail. Text is set on the line of its capitals: not every viewer knows
    // dominant-baseline.
    let _ = write!(
        out,
        concat!(
            r#"<rect width="480" height="480" fill="{ground}"/>"#,
            r#"{shade}<text x="{x}" y="{y}" fill="{ink}" font-family="Helvetica Neue, Helvetica, Arial, "#,
            r#"Liberation Sans, DejaVu Sans, sans-serif" font-size="{size}" font-weight="600" "#,
            r#"letter-spacing="{spacing}" text-anchor="middle">"#
        ),
        ground = scheme.ground,
        shade = shade(seed, scheme),
        x = 240 + spacing / 2,
        y = 240 + size * 36 / 100,
        ink = scheme.ink,
        size = size,
        spacing = spacing,
    );
    svg::push_escaped(&mut out, &initials);
    out.push_str("</text></svg>\n");
    out
}

/// One large corner shape in the deeper colour, so that two bodies of one colour still differ.
fn shade(seed: u128, scheme: palette::Scheme) -> String {
    let bits = palette::mixed(seed ^ 0x5ee_d0f);
    let (x, y) = [(0, 0), (480, 0), (480, 480), (0, 480)][(bits & 3) as usize];
    let radius = 200 + (bits >> 2) % 180;
    format!(
        r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{}" fill-opacity=".55"/>"#,
        scheme.deep
    )
}

/// The first letters of the first two words that say something; of one word, its first letter.
fn initials(name: &str) -> String {
    let telling = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_small = [
            "the", "of", "and", "for", "a", "an", "in", "at", "on", "to", "de", "la", "inc",
        ]
        .iter()
        .any(|small| word.eq_ignore_ascii_case(small));
        !word.is_empty() && !is_small
    };
    let first_letter = |word: &str| word.chars().find(|c| c.is_alphanumeric());
    let mut letters = name
        .split_whitespace()
        .filter(telling)
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
    fn initials_skip_the_words_that_say_nothing() {
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
    fn a_name_cannot_break_out_of_the_picture() {
        let svg = logo_svg("</title><script>alert(1)</script>", 7);
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;"));
    }

    proptest! {
        #[test]
        fn every_logo_is_small_and_stands_alone(name in any::<String>(), seed in any::<u128>()) {
            let svg = logo_svg(&name, seed);
            prop_assert!(svg.len() < 4_096);
            prop_assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
            prop_assert_eq!(svg.matches("<title>").count(), 1);
            prop_assert!(!svg.contains("href=") && !svg.contains("<script"));
            prop_assert_eq!(logo_svg(&name, seed), svg);
        }
    }
}
