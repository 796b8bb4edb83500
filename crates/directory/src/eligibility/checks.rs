//! The rule: what is known about a nonprofit in, a verdict with its reasons out.

use super::business_days::{day_of, end_of_day};
use super::standings::{Decision, Finding, List, Standings};
use super::verdict::{CheckResult, Verdict};
use super::{Check, Eligible, Outcome, SharedSource};
use crate::nonprofits::Nonprofit;
use crate::nonprofits::ein::Ein;
use foldhash::fast::FixedState;
use platform::clock::rfc3339;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// Which nonprofits must not receive donations for other reasons than their records, during a period.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holds {
    /// A required list is missing or old.
    all: bool,
    eins: HashSet<u32, FixedState>,
    /// Publication 78 decides as well.
    needs_deductible: bool,
    /// When this changes without an import, in milliseconds since 1970.
    pub until: i64,
    /// A checksum of the above, for entity tags.
    pub checksum: u32,
}

impl Standings {
    /// Returns the verdict about a nonprofit in the directory.
    pub fn verdict(&self, nonprofit: &Nonprofit<'_>, now: i64) -> Verdict {
        let today = day_of(now);
        let ein = nonprofit.ein.map(Ein::value);
        let of_list = |check| self.listed(check, ein, now);
        let checks = vec![
            self.aged(irs_listed(nonprofit), now),
            self.deductible(nonprofit, now),
            self.aged(not_revoked(nonprofit, self), now),
            of_list(Check::CaliforniaRegistry),
            of_list(Check::CaliforniaTaxBoard),
            of_list(Check::Sanctions),
            self.operator(ein),
        ];
        Verdict::new(checks, &self.settings, today)
    }

    /// Turns what passes by an old list into a question, and adds the source.
    fn aged(&self, result: CheckResult, now: i64) -> CheckResult {
        let check = result.check;
        let source = self.source(check);
        if result.outcome == Outcome::Pass
            && let Some(reason) = self.age_problem(check, now)
        {
            return CheckResult {
                source,
                ..CheckResult::new(check, Outcome::Review, reason)
            };
        }
        CheckResult { source, ..result }
    }

