//! The SQL of accounts.

pub mod profile;
pub mod summaries;

use super::standing::Standing;
use super::verified_password::VerifiedPassword;
use super::{Account, DELETED_PREFIX, Username};
use crate::audit::{self, Action, Actor};
use platform::db::{Db, Tx, from_row, query};
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
const FIND_CONTACT: &str =
    "select username, email from accounts where id = $1 and email is not null and deleted_at is null";
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
const SUSPEND: &str = "update accounts set suspended_at = coalesce(suspended_at, $2), suspend_reason = $3 \
     where id = $1 and deleted_at is null";
const RESTORE: &str = "update accounts set suspended_at = null, suspend_reason = null \
     where id = $1 and suspended_at is not null and deleted_at is null";
const SET_OPERATOR: &str =
    "update accounts set operator = $2 where username = $1 and deleted_at is null returning id";
const STANDING: &str = "select a.deleted_at, a.suspended_at, \
     (select count(*) from keys k where k.account_id = a.id and k.blocked_at is not null) \
     from accounts a where a.id = $1";

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
    let id: Option<Uuid> = db
        .fetch_optional_scalar(query(FIND_ID).bind(username.as_str()))
        .await?;
    Ok(id.map(AccountId))
}

/// Finds the username of an account.
pub async fn find_username(db: &Db, id: AccountId) -> sqlx::Result<Option<String>> {
    db.fetch_optional_scalar(query(USERNAME).bind(id.0)).await
}

/// Finds the username of an account within a transaction.
pub(crate) async fn find_username_in(tx: &mut Tx, id: AccountId) -> sqlx::Result<Option<String>> {
    tx.fetch_optional_scalar(query(USERNAME).bind(id.0)).await
}

/// Finds the username and the email address of an account that has one.
pub(crate) async fn find_contact_in(tx: &mut Tx, id: AccountId) -> sqlx::Result<Option<(String, String)>> {
    tx.fetch_optional(query(FIND_CONTACT).bind(id.0)).await
}

/// Finds an account by its username.
pub async fn find(db: &Db, username: &str) -> sqlx::Result<Option<Account>> {
    let row: Option<AccountRow> = db.fetch_optional(query(FIND).bind(username)).await?;
    Ok(row.map(Account::from))
}

/// Finds an account by its ID.
pub async fn find_by_id(db: &Db, id: AccountId) -> sqlx::Result<Option<Account>> {
    let row: Option<AccountRow> = db.fetch_optional(query(FIND_BY_ID).bind(id.0)).await?;
    Ok(row.map(Account::from))
}

/// Lists the accounts with this email address. Several may share one.
pub async fn list_by_email(db: &Db, email: &str) -> sqlx::Result<Vec<Account>> {
    let rows: Vec<AccountRow> = db.fetch_all(query(LIST_BY_EMAIL).bind(email)).await?;
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
    let inserted = tx
        .execute(
            query(INSERT)
                .bind(id.0)
                .bind(account.username.as_str())
                .bind(account.email.map(str::to_lowercase))
                .bind(account.operator)
                .bind(now)
                .bind(account.password)
                .bind(account.is_confirmed.then_some(now)),
        )
        .await
        .map(|_| ());
    match inserted {
        Ok(()) => Ok(Some(id)),
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Locks the account until the transaction ends. Returns `false` if the password has changed since it was verified, or
/// the account was suspended.
pub async fn lock(tx: &mut Tx, verified: &VerifiedPassword) -> sqlx::Result<bool> {
    let locked = tx
        .execute(
            query(LOCK)
                .bind(verified.account.0)
                .bind(verified.stored.expose_secret()),
        )
        .await?;
    Ok(locked > 0)
}

/// Sets a password. With a time, the email address is confirmed too, unless it is already.
pub(crate) async fn set_password_in(
    tx: &mut Tx,
    id: AccountId,
    password: &str,
    confirmed_at: Option<i64>,
) -> sqlx::Result<()> {
    tx.execute(query(SET_PASSWORD).bind(id.0).bind(password).bind(confirmed_at))
        .await
        .map(|_| ())
}

/// Confirms the email address of an account.
pub(crate) async fn confirm_in(tx: &mut Tx, id: AccountId, now: i64) -> sqlx::Result<()> {
    tx.execute(query(CONFIRM).bind(id.0).bind(now)).await.map(|_| ())
}

/// Sets the email address. Returns `false` if the account is suspended or there is none.
pub(crate) async fn set_email_in(
    tx: &mut Tx,
    id: AccountId,
    email: &str,
    confirmed_at: Option<i64>,
) -> sqlx::Result<bool> {
    let changed = tx
        .execute(query(SET_EMAIL).bind(id.0).bind(email).bind(confirmed_at))
        .await?;
    Ok(changed > 0)
}

/// Erases the personal data of an account and marks it as deleted.
pub(crate) async fn anonymize_in(tx: &mut Tx, id: AccountId, now: i64) -> sqlx::Result<()> {
    let username = format!("{DELETED_PREFIX}{}", id.0.simple());
    tx.execute(query(ANONYMIZE).bind(id.0).bind(&username).bind(now).bind(false))
        .await
        .map(|_| ())
}

/// Marks an account as suspended. Returns `false` if there is no such account.
pub async fn suspend_in(tx: &mut Tx, id: AccountId, reason: &str, now: i64) -> sqlx::Result<bool> {
    let updated = tx
        .execute(query(SUSPEND).bind(id.0).bind(now).bind(reason))
        .await?;
    Ok(updated > 0)
}

/// Removes the suspension of an account. Returns `false` if it is not suspended.
pub(crate) async fn restore_in(tx: &mut Tx, id: AccountId) -> sqlx::Result<bool> {
    let updated = tx.execute(query(RESTORE).bind(id.0)).await?;
    Ok(updated > 0)
}

/// Sets whether an account is an operator. Returns `None` if there is no such account.
pub(crate) async fn set_operator_in(
    tx: &mut Tx,
    username: &Username,
    operator: bool,
) -> sqlx::Result<Option<AccountId>> {
    let id: Option<Uuid> = tx
        .fetch_optional_scalar(query(SET_OPERATOR).bind(username.as_str()).bind(operator))
        .await?;
    Ok(id.map(AccountId))
}

/// When an account was deleted and suspended, and the number of its blocked keys.
type StandingRow = (Option<i64>, Option<i64>, i64);

/// Finds the standing of an account.
pub async fn find_standing(db: &Db, id: AccountId) -> sqlx::Result<Standing> {
    let row: Option<StandingRow> = db.fetch_optional(query(STANDING).bind(id.0)).await?;
    Ok(standing(row))
}

/// Finds the standing of an account within a transaction.
pub async fn find_standing_in(tx: &mut Tx, id: AccountId) -> sqlx::Result<Standing> {
    let row: Option<StandingRow> = tx.fetch_optional(query(STANDING).bind(id.0)).await?;
    Ok(standing(row))
}

fn standing(row: Option<StandingRow>) -> Standing {
    match row {
        Some((Some(_), ..)) => Standing::Deleted,
        Some((None, Some(_), _)) => Standing::Suspended,
        Some((None, None, 1..)) => Standing::KeyBlocked,
        _ => Standing::Good,
    }
}
