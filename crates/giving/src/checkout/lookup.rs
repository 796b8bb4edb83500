//! Finds donations of our own checkout by the email address of the donor, for operators.

use platform::db::{Db, from_row, read};
use platform::email_address::EmailAddress;
use platform::money::Cents;
use uuid::Uuid;

const FIND: &str = "select id, state, amount, started_at from donations where mailbox = $1 \
     order by receipt_at desc, id desc limit $2";

/// A donation in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DonationSummary {
    pub id: Uuid,
    pub state: String,
    pub amount: Cents,
    pub started_at: i64,
}

struct Row {
    id: Uuid,
    state: String,
    amount: i64,
    started_at: i64,
}

from_row!(Row {
    id,
    state,
    amount,
    started_at,
});

/// Finds the donations of a mailbox, those with the latest receipts first. Tags (`ada+news@…`) make no difference.
pub async fn find_by_mailbox(db: &Db, email: &EmailAddress, take: i64) -> sqlx::Result<Vec<DonationSummary>> {
    let rows: Vec<Row> =
        read!(db, c => sqlx::query_as(FIND).bind(email.mailbox()).bind(take).fetch_all(c).await)?;
    Ok(rows
        .into_iter()
        .map(|row| DonationSummary {
            id: row.id,
            state: row.state,
            amount: Cents::new(row.amount),
            started_at: row.started_at,
        })
        .collect())
}