    /// Returns why the newest file of a required check does not do: it is missing, or too old.
    pub(crate) fn age_problem(&self, check: Check, now: i64) -> Option<Cow<'static, str>> {
        if !self.settings.require.contains(check) {
            return None;
        }
        match self.list(check) {
            List::NotNeeded => None,
            List::Missing => Some(missing(check).into()),
            List::Imported(source) => {
                let max_age = self.settings.max_age.as_millis() as i64;
                (now.saturating_sub(source.as_of) > max_age).then(|| {
                    let days = max_age / 86_400_000;
                    let as_of = &rfc3339(source.as_of)[..10];
                    format!("The newest file is of {as_of}, more than {days} days ago; a newer one is needed")
                        .into()
                })
            }
        }
    }

    fn deductible(&self, nonprofit: &Nonprofit<'_>, now: i64) -> CheckResult {
        let check = Check::IrsDeductible;
        let is_imported = matches!(self.list(check), List::Imported(_));
        let result = match irs_deductible(nonprofit, is_imported) {
            Some(result) => self.aged(result, now),
            None => return self.not_imported(check),
        };
        match nonprofit.ein.and_then(|ein| self.decision(ein.value(), check)) {
            Some(decision) if result.outcome != Outcome::Pass && self.age_problem(check, now).is_none() => {
                decided(check, decision, result.source)
            }
            _ => result,
        }
    }

    fn not_imported(&self, check: Check) -> CheckResult {
        if self.settings.require.contains(check) {
            CheckResult::new(check, Outcome::Review, missing(check))
        } else {
            CheckResult::new(
                check,
                Outcome::NotChecked,
                "Its list was not imported on this server",
            )
        }
    }

    /// The result of a check of an imported list.
    pub(crate) fn listed(&self, check: Check, ein: Option<u32>, now: i64) -> CheckResult {
        let source = match self.list(check) {
            List::Imported(source) => Arc::clone(source),
            List::Missing | List::NotNeeded => return self.not_imported(check),
        };
        let findings = ein.map_or(&[][..], |ein| self.findings(ein));
        let mut result = CheckResult {
            source: Some(source),
            ..match ein {
                Some(_) => CheckResult::new(check, Outcome::Pass, passes(check)),
                None => CheckResult::new(
                    check,
                    Outcome::Unknown,
                    "It has no EIN by which the list could name it",
                ),
            }
        };
        let mut worst: Option<&Finding> = None;
        for finding in findings.iter().filter(|finding| finding.check == check) {
            let key = |finding: &Finding| (finding.outcome, finding.since);
            if worst.is_none_or(|worst| key(finding) > key(worst)) {
                worst = Some(finding);
            }
        }
        if let Some(finding) = worst {
            result.outcome = finding.outcome;
            result.reason = finding.reason();
            result.since = finding.since;
            result.source = Some(Arc::clone(&finding.source));
            result.grace_until = finding.grace_until(&self.settings);
        }
        if let Some(decision) = ein.and_then(|ein| self.decision(ein, check)) {
            result = decided(check, decision, result.source);
        }
        match self.age_problem(check, now) {
            // A failure on an old list is still one.
            Some(reason) if result.outcome != Outcome::Fail => CheckResult {
                outcome: Outcome::Review,
                reason,
                since: None,
                grace_until: None,
                ..result
            },
            _ => result,
        }
    }

    pub(crate) fn operator(&self, ein: Option<u32>) -> CheckResult {
        let check = Check::Operator;
        match ein.and_then(|ein| self.decision(ein, check)) {
            Some(decision) => decided(check, decision, None),
            None => CheckResult::new(check, Outcome::Pass, "No operator of this server stopped it"),
        }
    }

    /// Returns the checks whose required list is missing or old.
    pub fn outdated(&self, now: i64) -> Vec<Check> {
        Check::ALL
            .into_iter()
            .filter(|check| self.age_problem(*check, now).is_some())
            .collect()
    }

    /// Computes which nonprofits are held now, and until when that is right.
    pub(crate) fn holds(&self, now: i64) -> Holds {
        let today = day_of(now);
        let all = !self.outdated(now).is_empty();
        let list_checks = [
            Check::CaliforniaRegistry,
            Check::CaliforniaTaxBoard,
            Check::Sanctions,
        ];
        let required: Vec<Check> = list_checks
            .into_iter()
            .filter(|check| self.settings.require.contains(*check))
            .collect();
        let mut holds = Holds {
            all,
            needs_deductible: self.settings.require.contains(Check::IrsDeductible),
            until: i64::MAX,
            ..Holds::default()
        };
        let max_age = self.settings.max_age.as_millis() as i64;
        for check in Check::ALL {
            if self.settings.require.contains(check)
                && let List::Imported(source) = self.list(check)
            {
                let expires = source.as_of.saturating_add(max_age).saturating_add(1);
                if expires > now {
                    holds.until = holds.until.min(expires);
                }
            }
        }
        if !required.is_empty() {
            for ein in self.findings.keys() {
                for check in &required {
                    let result = self.listed(*check, Some(*ein), now);
                    if result.effect(today) != Eligible::Yes {
                        holds.eins.insert(*ein);
                    } else if result.outcome == Outcome::Fail
                        && let Some(end) = result.grace_until.and_then(end_of_day)
                    {
                        holds.until = holds.until.min(end);
                    }
                }
            }
        }
        for (ein, decisions) in &*self.decisions {
            let is_stopped = |decision: &Decision| {
                !decision.passes
                    && (decision.check == Check::Operator || self.settings.require.contains(decision.check))
            };
            if decisions.iter().any(is_stopped) {
                holds.eins.insert(*ein);
            }
        }
        holds.checksum = holds.compute_checksum();
        holds
    }

    /// Returns whether donations to a nonprofit are held, whatever its record says.
    pub(crate) fn is_held(&self, holds: &Holds, nonprofit: &Nonprofit<'_>, now: i64) -> bool {
        holds.holds(nonprofit.ein.map(Ein::value))
            || (holds.needs_deductible
                && self
                    .verdict(nonprofit, now)
                    .result(Check::IrsDeductible)
                    .is_some_and(|result| result.outcome != Outcome::Pass))
    }
}

impl Holds {
    /// Returns whether the nonprofit with this EIN is held by a list.
    #[inline]
    pub(crate) fn holds(&self, ein: Option<u32>) -> bool {
        self.all || ein.is_some_and(|ein| !self.eins.is_empty() && self.eins.contains(&ein))
    }

    /// Returns whether any nonprofit is held.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.all || self.needs_deductible || !self.eins.is_empty()
    }

    /// Returns whether the EIN alone decides.
    pub(crate) fn is_by_ein(&self) -> bool {
        !self.needs_deductible
    }

    fn compute_checksum(&self) -> u32 {
        let mut eins: Vec<u32> = self.eins.iter().copied().collect();
        eins.sort_unstable();
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&[u8::from(self.all), u8::from(self.needs_deductible)]);
        for ein in eins {
            hasher.update(&ein.to_le_bytes());
        }
        if !self.all && !self.needs_deductible && self.eins.is_empty() {
            return 0;
        }
        hasher.finalize()
    }
}

