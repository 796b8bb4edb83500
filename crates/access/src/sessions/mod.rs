//! Sessions: a random cookie, stored as its SHA-256 and replaced at every sign-in.

pub mod notice;
pub mod start;
pub mod store;

use platform::ids::AccountId;
use std::time::Duration;

/// The time after which an unused session ends.
pub const IDLE_LIMIT: Duration = Duration::from_hours(30 * 24);

/// A signed-in account. A handler that takes this cannot run for anyone else.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub account: AccountId,
    pub username: String,
    pub email: Option<String>,
    pub operator: bool,
    /// The SHA-256 of the cookie.
    pub session: [u8; 32],
}
