//! Plain text rules that several parts share: folding to ASCII words, cutting at a character boundary.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Folds text to lower-case ASCII words joined by `joint`: accents fall, `&` becomes `and`, apostrophes
/// close up (`children's` is `childrens`), everything else that is no letter or digit parts words.
/// Letters without an ASCII form (Greek, Cyrillic, Han) part words too.
pub fn fold(text: &str, joint: char) -> String {
    let folded = String::with_capacity(text.len() + 4);
    // Nearly every name is ASCII, which is its own decomposition.
    if text.is_ascii() {
        fold_into(folded, text.chars(), joint)
    } else {
        fold_into(folded, text.nfkd(), joint)
    }
}

fn fold_into(mut folded: String, decomposed: impl Iterator<Item = char>, joint: char) -> String {
    let mut word_open = false;
    for c in decomposed {
        let plain = plain(c);
        if plain.is_empty() {
            word_open &= joins(c);
            continue;
        }
        let stands_alone = c == '&' || c == '+';
        if (!word_open || stands_alone) && !folded.is_empty() {
            folded.push(joint);
        }
        folded.push_str(plain);
        word_open = !stands_alone;
    }
    folded
}

/// The ASCII letters or digits that stand for a character, or nothing.
fn plain(c: char) -> &'static str {
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
    if c.is_ascii_alphanumeric() {
        let lower = c.to_ascii_lowercase();
        let at = match lower {
            'a'..='z' => lower as usize - 'a' as usize,
            _ => lower as usize - '0' as usize + 26,
        };
        return &LOWER[at..=at];
    }
    match c {
        '&' | '+' => "and",
        'ß' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'ł' | 'Ł' => "l",
        'đ' | 'Đ' | 'ð' | 'Ð' => "d",
        'þ' | 'Þ' => "th",
        'ı' => "i",
        _ => "",
    }
}

/// Marks inside a word that close up without leaving a gap: apostrophes, the Hawaiian okina, accents.
fn joins(c: char) -> bool {
    matches!(
        c,
        '\'' | '’' | '‘' | 'ʻ' | 'ʼ' | '`' | '´' | '\u{ad}' | '\u{200d}'
    ) || is_combining_mark(c)
}

/// The longest beginning of folded words that has at most `max` bytes; a first word longer than that is cut.
pub fn cut_at_word(folded: &str, joint: char, max: usize) -> &str {
    if folded.len() <= max {
        return folded;
    }
    let max = folded.floor_char_boundary(max);
    let ends_a_word = folded[max..].starts_with(joint);
    let end = if ends_a_word {
        max
    } else {
        folded[..max].rfind(joint).unwrap_or(max)
    };
    folded[..end].trim_end_matches(joint)
}

/// The first `max_chars` characters of `text`, or all of it.
pub fn cut(text: &str, max_chars: usize) -> &str {
    // No character is shorter than a byte.
    if text.len() <= max_chars {
        return text;
    }
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// What search and browse show of a nonprofit: the short description and, after `. `, the long one, cut to
/// `max_chars` characters.
pub fn excerpt<'a>(short: &'a str, long: Option<&str>, max_chars: usize) -> Cow<'a, str> {
    let Some(long) = long.filter(|long| !long.is_empty()) else {
        return Cow::Borrowed(cut(short, max_chars));
    };
    let whole = short.chars().chain(". ".chars()).chain(long.chars());
    Cow::Owned(whole.take(max_chars).collect())
}

/// Puts values in the places of a text: `fill(t.keys.made, &[("name", name)])` replaces `{name}`.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|at| open + at) else {
            break;
        };
        filled.push_str(&rest[..open]);
        let name = &rest[open + 1..close];
        let value = values.iter().find(|(known, _)| *known == name);
        filled.push_str(value.map_or(&rest[open..=close], |(_, value)| value));
        rest = &rest[close + 1..];
    }
    filled + rest
}

/// A text that no spreadsheet reads as a formula: one that it would gets an apostrophe before it. A blank would not do,
/// since some cut it off.
pub fn escape_formula(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn accents_fall_and_marks_part_words() {
        assert_eq!(
            fold("Comité Español, Niños (NYC)", '-'),
            "comite-espanol-ninos-nyc"
        );
        assert_eq!(
            fold("St. Jude Children’s Research Hospital", '-'),
            "st-jude-childrens-research-hospital"
        );
        assert_eq!(fold("Straße Łódź Øre", '-'), "strasse-lodz-ore");
        assert_eq!(fold("Hawaiʻi Foodbank", ' '), "hawaii foodbank");
    }

    #[test]
    fn the_ampersand_is_a_word_of_its_own() {
        assert_eq!(fold("Boys & Girls Club", '-'), "boys-and-girls-club");
        assert_eq!(fold("A&M", '-'), "a-and-m");
    }

    #[test]
    fn text_without_any_ascii_form_folds_to_nothing() {
        assert_eq!(fold("慈善", '-'), "");
        assert_eq!(fold(" -- ", '-'), "");
    }

    #[test]
    fn folded_words_are_cut_between_words() {
        assert_eq!(cut_at_word("red-cross-of-ohio", '-', 12), "red-cross-of");
        assert_eq!(cut_at_word("red-cross-of-ohio", '-', 11), "red-cross");
        assert_eq!(cut_at_word("redcross", '-', 3), "red");
        assert_eq!(cut_at_word("red", '-', 3), "red");
    }

    #[test]
    fn a_cut_keeps_whole_characters() {
        assert_eq!(cut("Niños", 3), "Niñ");
        assert_eq!(cut("Niños", 5), "Niños");
        assert_eq!(cut("Niños", 0), "");
    }

    #[test]
    fn an_excerpt_joins_both_descriptions() {
        assert_eq!(
            excerpt("Feeds people", Some("Since 1980"), 249),
            "Feeds people. Since 1980"
        );
        assert_eq!(excerpt("Feeds people", None, 5), "Feeds");
        assert_eq!(
            excerpt("Feeds people", Some(&"x".repeat(400)), 249)
                .chars()
                .count(),
            249
        );
    }

    proptest! {
        #[test]
        fn folded_text_holds_only_words_and_single_joints(text in "\\PC*") {
            let folded = fold(&text, '-');
            prop_assert!(folded.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            prop_assert!(!folded.starts_with('-') && !folded.ends_with('-') && !folded.contains("--"));
            prop_assert_eq!(fold(&folded, '-'), folded.clone());
        }

        #[test]
        fn a_cut_is_a_beginning_no_longer_than_asked(text in "\\PC*", max in 0_usize..50) {
            let beginning = cut(&text, max);
            prop_assert!(text.starts_with(beginning));
            prop_assert_eq!(beginning.chars().count(), max.min(text.chars().count()));
        }
    }

    #[test]
    fn places_are_filled_once_and_values_are_not_read_again() {
        assert_eq!(fill("{a} and {b}", &[("a", "{b}"), ("b", "x")]), "{b} and x");
        assert_eq!(fill("{c} {", &[("a", "x")]), "{c} {");
    }
}
