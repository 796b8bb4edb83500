//! The start of a session.

use super::store;
use crate::accounts::store::lock;
use crate::accounts::two_factor::store::is_on_in;
use crate::accounts::verified_password::VerifiedPassword;
use platform::db::Db;

/// The result of [`start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartOutcome {
    Started,
    /// The password has changed since it was verified, or the account was suspended.
    PasswordChanged,
    /// The account has a second factor, which was not proven.
    NeedsSecondFactor,
}

/// Starts the session of a browser, with the SHA-256 of its cookie.
pub async fn start(
    db: &Db,
    hash: [u8; 32],
    verified: &VerifiedPassword,
    (agent, address): (&str, &str),
    now: i64,
) -> sqlx::Result<StartOutcome> {
    let mut tx = db.write().await?;
    if !lock(&mut tx, verified).await? {
        return Ok(StartOutcome::PasswordChanged);
    }
    // Here, so that no way to sign in can forget it.
    if !verified.has_second_factor && is_on_in(&mut tx, verified.account).await? {
        return Ok(StartOutcome::NeedsSecondFactor);
    }
    store::insert_in(&mut tx, hash, verified.account, (agent, address), now).await?;
    tx.commit().await?;
    Ok(StartOutcome::Started)
}
