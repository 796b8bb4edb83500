//! Which new fundraisers wait for an operator to approve them.

use super::store;
use platform::db::Tx;
use platform::ids::AccountId;
use serde::Deserialize;

/// The settings of fundraisers.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct FundraiserSettings {
    pub review: Review,
}

/// Which new fundraisers wait for a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Review {
    Off,
    /// Those of accounts without a fundraiser that everybody may see. So an account cannot get around its review by
    /// creating a second fundraiser.
    First,
    All,
}

impl Review {
    /// Returns whether a new fundraiser of an account has to wait.
    pub async fn is_required(self, tx: &mut Tx, account: AccountId) -> sqlx::Result<bool> {
        match self {
            Review::Off => Ok(false),
            Review::First => Ok(!store::has_approved(tx, account).await?),
            Review::All => Ok(true),
        }
    }
}
