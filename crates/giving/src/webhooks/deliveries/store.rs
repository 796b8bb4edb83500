//! The SQL of deliveries and their attempts.
//!
//! A delivery is due at `due_at` if it is the first of its subject that waits; that of the others is null, and a unique index
//! allows no second one. A lease moves `due_at` to the time at which the attempt in progress has lapsed. Whoever changes which
//! delivery of a subject is due has locked the row of the endpoint.

use super::{Attempt, Delivery, DeliveryFilter, State, Traffic};
use crate::webhooks::EventKind;
use crate::webhooks::events::Event;
use platform::db::{Db, Tx, from_row, query};
use std::collections::HashMap;
use uuid::Uuid;

macro_rules! deliveries {
    ($rest:literal) => {
        concat!(
            "select d.id, d.endpoint_id, d.sequence, e.id as event, d.kind, d.state, d.attempts, d.due_at, d.queued_at, ",
            "d.finished_at, d.status, d.error, d.duration, d.attempted_at from webhook_deliveries d ",
            "left join events e on e.sequence = d.sequence ",
            $rest
        )
    };
}

const FIND: &str = deliveries!("where d.id = $1 and d.endpoint_id = $2");
const LIST: &str = deliveries!(
    "where d.endpoint_id = $1 and d.sequence < $2 and ' ' || d.kind || ' ' like $3 and d.state like $4 \
     and d.queued_at >= $5 order by d.sequence desc limit $6"
);
const LIST_ATTEMPTS: &str = "select number, at, status, error, duration, answer from webhook_attempts where delivery_id = $1 \
     order by number limit 200";
const FIND_OF_EVENT: &str = "select id from webhook_deliveries where endpoint_id = $1 and sequence = $2";
const FIND_SUBJECT: &str = "select subject from webhook_deliveries where id = $1";
const LIST_BUSY: &str =
    "select endpoint_id from webhook_deliveries where subject = $1 and due_at is not null";
const RESET: &str = "update webhook_deliveries set state = 'waiting', attempts = 0, finished_at = null, queued_at = $2, \
     due_at = null, lease = null where id = $1 and state <> 'waiting'";
const OPEN_SUBJECT: &str = "update webhook_deliveries set due_at = $3 where id = (select id from webhook_deliveries \
     where endpoint_id = $1 and subject = $2 and state = 'waiting' order by sequence limit 1) \
     and not exists (select 1 from webhook_deliveries where subject = $2 and endpoint_id = $1 and due_at is not null)";
const MAKE_SUBJECT_DUE: &str = "update webhook_deliveries set due_at = $3 where subject = $2 and endpoint_id = $1 \
     and due_at > $3 and lease is null";
const MAKE_DUE: &str =
    "update webhook_deliveries set due_at = $2 where endpoint_id = $1 and due_at > $2 and lease is null";
const MAKE_OLDEST_DUE: &str = "update webhook_deliveries set due_at = $2 where id = (select id from webhook_deliveries \
     where endpoint_id = $1 and due_at is not null order by sequence limit 1) and due_at > $2 and lease is null";
const COUNT_IN_FLIGHT: &str =
    "select count(*) from webhook_deliveries where endpoint_id = $1 and lease is not null and due_at > $2";
const LIST_DUE: &str = "select id, sequence, attempts from webhook_deliveries where endpoint_id = $1 and due_at <= $2 \
     order by due_at, sequence limit $3";
const FIND_OLDEST: &str = "select id, sequence, attempts, due_at from webhook_deliveries where endpoint_id = $1 \
     and due_at is not null order by sequence limit 1";
const LEASE: &str = "update webhook_deliveries set lease = $2, due_at = $3 where id = $1";
const REPLACE_LEASES: &str = "update webhook_deliveries set lease = $2 where subject = $1 and due_at is not null and lease is not null";
const FIND_NEXT_DUE: &str = "select due_at from webhook_deliveries where endpoint_id = $1 and due_at is not null order by due_at limit 1";
const FIND_NEXT_LAPSE: &str = "select due_at from webhook_deliveries where endpoint_id = $1 and lease is not null order by due_at limit 1";
const FIND_LEASED: &str = "select subject, attempts, coalesce(lease = $2, false) from webhook_deliveries \
     where id = $1 and state = 'waiting'";
const FINISH: &str = "update webhook_deliveries set state = $2, due_at = null, lease = null, finished_at = $3, attempts = $4, \
     status = $5, error = $6, duration = $7, attempted_at = $8 where id = $1";
