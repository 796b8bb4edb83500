//! The SQL of batches, their lines, and what the entries of the books owe.

use super::{Batch, BatchState, ExportFormat, Line, LineState};
use crate::disbursement::payees::{self, Address, Method, Payee};
use crate::disbursement::plan::OwedEntry;
use crate::ledger::entry::{Kind, Mode};
use access::audit::Actor;
use platform::db::{Db, Tx, Value, from_row, query};
use platform::ids::{AccountId, NonprofitId};
use platform::money::Cents;
use uuid::Uuid;

const HAS_NEW_ENTRIES: &str = "select count(*) from ledger_head h, disbursement_position p \
     where h.id = 1 and p.id = 1 and h.entries > p.entry";
const POSITION: &str = "select entry from disbursement_position where id = 1";
const SET_POSITION: &str = "update disbursement_position set entry = $1 where id = 1";
/// What entries owe. Where nonprofits pay the fee, it is the part above zero of the settlement of a charge.
const LIST_OWED_BY: &str = "select e.sequence, p.party_id, e.mode, coalesce(o.kind, e.kind), \
     cast(-sum(p.amount) as bigint), \
     cast(sum(case when o.kind = 'donation' and p.amount > 0 then p.amount else 0 end) as bigint), \
     coalesce(o.refunds, o.sequence, e.sequence), e.recorded_at \
     from ledger_entries e join ledger_postings p on p.sequence = e.sequence and p.party = 'owed' \
     left join ledger_entries o on o.sequence = e.origin \
     where e.sequence > $1 and e.sequence <= $2 and e.kind in ('settlement', 'reassignment') \
     group by e.sequence, p.party_id, e.mode, o.kind, e.kind, o.refunds, o.sequence, e.recorded_at order by e.sequence";
const LIST_OPEN_NONPROFITS: &str = "select nonprofit_id from owed_entries where mode = $1 and batch is null \
     group by nonprofit_id order by min(entry), nonprofit_id";
const LIST_OPEN_OF: &str = "select o.entry, o.kind, o.amount, o.fee, o.root, \
     coalesce(d.paid_at, r.recorded_at, o.recorded_at), d.available_at from owed_entries o \
     left join ledger_entries r on r.sequence = o.root left join donations d on d.entry = o.root \
     where o.mode = $1 and o.nonprofit_id = $2 and o.batch is null order by o.entry";
const LIST_OVERDUE: &str = "select d.id, coalesce(d.paid_at, o.recorded_at), o.amount, d.name, d.email from owed_entries o \
     join donations d on d.entry = o.root where o.mode = $1 and o.nonprofit_id = $2 and o.batch is null \
     and o.kind = 'donation' and coalesce(d.paid_at, o.recorded_at) < $3 order by o.entry limit 10000";
const SUM_OPEN_OF: &str = "select cast(coalesce(sum(amount), 0) as bigint) from owed_entries \
     where mode = $1 and nonprofit_id = $2 and batch is null";
const SUM_OPEN: &str = "select cast(coalesce(sum(amount), 0) as bigint), min(oldest) from (select sum(amount) as amount, \
     min(case when kind = 'donation' then recorded_at end) as oldest from owed_entries where mode = $1 and batch is null \
     group by nonprofit_id having sum(amount) > 0) open";
const ALLOCATE: &str = "update owed_entries set batch = $1, line = $2 where mode = $3 and nonprofit_id = $4 \
     and batch is null and entry in (select entry from disbursement_items where batch = $1 and line = $2)";
const RELEASE: &str = "update owed_entries set batch = null, line = null where batch = $1 and line = $2";
const COUNT_HELD: &str = "select count(*) from payees where held_until > $1";

const NEXT_NUMBER: &str = "select coalesce(max(id), 0) + 1 from disbursement_batches";
const INSERT_BATCH: &str = "insert into disbursement_batches (id, mode, state, until, lines, amount, prepared_at, prepared_by) \
     values ($1, $2, $3, $4, $5, $6, $7, $8)";
