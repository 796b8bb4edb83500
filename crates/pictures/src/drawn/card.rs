//! Draws the picture that social networks show next to a shared link.

use super::canvas::{Area, Canvas, text_width};
use super::font::FONT;
use super::palette::{ColorScheme, mix_seed, scheme_for};
use png::EncodingError;

pub const WIDTH: u32 = 1_200;
pub const HEIGHT: u32 = 630;

const MARGIN: f32 = 80.0;
const TEXT_WIDTH: f32 = WIDTH as f32 - 2.0 * MARGIN;
/// The font sizes of the title, in the order in which they are tried until it fits.
const TITLE_SIZES: [f32; 4] = [88.0, 72.0, 60.0, 50.0];
const MAX_TITLE_LINES: usize = 3;
const MAX_TITLE_LINES_WITH_PROGRESS: usize = 2;
const AMOUNT_SIZE: f32 = 56.0;
const SMALL_SIZE: f32 = 34.0;

/// The version of the drawing. Raise it when cards look different, so that cached ones are replaced.
const VERSION: u32 = 1;

/// The content of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareCard {
    /// A small line above the title.
    pub subtitle: String,
    pub title: String,
    /// Replaces a title in a script that the font does not support.
    pub fallback_title: String,
    pub site_name: &'static str,
    pub progress: Option<Progress>,
    /// Selects the colors.
    pub seed: u128,
}

/// The progress bar of a fundraiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The amount raised.
    pub amount: String,
    /// A small text after the amount.
    pub caption: String,
    /// From 0 to 100.
    pub percent: i64,
}

impl ShareCard {
    /// Returns a tag that differs between cards with different content.
    pub fn tag(&self) -> String {
        let mut hash = crc32fast::Hasher::new();
        hash.update(&VERSION.to_le_bytes());
        hash.update(&self.seed.to_le_bytes());
        let progress = self.progress.as_ref().map(|progress| {
            let Progress {
                amount,
                caption,
                percent,
            } = progress;
            format!("{amount}\n{caption}\n{percent}")
        });
        for text in [
            &self.subtitle,
            &self.title,
            &self.fallback_title,
            &progress.unwrap_or_default(),
        ] {
            hash.update(text.as_bytes());
            hash.update(b"\0");
        }
        format!("{:08x}", hash.finalize())
    }

    /// Draws the card as a PNG.
    pub fn draw(&self) -> Result<Vec<u8>, EncodingError> {
        let scheme = scheme_for(self.seed);
        let mut canvas = Canvas::new(WIDTH, HEIGHT, scheme.background);
        draw_ornament(&mut canvas, scheme, self.seed);
        let accent = Area {
            x: MARGIN,
            y: 84.0,
            width: 96.0,
            height: 10.0,
        };
        canvas.draw_bar(accent, scheme.accent);
        let subtitle = drawable(&self.subtitle).unwrap_or_default();
        if let Some(line) = fit_lines(&subtitle, SMALL_SIZE, 1).first() {
            canvas.draw_text(line, (MARGIN, 150.0), SMALL_SIZE, scheme.text);
        }
        let (size, lines) = self.title_lines();
        for (number, line) in lines.iter().enumerate() {
            let y = 180.0 + size * (number as f32 * 1.16 + 0.9);
            canvas.draw_text(line, (MARGIN, y), size, scheme.text);
        }
        if let Some(progress) = &self.progress {
            draw_progress(&mut canvas, progress, scheme);
        }
        let footer = HEIGHT as f32 - 56.0;
        canvas.draw_text(self.site_name, (MARGIN, footer), SMALL_SIZE, scheme.accent);
        canvas.to_png()
    }

    /// Returns the largest font size in which the title fits, and its lines.
    fn title_lines(&self) -> (f32, Vec<String>) {
        let title = drawable(&self.title)
            .or_else(|| drawable(&self.fallback_title))
            .unwrap_or_default();
        let max_lines = if self.progress.is_some() {
            MAX_TITLE_LINES_WITH_PROGRESS
        } else {
            MAX_TITLE_LINES
        };
        TITLE_SIZES
            .into_iter()
            .map(|size| (size, wrap(&title, size)))
            .find(|(_, lines)| lines.len() <= max_lines)
            .unwrap_or_else(|| {
                let size = TITLE_SIZES[TITLE_SIZES.len() - 1];
                (size, fit_lines(&title, size, max_lines))
            })
    }
}

/// Draws two circles at the right, so that two cards of the same color still differ.
fn draw_ornament(canvas: &mut Canvas, scheme: ColorScheme, seed: u128) {
    let bits = mix_seed(seed ^ 0x5ee_d0f);
    let (offset, radius) = ((bits % 100) as f32, 210.0 + ((bits >> 8) % 80) as f32);
    canvas.draw_circle((WIDTH as f32 - 40.0, 120.0 + offset), radius, scheme.dark);
    canvas.draw_circle(
        (WIDTH as f32 - 110.0, HEIGHT as f32 + 40.0),
        radius * 0.5,
        scheme.dark,
    );
}

