//! The review of new fundraisers: which of them an operator has to approve.

use super::store;
use platform::db::Tx;
use platform::ids::AccountId;
use serde::Deserialize;

/// The settings of fundraisers.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct FundraiserSettings {
    pub review: Review,
}

/// The new fundraisers that an operator has to approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Review {
    Off,
    /// Those of accounts without an approved fundraiser. Creating a second fundraiser does not circumvent the review of
    /// the first.
    First,
    All,
}

impl Review {
    /// Returns whether an operator has to approve a new fundraiser of an account.
    pub async fn is_required(self, tx: &mut Tx, account: AccountId) -> sqlx::Result<bool> {
        match self {
            Review::Off => Ok(false),
            Review::First => Ok(!store::has_approved(tx, account).await?),
            Review::All => Ok(true),
        }
    }
}
