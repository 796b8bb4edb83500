//! The SQL of accounts.

use super::Username;
use crate::db::{Db, read, run};
use crate::ids::AccountId;
use uuid::Uuid;

const FIND: &str = "select id from accounts where username = $1";
const INSERT: &str =
    "insert into accounts (id, username, email, operator, created_at) values ($1, $2, $3, $4, $5)";

/// Finds an account by its name.
pub async fn find(db: &Db, username: &Username) -> sqlx::Result<Option<AccountId>> {
    let id: Option<Uuid> =
        read!(db, c => sqlx::query_scalar(FIND).bind(username.as_str()).fetch_optional(c).await)?;
    Ok(id.map(AccountId))
}

/// Makes an account. Nothing where the name is taken.
pub async fn insert(
    db: &Db,
    username: &Username,
    email: Option<&str>,
    operator: bool,
    now: i64,
) -> sqlx::Result<Option<AccountId>> {
    let id = AccountId::new();
    let mut tx = db.write().await?;
    let inserted = run!(&mut tx, c => sqlx::query(INSERT)
        .bind(id.0)
        .bind(username.as_str())
        .bind(email)
        .bind(operator)
        .bind(now)
        .execute(c)
        .await
        .map(|_| ()));
    match inserted {
        Ok(()) => {
            tx.commit().await?;
            Ok(Some(id))
        }
        Err(sqlx::Error::Database(fault)) if fault.is_unique_violation() => Ok(None),
        Err(fault) => Err(fault),
    }
}
