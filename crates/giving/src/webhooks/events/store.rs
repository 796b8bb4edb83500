//! The SQL of events, and of reading where they come from.

use super::{Event, EventKind};
use crate::webhooks::endpoints::Endpoint;
use platform::db::{Db, Tx, from_row, query};
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use uuid::Uuid;

macro_rules! events {
    ($rest:literal) => {
        concat!(
            "select sequence, id, account_id, kind, subject, entry, fundraiser_id, nonprofit_id, endpoint_id, detail, ",
            "occurred_at, recorded_at from events ",
            $rest
        )
    };
}

const HAS_NEW: &str = "select (select outbox from event_sources where id = 1) < (select events from ledger_head where id = 1) \
     or (select directory from event_sources where id = 1) < coalesce((select max(revision) from imports), 0)";
const SOURCES: &str = "select last, outbox, directory from event_sources where id = 1";
/// PostgreSQL only: a transaction of SQLite that writes holds the whole file.
const LOCK_SOURCES: &str = "select last, outbox, directory from event_sources where id = 1 for update";
const SET_SOURCES: &str = "update event_sources set last = $1, outbox = $2, directory = $3 where id = 1";
const SET_LAST: &str = "update event_sources set last = $1 where id = 1";
const LIST_OUTBOX: &str = "select sequence, kind, fundraiser_id, body, created_at from outbox where sequence > $1 \
     order by sequence limit $2";
const LIST_IMPORTS: &str = "select revision, kind, finished_at, added, changed, gone from imports where revision > $1 \
     order by revision limit $2";
const LIST_CHANGED: &str = "select distinct n.id as nonprofit_id, f.account_id, h.field from nonprofit_history h \
     join nonprofits n on n.ein = h.ein join fundraiser_nonprofits s on s.nonprofit_id = n.id \
     join fundraisers f on f.id = s.fundraiser_id \
     where h.revision = $1 and h.field in ('name', 'slug', 'gone', 'returned', 'revokedOn', 'reinstatedOn', 'deductibility', \
     'status', 'foundation', 'subsection') \
     and f.closed_at is null and f.hidden_at is null limit $2";
const FIND_ENTRY: &str = "select o.sequence as donation, o.source, o.external_id as donation_id, e.external_id, e.mode, \
     e.nonprofit_id, e.fundraiser_id, f.account_id, f.goal, e.amount, e.raised from ledger_entries e \
     join ledger_entries o on o.sequence = coalesce(e.refunds, e.sequence) \
     left join fundraisers f on f.id = e.fundraiser_id where e.sequence = $1";
const FIND_PARTNER: &str =
    "select partner_account from donations where id = $1 and partner_account is not null";
/// Who administers the nonprofit of a donation.
const LIST_ADMINISTRATORS: &str = "select c.account_id from ledger_entries e \
     join claims c on c.nonprofit_id = e.nonprofit_id \
     join two_factor t on t.account_id = c.account_id where e.sequence = $1 and c.state = 'approved' \
     and c.role = 'administrator' and t.enabled_at is not null";
const FIND_OWNER: &str = "select account_id from fundraisers where id = $1";
/// The accounts of which a line of a batch pays donations.
const LIST_PAID_ACCOUNTS: &str = "select f.account_id from disbursement_items i \
     join owed_entries o on o.entry = i.entry and o.nonprofit_id = i.nonprofit_id \
     join ledger_entries e on e.sequence = o.root join fundraisers f on f.id = e.fundraiser_id \
     where i.batch = $1 and i.line = $2 \
     union select d.partner_account from disbursement_items i \
     join owed_entries o on o.entry = i.entry and o.nonprofit_id = i.nonprofit_id join donations d on d.entry = o.root \
     where i.batch = $1 and i.line = $2 and d.partner_account is not null";
macro_rules! paid_donations {
    ($columns:literal, $rest:literal) => {
        concat!(
            "select ",
            $columns,
            " from disbursement_items i join owed_entries o on o.entry = i.entry and o.nonprofit_id = i.nonprofit_id ",
            "join ledger_entries e on e.sequence = o.root left join fundraisers f on f.id = e.fundraiser_id ",
            "left join donations d on d.entry = o.root ",
            "where i.batch = $1 and i.line = $2 and (f.account_id = $3 or d.partner_account = $3)",
            $rest
        )
    };
}
const SUM_PAID_DONATIONS: &str = paid_donations!(
    "cast(coalesce(sum(o.amount), 0) as bigint), count(distinct o.root)",
    ""
);
const LIST_PAID_DONATIONS: &str = paid_donations!(
    "o.root, d.id, cast(sum(o.amount) as bigint)",
    " group by o.root, d.id order by o.root limit $4"
);
const FIND_LAST_TIME: &str =
    "select occurred_at from events where subject = $1 order by sequence desc limit 1";
