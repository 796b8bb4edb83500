//! Database access for the lists, the decisions of operators and the verdicts that changed.

use super::business_days::day_of;
use super::standings::{Decision, Finding, Standings};
use super::{Check, EligibilitySettings, Outcome, SharedSource, Source};
use crate::history::imports::store::{find_files, list_last_imports_in};
use crate::nonprofits::sources::SourceId;
use crate::nonprofits::tax_facts::Day;
use platform::db::{Tx, from_row, query};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

const VERSION: &str = "select coalesce(max(revision), 0) from eligibility_version where id = 1";
const SET_VERSION: &str = "insert into eligibility_version (id, revision) values (1, $1) \
     on conflict (id) do update set revision = excluded.revision";
const LIST_FILES: &str = "select list, part, source, as_of from standing_files order by list, part";
const LIST_FINDINGS: &str =
    "select ein, list, part, status, since from standing_entries where ein is not null";
const LIST_NAME_FINDINGS: &str = "select m.ein, m.list, e.part, e.status, e.since \
     from eligibility_matches m join standing_entries e on e.list = m.list and e.entry = m.entry";
const LIST_ENTRIES: &str = "select entry, part, ein, joined, state_number, status, name, city, details, since \
     from standing_entries where list = $1 order by entry";
const LIST_UNNAMED: &str = "select entry, part, ein, joined, state_number, status, name, city, details, since \
     from standing_entries where list = $1 and ein is null order by entry";
const REMOVE_ENTRY: &str = "delete from standing_entries where list = $1 and entry = $2";
const REMOVE_PART: &str = "delete from standing_entries where list = $1 and part = $2";
const SET_EIN: &str = "update standing_entries set ein = $3, joined = 1 where list = $1 and entry = $2";
const SET_FILE: &str = "insert into standing_files (list, part, source, as_of) values ($1, $2, $3, $4) \
     on conflict (list, part) do update set source = excluded.source, as_of = excluded.as_of";
const STATE_NUMBERS: &str = "select state_number, ein from standing_entries \
     where list = $1 and ein is not null and joined = 0 and state_number is not null";
const LIST_MATCHES: &str = "select ein, entry, reasons from eligibility_matches where list = $1";
const REMOVE_MATCHES: &str = "delete from eligibility_matches where list = $1";
const ABOUT: &str = "select list, entry, part, status, name, coalesce(since, '') as since, '' as reasons \
     from standing_entries where ein = $1 and list = $2 \
     union all select e.list, e.entry, e.part, e.status, e.name, coalesce(e.since, ''), m.reasons \
     from eligibility_matches m join standing_entries e on e.list = m.list and e.entry = m.entry \
     where m.ein = $1 and m.list = $2 order by 2, 7";
const NEXT_DECISION: &str = "select coalesce(max(id), 0) + 1 from eligibility_decisions";
const INSERT_DECISION: &str = "insert into eligibility_decisions (id, ein, check_name, outcome, note, decided_by, \
     decided_at, about) values ($1, $2, $3, $4, $5, $6, $7, $8)";
const END_DECISION: &str = "update eligibility_decisions set ended_at = $3, end_reason = $4 \
     where ein = $1 and check_name = $2 and ended_at is null";
const LIST_CURRENT: &str = "select id, ein, check_name, outcome, note, decided_by, decided_at, about \
     from eligibility_decisions where ended_at is null order by id desc";
const LIST_OPEN: &str = "select m.ein, m.list, m.entry, m.reasons, e.status, e.name, e.city, e.details, e.since \
     from eligibility_matches m join standing_entries e on e.list = m.list and e.entry = m.entry \
     where not exists (select 1 from eligibility_decisions d where d.ein = m.ein and d.ended_at is null \
     and d.check_name = case m.list when 'california' then 'california_registry' \
     when 'tax-board' then 'california_tax_board' else 'sanctions' end) \
     order by m.ein, m.list, m.entry limit $1 offset $2";
const COUNT_OPEN: &str = "select count(*) from eligibility_matches m \
     where not exists (select 1 from eligibility_decisions d where d.ein = m.ein and d.ended_at is null \
     and d.check_name = case m.list when 'california' then 'california_registry' \
     when 'tax-board' then 'california_tax_board' else 'sanctions' end)";
