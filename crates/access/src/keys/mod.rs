//! API keys: what they look like, which calls they allow, and how often.
//!
//! A key is its kind (`cwpk_` public, `cwsk_` private), thirty random characters and a checksum of six, so one
//! that was mistyped is refused without a look at the store.

pub mod exposure;
pub mod operators;
pub mod ring;
pub mod store;
mod stored;
mod text;
pub mod warnings;

pub use crate::limits::{Class, Limits};
pub use text::{KeyText, Kind, SentKey, mask};

use platform::ids::{AccountId, KeyId};
use std::str::FromStr;

/// A key as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    pub account: AccountId,
    pub kind: Kind,
    pub state: State,
    /// A private key that was seen where anybody can read it.
    pub exposed: bool,
    /// When it ends by itself, in milliseconds since 1970: set on a key that was rolled.
    pub ends_at: Option<i64>,
    /// Calls a minute by class, where they differ from the configuration.
    pub limits: [Option<u32>; Class::ALL.len()],
}

impl Key {
    /// The calls a minute that it may make.
    #[inline]
    pub fn per_minute(&self, class: Class, defaults: &Limits) -> u32 {
        self.limits[class as usize].unwrap_or_else(|| defaults.of_class(class))
    }

    /// Whether it works at this moment. The clock is read only for a key that ends.
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
    /// Stopped by the operator until it is unblocked.
    Blocked,
    /// Over for ever: revoked, or rolled and past its overlap.
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

/// How long an old key works beside the new one that was rolled out for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    None,
    Hour,
    Day,
    Week,
}

impl Overlap {
    pub const ALL: [Overlap; 4] = [Overlap::None, Overlap::Hour, Overlap::Day, Overlap::Week];

    /// As it is written in a form or a command.
    pub const fn as_str(self) -> &'static str {
        match self {
            Overlap::None => "0",
            Overlap::Hour => "1h",
            Overlap::Day => "24h",
            Overlap::Week => "7d",
        }
    }

    /// In milliseconds.
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
        let known = Overlap::ALL.into_iter().find(|overlap| overlap.as_str() == text);
        known.ok_or_else(|| "the overlap is 0, 1h, 24h or 7d".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_rolled_key_ends_by_the_clock_and_a_block_does_not_outlive_it() {
        let mut key = Key {
            id: KeyId(Uuid::nil()),
            account: AccountId(Uuid::nil()),
            kind: Kind::Public,
            state: State::Active,
            exposed: false,
            ends_at: None,
            limits: Default::default(),
        };
        assert_eq!(key.state_at(|| panic!("no clock is needed")), State::Active);
        key.ends_at = Some(1_000);
        assert_eq!(key.state_at(|| 999), State::Active);
        assert_eq!(key.state_at(|| 1_000), State::Revoked);
        key.state = State::Blocked;
        assert_eq!(key.state_at(|| 999), State::Blocked);
        assert_eq!(key.state_at(|| 1_000), State::Revoked);
    }

    #[test]
    fn an_overlap_is_one_of_four() {
        let millis = |text: &str| text.parse().map(Overlap::millis);
        assert_eq!(millis("0"), Ok(0));
        assert_eq!(millis("7d"), Ok(604_800_000));
        assert!(millis("2h").is_err());
    }
}
