//! The SQL of webhook endpoints.

use super::Endpoint;
use crate::webhooks::schedule::{Health, Status};
use crate::webhooks::{EventKind, Format};
use platform::db::{Db, Tx, from_row, query};
use platform::ids::AccountId;
use std::collections::BTreeSet;
use uuid::Uuid;

macro_rules! endpoints {
    ($rest:literal) => {
        concat!(
            "select id, account_id, url, description, events, format, token, bearer is not null as has_bearer, ",
            "old_secret_ends, status, reason, failures, failing_since, succeeded_at, disabled_at, created_at ",
            "from webhook_endpoints ",
            $rest
        )
    };
}

const LIST_BACKLOGS: &str = "select e.id, a.username, \
     (select min(d.queued_at) from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'waiting') \
     from webhook_endpoints e join accounts a on a.id = e.account_id where e.deleted_at is null \
     order by (select count(*) from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'waiting') desc, \
     e.created_at desc limit 200";
const FIND: &str = endpoints!("where id = $1 and account_id = $2 and deleted_at is null");
const FIND_ANY: &str = endpoints!("where id = $1 and deleted_at is null");
const LIST: &str = endpoints!("where account_id = $1 and deleted_at is null order by created_at, id");
/// PostgreSQL only, as the next two: a transaction of SQLite that writes holds the whole file.
const LOCK: &str = endpoints!("where id = $1 and account_id = $2 and deleted_at is null for update");
const LOCK_ANY: &str = endpoints!("where id = $1 and deleted_at is null for update");
const LOCK_ACCOUNT: &str = "select id from accounts where id = $1 for update";
const LIST_OPEN: &str = endpoints!(
    "where account_id = $1 and deleted_at is null and status <> 'disabled' order by created_at, id"
);
const LIST_ACCOUNTS: &str =
    "select distinct account_id from webhook_endpoints where deleted_at is null and status <> 'disabled'";
const COUNT: &str = "select count(*) from webhook_endpoints where account_id = $1 and deleted_at is null";
const FIND_ACCOUNT_OF_TOKEN: &str =
    "select account_id from webhook_endpoints where token = $1 and deleted_at is null";
const FIND_SECRETS: &str = "select secret, old_secret, old_secret_ends, bearer from webhook_endpoints where id = $1 and deleted_at is null";
const INSERT: &str = "insert into webhook_endpoints (id, account_id, url, description, events, format, token, secret, bearer, \
     status, reason, failures, created_at, changed_at) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', 0, $11, $11)";
const UPDATE: &str = "update webhook_endpoints set url = $2, description = $3, events = $4, format = $5, changed_at = $6 \
     where id = $1";
const SET_BEARER: &str = "update webhook_endpoints set bearer = $2 where id = $1";
const ROTATE: &str =
    "update webhook_endpoints set old_secret = secret, old_secret_ends = $3, secret = $2 where id = $1";
const ENABLE: &str = "update webhook_endpoints set status = 'enabled', reason = '', failures = 0, failing_since = null, \
     disabled_at = null, due_at = $2, changed_at = $2 where id = $1";
const DISABLE: &str = "update webhook_endpoints set status = 'disabled', reason = $2, disabled_at = $3, due_at = null, \
     replay_after = null, replay_until = null, changed_at = $3 where id = $1";
const DELETE: &str = "update webhook_endpoints set deleted_at = $2, status = 'disabled', secret = $3, old_secret = null, \
     bearer = null, url = '', description = '', due_at = null, replay_after = null, replay_until = null where id = $1";
const REMOVE: &str = "delete from webhook_endpoints where id = $1";
const SET_HEALTH: &str = "update webhook_endpoints set status = $2, reason = $3, failures = $4, failing_since = $5, \
     succeeded_at = $6, disabled_at = $7 where id = $1";
const SET_DUE: &str = "update webhook_endpoints set due_at = $2 where id = $1";
const WAKE: &str = "update webhook_endpoints set due_at = $2 where id = $1 and status = 'enabled' \
     and (due_at is null or due_at > $2)";
const WAKE_FAILING: &str =
    "update webhook_endpoints set due_at = $2 where id = $1 and status = 'failing' and due_at is null";
const SET_REPLAY: &str = "update webhook_endpoints set replay_after = $2, replay_until = $3 where id = $1";
const FIND_REPLAY: &str = "select replay_after, replay_until from webhook_endpoints where id = $1";
const LIST_REPLAYS: &str =
    "select id from webhook_endpoints where replay_until is not null order by replay_until limit 100";
const LIST_DELETED: &str =
    "select id from webhook_endpoints where deleted_at is not null order by deleted_at limit 100";