const POSTPONE: &str = "update webhook_deliveries set due_at = $2, lease = null, attempts = $3, status = $4, error = $5, \
     duration = $6, attempted_at = $7 where id = $1";
const RETURN: &str = "update webhook_deliveries set due_at = $3, lease = null where id = $1 and lease = $2";
const NEXT_ATTEMPT: &str = "select coalesce(max(number), 0) + 1 from webhook_attempts where delivery_id = $1";
const INSERT_ATTEMPT: &str = "insert into webhook_attempts (delivery_id, number, at, status, error, duration, answer) \
     values ($1, $2, $3, $4, $5, $6, $7)";
const COUNT_WAITING: &str = "select count(*) from (select 1 from webhook_deliveries where endpoint_id = $1 \
     and state = 'waiting' limit 100000) waiting";
const LIST_LAST: &str =
    "select state, duration from webhook_deliveries where endpoint_id = $1 order by sequence desc limit 1000";
const OLDEST_WAITING: &str = "select d.queued_at from webhook_deliveries d where d.endpoint_id = $1 and d.due_at is not null \
     order by d.sequence limit 1";
const REMOVE_OF_EVENT: &str = "delete from webhook_deliveries where sequence = $2 and endpoint_id = $1";
const LIST_FINISHED: &str =
    "select endpoint_id, id from webhook_deliveries where finished_at < $1 order by finished_at limit $2";
const LIST_OF_ENDPOINT: &str =
    "select id from webhook_deliveries where endpoint_id = $1 order by sequence limit $2";
const REMOVE: &str = "delete from webhook_deliveries where id = $1";
const REMOVE_FINISHED: &str = "delete from webhook_deliveries where id = $1 and finished_at is not null";
const REMOVE_ATTEMPTS: &str = "delete from webhook_attempts where delivery_id = $1";
const ERASE_ANSWERS: &str = "update webhook_attempts set answer = '' where delivery_id in (select d.id from events e \
     join webhook_endpoints p on p.account_id = e.account_id \
     join webhook_deliveries d on d.endpoint_id = p.id and d.sequence = e.sequence where e.subject = $1)";
const REMOVE_OLD_ATTEMPTS: &str = "delete from webhook_attempts where at < $1";

/// A delivery to insert.
#[derive(Debug)]
pub(crate) struct NewDelivery {
    pub id: Uuid,
    endpoint: Uuid,
    sequence: i64,
    subject: String,
    kind: EventKind,
    due_at: Option<i64>,
    queued_at: i64,
}

impl NewDelivery {
    /// `due_at` is `None` if an earlier event of the subject waits.
    pub(crate) fn new(endpoint: Uuid, event: &Event, due_at: Option<i64>, now: i64) -> NewDelivery {
        NewDelivery {
            id: Uuid::now_v7(),
            endpoint,
            sequence: event.sequence,
            subject: event.subject.clone(),
            kind: event.kind,
            due_at,
            queued_at: now,
        }
    }
}

struct DeliveryRow {
    id: Uuid,
    endpoint_id: Uuid,
    sequence: i64,
    event: Option<String>,
    kind: String,
    state: String,
    attempts: i64,
    due_at: Option<i64>,
    queued_at: i64,
    finished_at: Option<i64>,
    status: Option<i64>,
    error: Option<String>,
    duration: Option<i64>,
    attempted_at: Option<i64>,
}

from_row!(DeliveryRow {
    id,
    endpoint_id,
    sequence,
    event,
    kind,
    state,
    attempts,
    due_at,
    queued_at,
    finished_at,
    status,
    error,
    duration,
    attempted_at,
});

impl From<DeliveryRow> for Delivery {
    fn from(row: DeliveryRow) -> Delivery {
        let last = row.attempted_at.map(|at| Attempt {
            number: row.attempts,
            at,
            status: row.status,
            error: row.error,
            duration: row.duration.unwrap_or_default(),
            answer: String::new(),
        });
        Delivery {
            id: row.id,
            endpoint: row.endpoint_id,
            sequence: row.sequence,
            event: row.event.unwrap_or_default(),
            kind: EventKind::find(&row.kind).unwrap_or(EventKind::Ping),
            state: State::find(&row.state).unwrap_or(State::Failed),
            attempts: row.attempts,
            due_at: row.due_at,
            queued_at: row.queued_at,
            finished_at: row.finished_at,
            last,
        }
    }
}

struct AttemptRow {
    number: i64,
    at: i64,
    status: Option<i64>,
    error: Option<String>,
    duration: i64,
    answer: String,
}

from_row!(AttemptRow {
    number,
    at,
    status,
    error,
    duration,
    answer
});

