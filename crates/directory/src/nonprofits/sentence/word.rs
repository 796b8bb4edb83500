//! Words of a sentence, for comparison.

/// A word with the punctuation around it.
pub(super) struct Word<'a> {
    pub front: &'a str,
    pub core: &'a str,
    pub back: &'a str,
    /// The core in capitals, for comparison.
    pub key: String,
}

impl<'a> Word<'a> {
    pub(super) fn new(text: &'a str) -> Word<'a> {
        let start = text.find(char::is_alphanumeric).unwrap_or(text.len());
        let end = text
            .char_indices()
            .rev()
            .find(|(_, c)| c.is_alphanumeric())
            .map_or(start, |(at, c)| at + c.len_utf8());
        // The period of `U.S.` belongs to the word.
        let end = if is_dotted(&text[start..end]) && text[end..].starts_with('.') {
            end + 1
        } else {
            end
        };
        Word {
            front: &text[..start],
            core: &text[start..end],
            back: &text[end..],
            key: text[start..end].to_uppercase(),
        }
    }

    /// Returns the key without a possessive ending.
    pub(super) fn stem(&self) -> &str {
        self.key
            .strip_suffix("'S")
            .or_else(|| self.key.strip_suffix("’S"))
            .unwrap_or(&self.key)
    }

    /// Returns whether another word can follow this one in a name: there is no punctuation between them.
    pub(crate) fn continues(&self) -> bool {
        self.back.is_empty()
    }
}

/// Returns whether a word consists of letters with periods between them, such as `U.S`.
pub(crate) fn is_dotted(word: &str) -> bool {
    word.contains('.')
        && word
            .split('.')
            .all(|letter| letter.chars().count() == 1 && is_alphabetic(letter))
}

pub(super) fn is_alphabetic(text: &str) -> bool {
    text.chars().all(char::is_alphabetic)
}
