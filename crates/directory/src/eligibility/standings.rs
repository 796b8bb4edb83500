//! What the lists say about nonprofits, in memory.
//!
//! A view holds one state of it. It is loaded again when an import or an operator changed it, and the verdicts that a page
//! needs most often, whether money may be given, are ready as a set of EINs that are held.

use super::business_days::add_business_days;
use super::{Check, EligibilitySettings, Outcome, SharedSource};
use foldhash::fast::FixedState;
use jiff::civil::Date;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// What all lists say, for one revision of the directory.
#[derive(Clone, Debug, Default)]
pub struct Standings {
    pub settings: EligibilitySettings,
    /// The revision at which it changed last.
    pub version: i64,
    pub(super) lists: HashMap<Check, SharedSource>,
    /// Whether the directory has a file of the IRS; without one, the built-in demo or an operator's file decides.
    pub(super) has_master_file: bool,
    /// Whether the automatic revocation list was imported.
    pub(super) has_revocations: bool,
    pub(super) findings: Arc<HashMap<u32, Vec<Finding>, FixedState>>,
    pub(super) decisions: Arc<HashMap<u32, Vec<Decision>>>,
}

/// A list that a check reads.
#[derive(Clone, Copy, Debug)]
pub enum List<'a> {
    /// The check reads no list that can be old.
    NotNeeded,
    Missing,
    Imported(&'a SharedSource),
}

/// What a row of a list says about a nonprofit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub check: Check,
    pub outcome: Outcome,
    /// The status in the row, or the name on the list.
    pub status: Arc<str>,
    /// Whether only a similar name connects the row and the nonprofit.
    pub is_by_name: bool,
    pub since: Option<Date>,
    pub source: SharedSource,
}

/// What an operator decided about a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub check: Check,
    pub passes: bool,
    /// In milliseconds since 1970.
    pub decided_at: i64,
}

impl Finding {
    /// Returns the reason for a donor.
    pub fn reason(&self) -> Cow<'static, str> {
        let status = &self.status;
        match (self.check, self.is_by_name) {
            (Check::Sanctions, _) => "Its name resembles one on the sanctions list; a person has to compare them".into(),
            (Check::CaliforniaRegistry, true) => {
                format!("The registry of California lists a charity with a similar name as {status}; a person has to compare them").into()
            }
            (_, true) => {
                "The tax board of California revoked an organization with a similar name; a person has to compare them".into()
            }
            (Check::CaliforniaRegistry, false) if status.eq_ignore_ascii_case("mutual benefit") => {
                "The registry of California classifies it as Mutual Benefit, which is not a sanction".into()
            }
            (Check::CaliforniaRegistry, false) => {
                format!("The status in the registry of California is {status}").into()
            }
            (_, false) => "The Franchise Tax Board of California revoked its exemption".into(),
        }
    }

    /// Returns the last day on which a failure does not count. Only the registry of California grants time.
    pub fn grace_until(&self, settings: &EligibilitySettings) -> Option<Date> {
        (self.check == Check::CaliforniaRegistry && self.outcome == Outcome::Fail)
            .then(|| {
                self.since
                    .map(|since| add_business_days(since, settings.grace_days))
            })
            .flatten()
    }
}

impl Standings {
    /// Returns the list that a check reads.
    pub fn list(&self, check: Check) -> List<'_> {
        match check {
            Check::Operator => return List::NotNeeded,
            // Without a file of the IRS, there is none that could be old: the built-in demo counts as of today.
            Check::IrsListed if !self.has_master_file => return List::NotNeeded,
            // The master file leaves out revoked organizations, so without the revocation list it decides.
            Check::IrsNotRevoked if !self.has_revocations => {
                return self.list(Check::IrsListed);
            }
            _ => {}
        }
        self.lists.get(&check).map_or(List::Missing, List::Imported)
    }

    /// Returns the newest file that a check reads.
    pub fn source(&self, check: Check) -> Option<SharedSource> {
        let check = match check {
            Check::IrsNotRevoked if !self.has_revocations => Check::IrsListed,
            check => check,
        };
        self.lists.get(&check).cloned()
    }

    pub(super) fn findings(&self, ein: u32) -> &[Finding] {
        self.findings.get(&ein).map_or(&[], Vec::as_slice)
    }

    pub(super) fn decision(&self, ein: u32, check: Check) -> Option<&Decision> {
        self.decisions
            .get(&ein)?
            .iter()
            .find(|decision| decision.check == check)
    }
}
