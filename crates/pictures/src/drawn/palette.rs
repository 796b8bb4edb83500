//! The color schemes of drawn pictures. Each background is dark enough for white text.

/// A color in sRGB, as `0xRRGGBB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Color(pub u32);

/// Colors that go together.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColorScheme {
    pub background: Color,
    /// Shapes that are darker than the background.
    pub dark: Color,
    /// Shapes that are lighter than the background.
    pub light: Color,
    /// A contrasting color, used sparingly.
    pub accent: Color,
    /// Text on the background, with a contrast of at least 4.5:1.
    pub text: Color,
}

const fn scheme(background: u32, dark: u32, light: u32, accent: u32) -> ColorScheme {
    ColorScheme {
        background: Color(background),
        dark: Color(dark),
        light: Color(light),
        accent: Color(accent),
        text: Color(0xff_ff_ff),
    }
}

/// Pine, ocean, plum, terracotta, moss, rosewood, ochre and slate: warm, muted, and harmonious with the pages.
const SCHEMES: [ColorScheme; 8] = [
    scheme(0x0f_5f_5b, 0x0a_49_47, 0x3d_8a_83, 0xf2_c1_78),
    scheme(0x24_5a_86, 0x1a_45_69, 0x4f_86_b2, 0xf3_c7_8a),
    scheme(0x5d_4a_7e, 0x48_38_64, 0x84_70_a6, 0xf0_b8_9a),
    scheme(0xa3_4a_35, 0x82_38_28, 0xc4_71_58, 0xf7_d0_92),
    scheme(0x4a_67_37, 0x38_50_29, 0x74_92_5d, 0xf0_d2_86),
    scheme(0x8a_3f_58, 0x6d_30_45, 0xb0_68_80, 0xf5_c3_a6),
    scheme(0x85_58_14, 0x68_44_0f, 0xb0_83_3a, 0xf7_e0_b0),
    scheme(0x3d_55_6b, 0x2e_42_54, 0x68_81_98, 0xef_b9_8d),
];

/// Returns the color scheme for a seed.
pub(super) const fn scheme_for(seed: u128) -> ColorScheme {
    SCHEMES[(mix_seed(seed) % SCHEMES.len() as u64) as usize]
}

/// Spreads a seed over 64 bits, so that IDs that differ in one digit look different.
pub(super) const fn mix_seed(seed: u128) -> u64 {
    let mut bits = (seed >> 64) as u64 ^ seed as u64;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:06x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Returns the contrast of two colors by WCAG 2, from 1 to 21.
    fn contrast(one: Color, other: Color) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    fn luminance(Color(rgb): Color) -> f64 {
        let linear = |shift: u32| {
            let value = f64::from(rgb >> shift & 0xff) / 255.0;
            if value <= 0.040_45 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
    }

    #[test]
    fn text_is_readable_on_every_background() {
        for scheme in SCHEMES {
            for background in [scheme.background, scheme.dark] {
                let ratio = contrast(background, scheme.text);
                assert!(ratio >= 4.5, "{background} has {ratio:.2}");
            }
        }
    }

    #[test]
    fn black_on_white_has_the_highest_contrast() {
        assert!((contrast(Color(0), Color(0xff_ff_ff)) - 21.0).abs() < 1e-9);
        assert!((contrast(Color(0x77_77_77), Color(0x77_77_77)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn consecutive_seeds_spread_over_all_schemes() {
        let backgrounds: HashSet<u32> = (0..200).map(|seed| scheme_for(seed).background.0).collect();
        assert_eq!(backgrounds.len(), SCHEMES.len());
    }
}
