//! Folding: what is typed and what is filed are brought to the same plain words.
//!
//! A folded word is lower case, without accents, apostrophes or periods ("St. Jude's" is `st judes`, "Médecins"
//! is `medecins`, "U.S." is `us`). "&" and "+" are the word `and`; every other sign parts words. Scripts without
//! Latin letters keep their letters and lose only their marks.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longer words are cut here; no name is told apart after so many bytes.
const LONGEST: usize = 48;

/// One word of a text: where it stood, and where its folded form is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    source: (u32, u32),
    folded: (u32, u32),
}

/// The folded words of a text. One value is meant to be used again for many texts.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    letters: String,
    words: Vec<Span>,
    open_end: bool,
}

impl Folded {
    /// Folds `text`.
    ///
    /// ```
    /// let folded = search::Folded::new("Médecins & St. Jude's");
    /// assert_eq!(folded.iter().collect::<Vec<_>>(), ["medecins", "and", "st", "judes"]);
    /// ```
    pub fn new(text: &str) -> Self {
        let mut folded = Self {
            letters: String::with_capacity(text.len()),
            words: Vec::with_capacity(8),
            open_end: false,
        };
        folded.read(text);
        folded
    }

    /// Folds `text` in place of what was folded before.
    pub fn read(&mut self, text: &str) {
        self.letters.clear();
        self.words.clear();
        let mut open = None;
        let mut end = 0;
        for (at, letter) in text.char_indices() {
            let next = at + letter.len_utf8();
            match kind(letter) {
                Kind::Letter(plain) => {
                    let (_, start) = *open.get_or_insert((at, self.letters.len()));
                    if self.letters.len() - start < LONGEST {
                        self.letters.push(plain);
                    }
                    end = next;
                }
                Kind::Compound => {
                    let start = open.unwrap_or((at, self.letters.len()));
                    if self.letters.len() - start.1 < LONGEST {
                        push_plain(letter, &mut self.letters);
                    }
                    if self.letters.len() > start.1 {
                        open = Some(start);
                        end = next;
                    }
                }
                Kind::Silent => {}
                Kind::And => {
                    self.close(open.take(), end);
                    let start = self.letters.len();
                    self.letters.push_str("and");
                    self.close(Some((at, start)), next);
                }
                Kind::Gap => self.close(open.take(), end),
            }
        }
        self.open_end = open.is_some();
        self.close(open, end);
    }

    fn close(&mut self, open: Option<(usize, usize)>, end: usize) {
        if let Some((at, start)) = open {
            let longest = self.letters.floor_char_boundary(start + LONGEST);
            self.letters.truncate(longest);
            self.words.push(Span {
                source: (at as u32, end as u32),
                folded: (start as u32, self.letters.len() as u32),
            });
        }
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no word at all.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether the text ends inside its last word, so that the word may be the beginning of a longer one.
    pub fn open_end(&self) -> bool {
        self.open_end
    }

    /// The folded word `at`.
    pub fn word(&self, at: usize) -> &str {
        let (start, end) = self.words[at].folded;
        &self.letters[start as usize..end as usize]
    }

    /// Where word `at` stood in the text, in bytes.
    pub fn source(&self, at: usize) -> std::ops::Range<usize> {
        let (start, end) = self.words[at].source;
        start as usize..end as usize
    }

    /// The folded words in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.word(at))
    }
}

enum Kind {
    Letter(char),
    Compound,
    Silent,
    And,
    Gap,
}

fn kind(letter: char) -> Kind {
    match letter {
        'a'..='z' | '0'..='9' => Kind::Letter(letter),
        'A'..='Z' => Kind::Letter(letter.to_ascii_lowercase()),
        '\'' | '.' | '`' | '\u{2018}' | '\u{2019}' | '\u{02bc}' | '\u{00b4}' => Kind::Silent,
        '&' | '+' => Kind::And,
        _ if letter.is_ascii() => Kind::Gap,
        _ if letter.is_alphanumeric() || is_combining_mark(letter) => Kind::Compound,
        // Joiners and other invisible signs stand inside words of some scripts.
        '\u{00ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => Kind::Silent,
        _ => Kind::Gap,
    }
}

fn push_plain(letter: char, letters: &mut String) {
    for part in letter.nfkd() {
        match part {
            'ß' | 'ẞ' => letters.push_str("ss"),
            'æ' | 'Æ' => letters.push_str("ae"),
            'œ' | 'Œ' => letters.push_str("oe"),
            'þ' | 'Þ' => letters.push_str("th"),
            'ø' | 'Ø' => letters.push('o'),
            'ł' | 'Ł' => letters.push('l'),
            'đ' | 'Đ' | 'ð' | 'Ð' => letters.push('d'),
            'ı' => letters.push('i'),
            _ if is_combining_mark(part) => {}
            _ if part.is_alphanumeric() => {
                letters.extend(part.to_lowercase().filter(|c| c.is_alphanumeric()));
            }
            _ => {}
        }
    }
}

/// The domain in what looks like a web address: `https://www.redcross.org/donate` is `redcross.org`.
///
/// ```
/// assert_eq!(search::domain("HTTPS://www.RedCross.org/donate").as_deref(), Some("redcross.org"));
/// assert_eq!(search::domain("U.S. Fund"), None);
/// ```
pub fn domain(text: &str) -> Option<String> {
    let text = text.trim();
    let bare = match text.find("://") {
        Some(at) => &text[at + 3..],
        None => text,
    };
    let host = bare.split(['/', '?', '#', ':']).next()?;
    let host = match host.get(..4) {
        Some(start) if start.eq_ignore_ascii_case("www.") => &host[4..],
        _ => host,
    };
    let (name, _) = host.rsplit_once('.')?;
    let plain = host
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-');
    (plain && name.len() >= 2 && host.len() <= LONGEST && !host.contains(".."))
        .then(|| host.trim_end_matches('.').to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        Folded::new(text).iter().map(str::to_owned).collect()
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
    fn periods_join_and_other_signs_part() {
        assert_eq!(
            words("U.S. St. K-9/dogs, (two)"),
            ["us", "st", "k", "9", "dogs", "two"]
        );
    }

    #[test]
    fn a_text_of_signs_has_no_words() {
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
    fn each_word_knows_where_it_stood() {
        let text = "St. Jude's & Café";
        let folded = Folded::new(text);
        let typed: Vec<_> = (0..folded.len()).map(|at| &text[folded.source(at)]).collect();
        assert_eq!(typed, ["St", "Jude's", "&", "Café"]);
        assert!(folded.open_end());
        assert!(!Folded::new("red ").open_end());
    }

    #[test]
    fn a_domain_is_told_from_a_sentence() {
        assert_eq!(domain("redcross.org").as_deref(), Some("redcross.org"));
        assert_eq!(
            domain("www.k-9.example.org/x?y").as_deref(),
            Some("k-9.example.org")
        );
        for text in ["red cross", "u.s.", "st. jude", "inc.", "a..b", ""] {
            assert!(domain(text).is_none_or(|it| !it.contains(' ')), "{text}");
        }
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in "\\PC{0,40}") {
            let once = words(&text).join(" ");
            prop_assert_eq!(words(&once).join(" "), once);
        }
    }
}
