//! The picture that stands beside a shared link: a name, what it is, and what a fundraiser stands at.

use super::canvas::{Area, Canvas, can_draw, width};
use super::palette::{Scheme, mixed, scheme_of};

pub const WIDTH: u32 = 1_200;
pub const HEIGHT: u32 = 630;

const MARGIN: f32 = 80.0;
const ROOM: f32 = WIDTH as f32 - 2.0 * MARGIN;
/// Sizes that are tried for the title, until it fits.
const SIZES: [f32; 4] = [88.0, 72.0, 60.0, 50.0];
const MOST_LINES: usize = 3;
const SMALL: f32 = 34.0;

/// Raised when a picture is drawn in another way, so that nobody keeps the old one.
const EDITION: u32 = 1;

/// What a picture says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareCard {
    /// A line above the title.
    pub above: String,
    pub title: String,
    /// Stands for a title in a script that we cannot draw.
    pub instead: String,
    pub site: &'static str,
    pub gauge: Option<Gauge>,
    /// Chooses the colours.
    pub seed: u128,
}

/// A thermometer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gauge {
    pub raised: String,
    pub beside: String,
    /// 0 to 100.
    pub percent: i64,
}

impl ShareCard {
    /// Another text for each other picture.
    pub fn tag(&self) -> String {
        let mut hash = crc32fast::Hasher::new();
        hash.update(&EDITION.to_le_bytes());
        hash.update(&self.seed.to_le_bytes());
        let gauge = self.gauge.as_ref();
        let gauge = gauge.map(|gauge| format!("{}\n{}\n{}", gauge.raised, gauge.beside, gauge.percent));
        for text in [
            &self.above,
            &self.title,
            &self.instead,
            &gauge.unwrap_or_default(),
        ] {
            hash.update(text.as_bytes());
            hash.update(b"\0");
        }
        format!("{:08x}", hash.finalize())
    }

    /// The picture as a PNG.
    pub fn draw(&self) -> image::ImageResult<Vec<u8>> {
        let scheme = scheme_of(self.seed);
        let mut canvas = Canvas::new(WIDTH, HEIGHT, scheme.ground);
        ornament(&mut canvas, scheme, self.seed);
        canvas.bar(
            Area {
                x: MARGIN,
                y: 84.0,
                width: 96.0,
                height: 10.0,
            },
            scheme.accent,
        );
        let above = drawable(&self.above).unwrap_or_default();
        let above = fitted(&above, SMALL, 1);
        canvas.text(
            above.first().map_or("", String::as_str),
            (MARGIN, 150.0),
            SMALL,
            scheme.ink,
        );
        let title = drawable(&self.title)
            .or_else(|| drawable(&self.instead))
            .unwrap_or_default();
        let most = if self.gauge.is_some() { 2 } else { MOST_LINES };
        let (size, lines) = SIZES
            .into_iter()
            .map(|size| (size, wrapped(&title, size)))
            .find(|(_, lines)| lines.len() <= most)
            .unwrap_or_else(|| {
                let size = SIZES[SIZES.len() - 1];
                (size, fitted(&title, size, most))
            });
        for (number, line) in lines.iter().enumerate() {
            let y = 180.0 + size * (number as f32 * 1.16 + 0.9);
            canvas.text(line, (MARGIN, y), size, scheme.ink);
        }
        if let Some(gauge) = &self.gauge {
            draw_gauge(&mut canvas, gauge, scheme);
        }
        let foot = HEIGHT as f32 - 56.0;
        canvas.text(self.site, (MARGIN, foot), SMALL, scheme.accent);
        canvas.encoded()
    }
}

/// Two round shapes at the right, so that two bodies of one colour still differ.
fn ornament(canvas: &mut Canvas, scheme: Scheme, seed: u128) {
    let bits = mixed(seed ^ 0x5ee_d0f);
    let (drop, size) = ((bits % 100) as f32, 210.0 + ((bits >> 8) % 80) as f32);
    canvas.circle((WIDTH as f32 - 40.0, 120.0 + drop), size, scheme.deep);
    canvas.circle(
        (WIDTH as f32 - 110.0, HEIGHT as f32 + 40.0),
        size * 0.5,
        scheme.deep,
    );
}

