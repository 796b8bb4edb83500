//! The SQL of provider events, disputes, differences and reconciliations.

use super::differences::{Difference, DifferenceKind, ListedDifference};
use platform::db::{Db, Tx, from_row, query};
use platform::money::Cents;
use uuid::Uuid;

const ADD_EVENT: &str = "insert into provider_events (provider, id, kind, object, donation_id, livemode, created_at, \
     received_at, handled_at, retry_at, error) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
     on conflict (provider, id) do nothing";
const LIST_OPEN_EVENTS: &str = "select id, kind, object, tries from provider_events \
     where handled_at is null and provider = $1 and retry_at <= $2 order by retry_at limit $3";
const FINISH_EVENT: &str =
    "update provider_events set handled_at = $3, error = null where provider = $1 and id = $2";
const IS_EVENT_HANDLED: &str =
    "select count(*) from provider_events where provider = $1 and id = $2 and handled_at is not null";
const POSTPONE_EVENT: &str = "update provider_events set tries = tries + 1, error = $3, retry_at = $4 \
     where provider = $1 and id = $2 and handled_at is null";
const REMOVE_OLD_EVENTS: &str =
    "delete from provider_events where received_at < $1 and handled_at is not null";
const LIST_EVENTS_OF: &str = "select kind, object, received_at, handled_at, error from provider_events \
     where donation_id = $1 order by received_at, id limit 100";
const FIND_LAST_EVENT: &str = "select max(received_at) from provider_events where provider = $1";
const COUNT_WAITING_EVENTS: &str = "select count(*) from provider_events where handled_at is null";

const ADD_DISPUTE: &str = "insert into disputes (id, donation_id, amount, reason, status, due_by, opened_at, changed_at) \
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (id) do nothing";
/// Changes nothing, but locks the row until the transaction ends.
const LOCK_DISPUTE: &str = "update disputes set changed_at = changed_at where id = $1 returning status";
const SET_DISPUTE: &str =
    "update disputes set amount = $2, reason = $3, status = $4, due_by = $5, changed_at = $6 where id = $1";
const COUNT_OPEN_DISPUTES: &str = "select count(*) from disputes where donation_id = $1 \
     and status not in ('won', 'lost', 'warning_closed', 'prevented')";
const LIST_OPEN_DISPUTES: &str = "select id, donation_id, amount, reason, status, due_by, opened_at from disputes \
     where status not in ('won', 'lost', 'warning_closed', 'prevented') order by opened_at limit 100";

const LIST_DISPUTES_OF: &str = "select id, donation_id, amount, reason, status, due_by, opened_at from disputes \
     where donation_id = $1 order by opened_at, id limit 100";
const SUM_UNANSWERED_DISPUTES: &str = "select count(*), min(due_by) from disputes \
     where status in ('needs_response', 'warning_needs_response')";

const ASK_FOR_REFUND: &str = "insert into refund_requests (id, donation_id, amount, asked_at) values ($1, $2, $3, $4) \
     on conflict (donation_id) where answered_at is null do nothing";
const FIND_OPEN_REFUND_REQUEST: &str = "select id, donation_id, amount, asked_at from refund_requests where donation_id = $1 and answered_at is null";
const LIST_OPEN_REFUND_REQUESTS: &str = "select id, donation_id, amount, asked_at from refund_requests \
     where answered_at is null and asked_at < $1 order by asked_at limit 100";
const LIST_REFUND_REQUESTS_OF: &str = "select amount, asked_at, answered_at, refund, error from refund_requests \
     where donation_id = $1 order by asked_at limit 100";
const ANSWER_REFUND_REQUEST: &str = "update refund_requests set answered_at = $2, refund = $3, error = $4 \
     where id = $1 and answered_at is null";

const ADD_DIFFERENCE: &str = "insert into payment_differences (kind, object, livemode, donation_id, amount, detail, \
     found_at) values ($1, $2, $3, $4, $5, $6, $7) on conflict (object, kind) do nothing";
const LIST_DIFFERENCES: &str = "select kind, object, livemode, donation_id, amount, detail, found_at \
     from payment_differences where explained_at is null order by found_at, object";