const FIND: &str = events!("where sequence = $1");
const FIND_ID: &str = "select id from events where sequence = $1 and (account_id = $2 or account_id is null)";
/// The kinds are in one text, each between spaces.
const LIST_OF_ACCOUNT: &str = events!(
    "where account_id = $1 and sequence > $2 and $3 like '% ' || kind || ' %' order by sequence limit $4"
);
const LIST_OF_ALL: &str = events!(
    "where account_id is null and sequence > $1 and $2 like '% ' || kind || ' %' order by sequence limit $3"
);
const LIST_NEWEST_OF_ACCOUNT: &str = events!("where account_id = $1 order by sequence desc limit 1");
const LIST_NEWEST_OF_ALL: &str = events!("where account_id is null order by sequence desc limit 1");
const COUNT: &str = "select count(*) from events where account_id = $1 and sequence > $2 and sequence <= $3 \
     and $4 like '% ' || kind || ' %'";
const COUNT_OF_ALL: &str = "select count(*) from events where account_id is null and sequence > $1 and sequence <= $2 \
     and $3 like '% ' || kind || ' %'";
const FIND_FIRST_SINCE: &str = "select min(sequence) from events where recorded_at >= $1";
const LIST_OLD: &str = "select e.sequence from events e where e.recorded_at < $1 and exists (select 1 from events n \
     where n.account_id is not distinct from e.account_id and n.sequence > e.sequence) order by e.recorded_at limit $2";
const REMOVE: &str = "delete from events where sequence = $1";
const FIND_DONATION: &str = "select source, external_id, mode, amount, recorded_at, fundraiser_id from ledger_entries \
     where sequence = $1 and kind = 'donation'";
const FIND_OWN_DONATION: &str = "select e.sequence from ledger_entries e left join fundraisers f on f.id = e.fundraiser_id \
     left join donations d on d.entry = e.sequence \
     where e.sequence = $1 and e.kind = 'donation' and (f.account_id = $2 or d.partner_account = $2 \
     or exists (select 1 from claims c where c.nonprofit_id = e.nonprofit_id and c.state = 'approved' \
     and c.role = 'administrator' and c.account_id = $2))";
const LIST_OF_FUNDRAISERS: &str = "select e.sequence from fundraisers f join ledger_entries e on e.fundraiser_id = f.id \
     where f.account_id = $1 and e.kind = 'donation' and e.sequence < $2 order by e.sequence desc limit $3";
const LIST_OF_LINKS: &str = "select entry from donations where partner_account = $1 and entry < $2 \
     order by entry desc limit $3";
const FIND_FEE: &str = "select cast(coalesce(sum(p.amount), 0) as bigint) from ledger_entries e \
     join ledger_postings p on p.sequence = e.sequence \
     where e.origin = $1 and e.kind = 'settlement' and p.party = 'fees'";

/// How far the sources of events were read, and the number of the last event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub last: i64,
    pub outbox: i64,
    pub directory: i64,
}

from_row!(Sources {
    last,
    outbox,
    directory
});

/// A row of the outbox.
#[derive(Debug)]
pub(super) struct OutboxRow {
    pub sequence: i64,
    pub kind: String,
    pub fundraiser: Option<FundraiserId>,
    pub body: String,
    pub created_at: i64,
}

/// An import.
#[derive(Debug)]
pub(super) struct ImportRow {
    pub revision: i64,
    pub kind: String,
    pub finished_at: i64,
    pub added: i64,
    pub changed: i64,
    pub gone: i64,
}

from_row!(ImportRow {
    revision,
    kind,
    finished_at,
    added,
    changed,
    gone,
});

/// A field of a nonprofit that an import changed, and an account with an open fundraiser for it.
#[derive(Debug)]
pub(super) struct ChangedRow {
    pub nonprofit_id: Uuid,
    pub account_id: Uuid,
    pub field: String,
}

from_row!(ChangedRow {
    nonprofit_id,
    account_id,
    field
});

/// What an entry of the ledger says about a donation and its fundraiser.
#[derive(Debug)]
pub(super) struct EntryFacts {
    /// The entry of the donation.
    pub donation: i64,
    pub source: String,
    /// The external ID of the donation, and that of this entry.
    pub donation_id: String,
    pub external_id: String,
    pub mode: String,
    pub nonprofit_id: Option<Uuid>,
    pub fundraiser_id: Option<Uuid>,
    pub account_id: Option<Uuid>,
    pub goal: Option<i64>,
    pub amount: i64,
    pub raised: Option<i64>,
}

