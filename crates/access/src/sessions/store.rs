//! The SQL of sessions.

use super::{IDLE_LIMIT, SignedIn};
use platform::db::{Db, Tx, from_row, query};
use platform::ids::AccountId;
use uuid::Uuid;

const FIND: &str = "select a.id, a.username, a.email, a.operator, s.seen_at from sessions s \
     join accounts a on a.id = s.account_id where s.hash = $1 and s.seen_at > $2 and a.deleted_at is null \
     and a.suspended_at is null";
const LIST: &str = "select hash, created_at, seen_at, agent, address from sessions where account_id = $1 order by seen_at desc";
const INSERT: &str = "insert into sessions (hash, account_id, created_at, seen_at, agent, address) \
     values ($1, $2, $3, $3, $4, $5)";
const REMOVE_IDLE: &str = "delete from sessions where seen_at <= $1";
const NOTE_SEEN: &str = "update sessions set seen_at = $2 where hash = $1";
const REMOVE: &str = "delete from sessions where hash = $1";
const REMOVE_OF_ACCOUNT: &str = "delete from sessions where account_id = $1 and hash = $2";
const REMOVE_ALL: &str = "delete from sessions where account_id = $1";
const REMOVE_OTHERS: &str = "delete from sessions where account_id = $1 and hash <> $2";

/// The account of a session.
struct SessionRow {
    id: Uuid,
    username: String,
    email: Option<String>,
    operator: bool,
    seen_at: i64,
}

from_row!(SessionRow {
    id,
    username,
    email,
    operator,
    seen_at,
});

/// A session in the database.
#[derive(Clone, Debug)]
pub struct StoredSession {
    pub hash: Vec<u8>,
    pub created_at: i64,
    pub seen_at: i64,
    pub agent: String,
    /// The address from which it began.
    pub address: String,
}

/// Finds the account that is signed in with a cookie, and when the session was last recorded as used.
pub async fn find(db: &Db, hash: [u8; 32], oldest: i64) -> sqlx::Result<Option<(SignedIn, i64)>> {
    let row: Option<SessionRow> = db
        .fetch_optional(query(FIND).bind(hash.as_slice()).bind(oldest))
        .await?;
    Ok(row.map(|row| {
        let signed_in = SignedIn {
            account: AccountId(row.id),
            username: row.username,
            email: row.email,
            operator: row.operator,
            session: hash,
        };
        (signed_in, row.seen_at)
    }))
}

/// Lists the sessions of an account, most recently used first.
pub async fn list(db: &Db, account: AccountId) -> sqlx::Result<Vec<StoredSession>> {
    let rows: Vec<(Vec<u8>, i64, i64, String, String)> = db.fetch_all(query(LIST).bind(account.0)).await?;
    let session = |(hash, created_at, seen_at, agent, address)| StoredSession {
        hash,
        created_at,
        seen_at,
        agent,
        address,
    };
    Ok(rows.into_iter().map(session).collect())
}

/// Inserts a session of a browser and removes idle ones. [`start`](super::start) checks who may have one.
pub(super) async fn insert_in(
    tx: &mut Tx,
    hash: [u8; 32],
    account: AccountId,
    (agent, address): (&str, &str),
    now: i64,
) -> sqlx::Result<()> {
    let oldest = now - IDLE_LIMIT.as_millis() as i64;
    tx.execute(query(REMOVE_IDLE).bind(oldest)).await?;
    tx.execute(
        query(INSERT)
            .bind(hash.as_slice())
            .bind(account.0)
            .bind(now)
            .bind(agent)
            .bind(address),
    )
    .await
    .map(|_| ())
}

/// Records that a session was used.
pub async fn note_seen(db: &Db, hash: [u8; 32], now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(NOTE_SEEN).bind(hash.as_slice()).bind(now))
        .await?;
    tx.commit().await
}

/// Ends a session.
pub async fn remove(db: &Db, hash: [u8; 32]) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(REMOVE).bind(hash.as_slice())).await?;
    tx.commit().await
}

/// Ends a session of an account. Returns `false` if it does not exist.
pub async fn remove_of(db: &Db, account: AccountId, hash: &[u8]) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let removed = tx
        .execute(query(REMOVE_OF_ACCOUNT).bind(account.0).bind(hash))
        .await?;
    tx.commit().await?;
    Ok(removed > 0)
}

/// Ends all sessions of an account except one.
pub async fn remove_others(db: &Db, account: AccountId, except: [u8; 32]) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    remove_others_in(&mut tx, account, except).await?;
    tx.commit().await
}

/// Ends all sessions of an account except one within a transaction.
pub(crate) async fn remove_others_in(tx: &mut Tx, account: AccountId, except: [u8; 32]) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_OTHERS).bind(account.0).bind(except.as_slice()))
        .await
        .map(|_| ())
}

/// Ends all sessions of an account.
pub(crate) async fn remove_all_in(tx: &mut Tx, account: AccountId) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_ALL).bind(account.0)).await.map(|_| ())
}
