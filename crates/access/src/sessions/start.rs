//! The start of a session.

use super::{notice, store};
use crate::accounts::store::lock;
use crate::accounts::two_factor::store::is_on_in;
use crate::accounts::verified_password::VerifiedPassword;
use crate::notices::Notices;
use platform::db::Db;

/// The browser of a new session.
#[derive(Clone, Copy, Debug)]
pub struct NewSession<'a> {
    /// The SHA-256 of its cookie.
    pub hash: [u8; 32],
    /// The browser's `User-Agent`.
    pub agent: &'a str,
    pub address: &'a str,
    /// The browser in plain words, if the account was not used with it before.
    pub unknown_browser: Option<&'a str>,
}

/// The result of [`start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartOutcome {
    Started,
    /// The password has changed since it was verified, or the account was suspended.
    PasswordChanged,
    /// The account has a second factor, which was not proven.
    NeedsSecondFactor,
}

/// Starts the session of a browser. The email about a browser that is not known is queued in the same transaction.
pub async fn start(
    db: &Db,
    notices: Notices<'_>,
    verified: &VerifiedPassword,
    session: NewSession<'_>,
    now: i64,
) -> sqlx::Result<StartOutcome> {
    let (mut tx, account) = (db.write().await?, verified.account);
    if !lock(&mut tx, verified).await? {
        return Ok(StartOutcome::PasswordChanged);
    }
    // Here, so that no way to sign in can forget it.
    if !verified.has_second_factor && is_on_in(&mut tx, account).await? {
        return Ok(StartOutcome::NeedsSecondFactor);
    }
    let (agent, address) = (session.agent, session.address);
    store::insert_in(&mut tx, session.hash, account, (agent, address), now).await?;
    let prepared = match session.unknown_browser {
        None => None,
        Some(browser) => {
            let notice = notice::compose(notices.public_url, (browser, address), now);
            notices.queue(&mut tx, account, &notice).await?
        }
    };
    tx.commit().await?;
    if let Some(prepared) = prepared {
        notices.mailer.dispatch(prepared);
    }
    Ok(StartOutcome::Started)
}