from_row!(EntryFacts {
    donation,
    source,
    donation_id,
    external_id,
    mode,
    nonprofit_id,
    fundraiser_id,
    account_id,
    goal,
    amount,
    raised,
});

/// The entry of a donation.
#[derive(Debug)]
pub(super) struct DonationRow {
    pub source: String,
    pub external_id: String,
    pub mode: String,
    pub amount: i64,
    pub recorded_at: i64,
    pub fundraiser_id: Option<Uuid>,
}

from_row!(DonationRow {
    source,
    external_id,
    mode,
    amount,
    recorded_at,
    fundraiser_id,
});

struct EventRow {
    sequence: i64,
    id: String,
    account_id: Option<Uuid>,
    kind: String,
    subject: String,
    entry: Option<i64>,
    fundraiser_id: Option<Uuid>,
    nonprofit_id: Option<Uuid>,
    endpoint_id: Option<Uuid>,
    detail: String,
    occurred_at: i64,
    recorded_at: i64,
}

from_row!(EventRow {
    sequence,
    id,
    account_id,
    kind,
    subject,
    entry,
    fundraiser_id,
    nonprofit_id,
    endpoint_id,
    detail,
    occurred_at,
    recorded_at,
});

/// Converts a row. `None` if its kind is unknown to this version.
fn event(row: EventRow) -> Option<Event> {
    Some(Event {
        sequence: row.sequence,
        id: row.id,
        account: row.account_id.map(AccountId),
        kind: EventKind::find(&row.kind)?,
        subject: row.subject,
        entry: row.entry,
        fundraiser: row.fundraiser_id.map(FundraiserId),
        nonprofit: row.nonprofit_id.map(NonprofitId),
        endpoint: row.endpoint_id,
        detail: serde_json::from_str(&row.detail).unwrap_or_default(),
        occurred_at: row.occurred_at,
        recorded_at: row.recorded_at,
    })
}

/// Returns whether there is something to fan out.
pub(super) async fn has_new(db: &Db) -> sqlx::Result<bool> {
    db.fetch_scalar(query(HAS_NEW)).await
}

/// Reads how far the sources were read, and locks that until the transaction ends.
pub(crate) async fn lock_sources(tx: &mut Tx) -> sqlx::Result<Sources> {
    let sql = if let Tx::Sqlite(_) = tx {
        SOURCES
    } else {
        LOCK_SOURCES
    };
    tx.fetch_one(query(sql)).await
}

/// Returns up to which row the outbox was fanned out.
pub(crate) async fn find_fanned_out(tx: &mut Tx) -> sqlx::Result<i64> {
    let sources: Sources = tx.fetch_one(query(SOURCES)).await?;
    Ok(sources.outbox)
}

pub(super) async fn set_sources(tx: &mut Tx, sources: Sources) -> sqlx::Result<()> {
    let set = query(SET_SOURCES)
        .bind(sources.last)
        .bind(sources.outbox)
        .bind(sources.directory);
    tx.execute(set).await.map(drop)
}

pub(crate) async fn set_last(tx: &mut Tx, last: i64) -> sqlx::Result<()> {
    tx.execute(query(SET_LAST).bind(last)).await.map(drop)
}

pub(super) async fn list_outbox(tx: &mut Tx, after: i64, take: i64) -> sqlx::Result<Vec<OutboxRow>> {
    type Row = (i64, String, Option<Uuid>, String, i64);
    let rows: Vec<Row> = tx.fetch_all(query(LIST_OUTBOX).bind(after).bind(take)).await?;
    let row = |(sequence, kind, fundraiser, body, created_at): Row| OutboxRow {
        sequence,
        kind,
        fundraiser: fundraiser.map(FundraiserId),
        body,
        created_at,
    };
    Ok(rows.into_iter().map(row).collect())
}

pub(super) async fn list_imports(tx: &mut Tx, after: i64, take: i64) -> sqlx::Result<Vec<ImportRow>> {
    tx.fetch_all(query(LIST_IMPORTS).bind(after).bind(take)).await
}

/// Lists the fields that an import changed of nonprofits with open fundraisers, and the accounts of these.
pub(super) async fn list_changed_nonprofits(
    tx: &mut Tx,
    revision: i64,
    take: i64,
) -> sqlx::Result<Vec<ChangedRow>> {
    tx.fetch_all(query(LIST_CHANGED).bind(revision).bind(take)).await
}

