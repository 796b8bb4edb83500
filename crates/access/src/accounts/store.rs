//! The SQL of accounts.

use super::links::{self, Purpose};
use super::verified_password::VerifiedPassword;
use super::{Account, DELETED_PREFIX, Username};
use crate::audit::{self, Action, Actor};
use platform::db::{Db, Topic, Tx, from_row, read, run};
use platform::ids::AccountId;
use secrecy::ExposeSecret;
use uuid::Uuid;

macro_rules! accounts {
    ($rest:literal) => {
        concat!(
            "select id, username, email, operator, created_at, password, confirmed_at, suspended_at, ",
            "suspend_reason from accounts ",
            $rest
        )
    };
}

const USERNAME: &str = "select username from accounts where id = $1";
const FIND_ID: &str = "select id from accounts where username = $1 and deleted_at is null";
const FIND: &str = accounts!("where username = $1 and deleted_at is null");
const FIND_BY_ID: &str = accounts!("where id = $1 and deleted_at is null");
const LIST_BY_EMAIL: &str = accounts!("where email = $1 and deleted_at is null order by username");
const INSERT: &str = "insert into accounts (id, username, email, operator, created_at, password, confirmed_at) \
     values ($1, $2, $3, $4, $5, $6, $7)";
const SET_PASSWORD: &str = "update accounts set password = $2, confirmed_at = coalesce(confirmed_at, $3) \
     where id = $1 and deleted_at is null";
/// Changes nothing, but locks the row until the transaction ends.
const LOCK: &str = "update accounts set password = password where id = $1 and password = $2 \
     and deleted_at is null and suspended_at is null";
const CONFIRM: &str = "update accounts set confirmed_at = coalesce(confirmed_at, $2) where id = $1";
const SET_EMAIL: &str = "update accounts set email = $2, confirmed_at = coalesce($3, confirmed_at) \
     where id = $1 and deleted_at is null and suspended_at is null";
const ANONYMIZE: &str = "update accounts set username = $2, email = null, password = null, confirmed_at = null, \
     display_name = null, picture = null, operator = $4, deleted_at = $3 where id = $1 and deleted_at is null";
const REVOKE_KEYS: &str = "update keys set revoked_at = coalesce(revoked_at, $2), revision = $3, name = '' \
     where account_id = $1";
const END_SESSIONS: &str = "delete from sessions where account_id = $1";
const END_ORIGINS: &str = "delete from partner_origins where account_id = $1";
const END_TWO_FACTOR: &str = "delete from two_factor where account_id = $1";
const END_RECOVERY_CODES: &str = "delete from recovery_codes where account_id = $1";
const END_LINKS: &str = "delete from mail_links where account_id = $1";

/// A row of `accounts`.
struct AccountRow {
    id: Uuid,
    username: String,
    email: Option<String>,
    operator: bool,
    created_at: i64,
    password: Option<String>,
    confirmed_at: Option<i64>,
    suspended_at: Option<i64>,
    suspend_reason: Option<String>,
}

from_row!(AccountRow {
    id,
    username,
    email,
    operator,
    created_at,
    password,
    confirmed_at,
    suspended_at,
    suspend_reason,
});

impl From<AccountRow> for Account {
    fn from(row: AccountRow) -> Account {
        Account {
            id: AccountId(row.id),
            username: row.username,
            email: row.email,
            operator: row.operator,
            created_at: row.created_at,
            password: row.password.map(Into::into),
            confirmed_at: row.confirmed_at,
            suspended_at: row.suspended_at,
            suspend_reason: row.suspend_reason,
        }
    }
}

/// The fields of a new account.
#[derive(Clone, Copy, Debug)]
pub struct NewAccount<'a> {
    pub username: &'a Username,
    pub email: Option<&'a str>,
    pub operator: bool,
    /// The hash from [`super::hashing::PasswordHasher`].
    pub password: Option<&'a str>,
    pub is_confirmed: bool,
}

/// Finds the ID of an account by its username.
pub async fn find_id(db: &Db, username: &Username) -> sqlx::Result<Option<AccountId>> {
    let id: Option<Uuid> =
        read!(db, c => sqlx::query_scalar(FIND_ID).bind(username.as_str()).fetch_optional(c).await)?;
    Ok(id.map(AccountId))
}

/// Finds the username of an account.
pub async fn find_username(db: &Db, id: AccountId) -> sqlx::Result<Option<String>> {
    read!(db, c => sqlx::query_scalar(USERNAME).bind(id.0).fetch_optional(c).await)
}