const LIST_OF_EVENT: &str = "select p.id from events e join webhook_endpoints p on e.account_id is null \
     or p.account_id = e.account_id where e.sequence = $1";
const NEXT_DUE: &str = "select e.due_at from webhook_endpoints e join accounts a on a.id = e.account_id \
     where e.due_at is not null and e.status <> 'disabled' and e.deleted_at is null \
     and a.suspended_at is null and a.deleted_at is null order by e.due_at limit 1";
macro_rules! due {
    ($rest:literal) => {
        concat!(
            "select e.id from webhook_endpoints e join accounts a on a.id = e.account_id ",
            "where e.due_at <= $1 and e.status <> 'disabled' and e.deleted_at is null ",
            "and a.suspended_at is null and a.deleted_at is null order by e.due_at limit 64",
            $rest
        )
    };
}
const DUE: &str = due!("");
const LOCK_DUE: &str = due!(" for update of e skip locked");
const LIST_BUSY: &str = "select id from webhook_endpoints where due_at is not null and status <> 'disabled' and status = 'enabled' \
     and deleted_at is null order by due_at limit 100";
const COUNT_BY_STATUS: &str =
    "select status, count(*) from webhook_endpoints where deleted_at is null group by status";

struct EndpointRow {
    id: Uuid,
    account_id: Uuid,
    url: String,
    description: String,
    events: String,
    format: String,
    token: String,
    has_bearer: bool,
    old_secret_ends: Option<i64>,
    status: String,
    reason: String,
    failures: i64,
    failing_since: Option<i64>,
    succeeded_at: Option<i64>,
    disabled_at: Option<i64>,
    created_at: i64,
}

from_row!(EndpointRow {
    id,
    account_id,
    url,
    description,
    events,
    format,
    token,
    has_bearer,
    old_secret_ends,
    status,
    reason,
    failures,
    failing_since,
    succeeded_at,
    disabled_at,
    created_at,
});

impl From<EndpointRow> for Endpoint {
    fn from(row: EndpointRow) -> Endpoint {
        Endpoint {
            id: row.id,
            account: AccountId(row.account_id),
            url: row.url,
            description: row.description,
            events: row.events.split(' ').filter_map(EventKind::find).collect(),
            format: Format::find(&row.format).unwrap_or_default(),
            token: row.token,
            has_bearer: row.has_bearer,
            old_secret_ends: row.old_secret_ends,
            health: Health {
                // Nothing is sent to an endpoint with an unknown status.
                status: Status::find(&row.status).unwrap_or(Status::Disabled),
                failures: row.failures,
                failing_since: row.failing_since,
                succeeded_at: row.succeeded_at,
            },
            reason: row.reason,
            disabled_at: row.disabled_at,
            created_at: row.created_at,
        }
    }
}

/// The secrets of an endpoint, encrypted.
#[derive(Debug)]
pub(crate) struct Secrets {
    pub secret: Vec<u8>,
    pub old_secret: Option<Vec<u8>>,
    pub old_secret_ends: Option<i64>,
    pub bearer: Option<Vec<u8>>,
}

from_row!(Secrets {
    secret,
    old_secret,
    old_secret_ends,
    bearer,
});

/// Finds an endpoint of an account.
pub(crate) async fn find(db: &Db, account: AccountId, id: Uuid) -> sqlx::Result<Option<Endpoint>> {
    let row: Option<EndpointRow> = db.fetch_optional(query(FIND).bind(id).bind(account.0)).await?;
    Ok(row.map(Endpoint::from))
}

/// Finds an endpoint of any account.
pub(crate) async fn find_any(db: &Db, id: Uuid) -> sqlx::Result<Option<Endpoint>> {
    let row: Option<EndpointRow> = db.fetch_optional(query(FIND_ANY).bind(id)).await?;
    Ok(row.map(Endpoint::from))
}

/// Lists the endpoints of an account, oldest first.
pub(crate) async fn list(db: &Db, account: AccountId) -> sqlx::Result<Vec<Endpoint>> {
    let rows: Vec<EndpointRow> = db.fetch_all(query(LIST).bind(account.0)).await?;
    Ok(rows.into_iter().map(Endpoint::from).collect())
}

/// Finds an endpoint of an account, and locks its row until the transaction ends.
pub(crate) async fn lock(tx: &mut Tx, account: AccountId, id: Uuid) -> sqlx::Result<Option<Endpoint>> {
    let sql = if let Tx::Sqlite(_) = tx { FIND } else { LOCK };
    let row: Option<EndpointRow> = tx.fetch_optional(query(sql).bind(id).bind(account.0)).await?;
    Ok(row.map(Endpoint::from))
}

