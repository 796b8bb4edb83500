//! The SQL of yearly statements.

use crate::ledger::store as ledger;
use platform::db::{Db, Tx, query};
use platform::money::Cents;

/// Donors who gave something in a period, by their email address. Addresses are ASCII, so both databases order them alike.
const LIST_DONORS: &str = "select lower(d.email) from donations d join ledger_entries e on e.sequence = d.entry \
     where d.email is not null and lower(d.email) > $1 and coalesce(d.paid_at, e.recorded_at) >= $2 \
     and coalesce(d.paid_at, e.recorded_at) < $3 and (e.mode = 'live' or $4) \
     group by lower(d.email) order by lower(d.email) limit $5";
const INSERT: &str = "insert into donor_statements (donor, year, queued_at) values ($1, $2, $3) \
     on conflict (donor, year) do nothing";

/// Finds when a donation was recorded, and what each of its nonprofits holds of it.
pub(super) async fn find_left(db: &Db, entry: i64) -> sqlx::Result<Option<(i64, Vec<Cents>)>> {
    let mut tx = db.view().await?;
    let Some(recorded_at) = ledger::find_recorded_at_in(&mut tx, entry).await? else {
        return Ok(None);
    };
    let held = ledger::list_held(&mut tx, entry).await?;
    Ok(Some((
        recorded_at,
        held.into_iter().map(|(_, amount)| amount).collect(),
    )))
}

/// Lists the email addresses after `after` with which something was given in a period.
pub(super) async fn list_donors(
    db: &Db,
    (from, to): (i64, i64),
    counts_test: bool,
    after: &str,
    take: i64,
) -> sqlx::Result<Vec<String>> {
    let statement = query(LIST_DONORS)
        .bind(after)
        .bind(from)
        .bind(to)
        .bind(counts_test)
        .bind(take);
    db.fetch_scalars(statement).await
}

/// Notes that a donor gets the email about a year. Returns `false` if that was noted before.
pub(super) async fn insert(tx: &mut Tx, donor: &str, year: i16, now: i64) -> sqlx::Result<bool> {
    let statement = query(INSERT).bind(donor).bind(i64::from(year)).bind(now);
    Ok(tx.execute(statement).await? > 0)
}
