//! The consent of nonprofits to be listed and to receive donations through this site, as a record for authorities: who
//! consented, in which position, to which wording, and when.

pub mod store;

use platform::ids::{AccountId, NonprofitId};

/// A consent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    pub nonprofit: NonprofitId,
    pub account: AccountId,
    pub officer: String,
    pub position: String,
    /// The version of the wording.
    pub version: String,
    pub wording: String,
    pub given_at: i64,
    pub withdrawn_at: Option<i64>,
}
