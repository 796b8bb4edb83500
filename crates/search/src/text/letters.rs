//! Words that are spelled with single letters: "a c l u", "Y M C A of Tulsa".

use std::ops::Range;

/// Minimum number of letters that are read as one word while they are typed ...
pub(crate) const MIN_TYPED_LETTERS: usize = 3;
/// ... and in names, where most pairs of letters are abbreviations: "U S", "J P Morgan".
const MIN_LETTERS_IN_NAME: usize = 2;
/// Letters that are words. Two letters with one of them are more likely an article and an initial.
const LETTERS_AS_WORDS: [&str; 2] = ["a", "i"];

/// Finds the first run of at least `min_length` single letters.
pub(crate) fn find_run<'t>(
    words: impl IntoIterator<Item = &'t str>,
    min_length: usize,
) -> Option<Range<usize>> {
    let mut run = 0..0;
    for (index, word) in words.into_iter().enumerate() {
        if matches!(word.as_bytes(), [letter] if letter.is_ascii_lowercase()) {
            run = if run.end == index && !run.is_empty() {
                run.start..index + 1
            } else {
                index..index + 1
            };
        } else if run.len() >= min_length {
            return Some(run);
        } else {
            run = 0..0;
        }
    }
    (run.len() >= min_length).then_some(run)
}

/// Returns the words of a name with its single letters as one word, if it has several in a row.
pub(crate) fn join_letters(words: &[&str]) -> Option<Vec<String>> {
    let run = find_run(words.iter().copied(), MIN_LETTERS_IN_NAME)?;
    let letters = &words[run.clone()];
    if letters.len() < MIN_TYPED_LETTERS && letters.iter().any(|letter| LETTERS_AS_WORDS.contains(letter)) {
        return None;
    }
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    Some(
        [
            owned(&words[..run.start]),
            vec![letters.concat()],
            owned(&words[run.end..]),
        ]
        .concat(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(name: &str) -> Option<String> {
        let words: Vec<&str> = name.split(' ').collect();
        join_letters(&words).map(|words| words.join(" "))
    }

    #[test]
    fn single_letters_are_one_word() {
        assert_eq!(joined("y m c a of tulsa").as_deref(), Some("ymca of tulsa"));
        assert_eq!(joined("rapid city y m c a").as_deref(), Some("rapid city ymca"));
        assert_eq!(joined("u s fund").as_deref(), Some("us fund"));
    }

    #[test]
    fn one_letter_or_an_article_is_not_joined() {
        for name in [
            "make a wish",
            "john f kennedy",
            "grade a b dairy",
            "4 h club",
            "adopt a k 9",
        ] {
            assert_eq!(joined(name), None, "{name}");
        }
    }
}
