//! The SQL of emails about fundraisers and donations: up to where the outbox was read, and what is sent only once.

use platform::db::{Db, Tx, from_row, query};
use platform::ids::FundraiserId;
use uuid::Uuid;

const FIND_POSITION: &str = "select sequence from notice_position where id = 1";
/// Changes nothing if another server has read these rows already.
const ADVANCE: &str = "update notice_position set sequence = $2 where id = 1 and sequence = $1";
const LIST_EVENTS: &str = "select sequence, kind, fundraiser_id, body, created_at from outbox \
     where sequence > $1 order by sequence limit $2";
const FIND_REFUNDED: &str = "select d.source, d.external_id from ledger_entries e \
     join ledger_entries d on d.sequence = e.refunds where e.sequence = $1";
const MARK: &str = "insert into sent_notices (subject_id, kind, about, created_at) values ($1, $2, $3, $4) \
     on conflict (subject_id, kind, about) do nothing";
const LIST_ENDING: &str = "select f.id, f.ends_at from fundraisers f where f.ends_at > $1 and f.ends_at <= $2 \
     and f.ends_at is not null and f.closed_at is null and f.hidden_at is null and f.in_review_since is null \
     and f.created_at <= f.ends_at - $3 and not exists (select 1 from sent_notices n \
     where n.subject_id = f.id and n.kind = $4 and n.about = f.ends_at) order by f.ends_at limit 100";

/// A row of the outbox.
#[derive(Debug)]
pub(super) struct Event {
    pub sequence: i64,
    pub kind: String,
    pub fundraiser_id: Option<Uuid>,
    pub body: String,
    pub created_at: i64,
}

from_row!(Event {
    sequence,
    kind,
    fundraiser_id,
    body,
    created_at,
});

/// What is told only once: by email, or by a row of the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Once {
    Goal,
    Ending,
    EndpointFailing,
    /// A dispute that was lost. It moves no money, so no entry of the ledger says so.
    DisputeLost,
}

impl Once {
    fn as_str(self) -> &'static str {
        match self {
            Once::Goal => "goal",
            Once::Ending => "ending",
            Once::EndpointFailing => "endpoint-failing",
            Once::DisputeLost => "dispute-lost",
        }
    }
}

/// Returns the number of the last row of the outbox whose emails were queued.
pub(super) async fn find_position(db: &Db) -> sqlx::Result<i64> {
    db.fetch_scalar(query(FIND_POSITION)).await
}

/// Moves the position on. Returns `false` if another server has done so.
pub(super) async fn advance(tx: &mut Tx, from: i64, to: i64) -> sqlx::Result<bool> {
    let advanced = tx.execute(query(ADVANCE).bind(from).bind(to)).await?;
    Ok(advanced > 0)
}

/// Lists the next rows of the outbox.
pub(super) async fn list_events(db: &Db, after: i64, take: i64) -> sqlx::Result<Vec<Event>> {
    db.fetch_all(query(LIST_EVENTS).bind(after).bind(take)).await
}

/// Finds the source and the external ID of the donation that an entry refunds.
pub(super) async fn find_refunded(db: &Db, entry: i64) -> sqlx::Result<Option<(String, String)>> {
    db.fetch_optional(query(FIND_REFUNDED).bind(entry)).await
}

/// Marks what an email is sent for. Returns `false` if it was marked before.
pub(super) async fn mark(
    tx: &mut Tx,
    subject: Uuid,
    (once, about): (Once, i64),
    now: i64,
) -> sqlx::Result<bool> {
    let mark = query(MARK).bind(subject).bind(once.as_str()).bind(about);
    Ok(tx.execute(mark.bind(now)).await? > 0)
}

/// Lists open fundraisers that end between two times, without those that were created less than `notice` before their end,
/// and without those whose owner knows it.
pub(super) async fn list_ending(
    db: &Db,
    (from, until): (i64, i64),
    notice: i64,
) -> sqlx::Result<Vec<(FundraiserId, i64)>> {
    let list = query(LIST_ENDING)
        .bind(from)
        .bind(until)
        .bind(notice)
        .bind(Once::Ending.as_str());
    let rows: Vec<(Uuid, i64)> = db.fetch_all(list).await?;
    Ok(rows
        .into_iter()
        .map(|(id, ends_at)| (FundraiserId(id), ends_at))
        .collect())
}