const SUM_DIFFERENCES: &str = "select count(*), cast(coalesce(sum(abs(amount)), 0) as bigint) \
     from payment_differences where explained_at is null";
const FIND_DIFFERENCE: &str = "select kind, object, livemode, donation_id, amount, detail, found_at \
     from payment_differences where object = $1 and explained_at is null order by kind";
const EXPLAIN: &str =
    "update payment_differences set explained_at = $2, note = $3 where object = $1 and explained_at is null";
const REMOVE_DIFFERENCE: &str =
    "delete from payment_differences where object = $1 and kind = $2 and explained_at is null";
const IS_LISTED: &str = "select count(*) from payment_differences where object = $1 and kind = $2";

const ADD_RECONCILIATION: &str = "insert into reconciliations (livemode, since, until, transactions, entered, differences, \
     balance, ledger_balance, finished_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
     on conflict (finished_at, livemode) do nothing";
const FIND_LAST_RECONCILIATION: &str = "select since, until, transactions, entered, differences, balance, ledger_balance, \
     finished_at from reconciliations where livemode = $1 order by finished_at desc limit 1";

/// An event that was received, without its object.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedEvent {
    pub id: String,
    pub kind: String,
    pub object: String,
    pub donation: Option<Uuid>,
    pub livemode: bool,
    /// In milliseconds.
    pub created_at: i64,
    /// Why it is not handled.
    pub ignored: Option<&'static str>,
}

/// An event that has yet to be handled.
#[derive(Debug)]
pub(crate) struct OpenEvent {
    pub id: String,
    pub kind: String,
    pub object: String,
    pub tries: i64,
}

from_row!(OpenEvent {
    id,
    kind,
    object,
    tries,
});

/// An event about a donation, for the operator.
#[derive(Debug)]
pub struct EventOfDonation {
    pub kind: String,
    pub object: String,
    pub received_at: i64,
    pub handled_at: Option<i64>,
    pub error: Option<String>,
}

from_row!(EventOfDonation {
    kind,
    object,
    received_at,
    handled_at,
    error,
});

/// A dispute as Stripe last reported it.
#[derive(Clone, Debug)]
pub struct DisputeRow {
    pub id: String,
    pub donation: Uuid,
    pub amount: Cents,
    pub reason: String,
    pub status: String,
    /// When the operator has to respond, in seconds.
    pub due_by: Option<i64>,
    pub opened_at: i64,
}

/// A refund that an operator asked for. Its ID is the idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RefundRequest {
    pub id: Uuid,
    pub donation: Uuid,
    pub amount: Cents,
    pub asked_at: i64,
}

/// A refund that an operator asked for, for the page of its donation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundRequestOfDonation {
    pub amount: Cents,
    pub asked_at: i64,
    /// `None` until Stripe has answered.
    pub answered_at: Option<i64>,
    /// Stripe's ID of the refund.
    pub refund: Option<String>,
    /// Why there is none.
    pub error: Option<String>,
}

/// How much about payments waits for an operator or for Stripe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenPayments {
    /// Differences that nobody has explained.
    pub differences: i64,
    /// The sum of their amounts, each without its sign.
    pub unreconciled: Cents,
    /// Disputes and inquiries that the operator has to respond to.
    pub unanswered_disputes: i64,
    /// By when the first of them needs a response, in seconds.
    pub first_due_by: Option<i64>,
    /// Events that were received and have yet to be handled.
    pub waiting_events: i64,
}

/// One comparison of the ledger with Stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconciliation {
    pub livemode: bool,
    /// The compared period, in seconds.
    pub since: i64,
    pub until: i64,
    pub transactions: i64,
    /// Entries that were missing and could be made.
    pub entered: i64,
    /// Differences that are open now.
    pub differences: i64,
    pub balance: Cents,
    pub ledger_balance: Cents,
    pub finished_at: i64,
}