fn decided(check: Check, decision: &Decision, source: Option<SharedSource>) -> CheckResult {
    let day = &rfc3339(decision.decided_at)[..10];
    let outcome = if decision.passes {
        Outcome::Pass
    } else {
        Outcome::Fail
    };
    let what = if decision.passes {
        "accepted it"
    } else {
        "stopped it"
    };
    CheckResult {
        since: Some(day_of(decision.decided_at)),
        source,
        // The note may name people, so it is only for operators.
        ..CheckResult::new(
            check,
            outcome,
            format!("An operator of this server {what} on {day}"),
        )
    }
}

fn irs_listed(nonprofit: &Nonprofit<'_>) -> CheckResult {
    let check = Check::IrsListed;
    if let Some(gone_at) = nonprofit.gone_at {
        let day = day_of(gone_at);
        return CheckResult {
            since: Some(day),
            ..CheckResult::new(
                check,
                Outcome::Fail,
                format!("The IRS files no longer list it since {day}"),
            )
        };
    }
    let Some(facts) = nonprofit.facts else {
        return CheckResult::new(check, Outcome::Fail, "No file of the IRS lists it");
    };
    if facts.is_disbursable() {
        return CheckResult::new(
            check,
            Outcome::Pass,
            "The IRS lists it as a charity to which donations are deductible",
        );
    }
    let reason = if !facts.is_charity() {
        "The IRS lists it, but not as a charity under section 501(c)(3)"
    } else if !facts.is_deductible() {
        "The IRS lists it, but donations to it are not deductible"
    } else if facts.foundation == 4 {
        "It is a private non-operating foundation, whose spending a fund would have to supervise"
    } else {
        "The IRS lists it, but its exemption is not unconditional"
    };
    CheckResult::new(check, Outcome::Fail, reason)
}

fn not_revoked(nonprofit: &Nonprofit<'_>, standings: &Standings) -> CheckResult {
    let check = Check::IrsNotRevoked;
    if let Some(revocation) = nonprofit.tax.current_revocation() {
        return CheckResult {
            since: revocation.revoked_on.date(),
            ..CheckResult::new(check, Outcome::Fail, "The IRS revoked its tax exemption")
        };
    }
    let reason = match (nonprofit.tax.revocation, standings.has_revocations) {
        (Some(_), _) => "The IRS reinstated its tax exemption after a revocation",
        (None, true) => "It is not on the automatic revocation list of the IRS",
        // The list was not imported, but the master file has only exempt organizations.
        (None, false) if nonprofit.gone_at.is_none() && nonprofit.facts.is_some() => {
            "The master file of the IRS, which leaves out revoked organizations, lists it"
        }
        (None, false) => {
            return CheckResult::new(
                check,
                Outcome::Unknown,
                "No imported file tells whether it was revoked",
            );
        }
    };
    CheckResult::new(check, Outcome::Pass, reason)
}

/// Returns `None` if neither Publication 78 nor the record tells.
fn irs_deductible(nonprofit: &Nonprofit<'_>, is_imported: bool) -> Option<CheckResult> {
    let check = Check::IrsDeductible;
    let facts = nonprofit.facts;
    let is_deductible = facts.is_some_and(|facts| facts.is_deductible());
    let result = if !nonprofit.tax.publication_78.is_empty() {
        CheckResult::new(check, Outcome::Pass, "Publication 78 lists it")
    } else if !is_imported {
        return None;
    } else if is_deductible && facts.is_some_and(|facts| facts.is_subordinate()) {
        CheckResult::new(
            check,
            Outcome::Pass,
            "It is exempt as a member of a group, which Publication 78 lists as a whole; donations are deductible according to the master file",
        )
    } else if is_deductible {
        CheckResult::new(
            check,
            Outcome::Review,
            "Donations are deductible according to the master file of the IRS, but Publication 78 does not list it",
        )
    } else {
        CheckResult::new(check, Outcome::Fail, "Publication 78 does not list it")
    };
    Some(result)
}

fn missing(check: Check) -> &'static str {
    match check {
        Check::CaliforniaRegistry => {
            "No list of charities that may not operate in California was imported; run causeway import california"
        }
        Check::CaliforniaTaxBoard => {
            "The revoked list of the tax board was not imported; run causeway import tax-board"
        }
        Check::Sanctions => "The sanctions list was not imported; run causeway import sanctions",
        Check::IrsDeductible => "Publication 78 was not imported; run causeway import pub78",
        Check::IrsNotRevoked => "The revocation list was not imported; run causeway import revocations",
        Check::IrsListed | Check::Operator => "The IRS files were not imported; run causeway import irs",
    }
}

fn passes(check: Check) -> &'static str {
    match check {
        Check::CaliforniaRegistry => {
            "The registry of California does not name it as one that may not operate"
        }
        Check::CaliforniaTaxBoard => "It is not on the revoked list of the tax board of California",
        _ => "No name on the sanctions list resembles its name",
    }
}