fn draw_gauge(canvas: &mut Canvas, gauge: &Gauge, scheme: Scheme) {
    let whole = Area {
        x: MARGIN,
        y: 490.0,
        width: ROOM,
        height: 28.0,
    };
    let reached = Area {
        width: ROOM * gauge.percent.clamp(0, 100) as f32 / 100.0,
        ..whole
    };
    canvas.text(&gauge.raised, (MARGIN, 468.0), 56.0, scheme.ink);
    let beside = MARGIN + width(&gauge.raised, 56.0) + 20.0;
    canvas.text(&gauge.beside, (beside, 468.0), SMALL, scheme.ink);
    canvas.bar(whole, scheme.light);
    if gauge.percent > 0 {
        canvas.bar(reached, scheme.accent);
    }
}

/// The text without what the font lacks. Nothing where that is more than a stray letter: half a name is no name.
fn drawable(text: &str) -> Option<String> {
    let plain: String = text
        .chars()
        .map(|letter| if letter.is_whitespace() { ' ' } else { letter })
        .collect();
    let drawn: String = plain.chars().filter(|letter| can_draw(*letter)).collect();
    let count = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).count();
    let (all, left) = (count(&plain), count(&drawn));
    (left > 0 && left * 10 >= all * 9).then_some(drawn)
}

/// Cuts a text into lines that fit; a word that is longer than a line is cut itself.
fn wrapped(text: &str, size: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if let Some(line) = lines.last_mut()
            && width(&format!("{line} {word}"), size) <= ROOM
        {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        lines.push(String::new());
        for letter in word.chars() {
            let line = lines.last().map_or("", String::as_str);
            if !line.is_empty() && width(&format!("{line}{letter}"), size) > ROOM {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                line.push(letter);
            }
        }
    }
    lines
}

/// At most so many lines; where something is left out, the last ends with an ellipsis.
fn fitted(text: &str, size: f32, most: usize) -> Vec<String> {
    let mut lines = wrapped(text, size);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while width(&format!("{last}…"), size) > ROOM && last.pop().is_some() {}
            *last = format!("{}…", last.trim_end());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn card(title: &str) -> ShareCard {
        ShareCard {
            above: "Austin, TX".to_owned(),
            title: title.to_owned(),
            instead: "food-bank-austin".to_owned(),
            site: "Causeway",
            gauge: None,
            seed: 7,
        }
    }

    #[test]
    fn a_picture_is_a_png_of_the_size_that_is_told() {
        let png = card("Food Bank of Austin").draw().unwrap();
        let picture = image::load_from_memory(&png).unwrap();
        assert_eq!((picture.width(), picture.height()), (WIDTH, HEIGHT));
        assert!(png.len() < 150_000, "{}", png.len());
    }

    #[test]
    fn a_script_that_cannot_be_drawn_leaves_another_name_in_its_place() {
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
    fn another_text_has_another_tag() {
        let one = card("One");
        let mut other = one.clone();
        other.gauge = Some(Gauge {
            raised: "$5.00".to_owned(),
            beside: String::new(),
            percent: 1,
        });
        assert_ne!(one.tag(), other.tag());
        assert_ne!(one.tag(), card("Two").tag());
        assert_eq!(one.tag(), card("One").tag());
    }

    proptest! {
        #[test]
        fn every_line_fits_and_no_word_is_lost(text in "[a-zA-Z ]{0,200}", size in 20.0f32..100.0) {
            let lines = wrapped(&text, size);
            let kept: String = lines.concat().replace(' ', "");
            prop_assert_eq!(kept, text.replace(' ', ""));
            for line in fitted(&text, size, 2) {
                prop_assert!(width(&line, size) <= ROOM + 1.0);
            }
        }

        #[test]
        fn whatever_it_is_called_it_can_be_drawn(title in any::<String>()) {
            let title = drawable(&title).unwrap_or_default();
            prop_assert!(fitted(&title, 50.0, 3).len() <= 3);
        }
    }
}
