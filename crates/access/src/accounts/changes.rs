//! Changes to an account that also end its sessions, links or keys, each in one transaction.

use super::links::{self, Purpose};
use super::verified_password::VerifiedPassword;
use super::{Username, store, two_factor};
use crate::audit::{self, Action, Actor};
use crate::{claims, keys, notices, origins, sessions};
use platform::db::{Db, Tx};
use platform::ids::AccountId;

/// Sets a password, and ends all sessions and links. Returns `false` if the old password has changed in the meantime.
pub async fn set_password(db: &Db, old: &VerifiedPassword, password: &str) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    if !store::lock(&mut tx, old).await? {
        return Ok(false);
    }
    store::set_password_in(&mut tx, old.account, password, None).await?;
    end_sessions_and_links(&mut tx, old.account).await?;
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
    store::set_password_in(&mut tx, id, password, Some(now)).await?;
    if !links::store::take(&mut tx, token, Purpose::Reset).await? {
        return Ok(false);
    }
    end_sessions_and_links(&mut tx, id).await?;
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
    let Some(id) = store::find_id(db, username).await? else {
        return Ok(false);
    };
    let mut tx = db.write().await?;
    store::set_password_in(&mut tx, id, password, Some(now)).await?;
    end_sessions_and_links(&mut tx, id).await?;
    let action = Action::new(actor, "account set-password", username.as_str(), "");
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}

/// Ends all sessions and links of an account.
pub(super) async fn end_sessions_and_links(tx: &mut Tx, id: AccountId) -> sqlx::Result<()> {
    sessions::store::remove_all_in(tx, id).await?;
    links::store::remove_all_in(tx, id).await
}

/// Confirms an email address through a link, which is consumed. Returns `false` if the link has been used already.
pub async fn confirm(db: &Db, token: &str, id: AccountId, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    if !links::store::take(&mut tx, token, Purpose::Confirm).await? {
        return Ok(false);
    }
    store::confirm_in(&mut tx, id, now).await?;
    tx.commit().await?;
    Ok(true)
}

/// Changes the email address through a link to the new one, which is consumed and confirms it. Links that were sent to
/// the old address end. Returns `false` if the link has been used already.
pub async fn change_email(db: &Db, token: &str, id: AccountId, email: &str, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    // The account before the link, as in a password change.
    let changed = store::set_email_in(&mut tx, id, email, Some(now)).await?;
    if !changed || !links::store::take(&mut tx, token, Purpose::ChangeEmail).await? {
        return Ok(false);
    }
    links::store::remove_all_in(&mut tx, id).await?;
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
    let (mut tx, id) = (db.write().await?, verified.account);
    if !store::lock(&mut tx, verified).await? || !store::set_email_in(&mut tx, id, email, None).await? {
        return Ok(false);
    }
    links::store::remove_all_in(&mut tx, id).await?;
    tx.commit().await?;
    Ok(true)
}

/// Deletes an account: its keys are revoked and its personal data is erased. Returns `false` if the password has changed
/// since it was verified.
pub async fn remove_in(tx: &mut Tx, verified: &VerifiedPassword, now: i64) -> sqlx::Result<bool> {
    if !store::lock(tx, verified).await? {
        return Ok(false);
    }
    let id = verified.account;
    store::anonymize_in(tx, id, now).await?;
    keys::store::revoke_all_in(tx, id, now).await?;
    end_sessions_and_links(tx, id).await?;
    two_factor::store::remove_in(tx, id).await?;
    origins::store::remove_all_in(tx, id).await?;
    claims::store::withdraw_all_in(tx, id, now).await?;
    notices::store::remove_all_in(tx, id).await?;
    Ok(true)
}