pub(super) async fn find_entry(tx: &mut Tx, entry: i64) -> sqlx::Result<Option<EntryFacts>> {
    tx.fetch_optional(query(FIND_ENTRY).bind(entry)).await
}

/// Finds the account whose link brought a donation of the checkout.
pub(super) async fn find_partner(tx: &mut Tx, donation: Uuid) -> sqlx::Result<Option<AccountId>> {
    let id: Option<Uuid> = tx
        .fetch_optional_scalar(query(FIND_PARTNER).bind(donation))
        .await?;
    Ok(id.map(AccountId))
}

/// Lists the accounts that administer the nonprofit of a donation, by its entry in the ledger.
pub(super) async fn list_administrators(tx: &mut Tx, entry: i64) -> sqlx::Result<Vec<Uuid>> {
    tx.fetch_scalars(query(LIST_ADMINISTRATORS).bind(entry)).await
}

/// Finds the account of a fundraiser.
pub(super) async fn find_owner(tx: &mut Tx, fundraiser: FundraiserId) -> sqlx::Result<Option<AccountId>> {
    let id: Option<Uuid> = tx
        .fetch_optional_scalar(query(FIND_OWNER).bind(fundraiser.0))
        .await?;
    Ok(id.map(AccountId))
}

/// Lists the accounts of which a line of a batch pays donations.
pub(super) async fn list_paid_accounts(tx: &mut Tx, (batch, line): (i64, i64)) -> sqlx::Result<Vec<Uuid>> {
    tx.fetch_scalars(query(LIST_PAID_ACCOUNTS).bind(batch).bind(line))
        .await
}

/// Returns what a line of a batch pays for donations of an account, how many there are, and the first of them: the entry, the ID
/// if it was made at the checkout, and what the nonprofit gets.
pub(super) async fn list_paid_donations(
    db: &Db,
    account: AccountId,
    (batch, line): (i64, i64),
    take: i64,
) -> sqlx::Result<((i64, i64), Vec<(i64, Option<Uuid>, i64)>)> {
    let sum = query(SUM_PAID_DONATIONS).bind(batch).bind(line).bind(account.0);
    let list = query(LIST_PAID_DONATIONS).bind(batch).bind(line);
    let list = list.bind(account.0).bind(take);
    Ok((db.fetch_one(sum).await?, db.fetch_all(list).await?))
}

/// Returns when the last event of a subject was.
pub(super) async fn find_last_time(tx: &mut Tx, subject: &str) -> sqlx::Result<Option<i64>> {
    tx.fetch_optional_scalar(query(FIND_LAST_TIME).bind(subject))
        .await
}

/// Adds events.
pub(crate) async fn insert(tx: &mut Tx, events: &[&Event]) -> sqlx::Result<()> {
    let details: Vec<String> = events.iter().map(|event| event.detail.to_string()).collect();
    let rows: Vec<_> = events
        .iter()
        .zip(&details)
        .map(|(event, detail)| {
            [
                event.sequence.into(),
                event.id.as_str().into(),
                event.account.map(|id| id.0).into(),
                event.kind.name().into(),
                event.subject.as_str().into(),
                event.entry.into(),
                event.fundraiser.map(|id| id.0).into(),
                event.nonprofit.map(|id| id.0).into(),
                event.endpoint.into(),
                detail.as_str().into(),
                event.occurred_at.into(),
                event.recorded_at.into(),
            ]
        })
        .collect();
    let columns = [
        "sequence",
        "id",
        "account_id",
        "kind",
        "subject",
        "entry",
        "fundraiser_id",
        "nonprofit_id",
        "endpoint_id",
        "detail",
        "occurred_at",
        "recorded_at",
    ];
    tx.insert_many("events", columns, &rows).await
}

/// Finds an event.
pub(crate) async fn find(db: &Db, sequence: i64) -> sqlx::Result<Option<Event>> {
    let row: Option<EventRow> = db.fetch_optional(query(FIND).bind(sequence)).await?;
    Ok(row.and_then(event))
}

/// Finds the ID of an event that an account may see.
pub(super) async fn find_id(db: &Db, account: AccountId, sequence: i64) -> sqlx::Result<Option<String>> {
    db.fetch_optional_scalar(query(FIND_ID).bind(sequence).bind(account.0))
        .await
}

/// Returns the names of kinds in one text, each between spaces.
fn between_spaces(kinds: impl Iterator<Item = EventKind>) -> String {
    let names: Vec<&str> = kinds.map(EventKind::name).collect();
    format!(" {} ", names.join(" "))
}

