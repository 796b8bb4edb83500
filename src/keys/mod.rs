//! API keys: what they look like, which calls they allow, and how often.
//!
//! A key is its kind (`cwpk_` public, `cwsk_` private), thirty random characters and a checksum of six, so one
//! that was mistyped is refused without a look at the store.

pub mod limit;
pub mod limiter;
pub mod ring;
pub mod store;

use crate::ids::{AccountId, KeyId};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use sha2::{Digest, Sha256};
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
        text.push_str(&checksum(&text));
        KeyText {
            kind,
            text: text.into(),
        }
    }

    /// Reads a key; nothing where its form or its checksum is wrong.
    pub fn parse(text: &str) -> Option<KeyText> {
        let kind = [Kind::Public, Kind::Private]
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))?;
        let is_key = text.len() == Self::LENGTH
            && text.bytes().skip(PREFIX).all(|byte| byte.is_ascii_alphanumeric())
            && checksum(&text[..PREFIX + RANDOM]) == text[PREFIX + RANDOM..];
        is_key.then(|| KeyText {
            kind,
            text: text.into(),
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

/// Six characters that say whether the text before them was copied right.
fn checksum(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes()) as usize;
    let mut letters = [0; CHECKSUM];
    for letter in letters.iter_mut().rev() {
        *letter = ALPHABET[rest % 62];
        rest /= 62;
    }
    letters.map(char::from).iter().collect()
}

/// A key as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    pub account: AccountId,
    pub kind: Kind,
    pub state: State,
    /// Calls a minute by class, where they differ from the configuration.
    pub limits: [Option<u32>; Class::ALL.len()],
}

/// Whether a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Active,
    Blocked,
    Revoked,
}

/// The classes of calls that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Details,
    Search,
    Browse,
    Causes,
    /// Reads of fundraisers.
    Fundraisers,
    /// Creating fundraisers, counted for the account and not for each of its keys.
    Create,
}

impl Class {
    pub const ALL: [Class; 6] = [
        Class::Details,
        Class::Search,
        Class::Browse,
        Class::Causes,
        Class::Fundraisers,
        Class::Create,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Class::Details => "details",
            Class::Search => "search",
            Class::Browse => "browse",
            Class::Causes => "causes",
            Class::Fundraisers => "fundraisers",
            Class::Create => "create",
        }
    }

    /// The class of a name, as in `causeway limit set KEY search=5000`.
    pub fn find(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// Calls a minute for a key that has no limits of its own.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Limits {
    pub details: u32,
    pub search: u32,
    pub browse: u32,
    pub causes: u32,
    pub fundraisers: u32,
    pub create: u32,
}

impl Limits {
    /// The calls a minute that a key may make.
    pub fn per_minute(&self, class: Class, key: &Key) -> u32 {
        key.limits[class as usize].unwrap_or_else(|| self.of_class(class))
    }

    /// The calls a minute of a key without limits of its own.
    pub fn of_class(&self, class: Class) -> u32 {
        match class {
            Class::Details => self.details,
            Class::Search => self.search,
            Class::Browse => self.browse,
            Class::Causes => self.causes,
            Class::Fundraisers => self.fundraisers,
            Class::Create => self.create,
        }
    }
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
        assert!(!format!("{key:?}").contains(key.expose()));
    }

    proptest! {
        #[test]
        fn a_key_with_one_character_changed_is_refused(at in 0usize..41, to in "[ -~é]") {
            let key = KeyText::generate(Kind::Public);
            let mut letters: Vec<String> = key.expose().chars().map(String::from).collect();
            prop_assume!(letters[at] != to);
            letters[at] = to;
            prop_assert!(KeyText::parse(&letters.concat()).is_none());
        }

        #[test]
        fn text_of_any_kind_is_judged_without_a_panic(text in ".{0,60}") {
            let _ = KeyText::parse(&text);
        }
    }
}
