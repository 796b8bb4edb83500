//! The SQL of the audit log. Entries are never changed or removed.

use super::{Action, Actor, AuditEntry};
use platform::db::{Db, Tx, from_row, query};
use platform::ids::AccountId;
use uuid::Uuid;

const RECORD: &str =
    "insert into audit (id, at, actor_id, act, subject, detail) values ($1, $2, $3, $4, $5, $6)";
const NEWEST: &str = "select e.id, e.at, e.actor_id, a.username, e.act, e.subject, e.detail from audit e \
     left join accounts a on a.id = e.actor_id order by e.id desc limit $1";
const BEFORE: &str = "select e.id, e.at, e.actor_id, a.username, e.act, e.subject, e.detail from audit e \
     left join accounts a on a.id = e.actor_id where e.id < $2 order by e.id desc limit $1";

/// A row of `audit`, with the username of the actor.
struct AuditRow {
    id: Uuid,
    at: i64,
    actor_id: Option<Uuid>,
    username: Option<String>,
    act: String,
    subject: String,
    detail: String,
}

from_row!(AuditRow {
    id,
    at,
    actor_id,
    username,
    act,
    subject,
    detail,
});

/// Records an action in the transaction that performs it.
pub async fn record(tx: &mut Tx, action: &Action, now: i64) -> sqlx::Result<()> {
    let actor = match action.actor {
        Actor::Command => None,
        Actor::Account(account) => Some(account.0),
    };
    tx.execute(
        query(RECORD)
            .bind(Uuid::now_v7())
            .bind(now)
            .bind(actor)
            .bind(action.name)
            .bind(&action.subject)
            .bind(&action.detail),
    )
    .await
    .map(|_| ())
}

/// Records an action that has no transaction of its own, such as a call to a payment provider.
pub async fn record_alone(db: &Db, action: &Action, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    record(&mut tx, action, now).await?;
    tx.commit().await
}

/// Lists the newest entries, or those before an entry, newest first.
pub async fn list(db: &Db, before: Option<Uuid>, take: u32) -> sqlx::Result<Vec<AuditEntry>> {
    let take = i64::from(take);
    let rows: Vec<AuditRow> = match before {
        None => db.fetch_all(query(NEWEST).bind(take)).await,
        Some(id) => db.fetch_all(query(BEFORE).bind(take).bind(id)).await,
    }?;
    let entry = |row: AuditRow| AuditEntry {
        id: row.id,
        at: row.at,
        actor: match row.actor_id {
            None => Actor::Command,
            Some(account) => Actor::Account(AccountId(account)),
        },
        username: row.username,
        name: row.act,
        subject: row.subject,
        detail: row.detail,
    };
    Ok(rows.into_iter().map(entry).collect())
}
