//! The SQL of monthly gifts.

use super::{Cause, Failure, MonthlyGift, State, Status};
use crate::ledger::entry::Mode;
use platform::db::{Db, Tx, from_row, query};
use platform::email_address::EmailAddress;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use uuid::Uuid;

macro_rules! gifts {
    ($rest:literal) => {
        concat!(
            "select g.id, g.provider, g.livemode, g.state, g.cause, g.nonprofit_id, g.fundraiser_id, g.amount, g.covered, ",
            "g.subscription, g.customer, g.started_at, g.next_at, g.resumes_at, g.canceled_at, g.failed_invoice, ",
            "g.failed_attempts, g.failure, g.next_attempt_at, g.card_expires_at, g.last_invoice, g.seen_at, ",
            "(select d.account from donations d where d.id = g.id) as account ",
            "from monthly_gifts g ",
            $rest
        )
    };
}

const FIND: &str = gifts!("where g.id = $1");
// Email addresses are ASCII, so both databases convert them to lowercase in the same way.
const LIST_BY_EMAIL: &str = gifts!(
    "where g.id in (select id from donations where mailbox = $1 and lower(email) = $2) order by g.started_at, g.id"
);
const LIST_TO_CHECK: &str = gifts!("where g.check_at <= $1 order by g.check_at limit $2");
const LIST_OF_STATE: &str =
    gifts!("where g.livemode = $1 and g.state = $2 order by g.started_at desc, g.id limit $3 offset $4");
const LIST_ALL: &str = gifts!("where g.livemode = $1 order by g.started_at desc, g.id limit $2 offset $3");
const INSERT: &str = "insert into monthly_gifts (id, provider, livemode, state, cause, nonprofit_id, fundraiser_id, amount, \
     covered, subscription, customer, started_at, next_at, resumes_at, canceled_at, failed_invoice, failed_attempts, failure, \
     next_attempt_at, card_expires_at, reminded_at, check_at, seen_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, \
     $12, $13, $14, $15, $16, $17, $18, $19, $20, $12, $21, $22)";
const UPDATE: &str = "update monthly_gifts set state = $2, cause = $3, amount = $4, covered = $5, subscription = $6, \
     customer = $7, next_at = $8, resumes_at = $9, canceled_at = $10, failed_invoice = $11, failed_attempts = $12, \
     failure = $13, next_attempt_at = $14, card_expires_at = $15, check_at = $16, seen_at = $17 where id = $1";
const SET_CHECK: &str = "update monthly_gifts set check_at = $2 where id = $1";
const SET_LAST_INVOICE: &str = "update monthly_gifts set last_invoice = $2 where id = $1";
const COUNT: &str = "select state, count(*), cast(coalesce(sum(amount), 0) as bigint) from monthly_gifts \
     where livemode = $1 group by state";
const COUNT_WITHOUT_RECIPIENT: &str =
    "select count(*) from monthly_gifts where state = 'paused' and cause = 'recipient'";
const SUMMARIZE: &str = "select provider, livemode, count(*), \
     cast(coalesce(sum(case when check_at < $1 then 1 else 0 end), 0) as bigint) from monthly_gifts \
     where state <> 'canceled' group by provider, livemode order by provider, livemode";
const COUNT_LIVING_BY_EMAIL: &str = "select count(*) from monthly_gifts \
     where id in (select id from donations where mailbox = $1 and lower(email) = $2) and state <> 'canceled'";
const LIST_EXPIRING: &str = gifts!(
    "where g.state <> 'canceled' and g.card_expires_at > $1 and g.card_expires_at <= $2 \
     and (g.card_warned_at is null or g.card_warned_at <> g.card_expires_at) order by g.card_expires_at limit $3"
);
const LIST_TO_REMIND: &str =
    gifts!("where g.state <> 'canceled' and g.reminded_at <= $1 order by g.reminded_at limit $2");
