//! The SQL of reports.

use crate::ledger::entry::{Kind, Mode};
use platform::db::{Tx, query};
use platform::ids::NonprofitId;
use platform::money::Cents;
use uuid::Uuid;

const LIST_BALANCES: &str = "select p.party_id, cast(-sum(p.amount) as bigint) from ledger_postings p \
     join ledger_entries e on e.sequence = p.sequence where p.party = 'owed' and e.mode = $1 and e.recorded_at < $2 \
     group by p.party_id";
const LIST_MOVED: &str = "select p.party_id, case when e.kind = 'settlement' then coalesce(o.kind, e.kind) else e.kind end, \
     count(distinct e.sequence), cast(-sum(p.amount) as bigint), \
     cast(sum(case when o.kind = 'donation' and p.amount > 0 then p.amount else 0 end) as bigint) \
     from ledger_postings p join ledger_entries e on e.sequence = p.sequence left join ledger_entries o on o.sequence = e.origin \
     where p.party = 'owed' and e.mode = $1 and e.recorded_at >= $2 and e.recorded_at < $3 \
     group by p.party_id, case when e.kind = 'settlement' then coalesce(o.kind, e.kind) else e.kind end";
const LIST_WAITS: &str = "select o.nonprofit_id, count(*), \
     cast(sum(l.sent_at - coalesce(d.paid_at, r.recorded_at, o.recorded_at)) as bigint) \
     from disbursement_lines l join owed_entries o on o.batch = l.batch and o.line = l.line \
     left join ledger_entries r on r.sequence = o.root left join donations d on d.entry = o.root \
     where l.sent_at >= $2 and l.sent_at < $3 and o.mode = $1 and o.kind = 'donation' group by o.nonprofit_id";

/// What the entries of a kind in a period owe to a nonprofit.
#[derive(Debug)]
pub(super) struct Moved {
    pub nonprofit: NonprofitId,
    /// The kind of the settled entries, or of the entries themselves.
    pub kind: Kind,
    pub count: i64,
    pub amount: Cents,
    /// What nonprofits paid of the fees.
    pub fee: Cents,
}

/// Lists what was owed to each nonprofit before a time.
pub(super) async fn list_balances(
    tx: &mut Tx,
    mode: Mode,
    before: i64,
) -> sqlx::Result<Vec<(NonprofitId, Cents)>> {
    let statement = query(LIST_BALANCES).bind(mode.as_str()).bind(before);
    let rows: Vec<(String, i64)> = tx.fetch_all(statement).await?;
    let balance =
        |(id, amount): (String, i64)| Some((NonprofitId(Uuid::try_parse(&id).ok()?), Cents::new(amount)));
    Ok(rows.into_iter().filter_map(balance).collect())
}

/// Lists what changed what is owed to each nonprofit in a period.
pub(super) async fn list_moved(tx: &mut Tx, mode: Mode, (from, to): (i64, i64)) -> sqlx::Result<Vec<Moved>> {
    let statement = query(LIST_MOVED).bind(mode.as_str()).bind(from).bind(to);
    let rows: Vec<(String, String, i64, i64, i64)> = tx.fetch_all(statement).await?;
    let moved = |(id, kind, count, amount, fee): (String, String, i64, i64, i64)| {
        Some(Moved {
            nonprofit: NonprofitId(Uuid::try_parse(&id).ok()?),
            kind: Kind::find(&kind)?,
            count,
            amount: Cents::new(amount),
            fee: Cents::new(fee),
        })
    };
    Ok(rows.into_iter().filter_map(moved).collect())
}

/// Lists how many donations were sent in a period, and how long they had waited in all, in milliseconds.
pub(super) async fn list_waits(
    tx: &mut Tx,
    mode: Mode,
    (from, to): (i64, i64),
) -> sqlx::Result<Vec<(NonprofitId, (i64, i64))>> {
    let statement = query(LIST_WAITS).bind(mode.as_str()).bind(from).bind(to);
    let rows: Vec<(Uuid, i64, i64)> = tx.fetch_all(statement).await?;
    let wait = |(id, count, millis): (Uuid, i64, i64)| (NonprofitId(id), (count, millis));
    Ok(rows.into_iter().map(wait).collect())
}