const POSITION: &str = "select revision from eligibility_version where id = 2";
const SET_POSITION: &str = "insert into eligibility_version (id, revision) values (2, $1) \
     on conflict (id) do update set revision = excluded.revision";
const LIST_FILED_CHANGES: &str = "select ein, field, old_value from nonprofit_history \
     where revision > $1 and field in ('added', 'gone', 'returned', 'subsection', 'deductibility', 'foundation', \
     'status', 'revokedOn', 'reinstatedOn') order by ein, revision";
const NEXT_HISTORY: &str = "select coalesce(max(id), 0) + 1 from eligibility_history";
const LIST_HISTORY: &str = "select changed_at, old_verdict, new_verdict, check_name, reason, source_name, source_hash \
     from eligibility_history where ein = $1 order by id desc limit $2";
const REMOVE_DUE: &str = "delete from eligibility_due";
const LIST_DUE: &str = "select ein from eligibility_due where due_at <= $1 order by ein";
const LIST_DECISIONS: &str =
    "select ein, check_name, outcome, decided_at from eligibility_decisions where ended_at is null";

/// A list that operators import to know the standing of nonprofits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StandingList {
    California,
    TaxBoard,
    Sanctions,
}

impl StandingList {
    pub const ALL: [StandingList; 3] = [
        StandingList::California,
        StandingList::TaxBoard,
        StandingList::Sanctions,
    ];

    /// Returns the name in commands and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            StandingList::California => "california",
            StandingList::TaxBoard => "tax-board",
            StandingList::Sanctions => "sanctions",
        }
    }

    /// Finds a list by its name.
    pub fn find(name: &str) -> Option<StandingList> {
        StandingList::ALL.into_iter().find(|list| list.name() == name)
    }

    /// Returns the check that reads the list.
    pub const fn check(self) -> Check {
        match self {
            StandingList::California => Check::CaliforniaRegistry,
            StandingList::TaxBoard => Check::CaliforniaTaxBoard,
            StandingList::Sanctions => Check::Sanctions,
        }
    }

    /// Returns the part without which the list tells nothing.
    const fn needed_part(self) -> &'static str {
        match self {
            StandingList::California => "may-not-operate",
            StandingList::TaxBoard => "revoked",
            StandingList::Sanctions => "sdn",
        }
    }
}

/// Returns what a row with a status means.
pub fn outcome_of(list: StandingList, part: &str, status: &str) -> Outcome {
    match list {
        StandingList::California => super::california::outcome(part, status),
        StandingList::TaxBoard => Outcome::Fail,
        StandingList::Sanctions => Outcome::Review,
    }
}

/// A row of [`LIST_FILES`].
struct FileRow {
    list: String,
    part: String,
    source: i64,
    as_of: i64,
}

from_row!(FileRow {
    list,
    part,
    source,
    as_of
});

/// A row of [`LIST_FINDINGS`].
struct FindingRow {
    ein: i64,
    list: String,
    part: String,
    status: String,
    since: Option<String>,
}

from_row!(FindingRow {
    ein,
    list,
    part,
    status,
    since
});

/// A row of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number in the list.
    pub entry: String,
    /// Which file of the list it is from.
    pub part: String,
    pub ein: Option<i64>,
    /// 1 if the EIN is that of another row with the same state number.
    pub joined: i64,
    pub state_number: Option<String>,
    pub status: String,
    pub name: String,
    pub city: String,
    /// Other names and addresses, one per line.
    pub details: String,
    /// The day of the status, as YYYY-MM-DD.
    pub since: Option<String>,
}

from_row!(Entry {
    entry,
    part,
    ein,
    joined,
    state_number,
    status,
    name,
    city,
    details,
    since
});

/// What an import changed about a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryChange {
    pub entry: String,
    pub ein: Option<i64>,
    /// `None`: the row was added.
    pub old: Option<String>,
    /// `None`: the row is gone.
    pub new: Option<String>,
}

/// A nonprofit whose name resembles that of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameMatch {
    pub ein: i64,
    pub entry: String,
    /// Separated by semicolons.
    pub reasons: String,
}