/// Finds an account by its username.
pub async fn find(db: &Db, username: &str) -> sqlx::Result<Option<Account>> {
    let row: Option<AccountRow> =
        read!(db, c => sqlx::query_as(FIND).bind(username).fetch_optional(c).await)?;
    Ok(row.map(Account::from))
}

/// Finds an account by its ID.
pub async fn find_by_id(db: &Db, id: AccountId) -> sqlx::Result<Option<Account>> {
    let row: Option<AccountRow> =
        read!(db, c => sqlx::query_as(FIND_BY_ID).bind(id.0).fetch_optional(c).await)?;
    Ok(row.map(Account::from))
}

/// Lists the accounts with this email address. Several may share one.
pub async fn list_by_email(db: &Db, email: &str) -> sqlx::Result<Vec<Account>> {
    let rows: Vec<AccountRow> = read!(db, c => sqlx::query_as(LIST_BY_EMAIL).bind(email).fetch_all(c).await)?;
    Ok(rows.into_iter().map(Account::from).collect())
}

/// Inserts an account without a password. Returns `None` if the username is taken.
pub async fn insert_without_password(
    db: &Db,
    username: &Username,
    email: Option<&str>,
    operator: bool,
    now: i64,
) -> sqlx::Result<Option<AccountId>> {
    let account = NewAccount {
        username,
        email,
        operator,
        password: None,
        is_confirmed: true,
    };
    insert(db, &account, now).await
}

/// Inserts an account. Returns `None` if the username is taken.
pub async fn insert(db: &Db, account: &NewAccount<'_>, now: i64) -> sqlx::Result<Option<AccountId>> {
    let mut tx = db.write().await?;
    let Some(id) = insert_in(&mut tx, account, now).await? else {
        return Ok(None);
    };
    tx.commit().await?;
    Ok(Some(id))
}

/// Inserts an account for the command line, with an audit entry. Returns `None` if the username is taken.
pub async fn insert_from_cli(db: &Db, account: &NewAccount<'_>, now: i64) -> sqlx::Result<Option<AccountId>> {
    let mut tx = db.write().await?;
    let Some(id) = insert_in(&mut tx, account, now).await? else {
        return Ok(None);
    };
    let detail = if account.operator { "operator" } else { "" };
    let action = Action::new(
        Actor::Command,
        "account create",
        account.username.as_str(),
        detail,
    );
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(Some(id))
}