const SET_WARNED: &str = "update monthly_gifts set card_warned_at = $2 where id = $1 \
     and (card_warned_at is null or card_warned_at <> $2)";
const SET_REMINDED: &str = "update monthly_gifts set reminded_at = $2 where id = $1 and reminded_at = $3";
const FIND_REMINDED: &str = "select reminded_at from monthly_gifts where id = $1";

struct GiftRow {
    id: Uuid,
    provider: String,
    livemode: bool,
    state: String,
    cause: Option<String>,
    nonprofit_id: Uuid,
    fundraiser_id: Option<Uuid>,
    amount: i64,
    covered: i64,
    subscription: Option<String>,
    customer: Option<String>,
    started_at: i64,
    next_at: Option<i64>,
    resumes_at: Option<i64>,
    canceled_at: Option<i64>,
    failed_invoice: Option<String>,
    failed_attempts: i64,
    failure: Option<String>,
    next_attempt_at: Option<i64>,
    card_expires_at: Option<i64>,
    last_invoice: Option<String>,
    seen_at: i64,
    account: Option<String>,
}

from_row!(GiftRow {
    id,
    provider,
    livemode,
    state,
    cause,
    nonprofit_id,
    fundraiser_id,
    amount,
    covered,
    subscription,
    customer,
    started_at,
    next_at,
    resumes_at,
    canceled_at,
    failed_invoice,
    failed_attempts,
    failure,
    next_attempt_at,
    card_expires_at,
    last_invoice,
    seen_at,
    account,
});

fn gift(row: GiftRow) -> Option<MonthlyGift> {
    let failure = row.failed_invoice.map(|invoice| Failure {
        invoice,
        attempts: row.failed_attempts,
        reason: row.failure.unwrap_or_default(),
        next_attempt_at: row.next_attempt_at,
    });
    Some(MonthlyGift {
        id: row.id,
        provider: row.provider,
        mode: if row.livemode { Mode::Live } else { Mode::Test },
        nonprofit: NonprofitId(row.nonprofit_id),
        fundraiser: row.fundraiser_id.map(FundraiserId),
        account: row.account,
        started_at: row.started_at,
        last_invoice: row.last_invoice,
        status: Status {
            state: State::find(&row.state)?,
            cause: row.cause.as_deref().and_then(Cause::find),
            amount: Cents::new(row.amount),
            covered: Cents::new(row.covered),
            subscription: row.subscription,
            customer: row.customer,
            next_at: row.next_at,
            resumes_at: row.resumes_at,
            canceled_at: row.canceled_at,
            failure,
            card_expires_at: row.card_expires_at,
        },
    })
}

/// Finds a gift.
pub async fn find(db: &Db, id: Uuid) -> sqlx::Result<Option<MonthlyGift>> {
    let row: Option<GiftRow> = db.fetch_optional(query(FIND).bind(id)).await?;
    Ok(row.and_then(gift))
}

/// Finds a gift in a transaction, and when its provider was asked about it.
pub(super) async fn find_in(tx: &mut Tx, id: Uuid) -> sqlx::Result<Option<(MonthlyGift, i64)>> {
    let row: Option<GiftRow> = tx.fetch_optional(query(FIND).bind(id)).await?;
    Ok(row.and_then(|row| {
        let seen_at = row.seen_at;
        Some((gift(row)?, seen_at))
    }))
}

/// Lists the gifts of a donor, oldest first.
pub async fn list_by_email(db: &Db, email: &EmailAddress) -> sqlx::Result<Vec<MonthlyGift>> {
    let rows: Vec<GiftRow> = db
        .fetch_all(
            query(LIST_BY_EMAIL)
                .bind(email.mailbox())
                .bind(email.normalized()),
        )
        .await?;
    Ok(rows.into_iter().filter_map(gift).collect())
}

