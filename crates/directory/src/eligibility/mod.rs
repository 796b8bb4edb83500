//! Eligibility: whether a nonprofit may receive a donation today, and why.
//!
//! A [`Verdict`] is the outcome of seven checks. Two read the record of the nonprofit; the others read the lists in
//! [`Standings`], which every view holds in memory, so that pages and the API answer without SQL. The rule itself is pure:
//! it gets the time, and nothing in it is remembered.

pub mod business_days;
pub mod california;
pub mod changes;
pub(crate) mod checks;
pub mod names;
pub mod standings;
pub mod store;
pub mod verdict;

pub use standings::{Decision, Finding, Standings};
pub use verdict::{CheckResult, Verdict};

use std::sync::Arc;
use std::time::Duration;

/// A condition of receiving donations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    /// The master file of the IRS lists it as a charity to which money can be passed on.
    IrsListed,
    /// Donations to it are deductible, according to Publication 78.
    IrsDeductible,
    /// Its tax exemption is not revoked.
    IrsNotRevoked,
    /// The Attorney General of California does not bar it.
    CaliforniaRegistry,
    /// The Franchise Tax Board of California did not revoke its exemption.
    CaliforniaTaxBoard,
    /// It is not on the sanctions list of the United States.
    Sanctions,
    /// No operator of this server stopped it.
    Operator,
}

impl Check {
    /// All checks, in the order in which they are shown.
    pub const ALL: [Check; 7] = [
        Check::IrsListed,
        Check::IrsDeductible,
        Check::IrsNotRevoked,
        Check::CaliforniaRegistry,
        Check::CaliforniaTaxBoard,
        Check::Sanctions,
        Check::Operator,
    ];

    /// Returns the name in settings, commands and the API.
    pub const fn name(self) -> &'static str {
        match self {
            Check::IrsListed => "irs_listed",
            Check::IrsDeductible => "irs_deductible",
            Check::IrsNotRevoked => "irs_not_revoked",
            Check::CaliforniaRegistry => "california_registry",
            Check::CaliforniaTaxBoard => "california_tax_board",
            Check::Sanctions => "sanctions",
            Check::Operator => "operator",
        }
    }

    /// Finds a check by its name.
    pub fn find(name: &str) -> Option<Check> {
        Check::ALL.into_iter().find(|check| check.name() == name)
    }
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    Pass,
    /// Its list was not imported, and the check is not required.
    NotChecked,
    /// Its list does not tell.
    Unknown,
    /// A person has to decide, or a newer list is needed.
    Review,
    Fail,
}

/// Whether a nonprofit may receive donations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Eligible {
    Yes,
    Review,
    No,
}

impl Eligible {
    /// Returns the name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Eligible::Yes => "yes",
            Eligible::Review => "review",
            Eligible::No => "no",
        }
    }

    /// Finds a verdict by its name in the store.
    pub fn find(name: &str) -> Option<Eligible> {
        [Eligible::Yes, Eligible::Review, Eligible::No]
            .into_iter()
            .find(|eligible| eligible.name() == name)
    }
}

/// A file that a check reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Without its folders, which are not public.
    pub name: String,
    /// In hexadecimal.
    pub sha256: String,
    /// The day that the file states, or else when it was imported, in milliseconds since 1970.
    pub as_of: i64,
}

/// A set of checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckSet(u8);

impl CheckSet {
    pub fn contains(self, check: Check) -> bool {
        self.0 >> check as u8 & 1 == 1
    }
}

impl FromIterator<Check> for CheckSet {
    fn from_iter<I: IntoIterator<Item = Check>>(checks: I) -> CheckSet {
        CheckSet(checks.into_iter().fold(0, |set, check| set | 1 << check as u8))
    }
}

/// What a nonprofit needs to receive donations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EligibilitySettings {
    /// The checks that decide. The IRS checks and the decisions of operators always do.
    pub require: CheckSet,
    /// How old the newest file of a required list may be.
    pub max_age: Duration,
    /// How many business days a nonprofit can still receive donations after California barred it.
    pub grace_days: u32,
}

impl Default for EligibilitySettings {
    fn default() -> EligibilitySettings {
        EligibilitySettings {
            require: [Check::IrsListed, Check::IrsNotRevoked].into_iter().collect(),
            max_age: Duration::from_hours(45 * 24),
            grace_days: 5,
        }
    }
}

/// A file that several results share.
pub type SharedSource = Arc<Source>;
