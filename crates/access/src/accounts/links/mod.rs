//! Links in emails that set a new password, or confirm or change an email address. Each works once, for an hour or a day.

pub mod store;

use std::time::Duration;

/// The purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Reset,
    Confirm,
    ChangeEmail,
}

impl Purpose {
    pub const fn name(self) -> &'static str {
        match self {
            Purpose::Reset => "reset",
            Purpose::Confirm => "confirm",
            Purpose::ChangeEmail => "change-email",
        }
    }

    pub const fn lifetime(self) -> Duration {
        match self {
            Purpose::Reset => Duration::from_hours(1),
            Purpose::Confirm | Purpose::ChangeEmail => Duration::from_hours(24),
        }
    }
}
