//! Which words of a mission are indexed, and which words are the same.

use crate::text::english;

/// Minimum length of a word. Shorter ones are articles and prepositions, or say nothing without the others.
const MIN_WORD_LENGTH: usize = 3;

/// Returns `true` if a mission can be found by the word.
pub(crate) fn is_indexed(word: &str) -> bool {
    word.len() >= MIN_WORD_LENGTH && !english::is_stop_word(word)
}

/// Returns the forms of a word: itself, its singular and its plural. Some are guesses that no text has.
pub(crate) fn forms(word: &str) -> impl Iterator<Item = String> {
    let with_es = word.ends_with(['s', 'x', 'z', 'h']).then(|| format!("{word}es"));
    let with_ies = word.strip_suffix('y').map(|stem| format!("{stem}ies"));
    std::iter::once(word.to_owned())
        .chain(english::singular_forms(word))
        .chain([format!("{word}s")])
        .chain(with_es)
        .chain(with_ies)
}

/// Returns `true` if `typed` is a form of `word`.
///
/// ```
/// assert!(search::is_same_word("beaches", "beach") && search::is_same_word("family", "families"));
/// assert!(!search::is_same_word("beach", "bean"));
/// ```
pub fn is_same_word(typed: &str, word: &str) -> bool {
    typed == word || (typed.len() >= MIN_WORD_LENGTH && forms(typed).any(|form| form == word))
}
