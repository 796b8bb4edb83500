//! The review of new fundraisers: which of them an operator has to approve.

use super::store;
use platform::db::Tx;
use platform::ids::AccountId;
use platform::money::Cents;
use serde::Deserialize;

/// The settings of fundraisers.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct FundraiserSettings {
    pub review: Review,
    /// The most that an owner can report as raised elsewhere, in cents.
    pub max_offline: u32,
}

impl FundraiserSettings {
    /// Returns the most that an owner can report as raised elsewhere.
    pub(super) fn max_offline(self) -> Cents {
        Cents::new(i64::from(self.max_offline))
    }

    /// Returns from which amount on operators look at what an owner reports: a tenth of the maximum.
    pub fn large_offline(self) -> Cents {
        Cents::new(i64::from(self.max_offline / 10).max(1))
    }
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
