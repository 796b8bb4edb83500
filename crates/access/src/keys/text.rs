//! The text of a key: generation, parsing and hashing.

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX_LEN: usize = 5;
const RANDOM_LEN: usize = 30;
const CHECKSUM_LEN: usize = 6;

/// The kind of a key. Public keys may appear in web pages. Private keys are secret and shown only once.
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
            _ => Err("use public or private".to_owned()),
        }
    }
}

/// How a public key that another service issued begins. It has no checksum.
const FOREIGN_PREFIX: &str = "pk_";
const FOREIGN_LENGTHS: RangeInclusive<usize> = 12..=128;

/// The text of a key. Its `Debug` output does not reveal it.
#[derive(Clone, Debug)]
pub struct KeyText {
    kind: Kind,
    text: SecretString,
}

impl KeyText {
    /// The length of every key that is generated.
    pub const LENGTH: usize = PREFIX_LEN + RANDOM_LEN + CHECKSUM_LEN;
    /// The maximum length of a public key.
    pub const MAX_PUBLIC_LENGTH: usize = *FOREIGN_LENGTHS.end();

    /// Generates a random key.
    pub fn generate(kind: Kind) -> KeyText {
        let mut text = String::with_capacity(Self::LENGTH);
        text.push_str(kind.prefix());
        while text.len() < PREFIX_LEN + RANDOM_LEN {
            let mut bytes = [0; 64];
            getrandom::fill(&mut bytes).expect("the system has random bytes");
            // 248 is a multiple of 62: larger bytes would make some characters more frequent than others.
            let unbiased = bytes.iter().filter(|byte| **byte < 248);
            let missing = PREFIX_LEN + RANDOM_LEN - text.len();
            text.extend(
                unbiased
                    .take(missing)
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

    /// Parses a key, also one that another service issued. Returns `None` if its format or its checksum is wrong.
    pub fn parse(text: &str) -> Option<KeyText> {
        SentKey::parse(text).map(|sent| KeyText {
            kind: sent.kind,
            text: sent.text.into(),
        })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the key in plain text.
    pub fn expose(&self) -> &str {
        self.text.expose_secret()
    }

    /// Returns the SHA-256 under which the key is stored.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.expose()).into()
    }

    /// Returns the last four characters of a private key, by which its owner recognizes it. They are part of the checksum.
    pub fn last_four(&self) -> Option<&str> {
        let text = self.expose();
        (self.kind == Kind::Private).then(|| &text[text.len() - 4..])
    }
}

/// A key in a request. It borrows from the request.
#[derive(Clone, Copy)]
pub struct SentKey<'a> {
    kind: Kind,
    text: &'a str,
    has_checksum: bool,
}

impl<'a> SentKey<'a> {
    /// Parses a key. Returns `None` if its format or its checksum is wrong.
    pub fn parse(text: &'a str) -> Option<SentKey<'a>> {
        if is_foreign(text) {
            return Some(SentKey {
                kind: Kind::Public,
                text,
                has_checksum: false,
            });
        }
        let kind = [Kind::Public, Kind::Private]
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))?;
        let bytes = text.as_bytes();
        let is_key = bytes.len() == KeyText::LENGTH
            && bytes[PREFIX_LEN..].iter().all(u8::is_ascii_alphanumeric)
            && checksum(&bytes[..PREFIX_LEN + RANDOM_LEN]) == bytes[PREFIX_LEN + RANDOM_LEN..];
        is_key.then_some(SentKey {
            kind,
            text,
            has_checksum: true,
        })
    }

    /// Returns whether the key has a valid checksum. A public key that another service issued has none, so any text may
    /// look like one.
    pub(crate) fn has_checksum(&self) -> bool {
        self.has_checksum
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the key in plain text.
    pub fn expose(&self) -> &'a str {
        self.text
    }

    /// Returns the SHA-256 under which the key is stored.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.text).into()
    }
}