/// A delivery that this server may send until its lease lapses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leased {
    pub id: Uuid,
    pub endpoint: Uuid,
    pub sequence: i64,
    pub lease: Uuid,
}

/// The deliveries that are due: their ID, the number of their event, and their attempts.
pub(super) type DueRow = (Uuid, i64, i64);

/// Finds a delivery to an endpoint.
pub(super) async fn find(db: &Db, endpoint: Uuid, id: Uuid) -> sqlx::Result<Option<Delivery>> {
    let row: Option<DeliveryRow> = db.fetch_optional(query(FIND).bind(id).bind(endpoint)).await?;
    Ok(row.map(Delivery::from))
}

/// Does the same within a transaction.
pub(super) async fn find_in(tx: &mut Tx, endpoint: Uuid, id: Uuid) -> sqlx::Result<Option<Delivery>> {
    let row: Option<DeliveryRow> = tx.fetch_optional(query(FIND).bind(id).bind(endpoint)).await?;
    Ok(row.map(Delivery::from))
}

/// Lists deliveries to an endpoint of events before a number, newest first.
pub(super) async fn list(
    db: &Db,
    endpoint: Uuid,
    filter: &DeliveryFilter,
    before: i64,
    take: usize,
) -> sqlx::Result<Vec<Delivery>> {
    let kind = filter
        .kind
        .map_or("%".to_owned(), |kind| format!("% {} %", kind.name()));
    let list = query(LIST)
        .bind(endpoint)
        .bind(before)
        .bind(kind)
        .bind(filter.state.map_or("%", State::name))
        .bind(filter.since.unwrap_or(i64::MIN))
        .bind(take as i64);
    let rows: Vec<DeliveryRow> = db.fetch_all(list).await?;
    Ok(rows.into_iter().map(Delivery::from).collect())
}

/// Lists the attempts of a delivery, oldest first.
pub(super) async fn list_attempts(db: &Db, id: Uuid) -> sqlx::Result<Vec<Attempt>> {
    let rows: Vec<AttemptRow> = db.fetch_all(query(LIST_ATTEMPTS).bind(id)).await?;
    let attempt = |row: AttemptRow| Attempt {
        number: row.number,
        at: row.at,
        status: row.status,
        error: row.error,
        duration: row.duration,
        answer: row.answer,
    };
    Ok(rows.into_iter().map(attempt).collect())
}

pub(super) async fn find_of_event(tx: &mut Tx, endpoint: Uuid, sequence: i64) -> sqlx::Result<Option<Uuid>> {
    tx.fetch_optional_scalar(query(FIND_OF_EVENT).bind(endpoint).bind(sequence))
        .await
}

pub(super) async fn find_subject(tx: &mut Tx, id: Uuid) -> sqlx::Result<String> {
    tx.fetch_scalar(query(FIND_SUBJECT).bind(id)).await
}

/// Lists the endpoints with a delivery of a subject that is due or in flight.
pub(crate) async fn list_busy(tx: &mut Tx, subject: &str) -> sqlx::Result<Vec<Uuid>> {
    tx.fetch_scalars(query(LIST_BUSY).bind(subject)).await
}

/// Adds deliveries.
pub(crate) async fn insert(tx: &mut Tx, new: &[NewDelivery]) -> sqlx::Result<()> {
    let mut rows = Vec::with_capacity(new.len());
    for new in new {
        rows.push([
            new.id.into(),
            new.endpoint.into(),
            new.sequence.into(),
            new.subject.as_str().into(),
            new.kind.name().into(),
            State::Waiting.name().into(),
            new.due_at.into(),
            0.into(),
            new.queued_at.into(),
        ]);
    }
    let columns = [
        "id",
        "endpoint_id",
        "sequence",
        "subject",
        "kind",
        "state",
        "due_at",
        "attempts",
        "queued_at",
    ];
    tx.insert_many("webhook_deliveries", columns, &rows).await
}

/// Makes a finished delivery wait again.
pub(super) async fn reset(tx: &mut Tx, id: Uuid, now: i64) -> sqlx::Result<()> {
    tx.execute(query(RESET).bind(id).bind(now)).await.map(drop)
}

/// Makes the first delivery of a subject due, unless one is due or in flight.
pub(super) async fn open_subject(tx: &mut Tx, endpoint: Uuid, subject: &str, now: i64) -> sqlx::Result<()> {
    tx.execute(query(OPEN_SUBJECT).bind(endpoint).bind(subject).bind(now))
        .await
        .map(drop)
}