from_row!(NameMatch { ein, entry, reasons });

/// Calls `then` with each row of a list, sorted by its number.
pub async fn for_each_entry(
    tx: &mut Tx,
    list: StandingList,
    mut then: impl FnMut(Entry) + Send,
) -> sqlx::Result<()> {
    tx.for_each(query(LIST_ENTRIES).bind(list.name()), |entry| {
        then(entry);
        Ok(())
    })
    .await
}

/// Lists the rows without an EIN that may stop a nonprofit.
pub async fn list_unnamed(tx: &mut Tx, list: StandingList) -> sqlx::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    tx.for_each(query(LIST_UNNAMED).bind(list.name()), |entry: Entry| {
        if outcome_of(list, &entry.part, &entry.status) >= Outcome::Review {
            entries.push(entry);
        }
        Ok(())
    })
    .await?;
    Ok(entries)
}

/// Removes rows of a list.
pub async fn remove_entries(tx: &mut Tx, list: StandingList, entries: &[String]) -> sqlx::Result<()> {
    for entry in entries {
        tx.execute(query(REMOVE_ENTRY).bind(list.name()).bind(entry.as_str()))
            .await?;
    }
    Ok(())
}

/// Removes all rows of a part of a list.
pub async fn remove_part(tx: &mut Tx, list: StandingList, part: &str) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_PART).bind(list.name()).bind(part))
        .await
        .map(|_| ())
}

/// Inserts rows whose numbers are not in the list.
pub async fn insert_entries(tx: &mut Tx, list: StandingList, entries: &[&Entry]) -> sqlx::Result<()> {
    let columns = [
        "list",
        "entry",
        "part",
        "ein",
        "state_number",
        "status",
        "name",
        "city",
        "details",
        "since",
        "joined",
    ];
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            [
                list.name().into(),
                entry.entry.as_str().into(),
                entry.part.as_str().into(),
                entry.ein.into(),
                (&entry.state_number).into(),
                entry.status.as_str().into(),
                entry.name.as_str().into(),
                entry.city.as_str().into(),
                entry.details.as_str().into(),
                (&entry.since).into(),
                entry.joined.into(),
            ]
        })
        .collect();
    tx.insert_many("standing_entries", columns, &rows).await
}

/// Records what an import changed about rows.
pub async fn insert_changes(
    tx: &mut Tx,
    revision: i64,
    list: StandingList,
    changes: &[EntryChange],
) -> sqlx::Result<()> {
    let columns = ["revision", "list", "entry", "ein", "old_value", "new_value"];
    let rows: Vec<_> = changes
        .iter()
        .map(|change| {
            [
                revision.into(),
                list.name().into(),
                change.entry.as_str().into(),
                change.ein.into(),
                (&change.old).into(),
                (&change.new).into(),
            ]
        })
        .collect();
    tx.insert_many("standing_changes", columns, &rows).await
}

/// Records the newest file of a part of a list.
pub async fn set_file(
    tx: &mut Tx,
    list: StandingList,
    part: &str,
    source: SourceId,
    as_of: i64,
) -> sqlx::Result<()> {
    let statement = query(SET_FILE).bind(list.name()).bind(part);
    tx.execute(statement.bind(source.number()).bind(as_of))
        .await
        .map(|_| ())
}

/// Lists the state numbers of a list with their EINs.
pub async fn list_state_numbers(tx: &mut Tx, list: StandingList) -> sqlx::Result<Vec<(String, i64)>> {
    tx.fetch_all(query(STATE_NUMBERS).bind(list.name())).await
}

/// Sets the EIN of a row, which another row with the same state number has.
pub async fn set_ein(tx: &mut Tx, list: StandingList, entry: &str, ein: i64) -> sqlx::Result<()> {
    tx.execute(query(SET_EIN).bind(list.name()).bind(entry).bind(ein))
        .await
        .map(|_| ())
}

