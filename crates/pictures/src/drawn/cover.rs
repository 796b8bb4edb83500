//! The cover of a nonprofit that has none: hills under a quiet sky, drawn from its seed.

use super::palette::{self, Scheme};
use super::svg;
use std::fmt::Write;

const WIDTH: u32 = 1_200;
const HEIGHT: u32 = 400;

/// A picture of 1200 by 400 as standalone SVG; the same seed always gives the same picture.
pub fn cover_svg(name: &str, seed: u128) -> String {
    let scheme = palette::scheme_of(seed);
    let mut dice = Dice(palette::mixed(seed ^ 0xc0_4e5));
    let mut out = String::with_capacity(2_048);
    svg::open(&mut out, WIDTH, HEIGHT, name);
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        out,
        r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="{}"/>"#,
        scheme.light
    );
    push_sun(&mut out, &mut dice, scheme);
    let layers = 3 + dice.below(2);
    for layer in 0..layers {
        push_hills(&mut out, &mut dice, scheme, layer, layers);
    }
    out.push_str("</svg>\n");
    out
}

/// A disc with two rings around it, somewhere in the upper half.
fn push_sun(out: &mut String, dice: &mut Dice, scheme: Scheme) {
    let x = 150 + dice.below(900);
    let y = 70 + dice.below(90);
    let radius = 34 + dice.below(30);
    for (ring, opacity) in [(3, ".10"), (2, ".16"), (1, ".85")] {
        let r = radius * ring;
        let _ = write!(
            out,
            r#"<circle cx="{x}" cy="{y}" r="{r}" fill="{}" fill-opacity="{opacity}"/>"#,
            scheme.accent
        );
    }
}

/// One range of hills: a smooth line through five heights, lower and darker toward the viewer.
fn push_hills(out: &mut String, dice: &mut Dice, scheme: Scheme, layer: u32, layers: u32) {
    let base = 150 + 210 * (layer + 1) / (layers + 1);
    let swing = 90 - 14 * layer;
    let step = WIDTH / 4;
    let mut height = || base - swing / 2 + dice.below(swing);
    let mut y = height();
    let _ = write!(out, r#"<path d="M0 {HEIGHT}V{y}"#);
    for segment in 0..4 {
        let (from, next) = (segment * step, height());
        let _ = write!(
            out,
            "C{} {y} {} {next} {} {next}",
            from + step / 2,
            from + step / 2,
            from + step
        );
        y = next;
    }
    let (fill, opacity) = if layer + 1 == layers {
        (scheme.deep, "1")
    } else {
        (scheme.ground, [".45", ".7", ".9"][layer as usize % 3])
    };
    let _ = write!(out, r#"V{HEIGHT}Z" fill="{fill}" fill-opacity="{opacity}"/>"#);
}

/// Even numbers from a seed (SplitMix64): no picture needs better.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (palette::mixed(u128::from(self.0)) % u64::from(end)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn covers_of_different_seeds_differ() {
        let covers: std::collections::HashSet<String> = (0..500).map(|seed| cover_svg("", seed)).collect();
        assert_eq!(covers.len(), 500);
    }

    proptest! {
        #[test]
        fn every_cover_is_small_and_stands_alone(name in any::<String>(), seed in any::<u128>()) {
            let svg = cover_svg(&name, seed);
            prop_assert!(svg.len() < 4_096);
            prop_assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
            prop_assert!(!svg.contains("href=") && !svg.contains("<script"));
            prop_assert_eq!(cover_svg(&name, seed), svg);
        }
    }
}
