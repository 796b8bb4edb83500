//! Requests of nonprofits to receive no donations through this site. They take effect at once, and operators see them.

pub mod store;

use platform::ids::NonprofitId;

/// The maximum length of the reason, in characters.
pub const MAX_REASON_CHARS: usize = 500;

/// A request that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Takedown {
    pub nonprofit: NonprofitId,
    /// The username of whoever requested it.
    pub username: String,
    pub reason: String,
    pub created_at: i64,
}
