//! Suspended accounts: their keys do not work, and nobody can sign in to them.

use super::store::end_all;
use crate::audit::{self, Action, Actor};
use platform::db::{Db, Topic, Tx, read, run};
use platform::ids::AccountId;

const SUSPEND: &str = "update accounts set suspended_at = coalesce(suspended_at, $2), suspend_reason = $3 \
     where id = $1 and deleted_at is null";
const RESTORE: &str = "update accounts set suspended_at = null, suspend_reason = null \
     where id = $1 and suspended_at is not null and deleted_at is null";
/// Running servers read the keys whose revision has changed, with the state of their account.
const TOUCH_KEYS: &str = "update keys set revision = $2 where account_id = $1";
const STANDING: &str = "select a.deleted_at, a.suspended_at, \
     (select count(*) from keys k where k.account_id = a.id and k.blocked_at is not null) \
     from accounts a where a.id = $1";

/// How operators have restricted an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not at all.
    Good,
    /// One of its keys is blocked, even if its owner has revoked that key since.
    KeyBlocked,
    Suspended,
    /// Its owner has deleted it.
    Deleted,
}

type StandingRow = (Option<i64>, Option<i64>, i64);

impl Standing {
    /// Finds the standing of an account.
    pub async fn find(db: &Db, account: AccountId) -> sqlx::Result<Standing> {
        let row: Option<StandingRow> =
            read!(db, c => sqlx::query_as(STANDING).bind(account.0).fetch_optional(c).await)?;
        Ok(Standing::of_row(row))
    }

    /// Finds the standing of an account within a transaction.
    pub async fn find_in(tx: &mut Tx, account: AccountId) -> sqlx::Result<Standing> {
        let row: Option<StandingRow> =
            run!(tx, c => sqlx::query_as(STANDING).bind(account.0).fetch_optional(c).await)?;
        Ok(Standing::of_row(row))
    }

    fn of_row(row: Option<StandingRow>) -> Standing {
        match row {
            Some((Some(_), ..)) => Standing::Deleted,
            Some((None, Some(_), _)) => Standing::Suspended,
            Some((None, None, 1..)) => Standing::KeyBlocked,
            _ => Standing::Good,
        }
    }

    /// Returns whether the account may change what it owns.
    pub fn may_write(self) -> bool {
        matches!(self, Standing::Good | Standing::KeyBlocked)
    }
}

/// Suspends an account: its keys stop, and its sessions and links end. A new reason replaces the old one. Returns
/// `false` if there is no such account.
pub async fn suspend_in(
    tx: &mut Tx,
    (id, username): (AccountId, &str),
    reason: &str,
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    let updated = run!(&mut *tx, c => sqlx::query(SUSPEND)
        .bind(id.0)
        .bind(now)
        .bind(reason)
        .execute(c)
        .await
        .map(|result| result.rows_affected()))?;
    if updated == 0 {
        return Ok(false);
    }
    touch_keys(tx, id).await?;
    end_all(tx, id).await?;
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
    let updated = run!(&mut tx, c => sqlx::query(RESTORE)
        .bind(id.0)
        .execute(c)
        .await
        .map(|result| result.rows_affected()))?;
    if updated == 0 {
        return Ok(false);
    }
    touch_keys(&mut tx, id).await?;
    audit::store::record(&mut tx, &Action::new(actor, "account restore", username, ""), now).await?;
    tx.commit().await?;
    Ok(true)
}

/// Lets running servers notice that the account of some keys has changed.
pub async fn touch_keys(tx: &mut Tx, account: AccountId) -> sqlx::Result<()> {
    let revision = tx.increment_revision(Topic::Keys).await?;
    run!(tx, c => sqlx::query(TOUCH_KEYS).bind(account.0).bind(revision).execute(c).await.map(|_| ()))
}
