//! Identifiers, one type for each kind of thing, so that they cannot be mixed up.

use crate::directory::nonprofits::ein::Ein;
use std::fmt;
use uuid::Uuid;

/// The namespace of nonprofit ids: the same EIN has the same id on every machine.
const BY_EIN: Uuid = Uuid::from_u128(0x3f1d_8a52_6c0b_4e7d_9b64_a2d7_15c8_0fe3);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// A nonprofit.
    NonprofitId
);
id!(
    /// A fundraiser.
    FundraiserId
);
id!(
    /// An account that owns keys.
    AccountId
);
id!(
    /// An API key. This, and never the key itself, stands in logs.
    KeyId
);

impl NonprofitId {
    /// The id of a body with an EIN.
    pub fn of_ein(ein: Ein) -> NonprofitId {
        NonprofitId(Uuid::new_v5(&BY_EIN, ein.to_string().as_bytes()))
    }
}

impl FundraiserId {
    /// A new one.
    pub fn new() -> FundraiserId {
        FundraiserId(Uuid::now_v7())
    }
}

impl AccountId {
    /// A new one.
    pub fn new() -> AccountId {
        AccountId(Uuid::now_v7())
    }
}

impl KeyId {
    /// A new one.
    pub fn new() -> KeyId {
        KeyId(Uuid::now_v7())
    }
}

impl Default for FundraiserId {
    fn default() -> Self {
        FundraiserId::new()
    }
}

impl Default for AccountId {
    fn default() -> Self {
        AccountId::new()
    }
}

impl Default for KeyId {
    fn default() -> Self {
        KeyId::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_ein_has_the_same_id_on_every_machine() {
        let red_cross = Ein::parse("530196605").unwrap();
        assert_eq!(
            NonprofitId::of_ein(red_cross).to_string(),
            NonprofitId::of_ein(red_cross).to_string()
        );
        let other = Ein::parse("530196606").unwrap();
        assert_ne!(NonprofitId::of_ein(red_cross), NonprofitId::of_ein(other));
    }
}
