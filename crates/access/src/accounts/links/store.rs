//! The SQL of links in emails.

use super::Purpose;
use crate::accounts::token::Token;
use platform::db::{Db, Tx, query};
use platform::ids::AccountId;
use uuid::Uuid;

const INSERT: &str =
    "insert into mail_links (hash, account_id, purpose, created_at, email) values ($1, $2, $3, $4, $5)";
const FIND: &str = "select l.account_id, a.username from mail_links l join accounts a on a.id = l.account_id \
     where l.hash = $1 and l.purpose = $2 and l.created_at > $3 and a.deleted_at is null";
const FIND_EMAIL: &str = "select email from mail_links where hash = $1 and purpose = $2";
const TAKE: &str = "delete from mail_links where hash = $1 and purpose = $2";
const REMOVE_ALL: &str = "delete from mail_links where account_id = $1";
const REMOVE_OLD: &str = "delete from mail_links where created_at <= $1";

/// Inserts a link, with the new email address that it confirms, and removes expired ones.
pub async fn insert(
    db: &Db,
    token: &Token,
    account: AccountId,
    purpose: Purpose,
    email: Option<&str>,
    now: i64,
) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    let oldest = now - Purpose::Confirm.lifetime().as_millis() as i64;
    tx.execute(query(REMOVE_OLD).bind(oldest)).await?;
    tx.execute(
        query(INSERT)
            .bind(token.hash().as_slice())
            .bind(account.0)
            .bind(purpose.name())
            .bind(now)
            .bind(email),
    )
    .await?;
    tx.commit().await
}

/// Finds the account of a link, with its username, if the link is still valid.
pub async fn find(
    db: &Db,
    token: &str,
    purpose: Purpose,
    now: i64,
) -> sqlx::Result<Option<(AccountId, String)>> {
    let Some(token) = Token::parse(token) else {
        return Ok(None);
    };
    let row: Option<(Uuid, String)> = db
        .fetch_optional(
            query(FIND)
                .bind(token.hash().as_slice())
                .bind(purpose.name())
                .bind(now - purpose.lifetime().as_millis() as i64),
        )
        .await?;
    Ok(row.map(|(id, username)| (AccountId(id), username)))
}

/// Finds the new email address that a link confirms.
pub async fn find_email(db: &Db, token: &str) -> sqlx::Result<Option<String>> {
    let Some(token) = Token::parse(token) else {
        return Ok(None);
    };
    let email: Option<Option<String>> = db
        .fetch_optional_scalar(
            query(FIND_EMAIL)
                .bind(token.hash().as_slice())
                .bind(Purpose::ChangeEmail.name()),
        )
        .await?;
    Ok(email.flatten())
}

/// Consumes a link, in the same transaction as its effect. Returns `false` if it has been used already.
pub async fn take(tx: &mut Tx, token: &str, purpose: Purpose) -> sqlx::Result<bool> {
    let Some(token) = Token::parse(token) else {
        return Ok(false);
    };
    let removed = tx
        .execute(query(TAKE).bind(token.hash().as_slice()).bind(purpose.name()))
        .await?;
    Ok(removed > 0)
}

/// Removes all links of an account.
pub(crate) async fn remove_all_in(tx: &mut Tx, account: AccountId) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_ALL).bind(account.0)).await.map(|_| ())
}
