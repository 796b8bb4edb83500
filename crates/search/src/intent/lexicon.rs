//! Words that carry little or no meaning, and translations.

use std::collections::HashMap;

use crate::text::tokenizer::Tokens;

/// How much a word says about what is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WordRole {
    /// Nothing: "where", "my".
    Filler,
    /// Little without others: "help", "free".
    Weak,
    #[default]
    Content,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    role: WordRole,
    /// The words of the translation.
    translation: Vec<String>,
}

/// Words with a role or a translation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexicon {
    entries: HashMap<String, Entry>,
}

impl Lexicon {
    pub(crate) fn add(&mut self, word: &str, role: WordRole) {
        for word in Tokens::new(word).iter() {
            self.entries.entry(word.to_owned()).or_default().role = role;
        }
    }

    pub(crate) fn add_translation(&mut self, word: &str, translation: &str) {
        let translation: Vec<String> = Tokens::new(translation).iter().map(str::to_owned).collect();
        if let Some(word) = Tokens::new(word).iter().next() {
            self.entries.entry(word.to_owned()).or_default().translation = translation;
        }
    }

    /// Returns the role of a word: that of its translation if it has one.
    pub(crate) fn role(&self, word: &str) -> WordRole {
        match self.entries.get(word) {
            None => WordRole::Content,
            Some(entry) => match entry.translation.as_slice() {
                [single] => self.entries.get(single).map_or(entry.role, |entry| entry.role),
                _ => entry.role,
            },
        }
    }

    /// Returns the words that a word means in the main language, or nothing if it has no translation.
    pub(crate) fn translation(&self, word: &str) -> &[String] {
        self.entries
            .get(word)
            .map(|entry| entry.translation.as_slice())
            .unwrap_or_default()
    }
}
