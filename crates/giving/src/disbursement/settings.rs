//! The settings of disbursement.

use platform::money::Cents;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// When nonprofits are paid, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisburseSettings {
    /// The smallest payment.
    pub minimum: Cents,
    /// How many days a donation is held before it is paid.
    pub hold_days: u32,
    /// How many days nothing is paid after it was changed how a nonprofit is paid.
    pub change_hold_days: u32,
    /// How many days a donation may wait before operators are warned.
    pub max_days: u32,
    /// Whether another operator has to approve a batch than the one who prepared it.
    pub second_operator: bool,
    pub ach: AchSettings,
}

/// What the bank prescribes for the header of ACH files. Empty if nothing is paid by ACH.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AchSettings {
    /// The routing number of the bank that gets the files.
    pub destination: String,
    /// The number under which the bank knows the sender, up to ten characters.
    pub origin: String,
    pub company_id: String,
    pub company_name: String,
}

impl DisburseSettings {
    pub(super) const fn hold_millis(&self) -> i64 {
        self.hold_days as i64 * DAY_MILLIS
    }

    pub(super) const fn change_hold_millis(&self) -> i64 {
        self.change_hold_days as i64 * DAY_MILLIS
    }

    /// Returns the longest time that a donation may wait.
    pub const fn max_millis(&self) -> i64 {
        self.max_days as i64 * DAY_MILLIS
    }
}
