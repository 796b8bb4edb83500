//! The part of a mission or of a program that a search found, with the matched words marked.

use crate::site::highlight::Part;
use ::search::is_same_word;
use directory::nonprofits::Nonprofit;
use platform::text::{cut, fold};

/// The maximum length of a snippet in characters.
const MAX_CHARS: usize = 180;
/// How many bytes before the first matched word are shown at most.
const MAX_LEAD_IN: usize = 60;
/// The minimum length of a last word that may be the beginning of another.
const MIN_PREFIX: usize = 3;
const ELLIPSIS: &str = "…";

/// Returns what a card says about a nonprofit: the part of its mission or of a program with the most of the folded `words`
/// if that text has one that its name lacks, and else the start of its description.
pub fn describe<'a>(nonprofit: &Nonprofit<'a>, words: &[String]) -> Vec<Part<'a>> {
    let description = nonprofit.own_description.unwrap_or_default();
    let is_in_name = |word: &String| {
        [nonprofit.name, nonprofit.chapter, nonprofit.aliases]
            .iter()
            .any(|name| matches(name, std::slice::from_ref(word)).next().is_some())
    };
    let texts = [description, nonprofit.description_long.unwrap_or_default()];
    let says_more = |text: &&str| {
        let mut missing = words.iter().filter(|word| !is_in_name(word));
        missing.any(|word| matches(text, std::slice::from_ref(word)).next().is_some())
    };
    match texts
        .into_iter()
        .chain(nonprofit.programs.lines())
        .find(says_more)
    {
        Some(text) => snippet(text, words),
        None => window(description, 0, &[]),
    }
}

/// Returns the part of `text` with the most matches, the first of several.
fn snippet<'a>(text: &'a str, words: &[String]) -> Vec<Part<'a>> {
    let mut best = (0, 0);
    for (start, _) in std::iter::once((0, 0)).chain(matches(text, words)) {
        let start = word_start_before(text, start);
        let shown = cut(&text[start..], MAX_CHARS);
        let count = matches(shown, words).count();
        if count > best.0 {
            best = (count, start);
        }
    }
    window(text, best.1, words)
}

/// Returns where to start so that a match at `index` has some words before it.
fn word_start_before(text: &str, index: usize) -> usize {
    if index <= MAX_LEAD_IN {
        return 0;
    }
    let earliest = text.ceil_char_boundary(index - MAX_LEAD_IN);
    let mut lead_in = text[earliest..index].char_indices();
    lead_in
        .find(|(_, c)| c.is_whitespace())
        .map_or(index, |(at, c)| earliest + at + c.len_utf8())
}

/// Returns the text from `start` on, cut to its maximum length, with the matches marked.
fn window<'a>(text: &'a str, start: usize, words: &[String]) -> Vec<Part<'a>> {
    let shown = cut(&text[start..], MAX_CHARS);
    let plain = |text: &'a str| Part {
        text,
        is_match: false,
    };
    let mut parts = Vec::new();
    if start > 0 {
        parts.push(plain(ELLIPSIS));
    }
    let mut end = 0;
    for (from, to) in matches(shown, words) {
        parts.push(plain(&shown[end..from]));
        parts.push(Part {
            text: &shown[from..to],
            is_match: true,
        });
        end = to;
    }
    parts.push(plain(&shown[end..]));
    if start + shown.len() < text.len() {
        parts.push(plain(ELLIPSIS));
    }
    parts.retain(|part| !part.text.is_empty());
    parts
}

/// Yields the start and the end of each word of `text` that one of `words` matches. The last of `words` may be incomplete.
fn matches(text: &str, words: &[String]) -> impl Iterator<Item = (usize, usize)> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut from = 0;
    let pieces = std::iter::from_fn(move || {
        from += text[from..].find(is_inside)?;
        let start = from;
        let length = text[start..].find(|c| !is_inside(c));
        from = length.map_or(text.len(), |length| start + length);
        Some((start, from))
    });
    pieces.filter(move |&(start, end)| {
        let piece = fold(&text[start..end], ' ');
        words.iter().enumerate().any(|(index, word)| {
            let may_be_prefix = index + 1 == words.len() && word.len() >= MIN_PREFIX;
            is_same_word(word, &piece) || (may_be_prefix && piece.starts_with(word.as_str()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marked(text: &str, words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let part = |part: Part<'_>| {
            if part.is_match {
                format!("[{}]", part.text)
            } else {
                part.text.to_owned()
            }
        };
        snippet(text, &words).into_iter().map(part).collect()
    }

    #[test]
    fn whole_words_and_the_beginning_of_the_last_are_marked() {
        assert_eq!(
            marked(
                "Teaching art & artisans' crafts to families.",
                &["art", "family", "cra"]
            ),
            "Teaching [art] & artisans' [crafts] to [families]."
        );
        assert_eq!(marked("<b>art</b>", &["art"]), "<b>[art]</b>");
    }

    #[test]
    fn a_long_text_is_cut_around_the_matches() {
        let text = format!(
            "{} We teach refugees to sew. {}",
            "Before that. ".repeat(30),
            "After. ".repeat(40)
        );
        let snippet = marked(&text, &["refugee", "sew"]);
        assert!(snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
        assert!(snippet.contains("teach [refugees] to [sew]"), "{snippet}");
        assert!(snippet.chars().count() <= MAX_CHARS + 2 + 4);
    }

    proptest! {
        #[test]
        fn a_short_text_is_shown_whole(text in ".{0,60}", words in proptest::collection::vec("[a-z]{0,4}", 0..4)) {
            let whole: String = snippet(&text, &words).iter().map(|part| part.text).collect();
            prop_assert_eq!(whole, text);
        }

        #[test]
        fn any_text_can_be_cut(text in ".{0,600}|[a-cß ]{0,600}", words in proptest::collection::vec("[a-c]{0,4}", 0..4)) {
            let length: usize = snippet(&text, &words).iter().map(|part| part.text.chars().count()).sum();
            prop_assert!(length <= MAX_CHARS + 2);
        }
    }
}
