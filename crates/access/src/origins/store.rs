//! The SQL of the origins of partner sites.

use super::origin::Origin;
use platform::db::{Db, read, run};
use platform::ids::AccountId;

const LIST: &str = "select origin from partner_origins where account_id = $1 order by origin";
const HAS: &str = "select count(*) from partner_origins where origin = $1";
const COUNT: &str = "select count(*) from partner_origins where account_id = $1";
const INSERT: &str = "insert into partner_origins (account_id, origin, created_at) values ($1, $2, $3) \
     on conflict (account_id, origin) do nothing";
const REMOVE: &str = "delete from partner_origins where account_id = $1 and origin = $2";

/// The number of origins that one account may register.
pub const MAX_ORIGINS: i64 = 20;

/// The result of [`insert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    Inserted,
    AlreadyRegistered,
    /// The account has reached [`MAX_ORIGINS`].
    TooMany,
}

/// Lists the origins of an account.
pub async fn list(db: &Db, account: AccountId) -> sqlx::Result<Vec<String>> {
    read!(db, c => sqlx::query_scalar(LIST).bind(account.0).fetch_all(c).await)
}

/// Returns whether any account has registered an origin.
pub async fn is_registered(db: &Db, origin: &Origin) -> sqlx::Result<bool> {
    let count: i64 = read!(db, c => sqlx::query_scalar(HAS).bind(origin.as_str()).fetch_one(c).await)?;
    Ok(count > 0)
}

/// Registers an origin for an account.
pub async fn insert(db: &Db, account: AccountId, origin: &Origin, now: i64) -> sqlx::Result<InsertOutcome> {
    let mut tx = db.write().await?;
    let inserted = run!(&mut tx, c => sqlx::query(INSERT)
        .bind(account.0)
        .bind(origin.as_str())
        .bind(now)
        .execute(c)
        .await
        .map(|result| result.rows_affected()))?;
    let count: i64 = run!(&mut tx, c => sqlx::query_scalar(COUNT).bind(account.0).fetch_one(c).await)?;
    match (inserted, count > MAX_ORIGINS) {
        (0, _) => Ok(InsertOutcome::AlreadyRegistered),
        (_, true) => Ok(InsertOutcome::TooMany),
        (_, false) => tx.commit().await.map(|()| InsertOutcome::Inserted),
    }
}

/// Removes an origin from an account. Returns `false` if the account has not registered it.
pub async fn remove(db: &Db, account: AccountId, origin: &str) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let removed = run!(&mut tx, c => sqlx::query(REMOVE)
        .bind(account.0)
        .bind(origin)
        .execute(c)
        .await
        .map(|result| result.rows_affected()))?;
    tx.commit().await?;
    Ok(removed > 0)
}