const UPDATE_BATCH: &str = "update disbursement_batches set state = $2, approved_at = $3, approved_by = $4, exported_at = $5, \
     closed_at = $6 where id = $1";

macro_rules! batches {
    ($rest:literal) => {
        concat!(
            "select id, mode, state, until, lines, amount, prepared_at, prepared_by, approved_at, approved_by, ",
            "exported_at, closed_at from disbursement_batches ",
            $rest
        )
    };
}

macro_rules! lines {
    ($rest:literal) => {
        concat!(
            "select batch, line, nonprofit_id, amount, state, method, payee_version, payee_name, last_four, street, city, ",
            "state_code, zip, reference, return_reference, sent_at, finished_at from disbursement_lines ",
            $rest
        )
    };
}

const FIND_BATCH: &str = batches!("where id = $1");
const LIST_BATCHES: &str = batches!("where id < $1 order by id desc limit $2");
const LIST_LINES: &str = lines!("where batch = $1 order by line");
const FIND_LINE: &str = lines!("where batch = $1 and line = $2");
const LAST_LINE_OF: &str = lines!("where nonprofit_id = $1 order by batch desc, line desc limit 1");
const LINES_OF: &str =
    lines!("where nonprofit_id = $1 and state <> 'queued' order by batch desc, line desc limit 100");
const UPDATE_LINE: &str = "update disbursement_lines set state = $3, reference = $4, return_reference = $5, sent_at = $6, \
     finished_at = $7 where batch = $1 and line = $2";
const COUNT_OPEN_LINES: &str =
    "select count(*) from disbursement_lines where batch = $1 and state in ('queued', 'sent')";
const FIND_REFERENCE: &str = "select batch, line from disbursement_lines where reference = $1 limit 1";
const FIND_RETURN_REFERENCE: &str =
    "select batch, line from disbursement_lines where return_reference = $1 limit 1";
const FIND_FILE: &str = "select content, lines from disbursement_files where batch = $1 and format = $2";
const INSERT_FILE: &str =
    "insert into disbursement_files (batch, format, created_at, lines, content) values ($1, $2, $3, $4, $5)";

/// What waits for an operator.
const COUNT_WAITING: &str = "select (select count(*) from disbursement_batches where state = 'draft'), \
     (select count(*) from disbursement_batches where state = 'approved')";

struct BatchRow {
    id: i64,
    mode: String,
    state: String,
    until: i64,
    lines: i64,
    amount: i64,
    prepared_at: i64,
    prepared_by: Option<Uuid>,
    approved_at: Option<i64>,
    approved_by: Option<Uuid>,
    exported_at: Option<i64>,
    closed_at: Option<i64>,
}

from_row!(BatchRow {
    id,
    mode,
    state,
    until,
    lines,
    amount,
    prepared_at,
    prepared_by,
    approved_at,
    approved_by,
    exported_at,
    closed_at,
});

struct LineRow {
    batch: i64,
    line: i64,
    nonprofit_id: Uuid,
    amount: i64,
    state: String,
    method: String,
    payee_version: i64,
    payee_name: String,
    last_four: Option<String>,
    street: String,
    city: String,
    state_code: String,
    zip: String,
    reference: Option<String>,
    return_reference: Option<String>,
    sent_at: Option<i64>,
    finished_at: Option<i64>,
}

from_row!(LineRow {
    batch,
    line,
    nonprofit_id,
    amount,
    state,
    method,
    payee_version,
    payee_name,
    last_four,
    street,
    city,
    state_code,
    zip,
    reference,
    return_reference,
    sent_at,
    finished_at,
});

/// A line of a batch that is being prepared.
#[derive(Debug)]
pub(super) struct NewLine {
    pub nonprofit: NonprofitId,
    pub amount: Cents,
    pub payee: Payee,
    /// Where a check goes.
    pub address: Address,
}

