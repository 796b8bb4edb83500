//! The accent color of the site: one hexadecimal color, from which the shades for light and dark mode are derived.

use std::fmt::{self, Write};

/// The minimum contrast of text by WCAG 2.2, level AA.
const MIN_CONTRAST: f64 = 4.5;
/// The surfaces of cards in light and dark mode, as in `assets/styles/tokens.css`.
const LIGHT_SURFACE: Rgb = Rgb([0xff, 0xff, 0xff]);
const DARK_SURFACE: Rgb = Rgb([0x1a, 0x22, 0x22]);
const WHITE: Rgb = Rgb([0xff, 0xff, 0xff]);
const BLACK: Rgb = Rgb([0, 0, 0]);

/// A color in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rgb([u8; 3]);

/// The shades of one mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shades {
    accent: Rgb,
    /// Links and buttons under the pointer.
    strong: Rgb,
    /// The background of what is selected.
    soft: Rgb,
    /// Text on the accent color.
    on_accent: Rgb,
}

/// An accent color that can be read in both modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccentColor {
    light: Shades,
    dark: Shades,
}

/// The color of a site that has not chosen one.
impl Default for AccentColor {
    fn default() -> AccentColor {
        AccentColor::parse("#0a6460").expect("the default color can be read")
    }
}

impl AccentColor {
    /// Parses a color such as `#0a6460`. In dark mode it is lightened until it can be read; in light mode a color that is
    /// too light is an error.
    pub fn parse(text: &str) -> Result<AccentColor, String> {
        let accent = Rgb::parse(text).ok_or_else(|| {
            format!("site.accent_color is {text:?}; set it to a color such as #0a6460, or leave it empty")
        })?;
        let light = Shades {
            accent,
            strong: accent.mix(BLACK, 0.3),
            soft: LIGHT_SURFACE.mix(accent, 0.1),
            on_accent: WHITE,
        };
        let ratio = light.worst_contrast(LIGHT_SURFACE);
        if ratio < MIN_CONTRAST {
            return Err(format!(
                "site.accent_color is {text:?}, which is too light to be read: its contrast is {ratio:.1} instead of at least \
                 {MIN_CONTRAST}; choose a darker color"
            ));
        }
        let mut dark = (0..=20).map(|step| Shades::dark(accent.mix(WHITE, f64::from(step) / 20.0)));
        let dark = dark.find(|shades| shades.worst_contrast(DARK_SURFACE) >= MIN_CONTRAST);
        Ok(AccentColor {
            light,
            dark: dark.expect("white can be read on dark surfaces"),
        })
    }

    /// Returns the tokens of light mode, as declarations.
    pub fn light_css(&self) -> String {
        self.light.css()
    }

    /// Returns the tokens of dark mode, as declarations.
    pub fn dark_css(&self) -> String {
        self.dark.css()
    }

    /// Returns the rules that set the tokens.
    pub fn css(&self) -> String {
        format!(
            "\n:root {{ {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n",
            self.light.css(),
            self.dark.css()
        )
    }
}

impl Shades {
    fn dark(accent: Rgb) -> Shades {
        Shades {
            accent,
            strong: accent.mix(WHITE, 0.4),
            soft: DARK_SURFACE.mix(accent, 0.16),
            on_accent: accent.mix(BLACK, 0.85),
        }
    }

    /// Returns the contrast of the pair that is hardest to read.
    fn worst_contrast(&self, surface: Rgb) -> f64 {
        [
            self.accent.contrast(surface),
            self.accent.contrast(self.soft),
            self.strong.contrast(self.soft),
            self.accent.contrast(self.on_accent),
        ]
        .into_iter()
        .fold(f64::INFINITY, f64::min)
    }

    fn css(&self) -> String {
        let mut css = String::new();
        for (token, color) in [
            ("accent", self.accent),
            ("accent-strong", self.strong),
            ("accent-soft", self.soft),
            ("on-accent", self.on_accent),
        ] {
            // Writing to a String cannot fail.
            let _ = write!(css, "--{token}: {color}; ");
        }
        css
    }
}

impl Rgb {
    fn parse(text: &str) -> Option<Rgb> {
        let digits = text.strip_prefix('#')?;
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
        Some(Rgb([red, green, blue]))
    }

    /// Mixes a share of another color into this one.
    fn mix(self, other: Rgb, share: f64) -> Rgb {
        let mut mixed = self.0;
        for (value, other) in mixed.iter_mut().zip(other.0) {
            *value = (f64::from(*value) * (1.0 - share) + f64::from(other) * share).round() as u8;
        }
        Rgb(mixed)
    }

    /// Returns the contrast of two colors by WCAG 2, from 1 to 21.
    fn contrast(self, other: Rgb) -> f64 {
        let (one, other) = (self.luminance(), other.luminance());
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|value| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_color_becomes_tokens_for_both_modes() {
        let css = AccentColor::parse("#7A1FA2").unwrap().css();
        assert!(css.contains(":root { --accent: #7a1fa2;"), "{css}");
        let (light, dark) = css.split_once("dark) ").unwrap();
        assert!(light.contains("--on-accent: #ffffff"), "{css}");
        assert!(dark.contains("--accent: #") && !dark.contains("#7a1fa2"), "{css}");
    }

    #[test]
    fn what_is_not_a_color_and_what_cannot_be_read_is_refused() {
        for text in ["teal", "#fff", "#12345g", "0a6460", "#0a64600", "#é6460"] {
            assert!(
                AccentColor::parse(text).unwrap_err().contains("#0a6460"),
                "{text}"
            );
        }
        for text in ["#ffffff", "#ffcc00", "#7fbfff"] {
            let error = AccentColor::parse(text).unwrap_err();
            assert!(error.contains("choose a darker color"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_accepted_color_can_be_read_in_both_modes(value in 0_u32..0x100_0000) {
            if let Ok(color) = AccentColor::parse(&format!("#{value:06x}")) {
                prop_assert!(color.light.worst_contrast(LIGHT_SURFACE) >= MIN_CONTRAST);
                prop_assert!(color.dark.worst_contrast(DARK_SURFACE) >= MIN_CONTRAST);
            }
        }
    }
}
