//! Splits text into normalized words.
//!
//! Documents and queries go through the same tokenizer, so that their words can be compared byte by byte. A
//! normalized word is lowercase and has no accents, apostrophes or periods: "St. Jude's" becomes `st judes`,
//! "Médecins" becomes `medecins`, "U.S." becomes `us`. "&" and "+" become the word `and`; every other sign
//! separates words. Letters of other scripts are kept, without their combining marks.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Maximum length of a normalized word; longer words are truncated. No two names differ only after so many
/// bytes.
pub(crate) const MAX_WORD_BYTES: usize = 48;

/// Position of a word in the original text and of its normalized form in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    source: (u32, u32),
    normalized: (u32, u32),
}

/// The normalized words of a text.
///
/// [`tokenize`](Self::tokenize) reuses the buffers, so that one value can process many texts without
/// allocating.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    buffer: String,
    spans: Vec<Span>,
    last_is_prefix: bool,
}

impl Tokens {
    /// Tokenizes `text`.
    ///
    /// ```
    /// let tokens = search::Tokens::new("Médecins & St. Jude's");
    /// assert_eq!(tokens.iter().collect::<Vec<_>>(), ["medecins", "and", "st", "judes"]);
    /// ```
    pub fn new(text: &str) -> Self {
        let mut tokens = Self {
            buffer: String::with_capacity(text.len()),
            spans: Vec::with_capacity(8),
            last_is_prefix: false,
        };
        tokens.tokenize(text);
        tokens
    }

    /// Replaces the words with those of `text`.
    pub fn tokenize(&mut self, text: &str) {
        self.tokenize_part(text, 0..text.len());
    }

    /// Replaces the words with those of a part of `text`. Source ranges refer to all of it.
    pub(crate) fn tokenize_part(&mut self, text: &str, part: Range<usize>) {
        self.buffer.clear();
        self.spans.clear();
        let offset = part.start;
        let text = &text[part];
        let mut word_start = None;
        let mut word_end = 0;
        for (at, character) in text.char_indices() {
            let at = at + offset;
            let next = at + character.len_utf8();
            match classify(character) {
                CharClass::Simple(letter) => {
                    let (_, start) = *word_start.get_or_insert((at, self.buffer.len()));
                    if self.buffer.len() - start < MAX_WORD_BYTES {
                        self.buffer.push(letter);
                    }
                    word_end = next;
                }
                CharClass::Complex => {
                    let start = word_start.unwrap_or((at, self.buffer.len()));
                    if self.buffer.len() - start.1 < MAX_WORD_BYTES {
                        push_normalized(character, &mut self.buffer);
                    }
                    if self.buffer.len() > start.1 {
                        word_start = Some(start);
                        word_end = next;
                    }
                }
                CharClass::Ignored => {}
                CharClass::Ampersand => {
                    self.push_word(word_start.take(), word_end);
                    let start = self.buffer.len();
                    self.buffer.push_str("and");
                    self.push_word(Some((at, start)), next);
                }
                CharClass::Separator => self.push_word(word_start.take(), word_end),
            }
        }
        self.last_is_prefix = word_start.is_some();
        self.push_word(word_start, word_end);
    }

    /// Ends a word that started at the given offsets of the text and of the buffer, if there is one.
    fn push_word(&mut self, start: Option<(usize, usize)>, source_end: usize) {
        if let Some((source_start, start)) = start {
            let end = self.buffer.floor_char_boundary(start + MAX_WORD_BYTES);
            self.buffer.truncate(end);
            self.spans.push(Span {
                source: (source_start as u32, source_end as u32),
                normalized: (start as u32, self.buffer.len() as u32),
            });
        }
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns `true` if the text has no words.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns `true` if the text ends inside its last word, which may therefore be the prefix of a longer
    /// one.
    pub(crate) fn last_is_prefix(&self) -> bool {
        self.last_is_prefix
    }

    /// Returns the normalized word at `index`.
    pub fn word(&self, index: usize) -> &str {
        let (start, end) = self.spans[index].normalized;
        &self.buffer[start as usize..end as usize]
    }

    /// Returns the byte range of the word at `index` in the original text.
    pub fn source_range(&self, index: usize) -> Range<usize> {
        let (start, end) = self.spans[index].source;
        start as usize..end as usize
    }

    /// Iterates over the normalized words.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.word(index))
    }
}

