//! Operators, who may block keys and set limits, and the list of accounts that they see.

use super::Username;
use super::suspension::touch_keys;
use crate::audit::{self, Action, Actor};
use platform::db::{Db, from_row, read, run};
use platform::ids::AccountId;
use uuid::Uuid;

const LIST: &str = "select id, username, email, operator, created_at, suspended_at from accounts where deleted_at is null order by username";
const PAGE: &str = "select id, username, email, operator, created_at, suspended_at from accounts \
     where deleted_at is null and substr(username, 1, length($1)) = $1 order by username limit $2 offset $3";
const COUNT: &str =
    "select count(*) from accounts where deleted_at is null and substr(username, 1, length($1)) = $1";
const SET_OPERATOR: &str =
    "update accounts set operator = $2 where username = $1 and deleted_at is null returning id";

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

/// Lists all accounts.
pub async fn list(db: &Db) -> sqlx::Result<Vec<AccountSummary>> {
    let rows: Vec<SummaryRow> = read!(db, c => sqlx::query_as(LIST).fetch_all(c).await)?;
    Ok(rows.into_iter().map(AccountSummary::from).collect())
}

/// Lists a page of the accounts whose usernames start with `prefix`.
pub async fn list_page(db: &Db, prefix: &str, take: i64, skip: i64) -> sqlx::Result<Vec<AccountSummary>> {
    let rows: Vec<SummaryRow> = read!(db, c => sqlx::query_as(PAGE)
        .bind(prefix)
        .bind(take)
        .bind(skip)
        .fetch_all(c)
        .await)?;
    Ok(rows.into_iter().map(AccountSummary::from).collect())
}

/// Counts the accounts whose usernames start with `prefix`.
pub async fn count(db: &Db, prefix: &str) -> sqlx::Result<i64> {
    read!(db, c => sqlx::query_scalar(COUNT).bind(prefix).fetch_one(c).await)
}

/// Sets whether an account is an operator. Returns `false` if there is no such account.
pub async fn set(db: &Db, username: &Username, operator: bool, actor: Actor, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let updated: Option<Uuid> = run!(&mut tx, c => sqlx::query_scalar(SET_OPERATOR)
        .bind(username.as_str())
        .bind(operator)
        .fetch_optional(c)
        .await)?;
    let Some(id) = updated else {
        return Ok(false);
    };
    touch_keys(&mut tx, AccountId(id)).await?;
    let detail = if operator { "on" } else { "off" };
    let action = Action::new(actor, "account operator", username.as_str(), detail);
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}