/// Stores an event, unless it is known. Returns whether it is new.
pub(crate) async fn add_event(
    db: &Db,
    provider: &str,
    event: &ReceivedEvent,
    retry_at: i64,
    now: i64,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let added = tx
        .execute(
            query(ADD_EVENT)
                .bind(provider)
                .bind(&event.id)
                .bind(&event.kind)
                .bind(&event.object)
                .bind(event.donation)
                .bind(event.livemode)
                .bind(event.created_at)
                .bind(now)
                .bind(event.ignored.map(|_| now))
                .bind(retry_at)
                .bind(event.ignored),
        )
        .await?;
    tx.commit().await?;
    Ok(added == 1)
}

/// Lists the events that are due to be handled.
pub(crate) async fn list_open_events(
    db: &Db,
    provider: &str,
    now: i64,
    take: i64,
) -> sqlx::Result<Vec<OpenEvent>> {
    db.fetch_all(query(LIST_OPEN_EVENTS).bind(provider).bind(now).bind(take))
        .await
}

/// Notes that an event was handled.
pub(crate) async fn finish_event(db: &Db, provider: &str, id: &str, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(FINISH_EVENT).bind(provider).bind(id).bind(now))
        .await?;
    tx.commit().await
}

/// Returns whether an event was handled.
pub(crate) async fn is_event_handled(db: &Db, provider: &str, id: &str) -> sqlx::Result<bool> {
    let count: i64 = db
        .fetch_scalar(query(IS_EVENT_HANDLED).bind(provider).bind(id))
        .await?;
    Ok(count > 0)
}

/// Notes why an event was not handled, and when it is tried again.
pub(crate) async fn postpone_event(
    db: &Db,
    (provider, id): (&str, &str),
    error: &str,
    retry_at: i64,
) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    let postpone = query(POSTPONE_EVENT)
        .bind(provider)
        .bind(id)
        .bind(error)
        .bind(retry_at);
    tx.execute(postpone).await?;
    tx.commit().await
}

/// Removes events that were handled and received before a time.
pub(crate) async fn remove_old_events(db: &Db, before: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(REMOVE_OLD_EVENTS).bind(before)).await?;
    tx.commit().await
}

/// Lists the events about a donation, oldest first.
pub async fn list_events_of(db: &Db, donation: Uuid) -> sqlx::Result<Vec<EventOfDonation>> {
    db.fetch_all(query(LIST_EVENTS_OF).bind(donation)).await
}

/// Returns when the last event of a provider was received.
pub async fn find_last_event(db: &Db, provider: &str) -> sqlx::Result<Option<i64>> {
    db.fetch_scalar(query(FIND_LAST_EVENT).bind(provider)).await
}

/// Stores a dispute as Stripe reports it now. Returns its status before, or `None` if it is new.
pub(crate) async fn set_dispute(tx: &mut Tx, dispute: &DisputeRow, now: i64) -> sqlx::Result<Option<String>> {
    let added = tx
        .execute(
            query(ADD_DISPUTE)
                .bind(&dispute.id)
                .bind(dispute.donation)
                .bind(dispute.amount.get())
                .bind(&dispute.reason)
                .bind(&dispute.status)
                .bind(dispute.due_by)
                .bind(dispute.opened_at)
                .bind(now),
        )
        .await?;
    if added > 0 {
        return Ok(None);
    }
    let before: String = tx.fetch_scalar(query(LOCK_DISPUTE).bind(&dispute.id)).await?;
    tx.execute(
        query(SET_DISPUTE)
            .bind(&dispute.id)
            .bind(dispute.amount.get())
            .bind(&dispute.reason)
            .bind(&dispute.status)
            .bind(dispute.due_by)
            .bind(now),
    )
    .await?;
    Ok(Some(before))
}

/// Returns whether a dispute or an inquiry about a donation is undecided.
pub async fn has_open_dispute(db: &Db, donation: Uuid) -> sqlx::Result<bool> {
    let count: i64 = db.fetch_scalar(query(COUNT_OPEN_DISPUTES).bind(donation)).await?;
    Ok(count > 0)
}

type DisputeColumns = (String, Uuid, i64, String, String, Option<i64>, i64);

fn dispute((id, donation, amount, reason, status, due_by, opened_at): DisputeColumns) -> DisputeRow {
    DisputeRow {
        id,
        donation,
        amount: Cents::new(amount),
        reason,
        status,
        due_by,
        opened_at,
    }
}

