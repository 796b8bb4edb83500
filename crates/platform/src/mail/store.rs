//! The SQL of the mail queue.
//!
//! A server leases an email before it sends it, so that no other server sends it too. If the server dies, another one takes
//! over when the lease ends.

use super::message::Email;
use crate::db::{Db, Tx, from_row, query};
use crate::email_address::EmailAddress;
use uuid::Uuid;

const INSERT: &str = "insert into mail_queue (id, recipient, subject, text, queued_at, due_at, attempts, \
     unsubscribe_url) values ($1, $2, $3, $4, $5, $5, 0, $6)";
const CLAIM_SQLITE: &str = "update mail_queue set lease = $1, leased_until = $3, attempts = attempts + 1 \
     where id = (select id from mail_queue where failed_at is null and due_at <= $2 \
     and (leased_until is null or leased_until <= $2) order by due_at, id limit 1) \
     returning id, recipient, subject, text, attempts, unsubscribe_url";
const CLAIM_POSTGRES: &str = "update mail_queue set lease = $1, leased_until = $3, attempts = attempts + 1 \
     where id = (select id from mail_queue where failed_at is null and due_at <= $2 \
     and (leased_until is null or leased_until <= $2) order by due_at, id limit 1 for update skip locked) \
     returning id, recipient, subject, text, attempts, unsubscribe_url";
const IS_DUE: &str = "select count(*) from (select 1 from mail_queue where failed_at is null and due_at <= $1 \
     and (leased_until is null or leased_until <= $1) limit 1) due";
const REMOVE: &str = "delete from mail_queue where id = $1";
const POSTPONE: &str = "update mail_queue set due_at = $3, last_error = $4, lease = null, leased_until = null \
     where id = $1 and lease = $2";
const FAIL: &str = "update mail_queue set failed_at = $3, last_error = $4, lease = null, leased_until = null \
     where id = $1 and lease = $2";
const FAIL_OLD: &str = "update mail_queue set failed_at = $1 where failed_at is null and queued_at < $2 \
     and (leased_until is null or leased_until <= $1)";
const REMOVE_FAILED: &str = "delete from mail_queue where failed_at < $1";
const STATUS: &str = "select count(case when failed_at is null then 1 end), \
     min(case when failed_at is null then queued_at end), count(failed_at), min(failed_at) from mail_queue";
const LIST_TO: &str = "select recipient, subject, text, queued_at, failed_at from mail_queue \
     where lower(recipient) = $1 order by queued_at, id";
const REMOVE_TO: &str = "delete from mail_queue where lower(recipient) = $1";

/// An email that this server may send until its lease ends.
#[derive(Debug)]
pub struct LeasedEmail {
    pub id: Uuid,
    pub email: Email,
    pub lease: Uuid,
    /// Including this one.
    pub attempts: i64,
}

/// How many emails are in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStatus {
    /// Emails that the mail server has not accepted yet.
    pub waiting: i64,
    /// When the oldest of them was queued.
    pub oldest_queued_at: Option<i64>,
    /// Emails that were given up.
    pub failed: i64,
    /// When the first of them was given up.
    pub oldest_failed_at: Option<i64>,
}

/// An email in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedEmail {
    pub recipient: String,
    pub subject: String,
    pub text: String,
    pub queued_at: i64,
    /// When delivery was given up.
    pub failed_at: Option<i64>,
}

from_row!(QueuedEmail {
    recipient,
    subject,
    text,
    queued_at,
    failed_at,
});

struct LeasedRow {
    id: Uuid,
    recipient: String,
    subject: String,
    text: String,
    attempts: i64,
    unsubscribe_url: Option<String>,
}

from_row!(LeasedRow {
    id,
    recipient,
    subject,
    text,
    attempts,
    unsubscribe_url,
});

/// Adds an email to the queue, in the transaction of what causes it.
pub async fn insert(tx: &mut Tx, email: &Email, now: i64) -> sqlx::Result<()> {
    tx.execute(
        query(INSERT)
            .bind(Uuid::now_v7())
            .bind(&email.to)
            .bind(&email.subject)
            .bind(&email.text)
            .bind(now)
            .bind(email.unsubscribe_url.as_deref()),
    )
    .await
    .map(|_| ())
}

/// Leases the email that has been due for the longest time.
pub async fn claim(db: &Db, now: i64, until: i64) -> sqlx::Result<Option<LeasedEmail>> {
    let due: i64 = db.fetch_scalar(query(IS_DUE).bind(now)).await?;
    if due == 0 {
        return Ok(None);
    }
    let lease = Uuid::now_v7();
    let mut tx = db.write().await?;
    let claim = match tx {
        Tx::Sqlite(_) => CLAIM_SQLITE,
        Tx::Postgres(_) => CLAIM_POSTGRES,
    };
    let row: Option<LeasedRow> = tx
        .fetch_optional(query(claim).bind(lease).bind(now).bind(until))
        .await?;
    tx.commit().await?;
    Ok(row.map(|row| LeasedEmail {
        id: row.id,
        email: Email {
            to: row.recipient,
            subject: row.subject,
            text: row.text,
            unsubscribe_url: row.unsubscribe_url,
        },
        lease,
        attempts: row.attempts,
    }))
}

/// Removes an email that the mail server has accepted.
pub async fn remove(db: &Db, id: Uuid) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(REMOVE).bind(id)).await?;
    tx.commit().await
}

/// Returns an email to the queue until its next attempt.
pub(crate) async fn postpone(db: &Db, leased: &LeasedEmail, due_at: i64, error: &str) -> sqlx::Result<()> {
    end_lease(db, POSTPONE, leased, due_at, error).await
}

/// Gives up an email.
pub async fn fail(db: &Db, leased: &LeasedEmail, now: i64, error: &str) -> sqlx::Result<()> {
    end_lease(db, FAIL, leased, now, error).await
}

async fn end_lease(
    db: &Db,
    statement: &'static str,
    leased: &LeasedEmail,
    at: i64,
    error: &str,
) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(
        query(statement)
            .bind(leased.id)
            .bind(leased.lease)
            .bind(at)
            .bind(error),
    )
    .await?;
    tx.commit().await
}

/// Gives up emails that were queued before a time. Returns how many.
pub(crate) async fn fail_old(db: &Db, now: i64, queued_before: i64) -> sqlx::Result<u64> {
    let mut tx = db.write().await?;
    let failed = tx.execute(query(FAIL_OLD).bind(now).bind(queued_before)).await?;
    tx.commit().await?;
    Ok(failed)
}

/// Removes emails that were given up before a time.
pub(crate) async fn remove_failed(db: &Db, before: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(REMOVE_FAILED).bind(before)).await?;
    tx.commit().await
}

/// Counts the emails in the queue.
pub async fn find_status(db: &Db) -> sqlx::Result<QueueStatus> {
    type Row = (i64, Option<i64>, i64, Option<i64>);
    let (waiting, oldest_queued_at, failed, oldest_failed_at): Row = db.fetch_one(query(STATUS)).await?;
    Ok(QueueStatus {
        waiting,
        oldest_queued_at,
        failed,
        oldest_failed_at,
    })
}

/// Lists the emails to an address, oldest first.
pub(crate) async fn list_to(db: &Db, address: &EmailAddress) -> sqlx::Result<Vec<QueuedEmail>> {
    db.fetch_all(query(LIST_TO).bind(address.normalized())).await
}

/// Removes the emails to an address. Returns how many.
pub async fn remove_to(tx: &mut Tx, address: &EmailAddress) -> sqlx::Result<u64> {
    tx.execute(query(REMOVE_TO).bind(address.normalized())).await
}
