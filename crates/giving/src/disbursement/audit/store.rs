//! The SQL of the audit.

use platform::db::{Tx, query};
use uuid::Uuid;

const COUNT_LINES: &str = "select count(*) from disbursement_lines";
const LIST_LINES_OF_OTHER_AMOUNT: &str = "select l.batch, l.line from disbursement_lines l left join \
     (select batch, line, sum(amount) as amount from owed_entries where batch is not null group by batch, line) o \
     on o.batch = l.batch and o.line = l.line \
     where (l.state in ('queued', 'sent', 'paid') and coalesce(o.amount, 0) <> l.amount) \
     or (l.state in ('returned', 'void') and o.amount is not null) order by l.batch, l.line limit $1";
/// The amount of a payment in the books is what the bank account gets, so it is below zero.
const LIST_LINES_WITHOUT_ENTRY: &str = "select l.batch, l.line from disbursement_lines l \
     left join ledger_entries e on e.source = 'disbursement' \
     and e.external_id = cast(l.batch as text) || '-' || cast(l.line as text) \
     left join ledger_entries r on r.source = 'disbursement' \
     and r.external_id = cast(l.batch as text) || '-' || cast(l.line as text) || ' returned' \
     where (l.sent_at is null and e.sequence is not null) or (l.sent_at is not null and e.sequence is null) \
     or (e.sequence is not null and e.amount <> -l.amount) \
     or (l.state in ('sent', 'paid') and r.sequence is not null) \
     or (l.state in ('returned', 'void') and l.sent_at is not null and r.sequence is null) \
     order by l.batch, l.line limit $1";
const LIST_BATCHES_OF_OTHER_AMOUNT: &str = "select b.id from disbursement_batches b left join \
     (select batch, count(*) as lines, sum(amount) as amount from disbursement_lines group by batch) l on l.batch = b.id \
     where coalesce(l.lines, 0) <> b.lines or coalesce(l.amount, 0) <> b.amount order by b.id limit $1";
const LIST_OWED: &str = "select p.party_id, e.mode, cast(-sum(p.amount) as bigint) from ledger_postings p \
     join ledger_entries e on e.sequence = p.sequence where p.party = 'owed' and e.kind in ('settlement', 'reassignment') \
     and e.sequence <= (select entry from disbursement_position where id = 1) group by p.party_id, e.mode";
const LIST_COLLECTED: &str =
    "select nonprofit_id, mode, cast(sum(amount) as bigint) from owed_entries group by nonprofit_id, mode";

/// What is owed to each nonprofit in each mode.
type Sums = Vec<(String, String, i64)>;

pub(super) async fn count_lines(tx: &mut Tx) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(COUNT_LINES)).await
}

/// Lists the lines that are not the sum of what they consist of.
pub(super) async fn list_lines_of_other_amount(tx: &mut Tx, limit: i64) -> sqlx::Result<Vec<(i64, i64)>> {
    tx.fetch_all(query(LIST_LINES_OF_OTHER_AMOUNT).bind(limit)).await
}

/// Lists the lines whose state and entries in the books do not agree.
pub(super) async fn list_lines_without_entry(tx: &mut Tx, limit: i64) -> sqlx::Result<Vec<(i64, i64)>> {
    tx.fetch_all(query(LIST_LINES_WITHOUT_ENTRY).bind(limit)).await
}

pub(super) async fn list_batches_of_other_amount(tx: &mut Tx, limit: i64) -> sqlx::Result<Vec<i64>> {
    tx.fetch_scalars(query(LIST_BATCHES_OF_OTHER_AMOUNT).bind(limit))
        .await
}

/// Lists what the books owe, and what was collected of it.
pub(super) async fn list_owed(tx: &mut Tx) -> sqlx::Result<(Sums, Sums)> {
    let owed: Sums = tx.fetch_all(query(LIST_OWED)).await?;
    let collected: Vec<(Uuid, String, i64)> = tx.fetch_all(query(LIST_COLLECTED)).await?;
    let collected = collected
        .into_iter()
        .map(|(id, mode, amount)| (id.to_string(), mode, amount));
    Ok((owed, collected.collect()))
}
