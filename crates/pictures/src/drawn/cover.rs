//! Draws the cover of a nonprofit, cause or fundraiser that has none: a sun above hills.

use super::palette::{ColorScheme, mix_seed, scheme_for};
use super::svg;
use std::fmt::Write;

const WIDTH: u32 = 1_200;
const HEIGHT: u32 = 400;

/// Returns a cover of 1,200 × 400 pixels as an SVG document. The same name and seed always give the same picture.
pub fn cover_svg(name: &str, seed: u128) -> String {
    let scheme = scheme_for(seed);
    let mut random = Random(mix_seed(seed ^ 0xc0_4e5));
    let mut out = String::with_capacity(2_048);
    svg::open(&mut out, WIDTH, HEIGHT, name);
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        out,
        r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="{}"/>"#,
        scheme.light
    );
    push_sun(&mut out, &mut random, scheme);
    let layers = 3 + random.below(2);
    for layer in 0..layers {
        push_hills(&mut out, &mut random, scheme, layer, layers);
    }
    out.push_str("</svg>\n");
    out
}

/// Draws a disc with two rings around it in the upper half.
fn push_sun(out: &mut String, random: &mut Random, scheme: ColorScheme) {
    let x = 150 + random.below(900);
    let y = 70 + random.below(90);
    let radius = 34 + random.below(30);
    for (ring, opacity) in [(3, ".10"), (2, ".16"), (1, ".85")] {
        let r = radius * ring;
        let _ = write!(
            out,
            r#"<circle cx="{x}" cy="{y}" r="{r}" fill="{}" fill-opacity="{opacity}"/>"#,
            scheme.accent
        );
    }
}

/// Draws a range of hills as a smooth line through five heights. Later layers are lower and darker.
fn push_hills(out: &mut String, random: &mut Random, scheme: ColorScheme, layer: u32, layers: u32) {
    let base = 150 + 210 * (layer + 1) / (layers + 1);
    let amplitude = 90 - 14 * layer;
    let step = WIDTH / 4;
    let mut random_height = || base - amplitude / 2 + random.below(amplitude);
    let mut y = random_height();
    let _ = write!(out, r#"<path d="M0 {HEIGHT}V{y}"#);
    for segment in 0..4 {
        let (start, next_y) = (segment * step, random_height());
        let _ = write!(
            out,
            "C{} {y} {} {next_y} {} {next_y}",
            start + step / 2,
            start + step / 2,
            start + step
        );
        y = next_y;
    }
    let (fill, opacity) = if layer + 1 == layers {
        (scheme.dark, "1")
    } else {
        (scheme.background, [".45", ".7", ".9"][layer as usize % 3])
    };
    let _ = write!(out, r#"V{HEIGHT}Z" fill="{fill}" fill-opacity="{opacity}"/>"#);
}

/// A SplitMix64 random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix_seed(u128::from(self.0)) % u64::from(end)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn covers_of_different_seeds_differ() {
        let covers: HashSet<String> = (0..500).map(|seed| cover_svg("", seed)).collect();
        assert_eq!(covers.len(), 500);
    }

    proptest! {
        #[test]
        fn every_cover_is_small_and_self_contained(name in any::<String>(), seed in any::<u128>()) {
            let svg = cover_svg(&name, seed);
            prop_assert!(svg.len() < 4_096);
            prop_assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
            prop_assert!(!svg.contains("href=") && !svg.contains("<script"));
            prop_assert_eq!(cover_svg(&name, seed), svg);
        }
    }
}
