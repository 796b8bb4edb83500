//! The text of keys: made, read and hashed.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX: usize = 5;
const RANDOM: usize = 30;
const CHECKSUM: usize = 6;

/// Public keys may stand in a web page; private ones are shown once and kept secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Public,
    Private,
}

impl Kind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Public => "public",
            Kind::Private => "private",
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Kind::Public => "cwpk_",
            Kind::Private => "cwsk_",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        match text {
            "public" => Ok(Kind::Public),
            "private" => Ok(Kind::Private),
            _ => Err("a key is public or private".to_owned()),
        }
    }
}

/// The text of a key, whose form and checksum are right. It does not show itself in logs.
#[derive(Clone, Debug)]
pub struct KeyText {
    kind: Kind,
    text: SecretString,
}

impl KeyText {
    /// Every key is this long.
    pub const LENGTH: usize = PREFIX + RANDOM + CHECKSUM;

    /// A new random key.
    pub fn generate(kind: Kind) -> KeyText {
        let mut text = String::with_capacity(Self::LENGTH);
        text.push_str(kind.prefix());
        while text.len() < PREFIX + RANDOM {
            let mut bytes = [0; 64];
            getrandom::fill(&mut bytes).expect("the system has random bytes");
            // Bytes from 248 on would make the first letters of the alphabet more frequent than the last.
            let fair = bytes.iter().filter(|byte| **byte < 248);
            let room = PREFIX + RANDOM - text.len();
            text.extend(
                fair.take(room)
                    .map(|byte| char::from(ALPHABET[*byte as usize % 62])),
            );
        }
        let checksum = checksum(text.as_bytes());
        text.extend(checksum.map(char::from));
        KeyText {
            kind,
            text: text.into(),
        }
    }

    /// Reads a key; nothing where its form or its checksum is wrong.
    pub fn parse(text: &str) -> Option<KeyText> {
        SentKey::parse(text).map(|sent| KeyText {
            kind: sent.kind,
            text: sent.text.into(),
        })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The key as it is given to its owner.
    pub fn expose(&self) -> &str {
        self.text.expose_secret()
    }

    /// The SHA-256 under which it is stored.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.expose()).into()
    }
}

/// A key as a request carries it, whose form and checksum are right; judged where it stands, without a copy.
#[derive(Clone, Copy)]
pub struct SentKey<'a> {
    kind: Kind,
    text: &'a str,
}

impl<'a> SentKey<'a> {
    /// Reads a key; nothing where its form or its checksum is wrong.
    pub fn parse(text: &'a str) -> Option<SentKey<'a>> {
        let kind = [Kind::Public, Kind::Private]
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))?;
        let bytes = text.as_bytes();
        let is_key = bytes.len() == KeyText::LENGTH
            && bytes[PREFIX..].iter().all(u8::is_ascii_alphanumeric)
            && checksum(&bytes[..PREFIX + RANDOM]) == bytes[PREFIX + RANDOM..];
        is_key.then_some(SentKey { kind, text })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The key as it was sent.
    pub fn expose(&self) -> &'a str {
        self.text
    }

    /// The SHA-256 under which it is stored.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.text).into()
    }
}

impl fmt::Debug for SentKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} key", self.kind)
    }
}

/// The text with what looks like a key cut off after its kind, for logs and answers.
pub fn mask(text: &str) -> Cow<'_, str> {
    // In an address the line may be percent-encoded.
    let starts = ["cwsk_", "cwpk_", "cwsk%5", "cwpk%5"];
    if !starts.iter().any(|start| text.contains(start)) {
        return Cow::Borrowed(text);
    }
    let (mut masked, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = starts.iter().filter_map(|start| rest.find(start)).min() {
        let (before, key) = rest.split_at(at);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '%';
        let end = key.find(|c| !is_part(c)).unwrap_or(key.len());
        masked.push_str(before);
        masked.push_str(&key[..PREFIX - 1]);
        masked.push_str("_…");
        rest = &key[end..];
    }
    masked.push_str(rest);
    Cow::Owned(masked)
}

/// Six characters that say whether the text before them was copied right.
fn checksum(text: &[u8]) -> [u8; CHECKSUM] {
    let mut rest = crc32fast::hash(text) as usize;
    let mut letters = [0; CHECKSUM];
    for letter in letters.iter_mut().rev() {
        *letter = ALPHABET[rest % 62];
        rest /= 62;
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_has_its_kind_thirty_random_characters_and_a_checksum() {
        for (kind, prefix) in [(Kind::Public, "cwpk_"), (Kind::Private, "cwsk_")] {
            let key = KeyText::generate(kind);
            assert!(key.expose().starts_with(prefix));
            assert_eq!(key.expose().len(), 5 + 30 + 6);
            assert_eq!(KeyText::parse(key.expose()).unwrap().kind(), kind);
            assert_ne!(key.expose(), KeyText::generate(kind).expose());
        }
    }

    #[test]
    fn a_key_does_not_show_itself() {
        let key = KeyText::generate(Kind::Private);
        let sent = SentKey::parse(key.expose()).unwrap();
        assert!(!format!("{key:?} {sent:?}").contains(key.expose()));
    }

    #[test]
    fn a_text_for_the_log_shows_no_key() {
        let key = KeyText::generate(Kind::Private);
        let key = key.expose();
        assert_eq!(mask(&format!("/a/{key}/b {key}")), "/a/cwsk_…/b cwsk_…");
        assert_eq!(mask(&key.replace('_', "%5F")), "cwsk_…");
        assert_eq!(mask("/v0.2/nonprofit/cwskills"), "/v0.2/nonprofit/cwskills");
    }

    proptest! {
        #[test]
        fn a_key_with_one_character_changed_is_refused(at in 0usize..41, to in "[ -~é]") {
            let key = KeyText::generate(Kind::Public);
            let mut letters: Vec<String> = key.expose().chars().map(String::from).collect();
            prop_assume!(letters[at] != to);
            letters[at] = to;
            prop_assert!(SentKey::parse(&letters.concat()).is_none());
        }

        #[test]
        fn text_of_any_kind_is_judged_without_a_panic(text in ".{0,60}") {
            let _ = SentKey::parse(&text);
        }
    }
}
