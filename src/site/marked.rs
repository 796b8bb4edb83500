//! A name with the words marked that were searched for, and the words that were meant where they were mistyped.

use platform::text::fold;

/// A piece of a name; all pieces in a row are the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    pub text: &'a str,
    pub is_match: bool,
}

/// Cuts a name into what matched and what did not. `words` are folded.
pub fn mark<'a>(name: &'a str, words: &[String]) -> Vec<Part<'a>> {
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
            // Where folding kept every byte, only what was typed is marked.
            Some(length) if folded.len() == piece.len() => {
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

/// Words and what stands between them, in turn.
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

/// The typed text with mistyped words put right by the names that were found; nothing where it was right.
pub fn meant<'a>(typed: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
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

/// Short words and numbers are not guessed at.
const SHORTEST: usize = 4;

fn correction<'k>(word: &str, known: &'k [String]) -> Option<&'k str> {
    let is_guessable = word.len() >= SHORTEST && word.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_guessable || known.iter().any(|known| known.starts_with(word)) {
        return None;
    }
    let most = if word.len() < 8 { 1 } else { 2 };
    known
        .iter()
        .filter(|known| known.len() >= SHORTEST)
        .map(|known| (distance(word.as_bytes(), known.as_bytes()), known))
        .filter(|(steps, _)| *steps <= most)
        .min_by_key(|(steps, _)| *steps)
        .map(|(_, known)| known.as_str())
}

/// How many letters have to be put in, taken out, changed, or swapped with their neighbour.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let above = &rows[i - 1];
            let changed = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(above[j] + 1).min(row[j - 1] + 1);
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

    fn shown(name: &str, words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let part = |part: Part<'_>| match part.is_match {
            true => format!("[{}]", part.text),
            false => part.text.to_owned(),
        };
        mark(name, &words).into_iter().map(part).collect()
    }

    #[test]
    fn beginnings_of_words_are_marked() {
        assert_eq!(
            shown("American Red Cross", &["red", "cro"]),
            "American [Red] [Cro]ss"
        );
        assert_eq!(
            shown("Niños de la Frontera", &["ninos"]),
            "[Niños] de la Frontera"
        );
        assert_eq!(shown("Covered", &["red"]), "Covered");
    }

    #[test]
    fn a_mistyped_word_is_put_right_and_a_right_one_left() {
        let names = ["American Red Cross", "Red Cross Farm"];
        let meant = |typed| meant(typed, names.into_iter());
        assert_eq!(meant("amercan red cross").as_deref(), Some("american red cross"));
        assert_eq!(meant("rde corss").as_deref(), Some("rde cross"));
        assert_eq!(meant("red cro"), None);
        assert_eq!(meant("530196605"), None);
    }

    proptest! {
        #[test]
        fn the_parts_of_a_name_are_the_name(name in ".{0,40}", words in proptest::collection::vec("[a-z]{0,4}", 0..4)) {
            let whole: String = mark(&name, &words).iter().map(|part| part.text).collect();
            prop_assert_eq!(whole, name);
        }
    }
}