/// A payee, and the line that came back if that was the last payment to it.
#[derive(Clone, Debug)]
pub(in crate::disbursement) struct KnownPayee {
    pub payee: Payee,
    pub returned: Option<(i64, i64)>,
}

/// A donation that waits longer than it may, whose donor has to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverdueDonation {
    /// Its ID at the checkout.
    pub donation: Uuid,
    pub given_at: i64,
    pub amount: Cents,
    pub name: Option<String>,
    pub email: Option<String>,
}

fn actor(account: Option<Uuid>) -> Actor {
    account.map_or(Actor::Command, |id| Actor::Account(AccountId(id)))
}

fn account_of(actor: Actor) -> Option<Uuid> {
    match actor {
        Actor::Command => None,
        Actor::Account(id) => Some(id.0),
    }
}

fn batch(row: &BatchRow) -> Option<Batch> {
    Some(Batch {
        number: row.id,
        mode: Mode::find(&row.mode)?,
        state: BatchState::find(&row.state)?,
        until: row.until,
        lines: row.lines,
        amount: Cents::new(row.amount),
        prepared_at: row.prepared_at,
        prepared_by: actor(row.prepared_by),
        approved_by: row.approved_at.map(|_| actor(row.approved_by)),
        approved_at: row.approved_at,
        exported_at: row.exported_at,
        closed_at: row.closed_at,
    })
}

fn line(row: LineRow) -> Option<Line> {
    Some(Line {
        batch: row.batch,
        number: row.line,
        nonprofit: NonprofitId(row.nonprofit_id),
        amount: Cents::new(row.amount),
        state: LineState::find(&row.state)?,
        method: Method::find(&row.method)?,
        payee_version: row.payee_version,
        payee_name: row.payee_name,
        last_four: row.last_four,
        address: Address {
            street: row.street,
            city: row.city,
            state: row.state_code,
            zip: row.zip,
        },
        reference: row.reference,
        return_reference: row.return_reference,
        sent_at: row.sent_at,
        finished_at: row.finished_at,
    })
}

/// Returns whether the ledger has entries that were not collected.
pub(super) async fn has_new_entries(db: &Db) -> sqlx::Result<bool> {
    let count: i64 = db.fetch_scalar(query(HAS_NEW_ENTRIES)).await?;
    Ok(count > 0)
}

/// Returns the last entry of the ledger that was collected.
pub(super) async fn find_position(tx: &mut Tx) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(POSITION)).await
}

pub(super) async fn set_position(tx: &mut Tx, entry: i64) -> sqlx::Result<()> {
    tx.execute(query(SET_POSITION).bind(entry)).await.map(|_| ())
}

