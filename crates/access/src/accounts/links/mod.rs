//! Links in emails that set a new password or confirm an email address. Each works once, for an hour or a day.

pub mod store;

use std::time::Duration;

/// The purpose of a link.
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