fn draw_progress(canvas: &mut Canvas, progress: &Progress, scheme: ColorScheme) {
    let baseline = 468.0;
    canvas.draw_text(&progress.amount, (MARGIN, baseline), AMOUNT_SIZE, scheme.text);
    let caption_x = MARGIN + text_width(&progress.amount, AMOUNT_SIZE) + 20.0;
    canvas.draw_text(&progress.caption, (caption_x, baseline), SMALL_SIZE, scheme.text);
    let whole = Area {
        x: MARGIN,
        y: 490.0,
        width: TEXT_WIDTH,
        height: 28.0,
    };
    canvas.draw_bar(whole, scheme.light);
    if progress.percent > 0 {
        let reached = Area {
            width: TEXT_WIDTH * progress.percent.min(100) as f32 / 100.0,
            ..whole
        };
        canvas.draw_bar(reached, scheme.accent);
    }
}

/// Returns the text without characters that the font lacks, or `None` if more than a tenth of its letters would be missing.
fn drawable(text: &str) -> Option<String> {
    let text: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect();
    let drawable: String = text.chars().filter(|c| FONT.has_glyph(*c)).collect();
    let count_letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    let (all, drawn) = (count_letters(&text), count_letters(&drawable));
    (drawn > 0 && drawn * 10 >= all * 9).then_some(drawable)
}

/// Breaks a text into lines that fit; words that are longer than a line are broken too.
fn wrap(text: &str, size: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if let Some(line) = lines.last_mut()
            && text_width(&format!("{line} {word}"), size) <= TEXT_WIDTH
        {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        lines.push(String::new());
        for c in word.chars() {
            let line = lines.last().map_or("", String::as_str);
            if !line.is_empty() && text_width(&format!("{line}{c}"), size) > TEXT_WIDTH {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
        }
    }
    lines
}

/// Breaks a text into at most `max_lines` lines; an ellipsis replaces what does not fit.
fn fit_lines(text: &str, size: f32, max_lines: usize) -> Vec<String> {
    let mut lines = wrap(text, size);
    if lines.len() > max_lines {
        lines.truncate(max_lines);
        if let Some(last) = lines.last_mut() {
            while text_width(&format!("{last}…"), size) > TEXT_WIDTH && last.pop().is_some() {}
            *last = format!("{}…", last.trim_end());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn card(title: &str) -> ShareCard {
        ShareCard {
            subtitle: "Austin, TX".to_owned(),
            title: title.to_owned(),
            fallback_title: "food-bank-austin".to_owned(),
            site_name: "Example",
            progress: None,
            seed: 7,
        }
    }

    #[test]
    fn a_card_is_a_png_of_the_documented_size() {
        let png = card("Food Bank of Austin").draw().unwrap();
        let reader = png::Decoder::new(Cursor::new(&png)).read_info().unwrap();
        assert_eq!((reader.info().width, reader.info().height), (WIDTH, HEIGHT));
        assert!(png.len() < 150_000, "{}", png.len());
    }

    #[test]
    fn a_title_in_an_unsupported_script_is_replaced() {
        assert_eq!(
            drawable("Église №1, Ελλάδα, Київ"),
            Some("Église №1, Ελλάδα, Київ".to_owned())
        );
        assert_eq!(drawable("Helping Hands 🎉"), Some("Helping Hands ".to_owned()));
        for text in ["東京都", "مؤسسة", "🎉", "", "\u{202e}"] {
            assert_eq!(drawable(text), None, "{text}");
        }
        assert_eq!(
            card("東京都").draw().unwrap(),
            card("food-bank-austin").draw().unwrap()
        );
    }

    #[test]
    fn cards_with_different_content_have_different_tags() {
        let one = card("One");
        let mut other = one.clone();
        other.progress = Some(Progress {
            amount: "$5.00".to_owned(),
            caption: String::new(),
            percent: 1,
        });
        assert_ne!(one.tag(), other.tag());
        assert_ne!(one.tag(), card("Two").tag());
        assert_eq!(one.tag(), card("One").tag());
    }

    proptest! {
        #[test]
        fn every_line_fits_and_no_letter_is_lost(text in "[a-zA-Z ]{0,200}", size in 20.0f32..100.0) {
            let lines = wrap(&text, size);
            let letters: String = lines.concat().replace(' ', "");
            prop_assert_eq!(letters, text.replace(' ', ""));
            for line in fit_lines(&text, size, 2) {
                prop_assert!(text_width(&line, size) <= TEXT_WIDTH + 1.0);
            }
        }

        #[test]
        fn any_title_can_be_drawn(title in any::<String>()) {
            let title = drawable(&title).unwrap_or_default();
            prop_assert!(fit_lines(&title, 50.0, 3).len() <= 3);
        }
    }
}