/// Adds what the entries after `after` up to `last` owe.
pub(super) async fn collect(tx: &mut Tx, after: i64, last: i64) -> sqlx::Result<()> {
    type Row = (i64, String, String, String, i64, i64, i64, i64);
    let rows: Vec<Row> = tx.fetch_all(query(LIST_OWED_BY).bind(after).bind(last)).await?;
    let values: Vec<[Value<'_>; 8]> = rows
        .iter()
        .filter_map(|(entry, nonprofit, mode, kind, amount, fee, root, recorded_at)| {
            let nonprofit = Uuid::try_parse(nonprofit).ok()?;
            Some([
                Value::from(*entry),
                Value::from(nonprofit),
                Value::from(mode.as_str()),
                Value::from(kind.as_str()),
                Value::from(*amount),
                Value::from(*fee),
                Value::from(*root),
                Value::from(*recorded_at),
            ])
        })
        .collect();
    let columns = [
        "entry",
        "nonprofit_id",
        "mode",
        "kind",
        "amount",
        "fee",
        "root",
        "recorded_at",
    ];
    tx.insert_many("owed_entries", columns, &values).await
}

/// Lists the nonprofits with entries in no batch, those with the oldest first.
pub(in crate::disbursement) async fn list_open_nonprofits(
    db: &Db,
    mode: Mode,
) -> sqlx::Result<Vec<NonprofitId>> {
    let ids: Vec<Uuid> = db
        .fetch_scalars(query(LIST_OPEN_NONPROFITS).bind(mode.as_str()))
        .await?;
    Ok(ids.into_iter().map(NonprofitId).collect())
}

/// Lists what is owed to a nonprofit and in no batch.
pub(crate) async fn list_open_of(
    tx: &mut Tx,
    mode: Mode,
    nonprofit: NonprofitId,
) -> sqlx::Result<Vec<OwedEntry>> {
    type Row = (i64, String, i64, i64, i64, i64, Option<i64>);
    let statement = query(LIST_OPEN_OF).bind(mode.as_str()).bind(nonprofit.0);
    let rows: Vec<Row> = tx.fetch_all(statement).await?;
    let entry = |(entry, kind, amount, fee, root, given_at, available_at): Row| OwedEntry {
        entry,
        kind: Kind::find(&kind).unwrap_or(Kind::Settlement),
        amount: Cents::new(amount),
        fee: Cents::new(fee),
        root,
        given_at,
        available_at,
    };
    Ok(rows.into_iter().map(entry).collect())
}

/// Lists the donations to a nonprofit that are in no batch and were made before a time.
pub(in crate::disbursement) async fn list_overdue(
    db: &Db,
    mode: Mode,
    nonprofit: NonprofitId,
    before: i64,
) -> sqlx::Result<Vec<OverdueDonation>> {
    type Row = (Uuid, i64, i64, Option<String>, Option<String>);
    let statement = query(LIST_OVERDUE)
        .bind(mode.as_str())
        .bind(nonprofit.0)
        .bind(before);
    let rows: Vec<Row> = db.fetch_all(statement).await?;
    let overdue = |(donation, given_at, amount, name, email): Row| OverdueDonation {
        donation,
        given_at,
        amount: Cents::new(amount),
        name,
        email,
    };
    Ok(rows.into_iter().map(overdue).collect())
}

/// Adds up what is owed to a nonprofit and in no batch.
pub(super) async fn sum_open_of(tx: &mut Tx, mode: Mode, nonprofit: NonprofitId) -> sqlx::Result<Cents> {
    let statement = query(SUM_OPEN_OF).bind(mode.as_str()).bind(nonprofit.0);
    tx.fetch_scalar(statement).await.map(Cents::new)
}

/// What is owed to all nonprofits and in no batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenSum {
    pub amount: Cents,
    /// When the oldest donation was settled to a nonprofit that is owed something.
    pub oldest_at: Option<i64>,
}

/// Adds up what is owed to nonprofits and in no batch.
pub async fn sum_open(db: &Db, mode: Mode) -> sqlx::Result<OpenSum> {
    let (amount, oldest_at): (i64, Option<i64>) = db.fetch_one(query(SUM_OPEN).bind(mode.as_str())).await?;
    Ok(OpenSum {
        amount: Cents::new(amount),
        oldest_at,
    })
}

/// Finds how a nonprofit is paid.
pub(in crate::disbursement) async fn find_payee(
    tx: &mut Tx,
    nonprofit: NonprofitId,
) -> sqlx::Result<Option<KnownPayee>> {
    let Some((payee, _)) = payees::store::find_in(tx, nonprofit).await? else {
        return Ok(None);
    };
    let last: Option<LineRow> = tx.fetch_optional(query(LAST_LINE_OF).bind(nonprofit.0)).await?;
    let returned = last
        .and_then(line)
        .filter(|last| last.state == LineState::Returned && last.payee_version == payee.version);
    Ok(Some(KnownPayee {
        returned: returned.map(|last| (last.batch, last.number)),
        payee,
    }))
}

/// Lists the payments to a nonprofit that left the draft, newest first.
pub async fn list_lines_of(db: &Db, nonprofit: NonprofitId) -> sqlx::Result<Vec<Line>> {
    let rows: Vec<LineRow> = db.fetch_all(query(LINES_OF).bind(nonprofit.0)).await?;
    Ok(rows.into_iter().filter_map(line).collect())
}