/// Returns whether a text looks like a public key that another service issued.
fn is_foreign(text: &str) -> bool {
    let is_in_key = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    text.starts_with(FOREIGN_PREFIX) && FOREIGN_LENGTHS.contains(&text.len()) && text.bytes().all(is_in_key)
}

impl fmt::Debug for SentKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} key", self.kind)
    }
}

/// Truncates everything in the text that looks like a key after its prefix, for logs and responses.
pub fn mask(text: &str) -> Cow<'_, str> {
    // In a URL the underscore may be percent-encoded.
    let starts = ["cwsk_", "cwpk_", "cwsk%5", "cwpk%5"];
    if !starts.iter().any(|start| text.contains(start)) {
        return Cow::Borrowed(text);
    }
    let (mut masked, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(position) = starts.iter().filter_map(|start| rest.find(start)).min() {
        let (before, key) = rest.split_at(position);
        let is_in_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '%';
        let end = key.find(|c| !is_in_key(c)).unwrap_or(key.len());
        masked.push_str(before);
        masked.push_str(&key[..PREFIX_LEN - 1]);
        masked.push_str("_…");
        rest = &key[end..];
    }
    masked.push_str(rest);
    Cow::Owned(masked)
}

/// Returns the CRC-32 of the text in base 62.
fn checksum(text: &[u8]) -> [u8; CHECKSUM_LEN] {
    let mut rest = crc32fast::hash(text) as usize;
    let mut digits = [0; CHECKSUM_LEN];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[rest % 62];
        rest /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_has_a_prefix_thirty_random_characters_and_a_checksum() {
        for (kind, prefix) in [(Kind::Public, "cwpk_"), (Kind::Private, "cwsk_")] {
            let key = KeyText::generate(kind);
            assert!(key.expose().starts_with(prefix));
            assert_eq!(key.expose().len(), 5 + 30 + 6);
            assert_eq!(KeyText::parse(key.expose()).unwrap().kind(), kind);
            assert_ne!(key.expose(), KeyText::generate(kind).expose());
        }
    }

    #[test]
    fn a_public_key_of_another_service_has_no_checksum() {
        for text in ["pk_live_0123456789abcdef", "pk_test-a_b1"] {
            let sent = SentKey::parse(text).unwrap();
            assert_eq!((sent.kind(), sent.has_checksum()), (Kind::Public, false));
        }
        let own = KeyText::generate(Kind::Public);
        assert!(SentKey::parse(own.expose()).unwrap().has_checksum());
        for text in [
            "pk_short",
            "sk_live_0123456789abcdef",
            "pk_live_0123 456789",
            &format!("pk_{}", "a".repeat(126)),
        ] {
            assert!(SentKey::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn debug_output_does_not_reveal_a_key() {
        let key = KeyText::generate(Kind::Private);
        let sent = SentKey::parse(key.expose()).unwrap();
        assert!(!format!("{key:?} {sent:?}").contains(key.expose()));
    }

    #[test]
    fn masked_text_contains_no_key() {
        let key = KeyText::generate(Kind::Private);
        let key = key.expose();
        assert_eq!(mask(&format!("/a/{key}/b {key}")), "/a/cwsk_…/b cwsk_…");
        assert_eq!(mask(&key.replace('_', "%5F")), "cwsk_…");
        assert_eq!(mask("/v0.2/nonprofit/cwskills"), "/v0.2/nonprofit/cwskills");
    }

    proptest! {
        #[test]
        fn a_key_with_one_character_changed_does_not_parse(index in 0usize..41, to in "[ -~é]") {
            let key = KeyText::generate(Kind::Public);
            let mut characters: Vec<String> = key.expose().chars().map(String::from).collect();
            prop_assume!(characters[index] != to);
            characters[index] = to;
            prop_assert!(SentKey::parse(&characters.concat()).is_none());
        }

        #[test]
        fn parsing_never_panics(text in ".{0,60}") {
            let _ = SentKey::parse(&text);
        }
    }
}