/// Lists the next events that an account may see, oldest first.
pub(crate) async fn list(
    db: &Db,
    account: AccountId,
    after: i64,
    kinds: &[EventKind],
    take: usize,
) -> sqlx::Result<Vec<Event>> {
    let names = between_spaces(kinds.iter().copied());
    let own = query(LIST_OF_ACCOUNT)
        .bind(account.0)
        .bind(after)
        .bind(&names)
        .bind(take as i64);
    let mut rows: Vec<EventRow> = db.fetch_all(own).await?;
    let of_all = query(LIST_OF_ALL).bind(after).bind(&names).bind(take as i64);
    rows.extend(db.fetch_all::<EventRow>(of_all).await?);
    rows.sort_unstable_by_key(|row| row.sequence);
    rows.truncate(take);
    Ok(rows.into_iter().filter_map(event).collect())
}

/// Counts the events with numbers in a range that an endpoint wants.
pub(crate) async fn count(tx: &mut Tx, endpoint: &Endpoint, after: i64, until: i64) -> sqlx::Result<i64> {
    let wanted = EventKind::ALL.into_iter();
    let wanted = wanted.filter(|kind| *kind != EventKind::Ping && endpoint.wants(*kind));
    let names = between_spaces(wanted);
    let own = query(COUNT)
        .bind(endpoint.account.0)
        .bind(after)
        .bind(until)
        .bind(&names);
    let own: i64 = tx.fetch_scalar(own).await?;
    let of_all: i64 = tx
        .fetch_scalar(query(COUNT_OF_ALL).bind(after).bind(until).bind(&names))
        .await?;
    Ok(own + of_all)
}

/// Finds the newest event that an account may see.
pub(super) async fn find_newest(db: &Db, account: AccountId) -> sqlx::Result<Option<Event>> {
    let own: Option<EventRow> = db
        .fetch_optional(query(LIST_NEWEST_OF_ACCOUNT).bind(account.0))
        .await?;
    let of_all: Option<EventRow> = db.fetch_optional(query(LIST_NEWEST_OF_ALL)).await?;
    let newest = own.into_iter().chain(of_all).max_by_key(|row| row.sequence);
    Ok(newest.and_then(event))
}

/// Finds the first event that was recorded at a time or later.
pub(crate) async fn find_first_since(db: &Db, since: i64) -> sqlx::Result<Option<i64>> {
    db.fetch_scalar(query(FIND_FIRST_SINCE).bind(since)).await
}

/// Lists events from before a time that are not the newest of their account, which its cursor may name.
pub(crate) async fn list_old(db: &Db, before: i64, take: i64) -> sqlx::Result<Vec<i64>> {
    db.fetch_scalars(query(LIST_OLD).bind(before).bind(take)).await
}

pub(crate) async fn remove(tx: &mut Tx, sequence: i64) -> sqlx::Result<()> {
    tx.execute(query(REMOVE).bind(sequence)).await.map(drop)
}

/// Finds the entry of a donation.
pub(super) async fn find_donation(db: &Db, entry: i64) -> sqlx::Result<Option<DonationRow>> {
    db.fetch_optional(query(FIND_DONATION).bind(entry)).await
}

/// Returns whether an account may see a donation.
pub(super) async fn may_see(db: &Db, account: AccountId, entry: i64) -> sqlx::Result<bool> {
    let found: Option<i64> = db
        .fetch_optional_scalar(query(FIND_OWN_DONATION).bind(entry).bind(account.0))
        .await?;
    Ok(found.is_some())
}

/// Lists the entries of the donations to the fundraisers of an account and by its links, newest first.
pub(super) async fn list_donations(
    db: &Db,
    account: AccountId,
    before: i64,
    take: usize,
) -> sqlx::Result<Vec<i64>> {
    let bind = |sql| query(sql).bind(account.0).bind(before).bind(take as i64);
    let mut entries: Vec<i64> = db.fetch_scalars(bind(LIST_OF_FUNDRAISERS)).await?;
    entries.extend(db.fetch_scalars::<i64>(bind(LIST_OF_LINKS)).await?);
    entries.sort_unstable_by(|one, other| other.cmp(one));
    entries.dedup();
    entries.truncate(take);
    Ok(entries)
}

/// Returns the fee that the payment provider kept of a donation, as far as it is known.
pub(super) async fn find_fee(db: &Db, entry: i64) -> sqlx::Result<i64> {
    db.fetch_scalar(query(FIND_FEE).bind(entry)).await
}
