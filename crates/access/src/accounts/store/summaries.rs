//! The lists of accounts that operators see.

use platform::db::{Db, from_row, query};
use platform::ids::AccountId;
use uuid::Uuid;

const LIST: &str = "select id, username, email, operator, created_at, suspended_at from accounts where deleted_at is null order by username";
const PAGE: &str = "select id, username, email, operator, created_at, suspended_at from accounts \
     where deleted_at is null and substr(username, 1, length($1)) = $1 order by username limit $2 offset $3";
const COUNT: &str =
    "select count(*) from accounts where deleted_at is null and substr(username, 1, length($1)) = $1";

const COUNT_OPERATORS: &str =
    "select count(*) from accounts where operator and deleted_at is null and suspended_at is null";

/// An account in a list.
#[derive(Clone, Debug)]
pub struct AccountSummary {
    pub id: AccountId,
    pub username: String,
    pub email: Option<String>,
    pub operator: bool,
    pub created_at: i64,
    pub suspended_at: Option<i64>,
}

/// A row of `accounts`.
struct SummaryRow {
    id: Uuid,
    username: String,
    email: Option<String>,
    operator: bool,
    created_at: i64,
    suspended_at: Option<i64>,
}

from_row!(SummaryRow {
    id,
    username,
    email,
    operator,
    created_at,
    suspended_at,
});

impl From<SummaryRow> for AccountSummary {
    fn from(row: SummaryRow) -> AccountSummary {
        AccountSummary {
            id: AccountId(row.id),
            username: row.username,
            email: row.email,
            operator: row.operator,
            created_at: row.created_at,
            suspended_at: row.suspended_at,
        }
    }
}

/// Counts the operators in good standing.
pub async fn count_operators(db: &Db) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT_OPERATORS)).await
}

/// Lists all accounts.
pub async fn list(db: &Db) -> sqlx::Result<Vec<AccountSummary>> {
    let rows: Vec<SummaryRow> = db.fetch_all(query(LIST)).await?;
    Ok(rows.into_iter().map(AccountSummary::from).collect())
}

/// Lists a page of the accounts whose usernames start with `prefix`.
pub async fn list_page(db: &Db, prefix: &str, take: i64, skip: i64) -> sqlx::Result<Vec<AccountSummary>> {
    let rows: Vec<SummaryRow> = db
        .fetch_all(query(PAGE).bind(prefix).bind(take).bind(skip))
        .await?;
    Ok(rows.into_iter().map(AccountSummary::from).collect())
}

/// Counts the accounts whose usernames start with `prefix`.
pub async fn count(db: &Db, prefix: &str) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT).bind(prefix)).await
}
