//! The SQL of stopped emails and of the limits on emails.

use super::kind::NoticeKind;
use super::window::{HOUR_MILLIS, Window};
use platform::db::{Db, Tx, query};
use platform::ids::AccountId;
use uuid::Uuid;

const IS_STOPPED: &str = "select count(*) from stopped_notices where account_id = $1 and kind = $2";
const LIST_STOPPED: &str = "select kind from stopped_notices where account_id = $1";
const STOP: &str = "insert into stopped_notices (account_id, kind, stopped_at) values ($1, $2, $3) \
     on conflict (account_id, kind) do nothing";
const RESUME: &str = "delete from stopped_notices where account_id = $1 and kind = $2";
/// Changes nothing if there is a row, but locks it until the transaction ends.
const LOCK_WINDOW: &str = "insert into notice_windows (account_id, kind, sent_at, waiting, lines) values ($1, $2, '', 0, '') \
     on conflict (account_id, kind) do update set waiting = notice_windows.waiting \
     returning sent_at, waiting, waiting_since, lines";
const SET_WINDOW: &str = "update notice_windows set sent_at = $3, waiting = $4, waiting_since = $5, lines = $6 \
     where account_id = $1 and kind = $2";
const LIST_DUE: &str = "select account_id, kind from notice_windows where waiting_since <= $1 \
     order by waiting_since limit 100";
const REMOVE_STOPPED: &str = "delete from stopped_notices where account_id = $1";
const REMOVE_WINDOWS: &str = "delete from notice_windows where account_id = $1";

/// Returns whether the owner of an account has stopped emails of a kind.
pub(super) async fn is_stopped(tx: &mut Tx, account: AccountId, kind: NoticeKind) -> sqlx::Result<bool> {
    let count: i64 = tx
        .fetch_scalar(query(IS_STOPPED).bind(account.0).bind(kind.as_str()))
        .await?;
    Ok(count > 0)
}

/// Lists the kinds of emails that the owner of an account has stopped.
pub async fn list_stopped(db: &Db, account: AccountId) -> sqlx::Result<Vec<NoticeKind>> {
    let names: Vec<String> = db.fetch_scalars(query(LIST_STOPPED).bind(account.0)).await?;
    Ok(names.iter().filter_map(|name| NoticeKind::find(name)).collect())
}

/// Stops or resumes emails of some kinds. Doing it again changes nothing.
pub async fn set_wanted(
    db: &Db,
    account: AccountId,
    kinds: &[(NoticeKind, bool)],
    now: i64,
) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    for (kind, is_wanted) in kinds {
        let change = if *is_wanted {
            query(RESUME).bind(account.0).bind(kind.as_str())
        } else {
            query(STOP).bind(account.0).bind(kind.as_str()).bind(now)
        };
        tx.execute(change).await?;
    }
    tx.commit().await
}

/// Finds the last emails of a kind to an account, and locks them until the transaction ends.
pub(super) async fn lock_window(tx: &mut Tx, account: AccountId, kind: NoticeKind) -> sqlx::Result<Window> {
    let lock = query(LOCK_WINDOW).bind(account.0).bind(kind.as_str());
    let (sent_at, waiting, waiting_since, lines): (String, i64, Option<i64>, String) =
        tx.fetch_one(lock).await?;
    Ok(Window {
        sent_at: sent_at.split(' ').filter_map(|at| at.parse().ok()).collect(),
        waiting,
        waiting_since,
        lines,
    })
}

pub(super) async fn set_window(
    tx: &mut Tx,
    account: AccountId,
    kind: NoticeKind,
    window: &Window,
) -> sqlx::Result<()> {
    let sent_at: Vec<String> = window.sent_at.iter().map(i64::to_string).collect();
    tx.execute(
        query(SET_WINDOW)
            .bind(account.0)
            .bind(kind.as_str())
            .bind(sent_at.join(" "))
            .bind(window.waiting)
            .bind(window.waiting_since)
            .bind(&window.lines),
    )
    .await
    .map(|_| ())
}

/// Lists the accounts and kinds whose summary is due.
pub(super) async fn list_due(db: &Db, now: i64) -> sqlx::Result<Vec<(AccountId, NoticeKind)>> {
    let rows: Vec<(Uuid, String)> = db.fetch_all(query(LIST_DUE).bind(now - HOUR_MILLIS)).await?;
    let due = |(account, kind): (Uuid, String)| Some((AccountId(account), NoticeKind::find(&kind)?));
    Ok(rows.into_iter().filter_map(due).collect())
}

/// Removes everything about an account.
pub(crate) async fn remove_all_in(tx: &mut Tx, account: AccountId) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_STOPPED).bind(account.0)).await?;
    tx.execute(query(REMOVE_WINDOWS).bind(account.0))
        .await
        .map(|_| ())
}