/// Lists the gifts of a mode, newest first: all of them, or those in a state.
pub async fn list(
    db: &Db,
    mode: Mode,
    state: Option<State>,
    take: i64,
    skip: i64,
) -> sqlx::Result<Vec<MonthlyGift>> {
    let livemode = !mode.is_test();
    let list = match state {
        Some(state) => query(LIST_OF_STATE).bind(livemode).bind(state.as_str()),
        None => query(LIST_ALL).bind(livemode),
    };
    let rows: Vec<GiftRow> = db.fetch_all(list.bind(take).bind(skip)).await?;
    Ok(rows.into_iter().filter_map(gift).collect())
}

/// Lists the gifts that the provider has to be asked about by now.
pub(crate) async fn list_to_check(db: &Db, now: i64, take: i64) -> sqlx::Result<Vec<MonthlyGift>> {
    let rows: Vec<GiftRow> = db.fetch_all(query(LIST_TO_CHECK).bind(now).bind(take)).await?;
    Ok(rows.into_iter().filter_map(gift).collect())
}

/// Inserts a gift.
pub(super) async fn insert(
    tx: &mut Tx,
    new: &MonthlyGift,
    check_at: Option<i64>,
    seen_at: i64,
) -> sqlx::Result<()> {
    let status = &new.status;
    let failure = status.failure.as_ref();
    let insert = query(INSERT)
        .bind(new.id)
        .bind(&new.provider)
        .bind(!new.mode.is_test())
        .bind(status.state.as_str())
        .bind(status.cause.map(Cause::as_str))
        .bind(new.nonprofit.0)
        .bind(new.fundraiser.map(|id| id.0))
        .bind(status.amount.get())
        .bind(status.covered.get())
        .bind(&status.subscription)
        .bind(&status.customer)
        .bind(new.started_at)
        .bind(status.next_at)
        .bind(status.resumes_at)
        .bind(status.canceled_at)
        .bind(failure.map(|failure| &failure.invoice))
        .bind(failure.map_or(0, |failure| failure.attempts))
        .bind(failure.map(|failure| &failure.reason))
        .bind(failure.and_then(|failure| failure.next_attempt_at))
        .bind(status.card_expires_at)
        .bind(check_at)
        .bind(seen_at);
    tx.execute(insert).await.map(drop)
}

/// Stores what the provider reports about a gift.
pub(super) async fn update(
    tx: &mut Tx,
    id: Uuid,
    status: &Status,
    check_at: Option<i64>,
    seen_at: i64,
) -> sqlx::Result<()> {
    let failure = status.failure.as_ref();
    let update = query(UPDATE)
        .bind(id)
        .bind(status.state.as_str())
        .bind(status.cause.map(Cause::as_str))
        .bind(status.amount.get())
        .bind(status.covered.get())
        .bind(&status.subscription)
        .bind(&status.customer)
        .bind(status.next_at)
        .bind(status.resumes_at)
        .bind(status.canceled_at)
        .bind(failure.map(|failure| &failure.invoice))
        .bind(failure.map_or(0, |failure| failure.attempts))
        .bind(failure.map(|failure| &failure.reason))
        .bind(failure.and_then(|failure| failure.next_attempt_at))
        .bind(status.card_expires_at)
        .bind(check_at)
        .bind(seen_at);
    tx.execute(update).await.map(drop)
}

/// Sets when the provider is asked again about a gift.
pub(crate) async fn set_check(db: &Db, id: Uuid, check_at: Option<i64>) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(SET_CHECK).bind(id).bind(check_at)).await?;
    tx.commit().await
}

/// Notes the newest invoice of a gift that was looked at.
pub(crate) async fn set_last_invoice(db: &Db, id: Uuid, invoice: &str) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(SET_LAST_INVOICE).bind(id).bind(invoice)).await?;
    tx.commit().await
}

/// How many gifts are in a state, and what they charge a month together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GiftCount {
    pub state: State,
    pub gifts: i64,
    pub amount: Cents,
}