/// Does not wait for the next attempt of a subject.
pub(super) async fn make_subject_due(
    tx: &mut Tx,
    endpoint: Uuid,
    subject: &str,
    now: i64,
) -> sqlx::Result<()> {
    tx.execute(query(MAKE_SUBJECT_DUE).bind(endpoint).bind(subject).bind(now))
        .await
        .map(drop)
}

/// Does not wait for the next attempt of any subject.
pub(crate) async fn make_due(tx: &mut Tx, endpoint: Uuid, now: i64) -> sqlx::Result<()> {
    tx.execute(query(MAKE_DUE).bind(endpoint).bind(now))
        .await
        .map(drop)
}

/// Does not wait for the next attempt of the oldest event.
pub(crate) async fn make_oldest_due(tx: &mut Tx, endpoint: Uuid, now: i64) -> sqlx::Result<()> {
    tx.execute(query(MAKE_OLDEST_DUE).bind(endpoint).bind(now))
        .await
        .map(drop)
}

/// Counts the attempts in progress.
pub(super) async fn count_in_flight(tx: &mut Tx, endpoint: Uuid, now: i64) -> sqlx::Result<usize> {
    let count: i64 = tx
        .fetch_scalar(query(COUNT_IN_FLIGHT).bind(endpoint).bind(now))
        .await?;
    Ok(count as usize)
}

/// Lists deliveries that are due, those that wait longest first.
pub(super) async fn list_due(
    tx: &mut Tx,
    endpoint: Uuid,
    now: i64,
    take: usize,
) -> sqlx::Result<Vec<DueRow>> {
    tx.fetch_all(query(LIST_DUE).bind(endpoint).bind(now).bind(take as i64))
        .await
}

/// Finds the delivery of the oldest event, and when it is due.
pub(super) async fn find_oldest(tx: &mut Tx, endpoint: Uuid) -> sqlx::Result<Option<(DueRow, i64)>> {
    let row: Option<(Uuid, i64, i64, i64)> = tx.fetch_optional(query(FIND_OLDEST).bind(endpoint)).await?;
    Ok(row.map(|(id, sequence, attempts, due_at)| ((id, sequence, attempts), due_at)))
}

/// Leases a delivery.
pub(super) async fn lease(tx: &mut Tx, id: Uuid, lease: Uuid, lapses_at: i64) -> sqlx::Result<()> {
    tx.execute(query(LEASE).bind(id).bind(lease).bind(lapses_at))
        .await
        .map(drop)
}

/// Takes the deliveries of a subject away from the attempts in progress.
pub(super) async fn replace_leases(tx: &mut Tx, subject: &str, lease: Uuid) -> sqlx::Result<()> {
    tx.execute(query(REPLACE_LEASES).bind(subject).bind(lease))
        .await
        .map(drop)
}

/// Returns when the next delivery to an endpoint is due, or when the next lease lapses.
pub(super) async fn find_next_due(tx: &mut Tx, endpoint: Uuid, is_full: bool) -> sqlx::Result<Option<i64>> {
    let sql = if is_full { FIND_NEXT_LAPSE } else { FIND_NEXT_DUE };
    tx.fetch_optional_scalar(query(sql).bind(endpoint)).await
}

/// Finds the subject and the attempts of a delivery that waits, and whether its lease is this one.
pub(super) async fn find_leased(tx: &mut Tx, leased: &Leased) -> sqlx::Result<Option<(String, i64, bool)>> {
    tx.fetch_optional(query(FIND_LEASED).bind(leased.id).bind(leased.lease))
        .await
}

/// Records the last attempt of a delivery.
pub(super) async fn finish(
    tx: &mut Tx,
    id: Uuid,
    state: State,
    attempt: &Attempt,
    now: i64,
) -> sqlx::Result<()> {
    let finish = query(FINISH)
        .bind(id)
        .bind(state.name())
        .bind(now)
        .bind(attempt.number)
        .bind(attempt.status)
        .bind(&attempt.error)
        .bind(attempt.duration)
        .bind(attempt.at);
    tx.execute(finish).await.map(drop)
}

/// Records an attempt after which there is another one.
pub(super) async fn postpone(tx: &mut Tx, id: Uuid, due_at: i64, attempt: &Attempt) -> sqlx::Result<()> {
    let postpone = query(POSTPONE)
        .bind(id)
        .bind(due_at)
        .bind(attempt.number)
        .bind(attempt.status)
        .bind(&attempt.error)
        .bind(attempt.duration)
        .bind(attempt.at);
    tx.execute(postpone).await.map(drop)
}

