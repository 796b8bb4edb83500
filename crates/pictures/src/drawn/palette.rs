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

/// Muted blues, greens, browns and plums.
const SCHEMES: [ColorScheme; 12] = [
    scheme(0x2f_5d_7c, 0x23_48_62, 0x4a_7d_9e, 0xe0_b0_6a),
    scheme(0x3a_6b_5c, 0x2b_52_46, 0x58_8c_7b, 0xe6_c2_7a),
    scheme(0x5a_4e_7c, 0x46_3c_63, 0x7a_6d_a0, 0xd9_a5_8f),
    scheme(0x8a_4b_3f, 0x6c_39_30, 0xab_6a_5b, 0xf0_c9_8d),
    scheme(0x2d_65_72, 0x20_4e_59, 0x48_87_95, 0xe8_a8_7c),
    scheme(0x4c_67_3a, 0x3a_50_2c, 0x6c_89_58, 0xe9_cf_8c),
    scheme(0x7b_47_63, 0x60_36_4d, 0x9d_67_85, 0xea_b8_9b),
    scheme(0x3f_53_7d, 0x30_40_63, 0x5f_74_a2, 0xdc_b7_77),
    scheme(0x75_5a_2e, 0x5b_45_22, 0x97_7a_4b, 0x9d_b7_a5),
    scheme(0x35_69_4f, 0x27_51_3c, 0x53_8b_6f, 0xdd_a6_6b),
    scheme(0x6b_4a_3c, 0x53_38_2d, 0x8d_6a_5a, 0xa9_bf_b0),
    scheme(0x44_5c_68, 0x34_48_52, 0x64_7f_8d, 0xe3_a7_81),
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
