//! Draws the cover of a nonprofit, cause or fundraiser that has none: a calm geometric pattern.

use super::palette::{ColorScheme, mix_seed, scheme_for};
use super::svg;
use std::fmt::Write;

const WIDTH: u32 = 1_200;
const HEIGHT: u32 = 400;

/// What a cover shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Motif {
    /// A sun above hills.
    #[default]
    Hills,
    /// Rows of arches, one inside the other.
    Arches,
    /// Rows of overlapping scales.
    Scales,
    /// Quarter circles in a grid.
    Blocks,
    /// Rings that spread from one point.
    Rings,
    /// Rays of a rising sun.
    Rays,
    /// Points on their orbits.
    Orbits,
}

impl Motif {
    /// All motifs.
    pub const ALL: [Motif; 7] = [
        Motif::Hills,
        Motif::Arches,
        Motif::Scales,
        Motif::Blocks,
        Motif::Rings,
        Motif::Rays,
        Motif::Orbits,
    ];
}

/// Returns a cover of 1,200 × 400 pixels as an SVG document. The same name, seed and motif always give the same picture.
pub fn cover_svg(name: &str, seed: u128, motif: Motif) -> String {
    let scheme = scheme_for(seed);
    let mut random = Random(mix_seed(seed ^ 0xc0_4e5));
    let mut out = String::with_capacity(2_048);
    svg::open(&mut out, WIDTH, HEIGHT, name);
    let ground = match motif {
        Motif::Hills => scheme.light,
        _ => scheme.background,
    };
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        out,
        r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="{ground}"/>"#
    );
    match motif {
        Motif::Hills => push_landscape(&mut out, &mut random, scheme),
        Motif::Arches => push_arches(&mut out, &mut random, scheme),
        Motif::Scales => push_scales(&mut out, &mut random, scheme),
        Motif::Blocks => push_blocks(&mut out, &mut random, scheme),
        Motif::Rings => push_rings(&mut out, &mut random, scheme),
        Motif::Rays => push_rays(&mut out, &mut random, scheme),
        Motif::Orbits => push_orbits(&mut out, &mut random, scheme),
    }
    out.push_str("</svg>\n");
    out
}

fn push_landscape(out: &mut String, random: &mut Random, scheme: ColorScheme) {
    push_sun(out, random, scheme);
    let layers = 3 + random.below(2);
    for layer in 0..layers {
        push_hills(out, random, scheme, layer, layers);
    }
}

/// Fills the picture with a pattern that is repeated, shifted to the left by a random distance.
fn push_pattern(
    out: &mut String,
    random: &mut Random,
    (width, height): (u32, u32),
    draw: impl FnOnce(&mut String),
) {
    let shift = random.below(width);
    let _ = write!(
        out,
        concat!(
            r#"<defs><pattern id="p" width="{width}" height="{height}" patternUnits="userSpaceOnUse" "#,
            r#"patternTransform="translate(-{shift} 0)">"#
        ),
        width = width,
        height = height,
        shift = shift
    );
    draw(out);
    let _ = write!(
        out,
        r#"</pattern></defs><rect width="{WIDTH}" height="{HEIGHT}" fill="url(#p)"/>"#
    );
}

fn push_arches(out: &mut String, random: &mut Random, scheme: ColorScheme) {
    let first_is_accent = random.below(2) == 0;
    push_pattern(out, random, (400, 400), |out| {
        for (column, top) in [(0, 150), (200, 90)] {
            let core = if (column == 0) == first_is_accent {
                scheme.accent
            } else {
                scheme.light
            };
            let colors = [scheme.dark, scheme.light, scheme.background, core];
            for (ring, color) in (0..).zip(colors) {
                let (x, radius) = (column + ring * 24, 100 - ring * 24);
                let _ = write!(
                    out,
                    r#"<path d="M{x} 400V{}a{radius} {radius} 0 0 1 {} 0V400Z" fill="{color}"/>"#,
                    top + 100,
                    radius * 2
                );
            }
        }
    });
}