/// Replaces the pairs of a list that similar names make. Returns whether they differ from the stored ones.
pub async fn set_matches(tx: &mut Tx, list: StandingList, matches: &[NameMatch]) -> sqlx::Result<bool> {
    let mut stored: Vec<NameMatch> = tx.fetch_all(query(LIST_MATCHES).bind(list.name())).await?;
    stored.sort_unstable();
    if stored == matches {
        return Ok(false);
    }
    tx.execute(query(REMOVE_MATCHES).bind(list.name())).await?;
    let rows: Vec<_> = matches
        .iter()
        .map(|found| {
            [
                found.ein.into(),
                list.name().into(),
                found.entry.as_str().into(),
                found.reasons.as_str().into(),
            ]
        })
        .collect();
    tx.insert_many("eligibility_matches", ["ein", "list", "entry", "reasons"], &rows)
        .await?;
    Ok(true)
}

/// Returns the revision at which standings changed last.
pub(crate) async fn version(tx: &mut Tx) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(VERSION)).await
}

/// Records that standings change with a revision, so that servers load them again.
pub(super) async fn set_version(tx: &mut Tx, revision: i64) -> sqlx::Result<()> {
    tx.execute(query(SET_VERSION).bind(revision)).await.map(|_| ())
}

/// Loads what all lists say. What `current` has and did not change is shared.
pub async fn load(
    tx: &mut Tx,
    settings: EligibilitySettings,
    current: &Standings,
) -> sqlx::Result<Standings> {
    let mut standings = Standings {
        settings,
        version: version(tx).await?,
        ..Standings::default()
    };
    load_sources(tx, &mut standings).await?;
    let mut interned: HashSet<Arc<str>> = HashSet::new();
    let mut sources: HashMap<(String, String), SharedSource> = HashMap::new();
    let files: Vec<FileRow> = tx.fetch_all(query(LIST_FILES)).await?;
    let ids: Vec<SourceId> = files
        .iter()
        .map(|file| SourceId::from_number(file.source))
        .collect();
    let named = find_files(tx, &ids).await?;
    for file in &files {
        let Some(named) = named.get(&SourceId::from_number(file.source)) else {
            continue;
        };
        let source = Arc::new(Source {
            name: named.name.clone(),
            sha256: named.sha256.clone(),
            as_of: file.as_of,
        });
        sources.insert((file.list.clone(), file.part.clone()), Arc::clone(&source));
        if let Some(list) = StandingList::find(&file.list)
            && file.part == list.needed_part()
        {
            standings.lists.insert(list.check(), source);
        }
    }
    if current.version == standings.version {
        standings.findings = Arc::clone(&current.findings);
        standings.decisions = Arc::clone(&current.decisions);
        return Ok(standings);
    }
    let mut findings = HashMap::default();
    for (sql, is_by_name) in [(LIST_FINDINGS, false), (LIST_NAME_FINDINGS, true)] {
        let (sources, interned, findings) = (&sources, &mut interned, &mut findings);
        tx.for_each(query(sql), |row: FindingRow| {
            add_finding(row, is_by_name, sources, interned, findings);
            Ok(())
        })
        .await?;
    }
    standings.findings = Arc::new(findings);
    let mut by_ein: HashMap<u32, Vec<Decision>> = HashMap::new();
    let decisions: Vec<(i64, String, String, i64)> = tx.fetch_all(query(LIST_DECISIONS)).await?;
    for (ein, check, outcome, decided_at) in decisions {
        if let Some(check) = Check::find(&check) {
            let of_ein = by_ein.entry(ein as u32).or_default();
            of_ein.push(Decision {
                check,
                passes: outcome == "pass",
                decided_at,
            });
        }
    }
    standings.decisions = Arc::new(by_ein);
    Ok(standings)
}

/// Loads which files of the IRS were imported last.
async fn load_sources(tx: &mut Tx, standings: &mut Standings) -> sqlx::Result<()> {
    for import in list_last_imports_in(tx).await? {
        let check = match import.kind.as_str() {
            "irs" => Check::IrsListed,
            "revocations" => Check::IrsNotRevoked,
            "pub78" => Check::IrsDeductible,
            "nonprofits" if !standings.has_master_file => Check::IrsListed,
            _ => continue,
        };
        standings.has_master_file |= import.kind == "irs";
        standings.has_revocations |= import.kind == "revocations";
        let join = |text: fn(&crate::history::imports::NamedFile) -> &str| {
            import.files.iter().map(text).collect::<Vec<_>>().join(", ")
        };
        let source = Source {
            name: join(|file| &file.name),
            sha256: join(|file| &file.sha256),
            as_of: import.finished_at,
        };
        standings.lists.insert(check, Arc::new(source));
    }
    Ok(())
}

