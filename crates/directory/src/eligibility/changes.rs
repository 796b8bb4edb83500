//! Records verdicts that change: by an import of a list, by an operator, by the IRS files, or because a period of grace ends.
//!
//! Whoever changes something records what it changes in the same transaction. What the IRS files change is taken from the
//! history of nonprofits afterwards, from where the last record ended, so that nothing is lost if a process stops between.

use super::business_days::{day_of, end_of_day};
use super::standings::Standings;
use super::store::{self, CurrentDecision, HistoryRow};
use super::{Check, EligibilitySettings, Eligible, Outcome};
use crate::history::imports::ImportRecord;
use crate::history::imports::store as imports;
use crate::history::{self, Change};
use crate::nonprofits::Nonprofit;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::tax_facts::{Day, Revocation};
use crate::snapshot::view::View;
use platform::db::{Db, Tx};
use std::collections::{BTreeMap, BTreeSet};

/// The name of the field in the history of a nonprofit.
pub const ELIGIBILITY: &str = "eligibility";

/// What is needed to record changes.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    pub settings: &'a EligibilitySettings,
    /// The current directory.
    pub view: &'a View,
    pub now: i64,
    /// The largest number of changed nonprofits that running servers apply without a new snapshot.
    pub overlay_limit: usize,
}

/// A verdict that changed.
struct VerdictChange {
    ein: u32,
    row: HistoryRow,
}

/// The reason why a decision cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    #[error(
        "the checks of the IRS files cannot be decided here; stop the nonprofit with the check operator, or import newer files"
    )]
    NotDecidable,
    #[error("only the result of the check operator can be decided without a list; import the list first")]
    NothingToDecide,
}

/// A decision of an operator.
#[derive(Clone, Debug)]
pub struct NewDecision {
    pub ein: Ein,
    pub check: Check,
    pub passes: bool,
    pub note: String,
    /// The username of the operator; `None` for a command.
    pub decided_by: Option<String>,
}

