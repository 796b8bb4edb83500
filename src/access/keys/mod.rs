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

pub use text::{KeyText, Kind, SentKey, mask};

use crate::platform::ids::{AccountId, KeyId};
use serde::Deserialize;
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

/// The classes of calls that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
