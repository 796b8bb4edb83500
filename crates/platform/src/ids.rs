//! Identifiers, one type for each kind of thing, so that they cannot be mixed up.

use std::fmt;
use uuid::Uuid;

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