/// Ends the lease of a delivery that was not sent.
pub(super) async fn give_back(tx: &mut Tx, leased: &Leased, due_at: i64) -> sqlx::Result<()> {
    tx.execute(query(RETURN).bind(leased.id).bind(leased.lease).bind(due_at))
        .await
        .map(drop)
}

/// Adds an attempt to the log of a delivery.
pub(super) async fn insert_attempt(tx: &mut Tx, id: Uuid, attempt: &Attempt) -> sqlx::Result<()> {
    // A delivery that is sent again counts its attempts from one, but its log goes on.
    let number: i64 = tx.fetch_scalar(query(NEXT_ATTEMPT).bind(id)).await?;
    let insert = query(INSERT_ATTEMPT)
        .bind(id)
        .bind(number)
        .bind(attempt.at)
        .bind(attempt.status)
        .bind(&attempt.error)
        .bind(attempt.duration)
        .bind(&attempt.answer);
    tx.execute(insert).await.map(drop)
}

/// Returns how the last 1,000 deliveries to an endpoint went, and how many wait.
pub(super) async fn find_traffic(db: &Db, endpoint: Uuid) -> sqlx::Result<Traffic> {
    let waiting: i64 = db.fetch_scalar(query(COUNT_WAITING).bind(endpoint)).await?;
    let last: Vec<(String, Option<i64>)> = db.fetch_all(query(LIST_LAST).bind(endpoint)).await?;
    let mut states: HashMap<&str, i64> = HashMap::new();
    for (state, _) in &last {
        *states.entry(state).or_default() += 1;
    }
    let mut durations: Vec<i64> = last.iter().filter_map(|(_, duration)| *duration).collect();
    durations.sort_unstable();
    let p99 = durations
        .len()
        .checked_sub(1)
        .map(|last| durations[last * 99 / 100]);
    let count = |state: State| states.get(state.name()).copied().unwrap_or_default();
    Ok(Traffic {
        waiting,
        delivered: count(State::Delivered),
        failed: count(State::Failed),
        p99,
    })
}

/// Returns since when the oldest event for an endpoint waits.
pub(super) async fn find_oldest_waiting(db: &Db, endpoint: Uuid) -> sqlx::Result<Option<i64>> {
    db.fetch_optional_scalar(query(OLDEST_WAITING).bind(endpoint))
        .await
}

/// Removes the delivery of an event to an endpoint.
pub(super) async fn remove_of_event(tx: &mut Tx, endpoint: Uuid, sequence: i64) -> sqlx::Result<()> {
    if let Some(id) = find_of_event(tx, endpoint, sequence).await? {
        tx.execute(query(REMOVE_ATTEMPTS).bind(id)).await?;
    }
    tx.execute(query(REMOVE_OF_EVENT).bind(endpoint).bind(sequence))
        .await
        .map(drop)
}

/// Lists deliveries that were finished before a time, with their endpoints.
pub(super) async fn list_finished(db: &Db, before: i64, take: i64) -> sqlx::Result<Vec<(Uuid, Uuid)>> {
    db.fetch_all(query(LIST_FINISHED).bind(before).bind(take)).await
}

/// Lists deliveries to an endpoint.
pub(super) async fn list_of_endpoint(db: &Db, endpoint: Uuid, take: i64) -> sqlx::Result<Vec<Uuid>> {
    db.fetch_scalars(query(LIST_OF_ENDPOINT).bind(endpoint).bind(take))
        .await
}

/// Removes a delivery and its attempts.
pub(super) async fn remove(tx: &mut Tx, id: Uuid) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_ATTEMPTS).bind(id)).await?;
    tx.execute(query(REMOVE).bind(id)).await.map(drop)
}

/// Removes a delivery and its attempts, unless it was queued again.
pub(super) async fn remove_finished(tx: &mut Tx, id: Uuid) -> sqlx::Result<()> {
    if tx.execute(query(REMOVE_FINISHED).bind(id)).await? > 0 {
        tx.execute(query(REMOVE_ATTEMPTS).bind(id)).await?;
    }
    Ok(())
}

/// Erases what receivers answered to the events of a subject.
pub(super) async fn erase_answers(tx: &mut Tx, subject: &str) -> sqlx::Result<()> {
    tx.execute(query(ERASE_ANSWERS).bind(subject)).await.map(drop)
}

/// Removes attempts from before a time, with what receivers answered.
pub(super) async fn remove_old_attempts(tx: &mut Tx, before: i64) -> sqlx::Result<u64> {
    tx.execute(query(REMOVE_OLD_ATTEMPTS).bind(before)).await
}
