//! Links sent by email: to set a new password, and to confirm an email address. Each works once, for an hour or a
//! day.

pub mod store;

use std::time::Duration;

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Reset,
    Confirm,
}

impl Purpose {
    pub const fn name(self) -> &'static str {
        match self {
            Purpose::Reset => "reset",
            Purpose::Confirm => "confirm",
        }
    }

    pub const fn lifetime(self) -> Duration {
        match self {
            Purpose::Reset => Duration::from_hours(1),
            Purpose::Confirm => Duration::from_hours(24),
        }
    }
}
