//! The donations that the owner of a fundraiser may see: amounts, and the names and messages that donors show to everyone.

use crate::ledger::entry::Mode;
use platform::db::{Db, from_row, read};
use platform::ids::{AccountId, FundraiserId};
use platform::money::Cents;
use uuid::Uuid;

/// Donations that are read at once.
const BATCH_SIZE: i64 = 1_000;
const LIST: &str = "select e.sequence, e.recorded_at, e.fundraiser_id, f.title, e.amount, e.mode, \
     cast(coalesce((select sum(r.amount) from ledger_entries r where r.refunds = e.sequence), 0) as bigint) as refunds, \
     case when n.removed_at is null then n.consented_at end as consented_at, n.name, d.message \
     from ledger_entries e join fundraisers f on f.id = e.fundraiser_id \
     left join donor_names n on n.sequence = e.sequence left join donations d on d.entry = e.sequence \
     where f.account_id = $1 and ($2 is null or f.id = $2) and e.kind = 'donation' and e.sequence > $3 \
     order by e.sequence limit $4";

/// A donation to a fundraiser, as its owner may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedDonation {
    pub sequence: i64,
    pub recorded_at: i64,
    pub fundraiser: FundraiserId,
    pub title: String,
    pub amount: Cents,
    /// How much of it was refunded.
    pub refunded: Cents,
    /// Only if the donor shows it to everyone.
    pub name: Option<String>,
    /// The same holds for the message.
    pub message: Option<String>,
    pub mode: Mode,
}

struct Row {
    sequence: i64,
    recorded_at: i64,
    fundraiser_id: Uuid,
    title: String,
    amount: i64,
    mode: String,
    refunds: i64,
    consented_at: Option<i64>,
    name: Option<String>,
    message: Option<String>,
}

from_row!(Row {
    sequence,
    recorded_at,
    fundraiser_id,
    title,
    amount,
    mode,
    refunds,
    consented_at,
    name,
    message,
});

/// Lists the next donations to the fundraisers of an account, or to one of them, after an entry of the ledger.
pub async fn list_after(
    db: &Db,
    account: AccountId,
    fundraiser: Option<FundraiserId>,
    after: i64,
) -> sqlx::Result<Vec<OwnedDonation>> {
    let rows: Vec<Row> = read!(db, c => sqlx::query_as(LIST)
        .bind(account.0)
        .bind(fundraiser.map(|id| id.0))
        .bind(after)
        .bind(BATCH_SIZE)
        .fetch_all(c)
        .await)?;
    let donation = |row: Row| OwnedDonation {
        sequence: row.sequence,
        recorded_at: row.recorded_at,
        fundraiser: FundraiserId(row.fundraiser_id),
        title: row.title,
        amount: Cents::new(row.amount),
        refunded: Cents::new(-row.refunds),
        name: row.consented_at.and(row.name),
        message: row.consented_at.and(row.message),
        mode: Mode::find(&row.mode).unwrap_or_default(),
    };
    Ok(rows.into_iter().map(donation).collect())
}
