//! The SQL of thank-you emails. Which donations were thanked for is in the table of donations.

use crate::fundraisers::Fundraiser;
use platform::db::{Db, Tx, query};
use platform::ids::FundraiserId;
use uuid::Uuid;

const EXISTS: &str = "select count(*) from thank_yous where id = $1";
const FIND_LAST: &str =
    "select created_at, sent from thank_yous where fundraiser_id = $1 order by created_at desc limit 1";
const INSERT: &str = "insert into thank_yous (id, fundraiser_id, account_id, message, entry, sent, created_at) \
     values ($1, $2, $3, $4, $5, 0, $6)";
const LIST_OPEN: &str = "select id, fundraiser_id, message, entry from thank_yous where finished_at is null \
     order by created_at limit 100";
/// Changes nothing, but locks the row until the transaction ends.
const LOCK_OPEN: &str = "update thank_yous set sent = sent where id = $1 and finished_at is null";
const ADVANCE: &str = "update thank_yous set sent = sent + $2, finished_at = $3 where id = $1";
const IS_STOPPED: &str = "select count(*) from stopped_thanks where mailbox = $1";
const STOP: &str =
    "insert into stopped_thanks (mailbox, stopped_at) values ($1, $2) on conflict (mailbox) do nothing";

/// A message that is not sent to all donors yet.
#[derive(Clone, Debug)]
pub(super) struct OpenThankYou {
    pub id: Uuid,
    pub fundraiser: FundraiserId,
    pub message: String,
    /// It is for donations up to this entry.
    pub entry: i64,
}

/// Returns whether a message was accepted.
pub(super) async fn exists(tx: &mut Tx, id: Uuid) -> sqlx::Result<bool> {
    let count: i64 = tx.fetch_scalar(query(EXISTS).bind(id)).await?;
    Ok(count > 0)
}

/// Finds when the last message of a fundraiser was written, and to how many donors it was sent so far.
pub(super) async fn find_last(db: &Db, fundraiser: FundraiserId) -> sqlx::Result<Option<(i64, i64)>> {
    db.fetch_optional(query(FIND_LAST).bind(fundraiser.0)).await
}

pub(super) async fn find_last_in(tx: &mut Tx, fundraiser: FundraiserId) -> sqlx::Result<Option<(i64, i64)>> {
    tx.fetch_optional(query(FIND_LAST).bind(fundraiser.0)).await
}

pub(super) async fn insert(
    tx: &mut Tx,
    (id, fundraiser): (Uuid, &Fundraiser),
    message: &str,
    entry: i64,
    now: i64,
) -> sqlx::Result<()> {
    tx.execute(
        query(INSERT)
            .bind(id)
            .bind(fundraiser.id.0)
            .bind(fundraiser.account.0)
            .bind(message)
            .bind(entry)
            .bind(now),
    )
    .await
    .map(|_| ())
}

/// Lists the messages that are not sent to all donors yet, oldest first.
pub(super) async fn list_open(db: &Db) -> sqlx::Result<Vec<OpenThankYou>> {
    let rows: Vec<(Uuid, Uuid, String, i64)> = db.fetch_all(query(LIST_OPEN)).await?;
    let open = |(id, fundraiser, message, entry)| OpenThankYou {
        id,
        fundraiser: FundraiserId(fundraiser),
        message,
        entry,
    };
    Ok(rows.into_iter().map(open).collect())
}

/// Locks a message until the transaction ends. Returns `false` if it is sent to all donors.
pub(super) async fn lock_open(tx: &mut Tx, id: Uuid) -> sqlx::Result<bool> {
    Ok(tx.execute(query(LOCK_OPEN).bind(id)).await? > 0)
}

/// Counts emails of a message, and marks it as finished.
pub(super) async fn advance(tx: &mut Tx, id: Uuid, sent: i64, finished_at: Option<i64>) -> sqlx::Result<()> {
    tx.execute(query(ADVANCE).bind(id).bind(sent).bind(finished_at))
        .await
        .map(|_| ())
}

pub(super) async fn is_stopped(tx: &mut Tx, mailbox: &str) -> sqlx::Result<bool> {
    let count: i64 = tx.fetch_scalar(query(IS_STOPPED).bind(mailbox)).await?;
    Ok(count > 0)
}

/// Stops thank-you emails to a mailbox, which [`link::verify`](super::link::verify) has returned. Doing it again changes
/// nothing.
pub async fn stop(db: &Db, mailbox: &str, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(STOP).bind(mailbox).bind(now)).await?;
    tx.commit().await
}