fn push_scales(out: &mut String, random: &mut Random, scheme: ColorScheme) {
    let size = 130 + random.below(50);
    push_pattern(out, random, (size * 2, size), |out| {
        // From the top down, so that each row covers the one above it.
        let half = size / 2;
        for (x, y) in [
            (size, 0),
            (0, half),
            (size * 2, half),
            (size, size),
            (0, size + half),
            (size * 2, size + half),
        ] {
            for (radius, color) in [
                (size, scheme.dark),
                (size * 93 / 100, scheme.background),
                (size * 55 / 100, scheme.light),
                (size * 48 / 100, scheme.background),
            ] {
                let _ = write!(out, r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{color}"/>"#);
            }
        }
    });
}

fn push_blocks(out: &mut String, random: &mut Random, scheme: ColorScheme) {
    const SIDE: u32 = 200;
    for index in 0..(WIDTH / SIDE) * (HEIGHT / SIDE) {
        let (x, y) = (index % (WIDTH / SIDE) * SIDE, index / (WIDTH / SIDE) * SIDE);
        let colors = [scheme.dark, scheme.light, scheme.background];
        let ground = colors[random.below(3) as usize];
        let shape = [scheme.accent, scheme.light, scheme.dark][random.below(3) as usize];
        let quarter_turns = random.below(4) * 90;
        let _ = write!(
            out,
            concat!(
                r#"<g transform="translate({x} {y}) rotate({turn} 100 100)" fill="{shape}">"#,
                r#"<path d="M0 0H200V200H0Z" fill="{ground}"/><path d="M0 0H200A200 200 0 0 1 0 200Z" fill-opacity=".85"/></g>"#
            ),
            x = x,
            y = y,
            turn = quarter_turns,
            shape = shape,
            ground = ground
        );
    }
}

fn push_rings(out: &mut String, random: &mut Random, scheme: ColorScheme) {
    let (x, y) = (250 + random.below(700), 120 + random.below(160));
    let step = 70 + random.below(30);
    for ring in (0..8).rev() {
        let color = match ring {
            0 => scheme.accent,
            odd if odd % 2 == 1 => scheme.light,
            _ => scheme.background,
        };
        let opacity = if ring == 0 { "1" } else { ".5" };
        let _ = write!(
            out,
            r#"<circle cx="{x}" cy="{y}" r="{}" fill="{color}" fill-opacity="{opacity}"/>"#,
            50 + ring * step
        );
    }
}

fn push_rays(out: &mut String, random: &mut Random, scheme: ColorScheme) {
    const RAYS: u32 = 11;
    let x = 300 + random.below(600);
    let radius = 110 + random.below(50);
    // Points on a half circle that is larger than the picture.
    let point = |step: u32| {
        let angle = std::f32::consts::PI * step as f32 / (RAYS * 2) as f32;
        let (sine, cosine) = angle.sin_cos();
        (
            (x as f32 - cosine * 1_400.0).round(),
            (HEIGHT as f32 - sine * 1_400.0).round(),
        )
    };
    for ray in 0..RAYS {
        let (from, to) = (point(ray * 2), point(ray * 2 + 1));
        let _ = write!(
            out,
            r#"<path d="M{x} {HEIGHT}L{} {}L{} {}Z" fill="{}" fill-opacity=".55"/>"#,
            from.0, from.1, to.0, to.1, scheme.light
        );
    }
    for (radius, color) in [(radius + 70, scheme.dark), (radius, scheme.accent)] {
        let _ = write!(
            out,
            r#"<circle cx="{x}" cy="{HEIGHT}" r="{radius}" fill="{color}"/>"#
        );
    }
}

fn push_orbits(out: &mut String, random: &mut Random, scheme: ColorScheme) {
    let (x, y) = (350 + random.below(500), 200);
    for orbit in 1..8 {
        let (wide, high) = (orbit * 110, orbit * 52);
        let _ = write!(
            out,
            r#"<ellipse cx="{x}" cy="{y}" rx="{wide}" ry="{high}" fill="none" stroke="{}" stroke-width="3" stroke-opacity=".7"/>"#,
            scheme.light
        );
        let angle = random.below(628) as f32 / 100.0;
        let (point_x, point_y) = (
            (x as f32 + angle.cos() * wide as f32).round(),
            (y as f32 + angle.sin() * high as f32).round(),
        );
        let (radius, color) = match orbit % 3 {
            0 => (16, scheme.accent),
            1 => (10, scheme.text),
            _ => (13, scheme.light),
        };
        let _ = write!(
            out,
            r#"<circle cx="{point_x}" cy="{point_y}" r="{radius}" fill="{color}"/>"#
        );
    }
    let _ = write!(
        out,
        r#"<circle cx="{x}" cy="{y}" r="40" fill="{}"/>"#,
        scheme.accent
    );
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
        let covers: HashSet<String> = (0..500)
            .map(|seed| cover_svg("", seed, Motif::default()))
            .collect();
        assert_eq!(covers.len(), 500);
    }

    #[test]
    fn every_motif_looks_different_and_varies_with_the_seed() {
        let covers: HashSet<String> = Motif::ALL
            .into_iter()
            .flat_map(|motif| (0..20).map(move |seed| cover_svg("", seed, motif)))
            .collect();
        assert!(covers.len() >= 7 * 18, "{}", covers.len());
        let of_one_seed: HashSet<String> = Motif::ALL
            .into_iter()
            .map(|motif| cover_svg("", 1, motif))
            .collect();
        assert_eq!(of_one_seed.len(), 7);
    }

    proptest! {
        #[test]
        fn every_cover_is_small_and_self_contained(name in any::<String>(), seed in any::<u128>(), motif in 0_usize..7) {
            let motif = Motif::ALL[motif];
            let svg = cover_svg(&name, seed, motif);
            prop_assert!(svg.len() < 4_096, "{motif:?}: {}", svg.len());
            prop_assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
            prop_assert!(!svg.contains("href=") && !svg.contains("<script"));
            prop_assert_eq!(cover_svg(&name, seed, motif), svg);
        }
    }
}