/// Returns the number of the next batch. The task that writes the ledger asks, so no two batches get the same.
pub(super) async fn find_next_number(tx: &mut Tx) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(NEXT_NUMBER)).await
}

pub(super) async fn insert_batch(tx: &mut Tx, batch: &Batch) -> sqlx::Result<()> {
    let statement = query(INSERT_BATCH)
        .bind(batch.number)
        .bind(batch.mode.as_str())
        .bind(batch.state.as_str())
        .bind(batch.until)
        .bind(batch.lines)
        .bind(batch.amount.get())
        .bind(batch.prepared_at)
        .bind(account_of(batch.prepared_by));
    tx.execute(statement).await.map(|_| ())
}

/// Inserts the lines of a batch, numbered from 1, and what they consist of.
pub(super) async fn insert_lines(tx: &mut Tx, batch: i64, lines: &[(NewLine, Vec<i64>)]) -> sqlx::Result<()> {
    let rows: Vec<[Value<'_>; 13]> = (1_i64..)
        .zip(lines)
        .map(|(number, (line, _))| {
            [
                Value::from(batch),
                Value::from(number),
                Value::from(line.nonprofit.0),
                Value::from(line.amount.get()),
                Value::from(LineState::Queued.as_str()),
                Value::from(line.payee.method.as_str()),
                Value::from(line.payee.version),
                Value::from(line.payee.name.as_str()),
                Value::from(&line.payee.last_four),
                Value::from(line.address.street.as_str()),
                Value::from(line.address.city.as_str()),
                Value::from(line.address.state.as_str()),
                Value::from(line.address.zip.as_str()),
            ]
        })
        .collect();
    let columns = [
        "batch",
        "line",
        "nonprofit_id",
        "amount",
        "state",
        "method",
        "payee_version",
        "payee_name",
        "last_four",
        "street",
        "city",
        "state_code",
        "zip",
    ];
    tx.insert_many("disbursement_lines", columns, &rows).await?;
    let items: Vec<[Value<'_>; 4]> = (1_i64..)
        .zip(lines)
        .flat_map(|(number, (line, entries))| {
            let nonprofit = line.nonprofit.0;
            entries.iter().map(move |entry| {
                [
                    Value::from(batch),
                    Value::from(number),
                    Value::from(*entry),
                    Value::from(nonprofit),
                ]
            })
        })
        .collect();
    let columns = ["batch", "line", "entry", "nonprofit_id"];
    tx.insert_many("disbursement_items", columns, &items).await
}

/// Marks the entries of a line as paid by it.
pub(super) async fn allocate(
    tx: &mut Tx,
    (batch, line): (i64, i64),
    mode: Mode,
    nonprofit: NonprofitId,
) -> sqlx::Result<()> {
    let statement = query(ALLOCATE)
        .bind(batch)
        .bind(line)
        .bind(mode.as_str())
        .bind(nonprofit.0);
    tx.execute(statement).await.map(|_| ())
}

/// Makes the money of a line free for another batch.
pub(super) async fn release(tx: &mut Tx, (batch, line): (i64, i64)) -> sqlx::Result<()> {
    tx.execute(query(RELEASE).bind(batch).bind(line))
        .await
        .map(|_| ())
}

pub(super) async fn find_batch_in(tx: &mut Tx, number: i64) -> sqlx::Result<Option<Batch>> {
    let row: Option<BatchRow> = tx.fetch_optional(query(FIND_BATCH).bind(number)).await?;
    Ok(row.as_ref().and_then(batch))
}

/// Finds a batch.
pub async fn find_batch(db: &Db, number: i64) -> sqlx::Result<Option<Batch>> {
    let row: Option<BatchRow> = db.fetch_optional(query(FIND_BATCH).bind(number)).await?;
    Ok(row.as_ref().and_then(batch))
}

/// Lists the batches before a number, the newest first.
pub async fn list_batches(db: &Db, before: i64, take: i64) -> sqlx::Result<Vec<Batch>> {
    let rows: Vec<BatchRow> = db.fetch_all(query(LIST_BATCHES).bind(before).bind(take)).await?;
    Ok(rows.iter().filter_map(batch).collect())
}

pub(super) async fn update_batch(tx: &mut Tx, batch: &Batch) -> sqlx::Result<()> {
    let statement = query(UPDATE_BATCH)
        .bind(batch.number)
        .bind(batch.state.as_str())
        .bind(batch.approved_at)
        .bind(batch.approved_by.and_then(account_of))
        .bind(batch.exported_at)
        .bind(batch.closed_at);
    tx.execute(statement).await.map(|_| ())
}

/// Lists the lines of a batch.
pub async fn list_lines(db: &Db, number: i64) -> sqlx::Result<Vec<Line>> {
    let rows: Vec<LineRow> = db.fetch_all(query(LIST_LINES).bind(number)).await?;
    Ok(rows.into_iter().filter_map(line).collect())
}

pub(super) async fn list_lines_in(tx: &mut Tx, number: i64) -> sqlx::Result<Vec<Line>> {
    let rows: Vec<LineRow> = tx.fetch_all(query(LIST_LINES).bind(number)).await?;
    Ok(rows.into_iter().filter_map(line).collect())
}

/// Finds a line of a batch.
pub(in crate::disbursement) async fn find_line(
    tx: &mut Tx,
    batch: i64,
    number: i64,
) -> sqlx::Result<Option<Line>> {
    let row: Option<LineRow> = tx
        .fetch_optional(query(FIND_LINE).bind(batch).bind(number))
        .await?;
    Ok(row.and_then(line))
}

pub(super) async fn update_line(tx: &mut Tx, line: &Line) -> sqlx::Result<()> {
    let statement = query(UPDATE_LINE)
        .bind(line.batch)
        .bind(line.number)
        .bind(line.state.as_str())
        .bind(&line.reference)
        .bind(&line.return_reference)
        .bind(line.sent_at)
        .bind(line.finished_at);
    tx.execute(statement).await.map(|_| ())
}

/// Counts the lines of a batch about which something has yet to be said.
pub(super) async fn count_open_lines(tx: &mut Tx, batch: i64) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(COUNT_OPEN_LINES).bind(batch)).await
}