/// Lists the disputes and inquiries that are undecided, oldest first.
pub async fn list_open_disputes(db: &Db) -> sqlx::Result<Vec<DisputeRow>> {
    let rows: Vec<DisputeColumns> = db.fetch_all(query(LIST_OPEN_DISPUTES)).await?;
    Ok(rows.into_iter().map(dispute).collect())
}

/// Lists the disputes and inquiries about a donation, oldest first.
pub async fn list_disputes_of(db: &Db, donation: Uuid) -> sqlx::Result<Vec<DisputeRow>> {
    let rows: Vec<DisputeColumns> = db.fetch_all(query(LIST_DISPUTES_OF).bind(donation)).await?;
    Ok(rows.into_iter().map(dispute).collect())
}

/// Returns how much about payments waits.
pub async fn find_open(db: &Db) -> sqlx::Result<OpenPayments> {
    let (differences, unreconciled): (i64, i64) = db.fetch_one(query(SUM_DIFFERENCES)).await?;
    let (unanswered_disputes, first_due_by): (i64, Option<i64>) =
        db.fetch_one(query(SUM_UNANSWERED_DISPUTES)).await?;
    Ok(OpenPayments {
        differences,
        unreconciled: Cents::new(unreconciled),
        unanswered_disputes,
        first_due_by,
        waiting_events: db.fetch_scalar(query(COUNT_WAITING_EVENTS)).await?,
    })
}

type RefundRequestRow = (Uuid, Uuid, i64, i64);

fn refund_request((id, donation, amount, asked_at): RefundRequestRow) -> RefundRequest {
    RefundRequest {
        id,
        donation,
        amount: Cents::new(amount),
        asked_at,
    }
}

/// Stores that a refund is asked for, or returns the one that is open.
pub(crate) async fn ask_for_refund(
    db: &Db,
    donation: Uuid,
    amount: Cents,
    now: i64,
) -> sqlx::Result<RefundRequest> {
    let new = RefundRequest {
        id: Uuid::now_v7(),
        donation,
        amount,
        asked_at: now,
    };
    let mut tx = db.write().await?;
    let ask = query(ASK_FOR_REFUND)
        .bind(new.id)
        .bind(donation)
        .bind(amount.get())
        .bind(now);
    let added = tx.execute(ask).await?;
    tx.commit().await?;
    if added == 1 {
        return Ok(new);
    }
    let open = find_open_refund_request(db, donation).await?;
    open.ok_or(sqlx::Error::RowNotFound)
}

/// Finds the refund of a donation that was asked for and that Stripe has not answered.
pub(crate) async fn find_open_refund_request(db: &Db, donation: Uuid) -> sqlx::Result<Option<RefundRequest>> {
    let row: Option<RefundRequestRow> = db
        .fetch_optional(query(FIND_OPEN_REFUND_REQUEST).bind(donation))
        .await?;
    Ok(row.map(refund_request))
}

/// Lists the refunds of a donation that operators asked for, oldest first.
pub async fn list_refund_requests_of(db: &Db, donation: Uuid) -> sqlx::Result<Vec<RefundRequestOfDonation>> {
    type Row = (i64, i64, Option<i64>, Option<String>, Option<String>);
    let rows: Vec<Row> = db
        .fetch_all(query(LIST_REFUND_REQUESTS_OF).bind(donation))
        .await?;
    let request = |(amount, asked_at, answered_at, refund, error): Row| RefundRequestOfDonation {
        amount: Cents::new(amount),
        asked_at,
        answered_at,
        refund,
        error,
    };
    Ok(rows.into_iter().map(request).collect())
}

/// Lists the refunds that were asked for before a time and that Stripe has not answered.
pub(crate) async fn list_open_refund_requests(db: &Db, before: i64) -> sqlx::Result<Vec<RefundRequest>> {
    let rows: Vec<RefundRequestRow> = db
        .fetch_all(query(LIST_OPEN_REFUND_REQUESTS).bind(before))
        .await?;
    Ok(rows.into_iter().map(refund_request).collect())
}