/// Counts the gifts of a mode in each state.
pub async fn count(db: &Db, mode: Mode) -> sqlx::Result<Vec<GiftCount>> {
    let rows: Vec<(String, i64, i64)> = db.fetch_all(query(COUNT).bind(!mode.is_test())).await?;
    let of = |state: State| {
        let row = rows.iter().find(|(name, ..)| name == state.as_str());
        row.map_or((0, 0), |(_, gifts, amount)| (*gifts, *amount))
    };
    let counts = State::ALL.into_iter().map(|state| {
        let (gifts, amount) = of(state);
        GiftCount {
            state,
            gifts,
            amount: Cents::new(amount),
        }
    });
    Ok(counts.collect())
}

/// The gifts of a provider that are not canceled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderGifts {
    pub provider: String,
    pub mode: Mode,
    pub gifts: i64,
    /// Those of them that should have been looked at.
    pub overdue: i64,
}

/// Counts the gifts of each provider that are not canceled, and those that should have been looked at before a time.
pub async fn summarize(db: &Db, before: i64) -> sqlx::Result<Vec<ProviderGifts>> {
    let rows: Vec<(String, bool, i64, i64)> = db.fetch_all(query(SUMMARIZE).bind(before)).await?;
    let gifts = rows
        .into_iter()
        .map(|(provider, livemode, gifts, overdue)| ProviderGifts {
            provider,
            mode: if livemode { Mode::Live } else { Mode::Test },
            gifts,
            overdue,
        });
    Ok(gifts.collect())
}

/// Counts the gifts that are paused because their nonprofit can no longer receive donations.
pub async fn count_without_recipient(db: &Db) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT_WITHOUT_RECIPIENT)).await
}

/// Counts the gifts of a donor that are not canceled.
pub(crate) async fn count_living_by_email(tx: &mut Tx, email: &EmailAddress) -> sqlx::Result<i64> {
    let count = query(COUNT_LIVING_BY_EMAIL)
        .bind(email.mailbox())
        .bind(email.normalized());
    tx.fetch_scalar(count).await
}

/// Lists the gifts whose card expires from `now` until a time, and whose donor was not warned.
pub(super) async fn list_expiring(
    db: &Db,
    now: i64,
    until: i64,
    take: i64,
) -> sqlx::Result<Vec<MonthlyGift>> {
    let rows: Vec<GiftRow> = db
        .fetch_all(query(LIST_EXPIRING).bind(now).bind(until).bind(take))
        .await?;
    Ok(rows.into_iter().filter_map(gift).collect())
}

/// Lists the gifts whose donors were last reminded before a time.
pub(super) async fn list_to_remind(db: &Db, before: i64, take: i64) -> sqlx::Result<Vec<MonthlyGift>> {
    let rows: Vec<GiftRow> = db
        .fetch_all(query(LIST_TO_REMIND).bind(before).bind(take))
        .await?;
    Ok(rows.into_iter().filter_map(gift).collect())
}

/// Notes that the donor was warned about an expiry. Returns `false` if that was noted before.
pub(super) async fn set_warned(tx: &mut Tx, id: Uuid, expires_at: i64) -> sqlx::Result<bool> {
    let set = tx.execute(query(SET_WARNED).bind(id).bind(expires_at)).await?;
    Ok(set == 1)
}

/// Notes that the donor was reminded. Returns `false` if another server did that meanwhile.
pub(super) async fn set_reminded(tx: &mut Tx, id: Uuid, before: i64, now: i64) -> sqlx::Result<bool> {
    let reminded: Option<i64> = tx.fetch_optional_scalar(query(FIND_REMINDED).bind(id)).await?;
    let Some(reminded) = reminded.filter(|reminded| *reminded <= before) else {
        return Ok(false);
    };
    let set = tx
        .execute(query(SET_REMINDED).bind(id).bind(now).bind(reminded))
        .await?;
    Ok(set == 1)
}
