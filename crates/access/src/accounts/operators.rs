//! Who may block keys and set limits, and the accounts as an operator lists them.

use super::Username;
use crate::audit::{self, Action, Actor};
use platform::db::{Db, read, run};
use platform::ids::AccountId;
use uuid::Uuid;

const LIST: &str = "select id, username, email, operator, created_at from accounts where deleted_at is null order by username";
const PAGE: &str = "select id, username, email, operator, created_at from accounts \
     where deleted_at is null and substr(username, 1, length($1)) = $1 order by username limit $2 offset $3";
const COUNT: &str =
    "select count(*) from accounts where deleted_at is null and substr(username, 1, length($1)) = $1";
const SET_OPERATOR: &str = "update accounts set operator = $2 where username = $1 and deleted_at is null";

/// An account as it is listed.
#[derive(Clone, Debug)]
pub struct AccountSummary {
    pub id: AccountId,
    pub username: String,
    pub email: Option<String>,
    pub operator: bool,
    pub created_at: i64,
}

type Row = (Uuid, String, Option<String>, bool, i64);

impl From<Row> for AccountSummary {
    fn from((id, username, email, operator, created_at): Row) -> AccountSummary {
        AccountSummary {
            id: AccountId(id),
            username,
            email,
            operator,
            created_at,
        }
    }
}

/// All accounts.
pub async fn list(db: &Db) -> sqlx::Result<Vec<AccountSummary>> {
    let rows: Vec<Row> = read!(db, c => sqlx::query_as(LIST).fetch_all(c).await)?;
    Ok(rows.into_iter().map(AccountSummary::from).collect())
}

/// Some of the accounts whose names begin like this.
pub async fn list_page(db: &Db, begins: &str, take: i64, skip: i64) -> sqlx::Result<Vec<AccountSummary>> {
    let rows: Vec<Row> = read!(db, c => sqlx::query_as(PAGE)
        .bind(begins)
        .bind(take)
        .bind(skip)
        .fetch_all(c)
        .await)?;
    Ok(rows.into_iter().map(AccountSummary::from).collect())
}

/// How many accounts have names that begin like this.
pub async fn count(db: &Db, begins: &str) -> sqlx::Result<i64> {
    read!(db, c => sqlx::query_scalar(COUNT).bind(begins).fetch_one(c).await)
}

/// Makes an account an operator, or no longer one. False where there is none.
pub async fn set(db: &Db, username: &Username, operator: bool, actor: Actor, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let touched = run!(&mut tx, c => sqlx::query(SET_OPERATOR)
        .bind(username.as_str())
        .bind(operator)
        .execute(c)
        .await
        .map(|done| done.rows_affected()))?;
    if touched == 0 {
        return Ok(false);
    }
    let detail = if operator { "on" } else { "off" };
    let act = Action::new(actor, "account operator", username.as_str(), detail);
    audit::store::record(&mut tx, &act, now).await?;
    tx.commit().await?;
    Ok(true)
}