impl Recording<'_> {
    /// Loads what the lists say before something is changed.
    pub async fn before(&self, tx: &mut Tx) -> sqlx::Result<Standings> {
        store::load(tx, *self.settings, &self.view.standings).await
    }

    /// Records what a change of the lists or of decisions did to verdicts, at the end of its transaction. Decisions about
    /// rows that changed end. Returns the number of verdicts that changed.
    pub async fn after(&self, tx: &mut Tx, revision: i64, before: &Standings) -> sqlx::Result<u64> {
        for decision in store::list_current(tx).await? {
            if let Some(check) = Check::find(&decision.check_name)
                && store::describe_rows(tx, decision.ein as u32, check).await? != decision.about
            {
                store::end_decision(tx, decision.ein as u32, check, self.now, "changed").await?;
            }
        }
        store::set_version(tx, revision).await?;
        let after = store::load(tx, *self.settings, &Standings::default()).await?;
        let changes = self.compare(before, &after);
        store::set_due(tx, &self.due(&after)).await?;
        self.write(tx, revision, &changes).await
    }

    /// Makes a decision. It replaces the one about the same check. Returns the number of verdicts that changed.
    pub async fn decide(
        &self,
        tx: &mut Tx,
        revision: i64,
        decision: NewDecision,
    ) -> sqlx::Result<Result<u64, DecisionError>> {
        let (ein, check) = (decision.ein.value(), decision.check);
        if matches!(check, Check::IrsListed | Check::IrsNotRevoked) {
            return Ok(Err(DecisionError::NotDecidable));
        }
        let before = self.before(tx).await?;
        let is_listed = matches!(before.list(check), super::standings::List::Imported(_));
        if check != Check::Operator && !is_listed {
            return Ok(Err(DecisionError::NothingToDecide));
        }
        store::end_decision(tx, ein, check, self.now, "replaced").await?;
        let decision = CurrentDecision {
            id: 0,
            ein: i64::from(ein),
            check_name: check.name().to_owned(),
            outcome: if decision.passes { "pass" } else { "fail" }.to_owned(),
            note: decision.note,
            decided_by: decision.decided_by,
            decided_at: self.now,
            about: store::describe_rows(tx, ein, check).await?,
        };
        store::insert_decision(tx, &decision).await?;
        self.finish(tx, revision, &before).await.map(Ok)
    }

    /// Undoes the decision about a check. Returns `None` if there is none.
    pub async fn undo(
        &self,
        tx: &mut Tx,
        revision: i64,
        ein: Ein,
        check: Check,
    ) -> sqlx::Result<Option<u64>> {
        let before = self.before(tx).await?;
        if !store::end_decision(tx, ein.value(), check, self.now, "undone").await? {
            return Ok(None);
        }
        self.finish(tx, revision, &before).await.map(Some)
    }

    /// Records a change that is no import.
    pub async fn finish(&self, tx: &mut Tx, revision: i64, before: &Standings) -> sqlx::Result<u64> {
        let changed = self.after(tx, revision, before).await?;
        self.log(tx, revision, changed).await?;
        Ok(changed)
    }

    /// Records the verdicts that the IRS files changed since the last time, and those whose period of grace ended. Returns
    /// their number.
    pub async fn record_pending(&self, db: &Db) -> sqlx::Result<u64> {
        if self.view.snapshot.is_none() {
            return Ok(0);
        }
        let mut tx = db.view().await?;
        let position = store::position(&mut tx).await?;
        let is_recorded = position.is_some_and(|position| position >= self.view.revision.number);
        if is_recorded && store::list_due(&mut tx, self.now).await?.is_empty() {
            return Ok(0);
        }
        drop(tx);
        let (mut tx, revision) = imports::begin(db).await?;
        if revision != self.view.revision.number + 1 {
            // The view is older than the store; the next attempt has a newer one.
            return Ok(0);
        }
        let standings = self.before(&mut tx).await?;
        let mut changes = Vec::new();
        // Everything is new to a store that records verdicts for the first time.
        let filed = match store::position(&mut tx).await? {
            Some(position) => store::list_filed_changes(&mut tx, position).await?,
            None => Vec::new(),
        };
        let mut by_ein: BTreeMap<u32, Vec<store::FiledChange>> = BTreeMap::new();
        for change in filed {
            by_ein.entry(change.ein as u32).or_default().push(change);
        }
        for (ein, filed) in by_ein {
            if let Some(after) = self.find(ein)
                && let Some(before) = before_filings(after, &filed)
            {
                changes.extend(self.change(&standings, (&before, self.now), &standings, (&after, self.now)));
            }
        }
        for ein in store::list_due(&mut tx, self.now).await? {
            if let Some(nonprofit) = self.find(ein as u32) {
                // On the first day of its grace, at the latest.
                let earlier = self.now - 86_400_000 * 365;
                changes.extend(self.change(
                    &standings,
                    (&nonprofit, earlier),
                    &standings,
                    (&nonprofit, self.now),
                ));
            }
        }
        store::set_due(&mut tx, &self.due(&standings)).await?;
        let changed = self.write(&mut tx, revision, &changes).await?;
        self.log(&mut tx, revision, changed).await?;
        // Without a change, the revision stays.
        let recorded = if changed > 0 { revision } else { revision - 1 };
        store::set_position(&mut tx, recorded).await?;
        if changed == 0 {
            return self.keep_position(tx, db, recorded).await;
        }
        tx.commit().await?;
        Ok(changed)
    }

    /// Stores the position without a new revision of the directory.
    async fn keep_position(&self, tx: Tx, db: &Db, recorded: i64) -> sqlx::Result<u64> {
        drop(tx);
        let mut tx = db.write().await?;
        store::set_position(&mut tx, recorded).await?;
        let standings = self.before(&mut tx).await?;
        store::set_due(&mut tx, &self.due(&standings)).await?;
        tx.commit().await?;
        Ok(0)
    }

    fn find(&self, ein: u32) -> Option<Nonprofit<'_>> {
        self.view.find(&Identifier::Ein(Ein::new(ein)?))
    }

    /// Returns the verdicts that differ, of nonprofits about which the lists or operators say something else.
    fn compare(&self, before: &Standings, after: &Standings) -> Vec<VerdictChange> {
        let mut eins: BTreeSet<u32> = before
            .decisions
            .keys()
            .chain(after.decisions.keys())
            .copied()
            .collect();
        if before.version != after.version {
            let all = before.findings.keys().chain(after.findings.keys()).copied();
            eins.extend(all.filter(|ein| self.is_relevant(before, *ein) || self.is_relevant(after, *ein)));
        }
        let each = eins.into_iter().filter_map(|ein| Some((ein, self.find(ein)?)));
        each.filter_map(|(_, nonprofit)| {
            self.change(before, (&nonprofit, self.now), after, (&nonprofit, self.now))
        })
        .collect()
    }

    /// Returns whether a required list says something other than good about an EIN.
    fn is_relevant(&self, standings: &Standings, ein: u32) -> bool {
        let findings = standings.findings(ein).iter();
        findings
            .filter(|finding| self.settings.require.contains(finding.check))
            .any(|finding| finding.outcome != Outcome::Pass)
    }

    /// Returns how a verdict changed. What an old list does to all nonprofits is no change of one.
    fn change(
        &self,
        before: &Standings,
        (old, old_now): (&Nonprofit<'_>, i64),
        after: &Standings,
        (new, new_now): (&Nonprofit<'_>, i64),
    ) -> Option<VerdictChange> {
        let old = before.verdict(old, old_now);
        let verdict = after.verdict(new, new_now);
        if old.eligible == verdict.eligible {
            return None;
        }
        // Back to yes: the check that said no before.
        let check = match verdict.eligible {
            Eligible::Yes => old.deciding(self.settings, day_of(old_now))?.check,
            _ => verdict.deciding(self.settings, day_of(new_now))?.check,
        };
        let result = verdict.result(check)?;
        Some(VerdictChange {
            ein: new.ein?.value(),
            row: HistoryRow {
                changed_at: self.now,
                old_verdict: old.eligible.name().to_owned(),
                new_verdict: verdict.eligible.name().to_owned(),
                check_name: check.name().to_owned(),
                reason: result.reason.to_string(),
                source_name: result.source.as_ref().map(|source| source.name.clone()),
                source_hash: result.source.as_ref().map(|source| source.sha256.clone()),
            },
        })
    }

    /// Returns the failures that do not count yet, and when they will.
    fn due(&self, standings: &Standings) -> Vec<(u32, i64)> {
        if !self.settings.require.contains(Check::CaliforniaRegistry) {
            return Vec::new();
        }
        let mut due: BTreeMap<u32, i64> = BTreeMap::new();
        for (ein, findings) in &*standings.findings {
            let ends = findings
                .iter()
                .filter_map(|finding| finding.grace_until(self.settings));
            for end in ends.filter_map(end_of_day).filter(|end| *end > self.now) {
                let first = due.entry(*ein).or_insert(end);
                *first = end.min(*first);
            }
        }
        due.into_iter().collect()
    }

    async fn write(&self, tx: &mut Tx, revision: i64, changes: &[VerdictChange]) -> sqlx::Result<u64> {
        if changes.is_empty() {
            return Ok(0);
        }
        let rows: Vec<_> = changes
            .iter()
            .map(|change| (change.ein, change.row.clone()))
            .collect();
        store::insert_history(tx, &rows).await?;
        let fields: Vec<Change> = changes
            .iter()
            .map(|change| Change {
                ein: change.ein,
                field: ELIGIBILITY,
                old: Some(change.row.old_verdict.clone()),
                new: Some(change.row.new_verdict.clone()),
            })
            .collect();
        history::store::insert(tx, revision, &fields).await?;
        if changes.len() <= self.overlay_limit {
            let nonprofits = changes.iter().filter_map(|change| self.find(change.ein));
            let ids: Vec<_> = nonprofits.map(|nonprofit| nonprofit.id.0).collect();
            imports::insert_changes(tx, revision, &ids).await?;
        } else {
            imports::remove_changes_before(tx, revision).await?;
        }
        Ok(changes.len() as u64)
    }

    /// Adds a change that is no import to the log of imports, from which readers learn what changed.
    async fn log(&self, tx: &mut Tx, revision: i64, changed: u64) -> sqlx::Result<()> {
        if changed == 0 {
            return Ok(());
        }
        let record = ImportRecord {
            revision,
            kind: ELIGIBILITY,
            started_at: self.now,
            finished_at: self.now,
            lines: 0,
            added: 0,
            changed,
            gone: 0,
            refused: 0,
        };
        imports::insert_import(tx, record, &[]).await
    }
}

/// Returns a nonprofit as it was before the IRS files changed it. `None` if it is new.
fn before_filings<'a>(mut nonprofit: Nonprofit<'a>, changes: &[store::FiledChange]) -> Option<Nonprofit<'a>> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut revoked_on = None;
    let mut reinstated_on = None;
    for change in changes {
        // The first change has the oldest value. Going and returning are two sides of one field.
        let field = match change.field.as_str() {
            history::RETURNED => history::GONE,
            field => field,
        };
        if !seen.insert(field) {
            continue;
        }
        let old = change.old_value.as_deref();
        let code = || old.and_then(|old| old.parse::<u8>().ok()).unwrap_or_default();
        match (change.field.as_str(), &mut nonprofit.facts) {
            (history::ADDED, _) => return None,
            (history::GONE, _) => nonprofit.gone_at = None,
            (history::RETURNED, _) => nonprofit.gone_at = Some(0),
            ("subsection", Some(facts)) => facts.subsection = code(),
            ("deductibility", Some(facts)) => facts.deductibility = code(),
            ("foundation", Some(facts)) => facts.foundation = code(),
            ("status", Some(facts)) => facts.status = code(),
            ("revokedOn", _) => revoked_on = Some(old.and_then(Day::parse)),
            ("reinstatedOn", _) => reinstated_on = Some(old.and_then(Day::parse)),
            _ => {}
        }
    }
    if revoked_on.is_some() || reinstated_on.is_some() {
        let current = nonprofit.tax.revocation;
        let day = revoked_on.unwrap_or(current.map(|current| current.revoked_on));
        let reinstated_on = reinstated_on.unwrap_or(current.and_then(|current| current.reinstated_on));
        nonprofit.tax.revocation = day.map(|revoked_on| Revocation {
            revoked_on,
            reinstated_on,
        });
    }
    Some(nonprofit)
}