fn add_finding(
    row: FindingRow,
    is_by_name: bool,
    sources: &HashMap<(String, String), SharedSource>,
    interned: &mut HashSet<Arc<str>>,
    findings: &mut HashMap<u32, Vec<Finding>, foldhash::fast::FixedState>,
) {
    let Some(list) = StandingList::find(&row.list) else {
        return;
    };
    // The newest file of the list confirms every row.
    let key = (row.list, row.part);
    let Some(source) = sources.get(&key) else {
        return;
    };
    let part = &key.1;
    let status = interned.get(row.status.as_str()).cloned().unwrap_or_else(|| {
        let status: Arc<str> = row.status.as_str().into();
        interned.insert(Arc::clone(&status));
        status
    });
    let outcome = if is_by_name {
        Outcome::Review
    } else {
        outcome_of(list, part, &status)
    };
    let since = row.since.as_deref().and_then(Day::parse).and_then(Day::date);
    findings.entry(row.ein as u32).or_default().push(Finding {
        check: list.check(),
        outcome,
        status,
        is_by_name,
        // A row without a date counts from the day of its file.
        since: since.or_else(|| Some(day_of(source.as_of))),
        source: Arc::clone(source),
    });
}

/// A decision of an operator that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentDecision {
    pub id: i64,
    pub ein: i64,
    pub check_name: String,
    /// `pass` or `fail`.
    pub outcome: String,
    pub note: String,
    /// The username of the operator; `None` for a command.
    pub decided_by: Option<String>,
    pub decided_at: i64,
    /// The rows that it is about.
    pub about: String,
}

from_row!(CurrentDecision {
    id,
    ein,
    check_name,
    outcome,
    note,
    decided_by,
    decided_at,
    about
});

/// A pair of a nonprofit and a row that a person has to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPair {
    pub ein: i64,
    pub list: String,
    pub entry: String,
    /// Why the pair came up, separated by semicolons.
    pub reasons: String,
    pub status: String,
    pub name: String,
    pub city: String,
    pub details: String,
    pub since: Option<String>,
}

from_row!(OpenPair {
    ein,
    list,
    entry,
    reasons,
    status,
    name,
    city,
    details,
    since
});

/// A verdict that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRow {
    pub changed_at: i64,
    pub old_verdict: String,
    pub new_verdict: String,
    pub check_name: String,
    pub reason: String,
    pub source_name: Option<String>,
    pub source_hash: Option<String>,
}

from_row!(HistoryRow {
    changed_at,
    old_verdict,
    new_verdict,
    check_name,
    reason,
    source_name,
    source_hash
});

/// A field of the IRS files that changed, and its value before.
pub(crate) struct FiledChange {
    pub ein: i64,
    pub field: String,
    pub old_value: Option<String>,
}

from_row!(FiledChange {
    ein,
    field,
    old_value
});

