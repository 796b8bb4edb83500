//! API keys: their format, state and limits.
//!
//! A key consists of a prefix for its kind (`cwpk_` public, `cwsk_` private), thirty random characters and a checksum of
//! six characters. The checksum rejects mistyped keys without a database query.

pub mod exposure;
pub mod ring;
pub mod saved;
pub mod store;
mod text;
pub mod warnings;

pub use crate::limits::{Class, Limits};
pub use text::{KeyText, Kind, SentKey, mask};

use platform::ids::{AccountId, KeyId};
use std::str::FromStr;

/// A key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    pub account: AccountId,
    /// Whether the account is an operator.
    pub is_operator: bool,
    pub kind: Kind,
    pub state: State,
    /// Whether this is a private key that was sent in a URL.
    pub exposed: bool,
    /// When a rotated key expires, in milliseconds since the Unix epoch.
    pub ends_at: Option<i64>,
    /// The calls per minute by class, where they differ from the settings.
    pub limits: [Option<u32>; Class::ALL.len()],
    /// The calls per minute that its owner allows one address, over all classes together.
    pub address_limit: Option<u32>,
}

impl Key {
    /// Returns the number of calls per minute that the key may make.
    #[inline]
    pub fn per_minute(&self, class: Class, defaults: &Limits) -> u32 {
        self.limits[class as usize].unwrap_or_else(|| defaults.of_class(class))
    }

    /// Returns the state of the key at a time. `now` is called only for a key that expires.
    pub fn state_at(&self, now: impl FnOnce() -> i64) -> State {
        match self.ends_at {
            Some(end) if end <= now() => State::Revoked,
            _ => self.state,
        }
    }
}

/// Whether a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Active,
    /// Blocked by an operator until it is unblocked, or its account is suspended until it is restored.
    Blocked,
    /// Permanently ended: revoked, or rotated and past its overlap.
    Revoked,
}

impl State {
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Active => "active",
            State::Blocked => "blocked",
            State::Revoked => "revoked",
        }
    }
}

/// How long a rotated key works next to its replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    None,
    Hour,
    Day,
    Week,
}

impl Overlap {
    pub const ALL: [Overlap; 4] = [Overlap::None, Overlap::Hour, Overlap::Day, Overlap::Week];

    /// Returns the text for forms and commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Overlap::None => "0",
            Overlap::Hour => "1h",
            Overlap::Day => "24h",
            Overlap::Week => "7d",
        }
    }

    /// Returns the length in milliseconds.
    pub const fn millis(self) -> i64 {
        let hours = match self {
            Overlap::None => 0,
            Overlap::Hour => 1,
            Overlap::Day => 24,
            Overlap::Week => 7 * 24,
        };
        hours * 3_600_000
    }
}

impl FromStr for Overlap {
    type Err = String;

    fn from_str(text: &str) -> Result<Overlap, String> {
        let overlap = Overlap::ALL.into_iter().find(|overlap| overlap.as_str() == text);
        overlap.ok_or_else(|| "use 0, 1h, 24h or 7d".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_rotated_key_expires_even_if_it_is_blocked() {
        let mut key = Key {
            id: KeyId(Uuid::nil()),
            account: AccountId(Uuid::nil()),
            is_operator: false,
            kind: Kind::Public,
            state: State::Active,
            exposed: false,
            ends_at: None,
            limits: Default::default(),
            address_limit: None,
        };
        assert_eq!(key.state_at(|| panic!("the clock was read")), State::Active);
        key.ends_at = Some(1_000);
        assert_eq!(key.state_at(|| 999), State::Active);
        assert_eq!(key.state_at(|| 1_000), State::Revoked);
        key.state = State::Blocked;
        assert_eq!(key.state_at(|| 999), State::Blocked);
        assert_eq!(key.state_at(|| 1_000), State::Revoked);
    }

    #[test]
    fn only_four_overlaps_parse() {
        let millis = |text: &str| text.parse().map(Overlap::millis);
        assert_eq!(millis("0"), Ok(0));
        assert_eq!(millis("7d"), Ok(604_800_000));
        assert!(millis("2h").is_err());
    }
}
