//! The SQL of statements.

use super::{DirectDonation, StatementItem};
use crate::disbursement::batches::Line;
use crate::ledger::entry::{Kind, Mode};
use platform::db::{Tx, from_row, query};
use platform::money::Cents;

const LIST_ITEMS: &str = "select o.entry, o.kind, o.amount, o.fee, o.recorded_at, coalesce(d.paid_at, r.recorded_at) as given_at, \
     f.title, d.designation, case when d.shares_contact then d.name end as name, \
     case when d.shares_contact then d.email end as email, e.note \
     from disbursement_items i join owed_entries o on o.entry = i.entry and o.nonprofit_id = i.nonprofit_id \
     join ledger_entries e on e.sequence = i.entry left join ledger_entries r on r.sequence = o.root \
     left join donations d on d.entry = o.root left join fundraisers f on f.id = r.fundraiser_id \
     where i.batch = $1 and i.line = $2 order by i.entry";
const PREVIOUS: &str = "select coalesce(max(b.prepared_at), 0) from disbursement_lines l \
     join disbursement_batches b on b.id = l.batch \
     where l.nonprofit_id = $1 and l.batch < $2 and l.state in ('sent', 'paid')";
const LIST_DIRECT: &str = "select coalesce(d.paid_at, e.recorded_at), e.amount, f.title, d.designation, \
     case when d.shares_contact then d.name end, case when d.shares_contact then d.email end \
     from donations d join ledger_entries e on e.sequence = d.entry left join fundraisers f on f.id = e.fundraiser_id \
     where d.nonprofit_id = $1 and d.account is not null and e.recorded_at > $2 and e.recorded_at <= $3 and e.mode = $4 \
     order by d.entry";

struct ItemRow {
    entry: i64,
    kind: String,
    amount: i64,
    fee: i64,
    recorded_at: i64,
    given_at: Option<i64>,
    title: Option<String>,
    designation: Option<String>,
    name: Option<String>,
    email: Option<String>,
    note: Option<String>,
}

from_row!(ItemRow {
    entry,
    kind,
    amount,
    fee,
    recorded_at,
    given_at,
    title,
    designation,
    name,
    email,
    note,
});

/// Lists what a line consists of.
pub(super) async fn list_items(tx: &mut Tx, line: &Line) -> sqlx::Result<Vec<StatementItem>> {
    let statement = query(LIST_ITEMS).bind(line.batch).bind(line.number);
    let rows: Vec<ItemRow> = tx.fetch_all(statement).await?;
    let item = |row: ItemRow| {
        let kind = Kind::find(&row.kind).unwrap_or(Kind::Settlement);
        StatementItem {
            entry: row.entry,
            kind,
            at: row
                .given_at
                .filter(|_| kind == Kind::Donation)
                .unwrap_or(row.recorded_at),
            gross: Cents::new(row.amount.saturating_add(row.fee)),
            fee: Cents::new(row.fee),
            net: Cents::new(row.amount),
            fundraiser: row.title,
            designation: row.designation,
            donor_name: row.name,
            donor_email: row.email,
            note: row.note,
        }
    };
    Ok(rows.into_iter().map(item).collect())
}

/// Returns when the batch of the payment before was prepared.
pub(super) async fn find_previous(tx: &mut Tx, line: &Line) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(PREVIOUS).bind(line.nonprofit.0).bind(line.batch))
        .await
}

/// Lists what a nonprofit received on its own account in a period.
pub(super) async fn list_direct(
    tx: &mut Tx,
    line: &Line,
    (since, until): (i64, i64),
    mode: Mode,
) -> sqlx::Result<Vec<DirectDonation>> {
    type Row = (
        i64,
        i64,
        Option<String>,
        Option<String>,
        Option<String>,
        Option<String>,
    );
    let statement = query(LIST_DIRECT)
        .bind(line.nonprofit.0)
        .bind(since)
        .bind(until)
        .bind(mode.as_str());
    let rows: Vec<Row> = tx.fetch_all(statement).await?;
    let donation = |(at, amount, fundraiser, designation, donor_name, donor_email): Row| DirectDonation {
        at,
        amount: Cents::new(amount),
        fundraiser,
        designation,
        donor_name,
        donor_email,
    };
    Ok(rows.into_iter().map(donation).collect())
}
