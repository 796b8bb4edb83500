//! The SQL of two-factor sign-in.

use super::{AcceptedCode, RECOVERY_CODES, RecoveryCode, TotpSecret, TypedCode};
use crate::accounts::store::lock;
use crate::accounts::verified_password::VerifiedPassword;
use crate::audit::{self, Action, Actor};
use crate::sessions;
use platform::db::{Db, Tx, from_row, query};
use platform::ids::AccountId;
use platform::secret::StoreSecret;
use uuid::Uuid;

const FIND: &str = "select secret, enabled_at, last_step from two_factor where account_id = $1";
const COUNT_CODES: &str = "select count(*) from recovery_codes where account_id = $1";
const IS_ON: &str = "select count(*) from two_factor where account_id = $1 and enabled_at is not null";
const BEGIN: &str = "insert into two_factor (account_id, secret, created_at, last_step) values ($1, $2, $3, 0) \
     on conflict (account_id) do update set secret = excluded.secret, created_at = excluded.created_at, last_step = 0 \
     where two_factor.enabled_at is null";
const ENABLE: &str = "update two_factor set enabled_at = $2, last_step = $3 \
     where account_id = $1 and secret = $4 and enabled_at is null";
/// A step is used by exactly one sign-in, on whichever server it arrives.
const USE_STEP: &str = "update two_factor set last_step = $2 \
     where account_id = $1 and last_step < $2 and enabled_at is not null";
const USE_RECOVERY_CODE: &str = "delete from recovery_codes where account_id = $1 and hash = $2";
const INSERT_RECOVERY_CODE: &str = "insert into recovery_codes (account_id, hash) values ($1, $2)";
const REMOVE_RECOVERY_CODES: &str = "delete from recovery_codes where account_id = $1";
const LIST: &str = "select t.account_id, a.username from two_factor t join accounts a on a.id = t.account_id \
     order by a.username";
const REMOVE: &str = "delete from two_factor where account_id = $1";

/// A row of `two_factor`.
struct Row {
    secret: Vec<u8>,
    enabled_at: Option<i64>,
    last_step: i64,
}

from_row!(Row {
    secret,
    enabled_at,
    last_step,
});

/// The state of two-factor sign-in of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TwoFactorState {
    /// When it was turned on, in milliseconds since the Unix epoch.
    pub enabled_at: Option<i64>,
    /// The recovery codes that are not used yet.
    pub recovery_codes: i64,
}

/// The result of [`enable`].
#[derive(Clone, Debug)]
pub enum EnableOutcome {
    /// It is on, with these recovery codes.
    Enabled(Vec<RecoveryCode>),
    WrongCode,
    /// There is no secret to confirm, or it is on already.
    NotPending,
}

/// Finds the state of an account.
pub async fn find_state(db: &Db, account: AccountId) -> sqlx::Result<TwoFactorState> {
    let row = find(db, account).await?;
    let recovery_codes = db.fetch_scalar(query(COUNT_CODES).bind(account.0)).await?;
    Ok(TwoFactorState {
        enabled_at: row.and_then(|row| row.enabled_at),
        recovery_codes,
    })
}

/// Returns whether an account needs a second factor to sign in.
pub async fn is_on(db: &Db, account: AccountId) -> sqlx::Result<bool> {
    let count: i64 = db.fetch_scalar(query(IS_ON).bind(account.0)).await?;
    Ok(count > 0)
}

/// Returns the same within a transaction.
pub(crate) async fn is_on_in(tx: &mut Tx, account: AccountId) -> sqlx::Result<bool> {
    let count: i64 = tx.fetch_scalar(query(IS_ON).bind(account.0)).await?;
    Ok(count > 0)
}

async fn find(db: &Db, account: AccountId) -> sqlx::Result<Option<Row>> {
    db.fetch_optional(query(FIND).bind(account.0)).await
}

/// Stores a new secret that has no effect until a code confirms it. Returns `false` if the second factor is on.
pub async fn begin(
    db: &Db,
    secret: &StoreSecret,
    account: AccountId,
    totp: &TotpSecret,
    now: i64,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let changed = tx
        .execute(
            query(BEGIN)
                .bind(account.0)
                .bind(totp.encrypt(secret, account))
                .bind(now),
        )
        .await?;
    tx.commit().await?;
    Ok(changed > 0)
}

/// Finds the secret that waits for its confirmation.
pub async fn find_pending(
    db: &Db,
    secret: &StoreSecret,
    account: AccountId,
) -> sqlx::Result<Option<TotpSecret>> {
    let row = find(db, account).await?.filter(|row| row.enabled_at.is_none());
    Ok(row.and_then(|row| TotpSecret::decrypt(secret, account, &row.secret)))
}