/// The same for an endpoint of any account.
pub(crate) async fn lock_any(tx: &mut Tx, id: Uuid) -> sqlx::Result<Option<Endpoint>> {
    let sql = if let Tx::Sqlite(_) = tx {
        FIND_ANY
    } else {
        LOCK_ANY
    };
    let row: Option<EndpointRow> = tx.fetch_optional(query(sql).bind(id)).await?;
    Ok(row.map(Endpoint::from))
}

/// Locks the rows of several endpoints until the transaction ends, and returns those that are not deleted. Whoever locks more
/// than one does it here, in one order, so that no two servers wait for each other.
pub(crate) async fn lock_all(
    tx: &mut Tx,
    ids: impl IntoIterator<Item = Uuid>,
) -> sqlx::Result<Vec<Endpoint>> {
    let ids: BTreeSet<Uuid> = ids.into_iter().collect();
    let mut locked = Vec::with_capacity(ids.len());
    for id in ids {
        locked.extend(lock_any(tx, id).await?);
    }
    Ok(locked)
}

/// Lists the endpoints of an account that are not disabled.
pub(crate) async fn list_open(tx: &mut Tx, account: AccountId) -> sqlx::Result<Vec<Endpoint>> {
    let rows: Vec<EndpointRow> = tx.fetch_all(query(LIST_OPEN).bind(account.0)).await?;
    Ok(rows.into_iter().map(Endpoint::from).collect())
}

/// Lists the accounts that have endpoints which are not disabled.
pub(crate) async fn list_accounts(tx: &mut Tx) -> sqlx::Result<Vec<AccountId>> {
    let ids: Vec<Uuid> = tx.fetch_scalars(query(LIST_ACCOUNTS)).await?;
    Ok(ids.into_iter().map(AccountId).collect())
}

/// Makes others wait that create an endpoint of the account.
pub(super) async fn lock_account(tx: &mut Tx, account: AccountId) -> sqlx::Result<()> {
    if let Tx::Postgres(_) = tx {
        tx.execute(query(LOCK_ACCOUNT).bind(account.0)).await?;
    }
    Ok(())
}

pub(super) async fn count(tx: &mut Tx, account: AccountId) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(COUNT).bind(account.0)).await
}

/// Finds the account that the token of a link belongs to.
pub async fn find_account_of_token(db: &Db, token: &str) -> sqlx::Result<Option<AccountId>> {
    if token.is_empty() {
        return Ok(None);
    }
    let id: Option<Uuid> = db
        .fetch_optional_scalar(query(FIND_ACCOUNT_OF_TOKEN).bind(token))
        .await?;
    Ok(id.map(AccountId))
}

pub(crate) async fn find_secrets(db: &Db, id: Uuid) -> sqlx::Result<Option<Secrets>> {
    db.fetch_optional(query(FIND_SECRETS).bind(id)).await
}

pub(super) async fn insert(
    tx: &mut Tx,
    new: &Endpoint,
    secret: &[u8],
    bearer: Option<Vec<u8>>,
) -> sqlx::Result<()> {
    let insert = query(INSERT)
        .bind(new.id)
        .bind(new.account.0)
        .bind(&new.url)
        .bind(&new.description)
        .bind(names(&new.events))
        .bind(new.format.name())
        .bind(&new.token)
        .bind(secret)
        .bind(bearer)
        .bind(new.health.status.name())
        .bind(new.created_at);
    tx.execute(insert).await.map(drop)
}

fn names(events: &[EventKind]) -> String {
    let names: Vec<_> = events.iter().map(|kind| kind.name()).collect();
    names.join(" ")
}

pub(super) async fn update(tx: &mut Tx, new: &Endpoint, now: i64) -> sqlx::Result<()> {
    let update = query(UPDATE)
        .bind(new.id)
        .bind(&new.url)
        .bind(&new.description)
        .bind(names(&new.events))
        .bind(new.format.name())
        .bind(now);
    tx.execute(update).await.map(drop)
}

pub(super) async fn set_bearer(tx: &mut Tx, id: Uuid, bearer: Option<Vec<u8>>) -> sqlx::Result<()> {
    tx.execute(query(SET_BEARER).bind(id).bind(bearer))
        .await
        .map(drop)
}

pub(super) async fn rotate(tx: &mut Tx, id: Uuid, secret: &[u8], old_ends: i64) -> sqlx::Result<()> {
    tx.execute(query(ROTATE).bind(id).bind(secret).bind(old_ends))
        .await
        .map(drop)
}

pub(super) async fn enable(tx: &mut Tx, id: Uuid, now: i64) -> sqlx::Result<()> {
    tx.execute(query(ENABLE).bind(id).bind(now)).await.map(drop)
}

