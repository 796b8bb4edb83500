//! Text functions that several parts share: folding to ASCII words, truncation, placeholders.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Folds text to lowercase ASCII words joined by `separator`.
///
/// Accents are removed, `&` becomes `and`, and apostrophes disappear (`children's` becomes `childrens`). All other
/// characters that are not letters or digits separate words, and so do letters without an ASCII form, such as Greek,
/// Cyrillic and Han.
pub fn fold(text: &str, separator: char) -> String {
    let folded = String::with_capacity(text.len() + 4);
    // Nearly every name is ASCII, which is its own decomposition.
    if text.is_ascii() {
        fold_into(folded, text.chars(), separator)
    } else {
        fold_into(folded, text.nfkd(), separator)
    }
}

fn fold_into(mut folded: String, decomposed: impl Iterator<Item = char>, separator: char) -> String {
    let mut in_word = false;
    for c in decomposed {
        let ascii = to_ascii(c);
        if ascii.is_empty() {
            in_word &= is_silent(c);
            continue;
        }
        let is_whole_word = c == '&' || c == '+';
        if (!in_word || is_whole_word) && !folded.is_empty() {
            folded.push(separator);
        }
        folded.push_str(ascii);
        in_word = !is_whole_word;
    }
    folded
}

/// Returns the ASCII form of a character, or an empty string if it has none.
fn to_ascii(c: char) -> &'static str {
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
    if c.is_ascii_alphanumeric() {
        let lower = c.to_ascii_lowercase();
        let index = match lower {
            'a'..='z' => lower as usize - 'a' as usize,
            _ => lower as usize - '0' as usize + 26,
        };
        return &LOWER[index..=index];
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

/// Returns whether a mark disappears without separating words: apostrophes, the Hawaiian okina, accents.
fn is_silent(c: char) -> bool {
    matches!(
        c,
        '\'' | '’' | '‘' | 'ʻ' | 'ʼ' | '`' | '´' | '\u{ad}' | '\u{200d}'
    ) || is_combining_mark(c)
}

/// Truncates folded words to at most `max` bytes, between two words if possible.
pub fn cut_at_word(folded: &str, separator: char, max: usize) -> &str {
    if folded.len() <= max {
        return folded;
    }
    let max = folded.floor_char_boundary(max);
    let is_word_end = folded[max..].starts_with(separator);
    let end = if is_word_end {
        max
    } else {
        folded[..max].rfind(separator).unwrap_or(max)
    };
    folded[..end].trim_end_matches(separator)
}

/// Truncates text to at most `max_chars` characters.
pub fn cut(text: &str, max_chars: usize) -> &str {
    // Every character has at least one byte.
    if text.len() <= max_chars {
        return text;
    }
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Formats bytes as lowercase hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Returns the description of a nonprofit in search and browse: the short description and the long one, joined by
/// `. ` and truncated to `max_chars` characters.
pub fn excerpt<'a>(short: &'a str, long: Option<&str>, max_chars: usize) -> Cow<'a, str> {
    let Some(long) = long.filter(|long| !long.is_empty()) else {
        return Cow::Borrowed(cut(short, max_chars));
    };
    let whole = short.chars().chain(". ".chars()).chain(long.chars());
    Cow::Owned(whole.take(max_chars).collect())
}

/// Replaces the placeholders of a text: `fill(text, &[("name", name)])` replaces `{name}`. Unknown placeholders stay.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|length| open + length) else {
            break;
        };
        filled.push_str(&rest[..open]);
        let name = &rest[open + 1..close];
        let value = values.iter().find(|(placeholder, _)| *placeholder == name);
        filled.push_str(value.map_or(&rest[open..=close], |(_, value)| value));
        rest = &rest[close + 1..];
    }
    filled + rest
}

/// Escapes the wildcards of `like` in SQL, with a backslash.
pub fn escape_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

/// Prefixes text that a spreadsheet would read as a formula with an apostrophe. A space would not do, because some
/// spreadsheets trim it.
pub fn escape_formula(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Escapes text for XML and removes the characters that XML does not allow.
pub fn escape_xml(text: &str) -> String {
    let is_allowed = |c: &char| !matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    let text: String = text.chars().filter(is_allowed).collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn folding_removes_accents_and_splits_at_punctuation() {
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
    fn an_ampersand_becomes_a_word() {
        assert_eq!(fold("Boys & Girls Club", '-'), "boys-and-girls-club");
        assert_eq!(fold("A&M", '-'), "a-and-m");
    }

    #[test]
    fn text_without_an_ascii_form_folds_to_an_empty_string() {
        assert_eq!(fold("慈善", '-'), "");
        assert_eq!(fold(" -- ", '-'), "");
    }

    #[test]
    fn folded_text_is_truncated_between_words() {
        assert_eq!(cut_at_word("red-cross-of-ohio", '-', 12), "red-cross-of");
        assert_eq!(cut_at_word("red-cross-of-ohio", '-', 11), "red-cross");
        assert_eq!(cut_at_word("redcross", '-', 3), "red");
        assert_eq!(cut_at_word("red", '-', 3), "red");
    }

    #[test]
    fn truncation_keeps_whole_characters() {
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
        fn folded_text_has_only_words_and_single_separators(text in "\\PC*") {
            let folded = fold(&text, '-');
            prop_assert!(folded.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            prop_assert!(!folded.starts_with('-') && !folded.ends_with('-') && !folded.contains("--"));
            prop_assert_eq!(fold(&folded, '-'), folded.clone());
        }

        #[test]
        fn truncated_text_is_a_prefix_of_at_most_max_chars(text in "\\PC*", max in 0_usize..50) {
            let prefix = cut(&text, max);
            prop_assert!(text.starts_with(prefix));
            prop_assert_eq!(prefix.chars().count(), max.min(text.chars().count()));
        }
    }

    #[test]
    fn placeholders_in_values_are_not_replaced() {
        assert_eq!(fill("{a} and {b}", &[("a", "{b}"), ("b", "x")]), "{b} and x");
        assert_eq!(fill("{c} {", &[("a", "x")]), "{c} {");
    }

    #[test]
    fn text_cannot_end_the_xml_element_that_contains_it() {
        assert_eq!(escape_xml("a&b<c>\"d\u{0}\u{ffff}"), "a&amp;b&lt;c&gt;&quot;d");
    }
}
