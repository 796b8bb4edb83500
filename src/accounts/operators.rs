//! Who may block keys and set limits, and the accounts as an operator lists them.

use super::Username;
use crate::audit::{self, Act, Actor};
use crate::db::{Db, read, run};
use crate::ids::AccountId;
use uuid::Uuid;

const LIST: &str = "select id, username, email, operator, created_at from accounts where deleted_at is null order by username";
const SET_OPERATOR: &str = "update accounts set operator = $2 where username = $1 and deleted_at is null";

/// An account as it is listed.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: AccountId,
    pub username: String,
    pub email: Option<String>,
    pub operator: bool,
    pub created_at: i64,
}

type Row = (Uuid, String, Option<String>, bool, i64);

/// All accounts.
pub async fn list(db: &Db) -> sqlx::Result<Vec<Listed>> {
    let rows: Vec<Row> = read!(db, c => sqlx::query_as(LIST).fetch_all(c).await)?;
    let listed = |(id, username, email, operator, created_at)| Listed {
        id: AccountId(id),
        username,
        email,
        operator,
        created_at,
    };
    Ok(rows.into_iter().map(listed).collect())
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
    let act = Act::new(actor, "account operator", username.as_str(), detail);
    audit::store::record(&mut tx, &act, now).await?;
    tx.commit().await?;
    Ok(true)
}
