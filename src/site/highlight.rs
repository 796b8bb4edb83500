//! Highlights the matched words in a name, and suggests a spelling for mistyped words.

use platform::text::fold;
use search::is_same_word;

/// A part of a name; the parts in order make up the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    pub text: &'a str,
    pub is_match: bool,
}

/// Splits a name into parts that match the folded search `words` and parts that do not.
pub fn highlight<'a>(name: &'a str, words: &[String]) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    for piece in pieces(name) {
        let folded = fold(piece, ' ');
        let matched = words
            .iter()
            .filter(|word| !word.is_empty() && folded.starts_with(word.as_str()))
            .map(String::len)
            .max();
        match matched {
            None => push(&mut parts, piece, false),
            // ASCII letters fold byte by byte, so the match can be cut at the length of the word. Other letters
            // can change their length ("ß" folds to "ss"), and the whole piece is highlighted.
            Some(length) if piece.is_ascii() && folded.len() == piece.len() => {
                push(&mut parts, &piece[..length], true);
                push(&mut parts, &piece[length..], false);
            }
            Some(_) => push(&mut parts, piece, true),
        }
    }
    parts
}

fn push<'a>(parts: &mut Vec<Part<'a>>, text: &'a str, is_match: bool) {
    if !text.is_empty() {
        parts.push(Part { text, is_match });
    }
}

/// Yields the words of a name and the text between them, in order.
fn pieces(name: &str) -> impl Iterator<Item = &str> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut rest = name;
    std::iter::from_fn(move || {
        let inside = is_inside(rest.chars().next()?);
        let end = rest.find(|c| is_inside(c) != inside).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// Corrects mistyped words with the words of the names that were found. Returns `None` if nothing was mistyped.
pub fn correct_spelling<'a>(typed: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let words: Vec<String> = fold(typed, ' ').split(' ').map(str::to_owned).collect();
    let known: Vec<String> = names
        .flat_map(|name| fold(name, ' ').split(' ').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let mut is_changed = false;
    let corrected: Vec<&str> = words
        .iter()
        .map(|word| match correction(word, &known) {
            Some(known) => {
                is_changed = true;
                known
            }
            None => word.as_str(),
        })
        .collect();
    is_changed.then(|| corrected.join(" "))
}

/// The minimum length of a word that is corrected. Short words have too many neighbors.
const MIN_CORRECTED_LEN: usize = 4;

fn correction<'k>(word: &str, known: &'k [String]) -> Option<&'k str> {
    let is_correctable =
        word.len() >= MIN_CORRECTED_LEN && word.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_correctable || known.iter().any(|known| known.starts_with(word)) {
        return None;
    }
    let max_distance = if word.len() < 8 { 1 } else { 2 };
    known
        .iter()
        .filter(|known| known.len() >= MIN_CORRECTED_LEN && !is_same_word(word, known))
        .map(|known| (distance(word.as_bytes(), known.as_bytes()), known))
        .filter(|(distance, _)| *distance <= max_distance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known.as_str())
}

/// Returns the edit distance (Damerau–Levenshtein): insertions, deletions, substitutions and swaps of neighbors.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let above = &rows[i - 1];
            let substituted = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn highlighted(name: &str, words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let part = |part: Part<'_>| {
            if part.is_match {
                format!("[{}]", part.text)
            } else {
                part.text.to_owned()
            }
        };
        highlight(name, &words).into_iter().map(part).collect()
    }

    #[test]
    fn prefixes_of_words_are_highlighted() {
        assert_eq!(
            highlighted("American Red Cross", &["red", "cro"]),
            "American [Red] [Cro]ss"
        );
        assert_eq!(
            highlighted("Niños de la Frontera", &["ninos"]),
            "[Niños] de la Frontera"
        );
        assert_eq!(highlighted("Covered", &["red"]), "Covered");
        assert_eq!(highlighted("ß", &["s"]), "[ß]");
        assert_eq!(highlighted("Straße", &["stras"]), "[Straße]");
    }

    #[test]
    fn mistyped_words_are_corrected_and_others_are_not() {
        let names = ["American Red Cross", "Red Cross Farm"];
        let correct = |typed| correct_spelling(typed, names.into_iter());
        assert_eq!(
            correct("amercan red cross").as_deref(),
            Some("american red cross")
        );
        assert_eq!(correct("rde corss").as_deref(), Some("rde cross"));
        assert_eq!(correct("red cro"), None);
        assert_eq!(correct("american red cross farms"), None);
        assert_eq!(correct("530196605"), None);
    }

    proptest! {
        #[test]
        fn the_parts_of_a_name_are_the_name(name in "[a-cs ßæñéİ’]{0,12}|.{0,40}", words in proptest::collection::vec("[a-z]{0,4}", 0..4)) {
            let whole: String = highlight(&name, &words).iter().map(|part| part.text).collect();
            prop_assert_eq!(whole, name);
        }
    }
}
