//! Draws the picture that social networks show next to a shared link.

use super::canvas::{Area, Canvas, text_width};
use super::font::{FONT, Font, HEADING_FONT, TEXT_FONT, font_for};
use super::palette::{ColorScheme, mix_seed, scheme_for};
use crate::bitmap::Bitmap;
use crate::decode::decode;
use crate::error::PictureError;
use crate::header::Header;
use crate::picture::Kind;

pub const WIDTH: u32 = 1_200;
pub const HEIGHT: u32 = 630;

const MARGIN: f32 = 80.0;
const TEXT_WIDTH: f32 = WIDTH as f32 - 2.0 * MARGIN;
/// The font sizes of the title, in the order in which they are tried until it fits.
const TITLE_SIZES: [f32; 4] = [88.0, 72.0, 60.0, 50.0];
const MAX_TITLE_LINES: usize = 3;
const MAX_TITLE_LINES_WITH_PROGRESS: usize = 2;
/// With a cover, which takes the top of the card.
const COVER_HEIGHT: u32 = 258;
const TITLE_SIZES_WITH_COVER: [f32; 3] = [58.0, 50.0, 44.0];
const AMOUNT_SIZE: f32 = 56.0;
const SMALL_SIZE: f32 = 34.0;

/// The version of the drawing. Raise it when cards look different, so that cached ones are replaced.
const VERSION: u32 = 2;

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
    pub cover: Option<CardCover>,
    /// Selects the colors.
    pub seed: u128,
}

/// The uploaded picture at the top of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardCover {
    /// The ID of the hosted picture.
    pub id: String,
    /// The point around which it is cropped, in percent from the left and from the top.
    pub focus: (u8, u8),
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
        if let Some(CardCover { id, focus }) = &self.cover {
            hash.update(format!("{id} {focus:?}").as_bytes());
        }
        format!("{:08x}", hash.finalize())
    }

    /// Returns the format in which the card is drawn: a photograph would take too many bytes as a PNG, and messengers leave
    /// large pictures out.
    pub fn kind(&self) -> Kind {
        if self.cover.is_some() {
            Kind::Jpeg
        } else {
            Kind::Png
        }
    }

    /// Draws the card. `cover` is the file of its cover, a clean picture.
    pub fn draw(&self, cover: Option<&[u8]>) -> Result<Vec<u8>, PictureError> {
        let cover = cover.map(decode_cover).transpose()?;
        let scheme = scheme_for(self.seed);
        let mut canvas = Canvas::new(WIDTH, HEIGHT, scheme.background);
        let layout = Positions::new(cover.is_some());
        if let (Some(bitmap), Some(cover)) = (&cover, &self.cover) {
            canvas.draw_cover(bitmap, COVER_HEIGHT, cover.focus);
        } else {
            draw_ornament(&mut canvas, scheme, self.seed);
            let accent = Area {
                x: MARGIN,
                y: 84.0,
                width: 96.0,
                height: 10.0,
            };
            canvas.draw_bar(accent, scheme.accent);
        }
        let subtitle = drawable(&self.subtitle).unwrap_or_default();
        let font = font_for(&subtitle, &TEXT_FONT);
        if let Some(line) = fit_lines(&subtitle, font, SMALL_SIZE, 1).first() {
            let at = (MARGIN, layout.subtitle);
            canvas.draw_text(line, at, (font, SMALL_SIZE), scheme.text);
        }
        let (font, size, lines) = self.title_lines(layout.title_sizes);
        for (number, line) in lines.iter().enumerate() {
            let y = layout.title + size * (number as f32 * 1.16 + 0.9);
            canvas.draw_text(line, (MARGIN, y), (font, size), scheme.text);
        }
        if let Some(progress) = &self.progress {
            draw_progress(&mut canvas, progress, layout.amount, scheme);
        }
        let font = font_for(self.site_name, &HEADING_FONT);
        canvas.draw_text(
            self.site_name,
            (MARGIN, layout.site_name),
            (font, SMALL_SIZE),
            scheme.accent,
        );
        match self.kind() {
            Kind::Jpeg => canvas.to_jpeg().ok_or(PictureError::Damaged),
            Kind::Png | Kind::WebP => canvas.to_png().map_err(|_| PictureError::Damaged),
        }
    }

    /// Returns the font of the title, the largest size in which it fits, and its lines.
    fn title_lines(&self, sizes: &[f32]) -> (&'static Font, f32, Vec<String>) {
        let title = drawable(&self.title)
            .or_else(|| drawable(&self.fallback_title))
            .unwrap_or_default();
        let max_lines = if self.progress.is_some() {
            MAX_TITLE_LINES_WITH_PROGRESS
        } else {
            MAX_TITLE_LINES
        };
        let font = font_for(&title, &HEADING_FONT);
        let fitting = sizes.iter().find_map(|size| {
            let lines = wrap(&title, font, *size);
            (lines.len() <= max_lines).then_some((*size, lines))
        });
        let (size, lines) = fitting.unwrap_or_else(|| {
            let size = sizes.last().copied().unwrap_or(SMALL_SIZE);
            (size, fit_lines(&title, font, size, max_lines))
        });
        (font, size, lines)
    }
}

/// Where the parts of a card are, from the top.
struct Positions {
    subtitle: f32,
    /// The top of the title.
    title: f32,
    title_sizes: &'static [f32],
    amount: f32,
    site_name: f32,
}

impl Positions {
    fn new(has_cover: bool) -> Positions {
        if has_cover {
            Positions {
                subtitle: 316.0,
                title: 322.0,
                title_sizes: &TITLE_SIZES_WITH_COVER,
                amount: 526.0,
                site_name: HEIGHT as f32 - 18.0,
            }
        } else {
            Positions {
                subtitle: 150.0,
                title: 180.0,
                title_sizes: &TITLE_SIZES,
                amount: 468.0,
                site_name: HEIGHT as f32 - 56.0,
            }
        }
    }
}