/// Turns on the second factor with a code of the secret that waits, and ends the other sessions of the account, which
/// began without it.
pub async fn enable(
    db: &Db,
    secret: &StoreSecret,
    (account, session): (AccountId, [u8; 32]),
    code: &str,
    now: i64,
) -> sqlx::Result<EnableOutcome> {
    let row = find(db, account).await?.filter(|row| row.enabled_at.is_none());
    let Some(row) = row else {
        return Ok(EnableOutcome::NotPending);
    };
    let Some(totp) = TotpSecret::decrypt(secret, account, &row.secret) else {
        return Ok(EnableOutcome::NotPending);
    };
    let step = match TypedCode::parse(code) {
        Some(TypedCode::Totp(code)) => totp.find_step(code, now, 0),
        Some(TypedCode::Recovery(_)) | None => None,
    };
    let Some(step) = step else {
        return Ok(EnableOutcome::WrongCode);
    };
    let mut tx = db.write().await?;
    let enabled = tx
        .execute(
            query(ENABLE)
                .bind(account.0)
                .bind(now)
                .bind(step)
                .bind(&row.secret),
        )
        .await?;
    if enabled == 0 {
        return Ok(EnableOutcome::NotPending);
    }
    let codes = replace_codes_in(&mut tx, secret, account).await?;
    sessions::store::remove_others_in(&mut tx, account, session).await?;
    tx.commit().await?;
    Ok(EnableOutcome::Enabled(codes))
}

/// Accepts a code of an account, which then does not work again. Returns `None` if it is wrong or was used before.
pub async fn accept_code(
    db: &Db,
    secret: &StoreSecret,
    account: AccountId,
    code: &str,
    now: i64,
) -> sqlx::Result<Option<AcceptedCode>> {
    let row = find(db, account).await?.filter(|row| row.enabled_at.is_some());
    let (Some(row), Some(code)) = (row, TypedCode::parse(code)) else {
        return Ok(None);
    };
    let (used, accepted) = match code {
        TypedCode::Totp(code) => {
            let totp = TotpSecret::decrypt(secret, account, &row.secret);
            if totp.is_none() {
                tracing::error!(%account, "a two-factor secret cannot be decrypted with the secret of this server");
            }
            let Some(step) = totp.and_then(|totp| totp.find_step(code, now, row.last_step)) else {
                return Ok(None);
            };
            let mut tx = db.write().await?;
            let used = tx.execute(query(USE_STEP).bind(account.0).bind(step)).await?;
            tx.commit().await?;
            (used, AcceptedCode::Totp)
        }
        TypedCode::Recovery(code) => {
            let mut tx = db.write().await?;
            let used = tx
                .execute(
                    query(USE_RECOVERY_CODE)
                        .bind(account.0)
                        .bind(code.hash(secret, account).as_slice()),
                )
                .await?;
            tx.commit().await?;
            (used, AcceptedCode::Recovery)
        }
    };
    Ok((used > 0).then_some(accepted))
}

/// Replaces the recovery codes. Returns `None` if the second factor is off, or the password has changed since it was
/// verified.
pub async fn replace_codes(
    db: &Db,
    secret: &StoreSecret,
    verified: &VerifiedPassword,
) -> sqlx::Result<Option<Vec<RecoveryCode>>> {
    let mut tx = db.write().await?;
    if !lock(&mut tx, verified).await? || !is_on_in(&mut tx, verified.account).await? {
        return Ok(None);
    }
    let codes = replace_codes_in(&mut tx, secret, verified.account).await?;
    tx.commit().await?;
    Ok(Some(codes))
}

async fn replace_codes_in(
    tx: &mut Tx,
    secret: &StoreSecret,
    account: AccountId,
) -> sqlx::Result<Vec<RecoveryCode>> {
    tx.execute(query(REMOVE_RECOVERY_CODES).bind(account.0)).await?;
    let codes: Vec<_> = (0..RECOVERY_CODES).map(|_| RecoveryCode::generate()).collect();
    for code in &codes {
        let hash = code.hash(secret, account);
        tx.execute(query(INSERT_RECOVERY_CODE).bind(account.0).bind(hash.as_slice()))
            .await?;
    }
    Ok(codes)
}

/// Turns off the second factor. Returns `false` if the password has changed since it was verified.
pub async fn disable(db: &Db, verified: &VerifiedPassword) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    if !lock(&mut tx, verified).await? {
        return Ok(false);
    }
    remove_in(&mut tx, verified.account).await?;
    tx.commit().await?;
    Ok(true)
}

/// Turns off the second factor on behalf of an operator, with an audit entry. Returns `false` if it is off.
pub async fn reset(
    db: &Db,
    (account, username): (AccountId, &str),
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    if !remove_in(&mut tx, account).await? {
        return Ok(false);
    }
    let action = Action::new(actor, "account reset-two-factor", username, "");
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}

/// Turns off the second factor of all accounts, because the secret of the store is lost, with an audit entry for each.
/// Returns their number.
pub async fn reset_all(tx: &mut Tx, actor: Actor, now: i64) -> sqlx::Result<usize> {
    let accounts: Vec<(Uuid, String)> = tx.fetch_all(query(LIST)).await?;
    for (id, username) in &accounts {
        remove_in(tx, AccountId(*id)).await?;
        let action = Action::new(actor, "account reset-two-factor", username, "lost secret");
        audit::store::record(tx, &action, now).await?;
    }
    Ok(accounts.len())
}

/// Removes the second factor of an account. Returns `false` if it had none.
pub async fn remove_in(tx: &mut Tx, account: AccountId) -> sqlx::Result<bool> {
    tx.execute(query(REMOVE_RECOVERY_CODES).bind(account.0)).await?;
    let removed = tx.execute(query(REMOVE).bind(account.0)).await?;
    Ok(removed > 0)
}
