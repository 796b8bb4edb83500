//! What nonprofits decide about fundraisers for them.

pub mod store;

/// Who may create fundraisers for a nonprofit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NonprofitRule {
    /// Everybody.
    Open,
    /// Everybody, and a new one waits until the nonprofit approves it.
    Approve,
    /// Nobody.
    Decline,
}

impl NonprofitRule {
    const ALL: [NonprofitRule; 3] = [
        NonprofitRule::Open,
        NonprofitRule::Approve,
        NonprofitRule::Decline,
    ];

    /// Its name in forms and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            NonprofitRule::Open => "open",
            NonprofitRule::Approve => "approve",
            NonprofitRule::Decline => "decline",
        }
    }

    pub fn find(name: &str) -> Option<NonprofitRule> {
        NonprofitRule::ALL.into_iter().find(|rule| rule.as_str() == name)
    }
}