/// Decodes a cover into about the size in which it is drawn.
fn decode_cover(bytes: &[u8]) -> Result<Bitmap, PictureError> {
    let header = Header::read_of_any_size(bytes)?;
    let (width, height) = (f64::from(header.width), f64::from(header.height));
    let scale = (f64::from(WIDTH) / width)
        .max(f64::from(COVER_HEIGHT) / height)
        .min(1.0);
    let scaled = |side: f64| ((side * scale).round() as u32).max(1);
    decode(bytes, &header, (scaled(width), scaled(height)))
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

fn draw_progress(canvas: &mut Canvas, progress: &Progress, baseline: f32, scheme: ColorScheme) {
    let font = font_for(&progress.amount, &HEADING_FONT);
    canvas.draw_text(
        &progress.amount,
        (MARGIN, baseline),
        (font, AMOUNT_SIZE),
        scheme.text,
    );
    let caption_x = MARGIN + text_width(&progress.amount, font, AMOUNT_SIZE) + 20.0;
    let font = font_for(&progress.caption, &TEXT_FONT);
    canvas.draw_text(
        &progress.caption,
        (caption_x, baseline),
        (font, SMALL_SIZE),
        scheme.text,
    );
    let whole = Area {
        x: MARGIN,
        y: baseline + 22.0,
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
fn wrap(text: &str, font: &Font, size: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if let Some(line) = lines.last_mut()
            && text_width(&format!("{line} {word}"), font, size) <= TEXT_WIDTH
        {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        lines.push(String::new());
        for c in word.chars() {
            let line = lines.last().map_or("", String::as_str);
            if !line.is_empty() && text_width(&format!("{line}{c}"), font, size) > TEXT_WIDTH {
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
fn fit_lines(text: &str, font: &Font, size: f32, max_lines: usize) -> Vec<String> {
    let mut lines = wrap(text, font, size);
    if lines.len() > max_lines {
        lines.truncate(max_lines);
        if let Some(last) = lines.last_mut() {
            while text_width(&format!("{last}…"), font, size) > TEXT_WIDTH && last.pop().is_some() {}
            *last = format!("{}…", last.trim_end());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::Channels;
    use crate::encode::encode_png;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn card(title: &str) -> ShareCard {
        ShareCard {
            subtitle: "Austin, TX".to_owned(),
            title: title.to_owned(),
            fallback_title: "food-bank-austin".to_owned(),
            site_name: "Example",
            progress: None,
            cover: None,
            seed: 7,
        }
    }

    #[test]
    fn a_card_is_a_png_of_the_documented_size() {
        let png = card("Food Bank of Austin").draw(None).unwrap();
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
            card("東京都").draw(None).unwrap(),
            card("food-bank-austin").draw(None).unwrap()
        );
    }

    #[test]
    fn a_cover_is_cropped_around_its_focus_and_fills_the_top() {
        // Red on the left and blue on the right.
        let pixels: Vec<u8> = (0..40 * 400)
            .flat_map(|index| if index % 40 < 20 { [200, 0, 0] } else { [0, 0, 200] })
            .collect();
        let file = encode_png(
            &Bitmap::new((40, 400), Channels::Rgb, pixels),
            png::Compression::Fast,
            png::Filter::NoFilter,
        )
        .unwrap();
        let with = |focus| ShareCard {
            cover: Some(CardCover {
                id: "x".to_owned(),
                focus,
            }),
            ..card("Run")
        };
        assert_eq!(with((0, 0)).kind(), Kind::Jpeg);
        assert_ne!(with((0, 0)).tag(), with((0, 25)).tag());
        let jpeg = with((0, 100)).draw(Some(&file)).unwrap();
        assert!(
            jpeg.starts_with(&[0xff, 0xd8]) && jpeg.len() < 150_000,
            "{}",
            jpeg.len()
        );
        let drawn = decode(&jpeg, &Header::read(&jpeg).unwrap(), (WIDTH, HEIGHT)).unwrap();
        let is_like = |x: f64, y: f64, color: [u8; 3]| {
            let pixel = drawn.sample(x, y);
            color
                .iter()
                .zip(pixel)
                .all(|(one, other)| one.abs_diff(other) < 30)
        };
        assert!(is_like(100.0, 20.0, [200, 0, 0]) && is_like(1_100.0, 240.0, [0, 0, 200]));
        assert!(!is_like(100.0, 620.0, [200, 0, 0]));
        // A wide cover is cropped at its sides.
        let wide = Bitmap::new(
            (100, 2),
            Channels::Gray,
            [vec![0; 50], vec![255; 50]].concat().repeat(2),
        );
        for (focus, expected) in [(0, 0), (100, 255)] {
            let mut canvas = Canvas::new(WIDTH, HEIGHT, scheme_for(1).background);
            canvas.draw_cover(&wide, COVER_HEIGHT, (focus, 50));
            assert_eq!(canvas.sample(3.0, 3.0)[0], expected);
        }
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
            let lines = wrap(&text, &FONT, size);
            let letters: String = lines.concat().replace(' ', "");
            prop_assert_eq!(letters, text.replace(' ', ""));
            for line in fit_lines(&text, &FONT, size, 2) {
                prop_assert!(text_width(&line, &FONT, size) <= TEXT_WIDTH + 1.0);
            }
        }

        #[test]
        fn any_title_can_be_drawn(title in any::<String>()) {
            let title = drawable(&title).unwrap_or_default();
            prop_assert!(fit_lines(&title, &FONT, 50.0, 3).len() <= 3);
        }
    }
}
