//! IDs, with one type for each kind of object, so that they cannot be mixed up.

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
    /// The ID of a nonprofit.
    NonprofitId
);
id!(
    /// The ID of a fundraiser.
    FundraiserId
);
id!(
    /// The ID of an account.
    AccountId
);
id!(
    /// The ID of an API key. Logs contain this and never the key itself.
    KeyId
);

impl FundraiserId {
    /// Generates a new ID.
    pub fn new() -> FundraiserId {
        FundraiserId(Uuid::now_v7())
    }
}

impl AccountId {
    /// Generates a new ID.
    pub fn new() -> AccountId {
        AccountId(Uuid::now_v7())
    }
}

impl KeyId {
    /// Generates a new ID.
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