async fn insert_in(tx: &mut Tx, account: &NewAccount<'_>, now: i64) -> sqlx::Result<Option<AccountId>> {
    let id = AccountId::new();
    let inserted = run!(tx, c => sqlx::query(INSERT)
        .bind(id.0)
        .bind(account.username.as_str())
        .bind(account.email.map(str::to_lowercase))
        .bind(account.operator)
        .bind(now)
        .bind(account.password)
        .bind(account.is_confirmed.then_some(now))
        .execute(c)
        .await
        .map(|_| ()));
    match inserted {
        Ok(()) => Ok(Some(id)),
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Locks the account until the transaction ends. Returns `false` if the password has changed since it was verified, or
/// the account was suspended.
pub async fn lock(tx: &mut Tx, verified: &VerifiedPassword) -> sqlx::Result<bool> {
    let locked = run!(tx, c => sqlx::query(LOCK)
        .bind(verified.account.0)
        .bind(verified.stored.expose_secret())
        .execute(c)
        .await
        .map(|result| result.rows_affected()))?;
    Ok(locked > 0)
}

/// Sets a password, and ends all sessions and links. Returns `false` if the old password has changed in the meantime.
pub async fn set_password(db: &Db, old: &VerifiedPassword, password: &str) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    if !lock(&mut tx, old).await? {
        return Ok(false);
    }
    set_password_in(&mut tx, old.account, password, None).await?;
    end_all(&mut tx, old.account).await?;
    tx.commit().await?;
    Ok(true)
}

/// Sets a password through a link in an email, which consumes the link and confirms the email address. Returns
/// `false` if the link has been used already.
pub async fn reset_password(
    db: &Db,
    token: &str,
    id: AccountId,
    password: &str,
    now: i64,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    // Every password change locks the account before the link, so that two of them cannot deadlock.
    set_password_in(&mut tx, id, password, Some(now)).await?;
    if !links::store::take(&mut tx, token, Purpose::Reset).await? {
        return Ok(false);
    }
    end_all(&mut tx, id).await?;
    tx.commit().await?;
    Ok(true)
}

/// Sets a password on behalf of an operator, with an audit entry, and ends all sessions and links. Returns `false` if
/// there is no such account.
pub async fn set_password_for(
    db: &Db,
    username: &Username,
    password: &str,
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    let Some(id) = find_id(db, username).await? else {
        return Ok(false);
    };
    let mut tx = db.write().await?;
    set_password_in(&mut tx, id, password, Some(now)).await?;
    end_all(&mut tx, id).await?;
    let action = Action::new(actor, "account set-password", username.as_str(), "");
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}

async fn set_password_in(
    tx: &mut Tx,
    id: AccountId,
    password: &str,
    confirmed_at: Option<i64>,
) -> sqlx::Result<()> {
    run!(tx, c => sqlx::query(SET_PASSWORD).bind(id.0).bind(password).bind(confirmed_at).execute(c).await.map(|_| ()))
}

/// Ends all sessions and links of an account.
pub async fn end_all(tx: &mut Tx, id: AccountId) -> sqlx::Result<()> {
    run!(&mut *tx, c => sqlx::query(END_SESSIONS).bind(id.0).execute(c).await.map(|_| ()))?;
    run!(tx, c => sqlx::query(END_LINKS).bind(id.0).execute(c).await.map(|_| ()))
}

/// Confirms an email address through a link, which is consumed. Returns `false` if the link has been used already.
pub async fn confirm(db: &Db, token: &str, id: AccountId, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    if !links::store::take(&mut tx, token, Purpose::Confirm).await? {
        return Ok(false);
    }
    run!(&mut tx, c => sqlx::query(CONFIRM).bind(id.0).bind(now).execute(c).await.map(|_| ()))?;
    tx.commit().await?;
    Ok(true)
}

/// Changes the email address through a link to the new one, which is consumed and confirms it. Links that were sent to
/// the old address end. Returns `false` if the link has been used already.
pub async fn change_email(db: &Db, token: &str, id: AccountId, email: &str, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    // The account before the link, as in a password change.
    let changed = set_email_in(&mut tx, id, email, Some(now)).await?;
    if !changed || !links::store::take(&mut tx, token, Purpose::ChangeEmail).await? {
        return Ok(false);
    }
    run!(&mut tx, c => sqlx::query(END_LINKS).bind(id.0).execute(c).await.map(|_| ()))?;
    tx.commit().await?;
    Ok(true)
}

/// Changes the email address on a server that cannot confirm it. Returns `false` if the password has changed since it was
/// verified.
pub async fn change_email_unconfirmed(
    db: &Db,
    verified: &VerifiedPassword,
    email: &str,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    if !lock(&mut tx, verified).await? || !set_email_in(&mut tx, verified.account, email, None).await? {
        return Ok(false);
    }
    run!(&mut tx, c => sqlx::query(END_LINKS).bind(verified.account.0).execute(c).await.map(|_| ()))?;
    tx.commit().await?;
    Ok(true)
}

async fn set_email_in(
    tx: &mut Tx,
    id: AccountId,
    email: &str,
    confirmed_at: Option<i64>,
) -> sqlx::Result<bool> {
    let changed = run!(tx, c => sqlx::query(SET_EMAIL)
        .bind(id.0)
        .bind(email)
        .bind(confirmed_at)
        .execute(c)
        .await
        .map(|result| result.rows_affected()))?;
    Ok(changed > 0)
}

/// Deletes an account: its keys are revoked and its personal data is erased. Returns `false` if the password has changed
/// since it was verified.
pub async fn remove_in(tx: &mut Tx, verified: &VerifiedPassword, now: i64) -> sqlx::Result<bool> {
    if !lock(tx, verified).await? {
        return Ok(false);
    }
    let id = verified.account;
    let revision = tx.increment_revision(Topic::Keys).await?;
    let username = format!("{DELETED_PREFIX}{}", id.0.simple());
    run!(&mut *tx, c => sqlx::query(ANONYMIZE).bind(id.0).bind(&username).bind(now).bind(false).execute(c).await.map(|_| ()))?;
    run!(&mut *tx, c => sqlx::query(REVOKE_KEYS).bind(id.0).bind(now).bind(revision).execute(c).await.map(|_| ()))?;
    end_all(tx, id).await?;
    run!(&mut *tx, c => sqlx::query(END_RECOVERY_CODES).bind(id.0).execute(c).await.map(|_| ()))?;
    run!(&mut *tx, c => sqlx::query(END_TWO_FACTOR).bind(id.0).execute(c).await.map(|_| ()))?;
    run!(tx, c => sqlx::query(END_ORIGINS).bind(id.0).execute(c).await.map(|_| ()))?;
    Ok(true)
}