enum CharClass {
    /// An ASCII letter or digit, in lowercase.
    Simple(char),
    /// Any other letter, digit or combining mark.
    Complex,
    Ignored,
    Ampersand,
    Separator,
}

fn classify(character: char) -> CharClass {
    match character {
        'a'..='z' | '0'..='9' => CharClass::Simple(character),
        'A'..='Z' => CharClass::Simple(character.to_ascii_lowercase()),
        '\'' | '.' | '`' | '\u{2018}' | '\u{2019}' | '\u{02bc}' | '\u{00b4}' => CharClass::Ignored,
        '&' | '+' => CharClass::Ampersand,
        _ if character.is_ascii() => CharClass::Separator,
        _ if character.is_alphanumeric() || is_combining_mark(character) => CharClass::Complex,
        // Joiners and other invisible characters appear inside words of some scripts.
        '\u{00ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => CharClass::Ignored,
        _ => CharClass::Separator,
    }
}

fn push_normalized(character: char, buffer: &mut String) {
    for part in character.nfkd() {
        match part {
            'ß' | 'ẞ' => buffer.push_str("ss"),
            'æ' | 'Æ' => buffer.push_str("ae"),
            'œ' | 'Œ' => buffer.push_str("oe"),
            'þ' | 'Þ' => buffer.push_str("th"),
            'ø' | 'Ø' => buffer.push('o'),
            'ł' | 'Ł' => buffer.push('l'),
            'đ' | 'Đ' | 'ð' | 'Ð' => buffer.push('d'),
            'ı' => buffer.push('i'),
            _ if is_combining_mark(part) => {}
            _ if part.is_alphanumeric() => {
                buffer.extend(part.to_lowercase().filter(|c| c.is_alphanumeric()));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        Tokens::new(text).iter().map(str::to_owned).collect()
    }

    #[test]
    fn accents_case_and_apostrophes_make_no_difference() {
        assert_eq!(
            words("Médecins Sans Frontières"),
            words("MEDECINS sans frontieres")
        );
        assert_eq!(words("O'Brien’s"), ["obriens"]);
        assert_eq!(words("Straße Łódź Ærø"), ["strasse", "lodz", "aero"]);
    }

    #[test]
    fn an_ampersand_is_the_word_and() {
        assert_eq!(words("Boys&Girls"), ["boys", "and", "girls"]);
        assert_eq!(words("health + hope"), ["health", "and", "hope"]);
    }

    #[test]
    fn periods_join_and_other_signs_separate() {
        assert_eq!(
            words("U.S. St. K-9/dogs, (two)"),
            ["us", "st", "k", "9", "dogs", "two"]
        );
    }

    #[test]
    fn text_without_letters_or_digits_has_no_words() {
        for text in ["", "   ", "!?", "🐕", "...", "\u{0301}", "'"] {
            assert!(words(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn other_scripts_keep_their_letters() {
        assert_eq!(words("ШКОЛА 1"), ["школа", "1"]);
        assert_eq!(words("بيت-لحم"), ["بيت", "لحم"]);
    }

    #[test]
    fn each_word_has_its_range_in_the_text() {
        let text = "St. Jude's & Café";
        let tokens = Tokens::new(text);
        let sources: Vec<_> = (0..tokens.len())
            .map(|at| &text[tokens.source_range(at)])
            .collect();
        assert_eq!(sources, ["St", "Jude's", "&", "Café"]);
    }

    #[test]
    fn a_trailing_space_ends_the_last_word() {
        assert!(Tokens::new("red").last_is_prefix());
        assert!(!Tokens::new("red ").last_is_prefix());
    }

    proptest! {
        #[test]
        fn tokenizing_is_idempotent(text in "\\PC{0,40}") {
            let once = words(&text).join(" ");
            prop_assert_eq!(words(&once).join(" "), once);
        }
    }
}