/// Describes the rows that a decision about a check is about. Empty if the check reads no list of rows.
pub(super) async fn describe_rows(tx: &mut Tx, ein: u32, check: Check) -> sqlx::Result<String> {
    let Some(list) = StandingList::ALL.into_iter().find(|list| list.check() == check) else {
        return Ok(String::new());
    };
    let rows: Vec<(String, String, String, String, String, String, String)> = tx
        .fetch_all(query(ABOUT).bind(i64::from(ein)).bind(list.name()))
        .await?;
    let lines = rows
        .into_iter()
        .map(|(list, entry, part, status, name, since, reasons)| {
            [list, entry, part, status, name, since, reasons].join(" | ")
        });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// Inserts a decision. One about the same check must have ended.
pub(super) async fn insert_decision(tx: &mut Tx, decision: &CurrentDecision) -> sqlx::Result<()> {
    let id: i64 = tx.fetch_scalar(query(NEXT_DECISION)).await?;
    tx.execute(
        query(INSERT_DECISION)
            .bind(id)
            .bind(decision.ein)
            .bind(&decision.check_name)
            .bind(&decision.outcome)
            .bind(&decision.note)
            .bind(&decision.decided_by)
            .bind(decision.decided_at)
            .bind(&decision.about),
    )
    .await
    .map(|_| ())
}

/// Ends the decision about a check. Returns whether there was one.
pub(super) async fn end_decision(
    tx: &mut Tx,
    ein: u32,
    check: Check,
    now: i64,
    reason: &str,
) -> sqlx::Result<bool> {
    let statement = query(END_DECISION).bind(i64::from(ein)).bind(check.name());
    let ended = tx.execute(statement.bind(now).bind(reason)).await?;
    Ok(ended > 0)
}

/// Lists the decisions that are in force, the newest first.
pub async fn list_current(tx: &mut Tx) -> sqlx::Result<Vec<CurrentDecision>> {
    tx.fetch_all(query(LIST_CURRENT)).await
}

/// Lists the pairs that nobody decided.
pub async fn list_open(tx: &mut Tx, take: i64, skip: i64) -> sqlx::Result<Vec<OpenPair>> {
    tx.fetch_all(query(LIST_OPEN).bind(take).bind(skip)).await
}

/// Counts the pairs that nobody decided.
pub async fn count_open(tx: &mut Tx) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(COUNT_OPEN)).await
}

/// Returns the revision up to which the verdicts that the IRS files changed are in the history.
pub(super) async fn position(tx: &mut Tx) -> sqlx::Result<Option<i64>> {
    tx.fetch_optional_scalar(query(POSITION)).await
}

pub(super) async fn set_position(tx: &mut Tx, revision: i64) -> sqlx::Result<()> {
    tx.execute(query(SET_POSITION).bind(revision)).await.map(|_| ())
}

/// Lists what imports after a revision changed in the facts that decide a verdict, sorted by EIN, oldest first.
pub(super) async fn list_filed_changes(tx: &mut Tx, revision: i64) -> sqlx::Result<Vec<FiledChange>> {
    tx.fetch_all(query(LIST_FILED_CHANGES).bind(revision)).await
}

/// Adds verdicts that changed to the history, the first with the next ID.
pub(super) async fn insert_history(tx: &mut Tx, rows: &[(u32, HistoryRow)]) -> sqlx::Result<()> {
    let first: i64 = tx.fetch_scalar(query(NEXT_HISTORY)).await?;
    let columns = [
        "id",
        "ein",
        "changed_at",
        "old_verdict",
        "new_verdict",
        "check_name",
        "reason",
        "source_name",
        "source_hash",
    ];
    let values: Vec<_> = (first..)
        .zip(rows)
        .map(|(id, (ein, row))| {
            [
                id.into(),
                i64::from(*ein).into(),
                row.changed_at.into(),
                row.old_verdict.as_str().into(),
                row.new_verdict.as_str().into(),
                row.check_name.as_str().into(),
                row.reason.as_str().into(),
                (&row.source_name).into(),
                (&row.source_hash).into(),
            ]
        })
        .collect();
    tx.insert_many("eligibility_history", columns, &values).await
}

/// Lists the verdicts of an EIN that changed, the newest first.
pub async fn list_history(tx: &mut Tx, ein: u32, take: i64) -> sqlx::Result<Vec<HistoryRow>> {
    tx.fetch_all(query(LIST_HISTORY).bind(i64::from(ein)).bind(take))
        .await
}

/// Replaces the verdicts that change at a time without an import.
pub(super) async fn set_due(tx: &mut Tx, due: &[(u32, i64)]) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_DUE)).await?;
    let rows: Vec<_> = due
        .iter()
        .map(|(ein, at)| [i64::from(*ein).into(), (*at).into()])
        .collect();
    tx.insert_many("eligibility_due", ["ein", "due_at"], &rows).await
}

/// Lists the EINs whose verdicts changed without an import.
pub(super) async fn list_due(tx: &mut Tx, now: i64) -> sqlx::Result<Vec<i64>> {
    tx.fetch_scalars(query(LIST_DUE).bind(now)).await
}