/// Finds the line that has a reference, or the reference of a return, other than `own`.
pub(super) async fn find_reference(
    tx: &mut Tx,
    reference: &str,
    is_return: bool,
    own: (i64, i64),
) -> sqlx::Result<Option<(i64, i64)>> {
    let statement = if is_return {
        FIND_RETURN_REFERENCE
    } else {
        FIND_REFERENCE
    };
    let found: Option<(i64, i64)> = tx.fetch_optional(query(statement).bind(reference)).await?;
    Ok(found.filter(|found| *found != own))
}

/// Finds the encrypted file of a batch, and the number of payments in it.
pub(super) async fn find_file(
    tx: &mut Tx,
    batch: i64,
    format: ExportFormat,
) -> sqlx::Result<Option<(Vec<u8>, i64)>> {
    tx.fetch_optional(query(FIND_FILE).bind(batch).bind(format.as_str()))
        .await
}

pub(super) async fn insert_file(
    tx: &mut Tx,
    (batch, format): (i64, ExportFormat),
    (content, lines): (Vec<u8>, i64),
    now: i64,
) -> sqlx::Result<()> {
    let statement = query(INSERT_FILE)
        .bind(batch)
        .bind(format.as_str())
        .bind(now)
        .bind(lines)
        .bind(content);
    tx.execute(statement).await.map(|_| ())
}

/// Counts the drafts and the approved batches that are not exported.
pub async fn count_waiting(db: &Db) -> sqlx::Result<(i64, i64)> {
    db.fetch_one(query(COUNT_WAITING)).await
}

/// Counts the payees that are held because they were changed.
pub async fn count_held_payees(db: &Db, now: i64) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT_HELD).bind(now)).await
}
