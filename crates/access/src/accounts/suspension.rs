//! Suspended accounts: their keys do not work, and nobody can sign in to them.

use super::changes::end_sessions_and_links;
use super::store;
use crate::audit::{self, Action, Actor};
use crate::keys;
use platform::db::{Db, Tx};
use platform::ids::AccountId;

/// Suspends an account: its keys stop, and its sessions and links end. A new reason replaces the old one. Returns
/// `false` if there is no such account.
pub async fn suspend_in(
    tx: &mut Tx,
    (id, username): (AccountId, &str),
    reason: &str,
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    if !store::suspend_in(tx, id, reason, now).await? {
        return Ok(false);
    }
    keys::store::touch_all_in(tx, id).await?;
    end_sessions_and_links(tx, id).await?;
    let action = Action::new(actor, "account suspend", username, reason);
    audit::store::record(tx, &action, now).await?;
    Ok(true)
}

/// Restores a suspended account: its keys work again, except those that are blocked one by one. Returns `false` if it
/// is not suspended.
pub async fn restore(
    db: &Db,
    (id, username): (AccountId, &str),
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    if !store::restore_in(&mut tx, id).await? {
        return Ok(false);
    }
    keys::store::touch_all_in(&mut tx, id).await?;
    audit::store::record(&mut tx, &Action::new(actor, "account restore", username, ""), now).await?;
    tx.commit().await?;
    Ok(true)
}