pub(super) async fn disable(tx: &mut Tx, id: Uuid, reason: &str, now: i64) -> sqlx::Result<()> {
    tx.execute(query(DISABLE).bind(id).bind(reason).bind(now))
        .await
        .map(drop)
}

/// Marks an endpoint as deleted and erases its secrets.
pub(super) async fn delete(tx: &mut Tx, id: Uuid, now: i64) -> sqlx::Result<()> {
    tx.execute(query(DELETE).bind(id).bind(now).bind(Vec::new()))
        .await
        .map(drop)
}

/// Removes an endpoint whose deliveries are removed.
pub(crate) async fn remove(tx: &mut Tx, id: Uuid) -> sqlx::Result<()> {
    tx.execute(query(REMOVE).bind(id)).await.map(drop)
}

/// Records what attempts say about an endpoint.
pub(crate) async fn set_health(
    tx: &mut Tx,
    id: Uuid,
    health: Health,
    reason: &str,
    disabled_at: Option<i64>,
) -> sqlx::Result<()> {
    let update = query(SET_HEALTH)
        .bind(id)
        .bind(health.status.name())
        .bind(reason)
        .bind(health.failures)
        .bind(health.failing_since)
        .bind(health.succeeded_at)
        .bind(disabled_at);
    tx.execute(update).await.map(drop)
}

/// Sets when there is something to send to an endpoint.
pub(crate) async fn set_due(tx: &mut Tx, id: Uuid, due_at: Option<i64>) -> sqlx::Result<()> {
    tx.execute(query(SET_DUE).bind(id).bind(due_at)).await.map(drop)
}

/// Notes that an endpoint has a new delivery. One that is failing keeps its schedule.
pub(crate) async fn wake(tx: &mut Tx, id: Uuid, now: i64) -> sqlx::Result<()> {
    tx.execute(query(WAKE).bind(id).bind(now)).await?;
    tx.execute(query(WAKE_FAILING).bind(id).bind(now)).await.map(drop)
}

/// Sets which events are queued again.
pub(crate) async fn set_replay(tx: &mut Tx, id: Uuid, range: Option<(i64, i64)>) -> sqlx::Result<()> {
    let (after, until) = range.unzip();
    tx.execute(query(SET_REPLAY).bind(id).bind(after).bind(until))
        .await
        .map(drop)
}

/// Finds which events are still to be queued again.
pub(crate) async fn find_replay(tx: &mut Tx, id: Uuid) -> sqlx::Result<Option<(i64, i64)>> {
    let (after, until): (Option<i64>, Option<i64>) = tx.fetch_one(query(FIND_REPLAY).bind(id)).await?;
    Ok(after.zip(until))
}

/// Lists endpoints with events that are to be queued again.
pub(crate) async fn list_replays(db: &Db) -> sqlx::Result<Vec<Uuid>> {
    db.fetch_scalars(query(LIST_REPLAYS)).await
}

/// Lists endpoints that were deleted and whose deliveries may have to be removed.
pub(crate) async fn list_deleted(db: &Db) -> sqlx::Result<Vec<Uuid>> {
    db.fetch_scalars(query(LIST_DELETED)).await
}

/// Lists the endpoints that may have a delivery of an event.
pub(crate) async fn list_of_event(tx: &mut Tx, sequence: i64) -> sqlx::Result<Vec<Uuid>> {
    tx.fetch_scalars(query(LIST_OF_EVENT).bind(sequence)).await
}

/// Returns when there is something to send to any endpoint.
pub(crate) async fn find_next_due(db: &Db) -> sqlx::Result<Option<i64>> {
    db.fetch_optional_scalar(query(NEXT_DUE)).await
}

/// Lists endpoints to which something is to be sent, those that wait longest first, and locks their rows. Those that another
/// server has locked are left out.
pub(crate) async fn lock_due(tx: &mut Tx, now: i64) -> sqlx::Result<Vec<Uuid>> {
    let sql = if let Tx::Sqlite(_) = tx { DUE } else { LOCK_DUE };
    tx.fetch_scalars(query(sql).bind(now)).await
}

/// Lists enabled endpoints with something to send.
pub(crate) async fn list_busy(db: &Db) -> sqlx::Result<Vec<Uuid>> {
    db.fetch_scalars(query(LIST_BUSY)).await
}

/// Counts the endpoints of each status.
pub async fn count_by_status(db: &Db) -> sqlx::Result<Vec<(String, i64)>> {
    db.fetch_all(query(COUNT_BY_STATUS)).await
}

/// Lists up to 200 endpoints, those with the most waiting events first: ID, username, and since when the oldest waits.
pub(super) async fn list_backlogs(db: &Db) -> sqlx::Result<Vec<(Uuid, String, Option<i64>)>> {
    db.fetch_all(query(LIST_BACKLOGS)).await
}