/// Notes the answer to a refund that was asked for: its ID at Stripe, or why there is none.
pub(crate) async fn answer_refund_request(
    db: &Db,
    id: Uuid,
    answer: Result<&str, &str>,
    now: i64,
) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    let update = query(ANSWER_REFUND_REQUEST)
        .bind(id)
        .bind(now)
        .bind(answer.ok())
        .bind(answer.err());
    tx.execute(update).await?;
    tx.commit().await
}

/// Lists a difference, unless it was listed before. Returns whether it is new.
pub(crate) async fn add_difference(db: &Db, new: &Difference, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let added = tx
        .execute(
            query(ADD_DIFFERENCE)
                .bind(new.kind.as_str())
                .bind(&new.object)
                .bind(new.livemode)
                .bind(new.donation)
                .bind(new.amount.get())
                .bind(&new.detail)
                .bind(now),
        )
        .await?;
    tx.commit().await?;
    Ok(added == 1)
}

type DifferenceRow = (String, String, bool, Option<Uuid>, i64, String, i64);

fn listed(
    (kind, object, livemode, donation, amount, detail, found_at): DifferenceRow,
) -> Option<ListedDifference> {
    Some(ListedDifference {
        difference: Difference {
            kind: DifferenceKind::find(&kind)?,
            object,
            livemode,
            donation,
            amount: Cents::new(amount),
            detail,
        },
        found_at,
    })
}

/// Lists the differences that nobody has explained, oldest first.
pub async fn list_differences(db: &Db) -> sqlx::Result<Vec<ListedDifference>> {
    let rows: Vec<DifferenceRow> = db.fetch_all(query(LIST_DIFFERENCES)).await?;
    Ok(rows.into_iter().filter_map(listed).collect())
}

/// Finds the unexplained differences about an object.
pub async fn find_differences(db: &Db, object: &str) -> sqlx::Result<Vec<ListedDifference>> {
    let rows: Vec<DifferenceRow> = db.fetch_all(query(FIND_DIFFERENCE).bind(object)).await?;
    Ok(rows.into_iter().filter_map(listed).collect())
}

/// Notes an operator's explanation of the differences about an object.
pub(crate) async fn explain(db: &Db, object: &str, note: &str, now: i64) -> sqlx::Result<u64> {
    let mut tx = db.write().await?;
    let explained = tx
        .execute(query(EXPLAIN).bind(object).bind(now).bind(note))
        .await?;
    tx.commit().await?;
    Ok(explained)
}

/// Removes a difference that no longer exists.
pub(crate) async fn remove_difference(db: &Db, object: &str, kind: DifferenceKind) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(REMOVE_DIFFERENCE).bind(object).bind(kind.as_str()))
        .await?;
    tx.commit().await
}

/// Returns whether a difference is or was listed.
pub(crate) async fn is_listed(db: &Db, object: &str, kind: DifferenceKind) -> sqlx::Result<bool> {
    let count: i64 = db
        .fetch_scalar(query(IS_LISTED).bind(object).bind(kind.as_str()))
        .await?;
    Ok(count > 0)
}

/// Stores the result of a comparison.
pub(crate) async fn add_reconciliation(db: &Db, result: &Reconciliation) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(
        query(ADD_RECONCILIATION)
            .bind(result.livemode)
            .bind(result.since)
            .bind(result.until)
            .bind(result.transactions)
            .bind(result.entered)
            .bind(result.differences)
            .bind(result.balance.get())
            .bind(result.ledger_balance.get())
            .bind(result.finished_at),
    )
    .await?;
    tx.commit().await
}

/// Returns the last comparison in a mode.
pub async fn find_last_reconciliation(db: &Db, livemode: bool) -> sqlx::Result<Option<Reconciliation>> {
    type Row = (i64, i64, i64, i64, i64, i64, i64, i64);
    let row: Option<Row> = db
        .fetch_optional(query(FIND_LAST_RECONCILIATION).bind(livemode))
        .await?;
    Ok(row.map(
        |(since, until, transactions, entered, differences, balance, ledger_balance, finished_at)| {
            Reconciliation {
                livemode,
                since,
                until,
                transactions,
                entered,
                differences,
                balance: Cents::new(balance),
                ledger_balance: Cents::new(ledger_balance),
                finished_at,
            }
        },
    ))
}
