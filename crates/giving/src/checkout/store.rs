//! The SQL of donations at our own checkout.

use super::dedication::{Dedication, DedicationKind, Notice};
use super::partner::Partner;
use super::{Donation, Payment, State};
use crate::checkout::screening::Screening;
use crate::ledger::entry::Mode;
use platform::db::{Db, Tx, from_row, query};
use platform::email_address::EmailAddress;
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::mail::{Email, Mailer};
use platform::money::Cents;
use std::collections::HashMap;
use uuid::Uuid;

macro_rules! donations {
    ($rest:literal) => {
        concat!(
            "select id, receipt_id, state, provider, coalesce(livemode, provider <> 'test') as livemode, nonprofit_id, fundraiser_id, amount, name, is_public, email, message, ",
            "designation, partner_id, partner_metadata, success_url, exit_url, entry, session, attempt, charge, ",
            "paid_at, checks, covered, shares_contact, partner_account, monthly_gift_id, started_at, dedication, dedicatee, notice_email, notice_message, ",
            "account, attempted_at, network, proof_bits, passed_by ",
            "from donations ",
            $rest
        )
    };
}

const FIND: &str = donations!("where id = $1");
const FIND_BY_RECEIPT: &str = donations!("where receipt_id = $1");
const FIND_BY_CHARGE: &str = donations!("where charge = $1");
const FIND_BY_EITHER_ID: &str = donations!("where id = $1 or receipt_id = $1");
// Email addresses are ASCII, so both databases convert them to lowercase in the same way.
const LIST_BY_EMAIL: &str = donations!("where lower(email) = $1 order by started_at, id");
const LIST_BY_MAILBOX: &str = donations!("where mailbox = $1 order by receipt_at desc, id desc limit $2");
const LIST_OF_MONTHLY_GIFT: &str = donations!("where monthly_gift_id = $1 order by started_at desc limit $2");
const INSERT: &str = "insert into donations (id, receipt_id, state, provider, livemode, nonprofit_id, fundraiser_id, amount, \
     name, is_public, email, mailbox, message, designation, partner_id, partner_metadata, success_url, exit_url, started_at, \
     changed_at, covered, shares_contact, dedication, dedicatee, notice_email, notice_mailbox, notice_message, account, \
     network, proof_bits, partner_account, monthly_gift_id) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $19, $20, $21, $22, $23, \
     $24, $25, $26, $27, $28, $29, $30, $31) \
     on conflict (id) do nothing";
const FIND_STATE: &str = "select state from donations where id = $1";
/// PostgreSQL only: a transaction of SQLite that writes holds the whole file.
const LOCK_STATE: &str = "select state from donations where id = $1 for update";
const SET_STATE: &str = "update donations set state = $2, fault = $3, changed_at = $4 where id = $1";
const FIND_CHARGE: &str = "select charge from donations where id = $1";
const SET_CHARGE: &str =
    "update donations set charge = $2, paid_at = $3, check_at = $4, checks = 0 where id = $1";
const SET_SESSION: &str =
    "update donations set session = $2, check_at = $3 where id = $1 and (session is null or session = $2)";
const SET_ATTEMPT: &str = "update donations set attempt = $2 + 1, check_at = null \
     where id = $1 and attempt = $2 and session is null";
const PASS: &str =
    "update donations set passed_by = $2 where id = $1 and proof_bits is not null and passed_by is null";
const ERASE_NETWORKS: &str =
    "update donations set network = null where network is not null and started_at < $1";
/// After the donor is done, the bank can still refuse. A session is never used again, so the next attempt has another one.
const BEGIN_ATTEMPT: &str = "update donations set session = null, attempt = attempt + 1, attempted_at = $3, check_at = $3 \
     where id = $1 and session = $2 and state = 'failed'";
const COUNT_TO_CHECK: &str = "select count(*) from donations where check_at is not null and provider = $1";
const SET_CHECK: &str = "update donations set check_at = $2, checks = $3 where id = $1";
const FINISH_CHECK: &str = "update donations set check_at = null, checks = 0, available_at = coalesce($2, available_at) where id = $1";
const LIST_TO_CHECK: &str = "select id from donations where check_at <= $1 order by check_at limit $2";
const SET_ENTRY: &str = "update donations set entry = $2 where id = $1";
/// PostgreSQL only: a transaction of SQLite that writes holds the whole file.
const LOCK_MAILBOX: &str = "select pg_advisory_xact_lock(hashtextextended($1, 0))";
const COUNT_RECEIPTS: &str = "select count(*) from donations where mailbox = $1 and receipt_at > $2";
const MARK_RECEIPT: &str = "update donations set receipt_at = $2 where id = $1";
/// What can be removed. A provider that charges money has to say that a donation was not paid before it expires; only
/// test donations, which nobody else knows, expire by our clock alone. A payment link says nothing, so donations are
/// kept as long as someone may still pay with it. A provider knows nothing of a donation that is held.
macro_rules! removable {
    () => {
        "state in ('started', 'failed', 'expired') and changed_at < $1 \
         and (state = 'expired' or provider = 'test' or (provider = 'link' and changed_at < $2) \
         or (proof_bits is not null and passed_by is null))"
    };
}

// The condition is not redundant: on PostgreSQL the donation may be paid while this statement runs.
const REMOVE_UNPAID: &str = concat!(
    "delete from donations where ",
    removable!(),
    " and id in (select id from donations where ",
    removable!(),
    " limit $3)"
);
const REMOVE_UNPAID_BY_EMAIL: &str = "delete from donations where lower(email) = $1 \
     and (state = 'expired' or (provider = 'test' and state in ('started', 'failed')))";
const COUNT_PENDING_BY_EMAIL: &str =
    "select count(*) from donations where lower(email) = $1 and state = 'pending'";
const LIST_ENTRIES_BY_EMAIL: &str =
    "select entry from donations where lower(email) = $1 and entry is not null";
const ERASE: &str = "update donations set name = null, is_public = $2, email = null, mailbox = null, message = null, \
     shares_contact = $2, designation = null, partner_id = null, partner_metadata = null, success_url = null, \
     exit_url = null, dedication = null, dedicatee = null, notice_email = null, notice_mailbox = null, notice_message = null, \
     network = null where lower(email) = $1";
const ERASE_NOTICES: &str = "update donations set notice_email = null, notice_mailbox = null, notice_message = null \
     where lower(notice_email) = $1 and notice_email is not null";
const LIST_BY_NOTICE: &str =
    donations!("where lower(notice_email) = $1 and notice_email is not null order by started_at, id");
const COUNT_NOTICES: &str = "select count(*) from donations where notice_mailbox = $1 and notice_at > $2";
const MARK_NOTICE: &str = "update donations set notice_at = $2 where id = $1";
/// The donations to a fundraiser for which its organizer can still thank.
macro_rules! to_thank {
    ($columns:literal, $rest:literal) => {
        concat!(
            "select ",
            $columns,
            " from donations where fundraiser_id = $1 and fundraiser_id is not null and thanked_at is null ",
            "and mailbox is not null and state = 'completed' and (coalesce(livemode, provider <> 'test') or $2)",
            $rest
        )
    };
}
const COUNT_TO_THANK: &str = to_thank!("count(distinct mailbox)", "");
const LAST_TO_THANK: &str = to_thank!("max(entry)", "");
const LIST_TO_THANK: &str = to_thank!(
    "mailbox, min(email)",
    " and entry <= $3 group by mailbox order by mailbox limit $4"
);
const MARK_THANKED: &str = "update donations set thanked_at = $4 where fundraiser_id = $1 and fundraiser_id is not null \
     and thanked_at is null and mailbox = $2 and entry <= $3 and state = 'completed'";
const LIST_PENDING: &str = "select id from donations where state = 'pending' order by changed_at";
const LIST_WAITING: &str = donations!("where state = $1 and changed_at < $2 order by changed_at limit 100");
const COUNT_WITHOUT_EVENT: &str = "select count(*) from donations where provider = $1 and started_at > $2 \
     and (paid_at < $3 or started_at < $4)";
const LIST_PARTNER_FIELDS: &str = "select entry, partner_id, partner_metadata, designation, dedication, dedicatee from donations \
     where entry > $1 and entry <= $2";

const HOUR_MILLIS: i64 = 60 * 60 * 1_000;
/// How long a donation that was not paid is kept.
const UNPAID_RETENTION_MILLIS: i64 = 48 * HOUR_MILLIS;
/// How long a donation is kept that can be paid with a payment link.
const LINK_RETENTION_MILLIS: i64 = 30 * 24 * HOUR_MILLIS;
/// Donations removed in one transaction, so that other writers do not wait long.
const MAX_BATCH_SIZE: i64 = 1_000;

struct DonationRow {
    id: Uuid,
    receipt_id: Uuid,
    state: String,
    livemode: bool,
    nonprofit_id: Uuid,
    fundraiser_id: Option<Uuid>,
    amount: i64,
    name: Option<String>,
    is_public: bool,
    email: Option<String>,
    message: Option<String>,
    designation: Option<String>,
    partner_id: Option<String>,
    partner_metadata: Option<String>,
    success_url: Option<String>,
    exit_url: Option<String>,
    entry: Option<i64>,
    provider: String,
    session: Option<String>,
    attempt: i64,
    charge: Option<String>,
    paid_at: Option<i64>,
    checks: i64,
    covered: i64,
    shares_contact: bool,
    partner_account: Option<Uuid>,
    monthly_gift_id: Option<Uuid>,
    started_at: i64,
    dedication: Option<String>,
    dedicatee: Option<String>,
    notice_email: Option<String>,
    notice_message: Option<String>,
    account: Option<String>,
    attempted_at: Option<i64>,
    network: Option<String>,
    proof_bits: Option<i64>,
    passed_by: Option<String>,
}

from_row!(DonationRow {
    id,
    receipt_id,
    state,
    livemode,
    nonprofit_id,
    fundraiser_id,
    amount,
    name,
    is_public,
    email,
    message,
    designation,
    partner_id,
    partner_metadata,
    success_url,
    exit_url,
    entry,
    provider,
    session,
    attempt,
    charge,
    paid_at,
    checks,
    covered,
    shares_contact,
    partner_account,
    monthly_gift_id,
    started_at,
    dedication,
    dedicatee,
    notice_email,
    notice_message,
    account,
    attempted_at,
    network,
    proof_bits,
    passed_by,
});

/// Finds a donation by its receipt ID.
pub async fn find_by_receipt(db: &Db, receipt_id: Uuid) -> sqlx::Result<Option<Donation>> {
    let row: Option<DonationRow> = db.fetch_optional(query(FIND_BY_RECEIPT).bind(receipt_id)).await?;
    Ok(row.and_then(donation))
}

/// Finds a donation by its ID or by the ID of its receipt, which is the one that donors know.
pub async fn find_by_either_id(db: &Db, id: Uuid) -> sqlx::Result<Option<Donation>> {
    let row: Option<DonationRow> = db.fetch_optional(query(FIND_BY_EITHER_ID).bind(id)).await?;
    Ok(row.and_then(donation))
}

/// Lists the donations with an email address, oldest first.
pub async fn list_by_email(db: &Db, email: &EmailAddress) -> sqlx::Result<Vec<Donation>> {
    let rows: Vec<DonationRow> = db
        .fetch_all(query(LIST_BY_EMAIL).bind(email.normalized()))
        .await?;
    Ok(rows.into_iter().filter_map(donation).collect())
}

/// Lists the donations of a mailbox, those with the latest receipts first. Tags (`ada+news@…`) make no difference.
pub async fn list_by_mailbox(db: &Db, email: &EmailAddress, take: i64) -> sqlx::Result<Vec<Donation>> {
    let rows: Vec<DonationRow> = db
        .fetch_all(query(LIST_BY_MAILBOX).bind(email.mailbox()).bind(take))
        .await?;
    Ok(rows.into_iter().filter_map(donation).collect())
}

/// Lists the donations about which an email address is told, oldest first.
pub(crate) async fn list_by_notice(db: &Db, email: &EmailAddress) -> sqlx::Result<Vec<Donation>> {
    let rows: Vec<DonationRow> = db
        .fetch_all(query(LIST_BY_NOTICE).bind(email.normalized()))
        .await?;
    Ok(rows.into_iter().filter_map(donation).collect())
}

/// Lists the donations of a monthly gift, newest first.
pub async fn list_of_monthly_gift(db: &Db, gift: Uuid, take: i64) -> sqlx::Result<Vec<Donation>> {
    let rows: Vec<DonationRow> = db
        .fetch_all(query(LIST_OF_MONTHLY_GIFT).bind(gift).bind(take))
        .await?;
    Ok(rows.into_iter().filter_map(donation).collect())
}

/// Finds a donation.
pub async fn find(db: &Db, id: Uuid) -> sqlx::Result<Option<Donation>> {
    let row: Option<DonationRow> = db.fetch_optional(query(FIND).bind(id)).await?;
    Ok(row.and_then(donation))
}

fn donation(row: DonationRow) -> Option<Donation> {
    let email = |text: &str| EmailAddress::parse(text).ok();
    let notice = row.notice_email.as_deref().and_then(email);
    let notice = notice.map(|email| Notice {
        email,
        message: row.notice_message,
    });
    Some(Donation {
        dedication: dedication(row.dedication, row.dedicatee)
            .map(|dedication| Dedication { notice, ..dedication }),
        id: row.id,
        receipt_id: row.receipt_id,
        state: State::find(&row.state)?,
        mode: if row.livemode { Mode::Live } else { Mode::Test },
        nonprofit: NonprofitId(row.nonprofit_id),
        fundraiser: row.fundraiser_id.map(FundraiserId),
        amount: Cents::new(row.amount),
        covered: Cents::new(row.covered),
        name: row.name,
        is_public: row.is_public,
        email: row.email.and_then(|email| EmailAddress::parse(&email).ok()),
        shares_contact: row.shares_contact,
        message: row.message,
        designation: row.designation,
        partner: Partner {
            donation_id: row.partner_id,
            metadata: row.partner_metadata,
            success_url: row.success_url,
            exit_url: row.exit_url,
            account: row.partner_account.map(AccountId),
        },
        monthly_gift: row.monthly_gift_id,
        entry: row.entry,
        provider: row.provider,
        payment: Payment {
            session: row.session,
            attempt: row.attempt,
            charge: row.charge,
            paid_at: row.paid_at,
            checks: row.checks,
            attempted_at: row.attempted_at,
        },
        account: row.account,
        screening: Screening {
            network: row.network,
            proof_bits: row.proof_bits,
            passed_by: row.passed_by,
        },
        started_at: row.started_at,
    })
}

fn dedication(kind: Option<String>, name: Option<String>) -> Option<Dedication> {
    Some(Dedication {
        kind: DedicationKind::find(&kind?)?,
        name: name?,
        notice: None,
    })
}

/// Inserts a donation, unless it exists already.
pub async fn insert(db: &Db, new: &Donation) -> sqlx::Result<()> {
    let dedication = new.dedication.as_ref();
    let notice = dedication.and_then(|dedication| dedication.notice.as_ref());
    let mut tx = db.write().await?;
    tx.execute(
        query(INSERT)
            .bind(new.id)
            .bind(new.receipt_id)
            .bind(new.state.as_str())
            .bind(&new.provider)
            .bind(!new.mode.is_test())
            .bind(new.nonprofit.0)
            .bind(new.fundraiser.map(|id| id.0))
            .bind(new.amount.get())
            .bind(&new.name)
            .bind(new.is_public)
            .bind(new.email.as_ref().map(EmailAddress::as_str))
            .bind(new.email.as_ref().map(EmailAddress::mailbox))
            .bind(&new.message)
            .bind(&new.designation)
            .bind(&new.partner.donation_id)
            .bind(&new.partner.metadata)
            .bind(&new.partner.success_url)
            .bind(&new.partner.exit_url)
            .bind(new.started_at)
            .bind(new.covered.get())
            .bind(new.shares_contact)
            .bind(dedication.map(|dedication| dedication.kind.as_str()))
            .bind(dedication.map(|dedication| &dedication.name))
            .bind(notice.map(|notice| notice.email.as_str()))
            .bind(notice.map(|notice| notice.email.mailbox()))
            .bind(notice.and_then(|notice| notice.message.as_ref()))
            .bind(&new.account)
            .bind(&new.screening.network)
            .bind(new.screening.proof_bits)
            .bind(new.partner.account.map(|id| id.0))
            .bind(new.monthly_gift),
    )
    .await?;
    tx.commit().await
}

/// Moves a donation to another state, if [`State::can_become`] allows it. Returns whether it moved.
async fn set_state(tx: &mut Tx, id: Uuid, next: State, reason: Option<&str>, now: i64) -> sqlx::Result<bool> {
    let find = match tx {
        Tx::Sqlite(_) => FIND_STATE,
        Tx::Postgres(_) => LOCK_STATE,
    };
    let state: Option<String> = tx.fetch_optional_scalar(query(find).bind(id)).await?;
    let state = state.as_deref().and_then(State::find);
    if !state.is_some_and(|state| state.can_become(next)) {
        return Ok(false);
    }
    let update = query(SET_STATE)
        .bind(id)
        .bind(next.as_str())
        .bind(reason)
        .bind(now);
    tx.execute(update).await?;
    Ok(true)
}

/// Records that a donation was paid with a test card.
pub async fn pay(db: &Db, id: Uuid, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    set_state(&mut tx, id, State::Pending, None, now).await?;
    tx.commit().await
}

/// What became of a charge that a provider reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChargeOutcome {
    /// It paid the donation, now or before.
    Accepted,
    /// Another charge has paid the donation.
    Second,
}

/// Records that a charge paid a donation. The provider is asked at `check_at` for what it does not know yet, such as its fee.
pub(crate) async fn accept_charge(
    db: &Db,
    id: Uuid,
    (charge, paid_at): (&str, i64),
    check_at: Option<i64>,
    now: i64,
) -> sqlx::Result<ChargeOutcome> {
    let mut tx = db.write().await?;
    if set_state(&mut tx, id, State::Pending, None, now).await? {
        let update = query(SET_CHARGE)
            .bind(id)
            .bind(charge)
            .bind(paid_at)
            .bind(check_at);
        tx.execute(update).await?;
        tx.commit().await?;
        return Ok(ChargeOutcome::Accepted);
    }
    let accepted: Option<Option<String>> = tx.fetch_optional_scalar(query(FIND_CHARGE).bind(id)).await?;
    Ok(match accepted.flatten() {
        Some(accepted) if accepted != charge => ChargeOutcome::Second,
        _ => ChargeOutcome::Accepted,
    })
}

/// Records that the donor is done and the bank has not confirmed the payment.
pub(crate) async fn process(db: &Db, id: Uuid, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    set_state(&mut tx, id, State::Processing, None, now).await?;
    tx.commit().await
}

/// Records that a donation was not paid and no longer can be.
pub(crate) async fn expire(db: &Db, id: Uuid, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    if set_state(&mut tx, id, State::Expired, None, now).await? {
        let done = query(SET_CHECK).bind(id).bind(None::<i64>).bind(0);
        tx.execute(done).await?;
    }
    tx.commit().await
}

/// Records the session of a donation. Returns `false` if it has another one.
pub(crate) async fn set_session(db: &Db, id: Uuid, session: &str, check_at: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let set = tx
        .execute(query(SET_SESSION).bind(id).bind(session).bind(check_at))
        .await?;
    tx.commit().await?;
    Ok(set == 1)
}

/// Records that the donor tries again, after the bank refused the payment of a session.
pub(crate) async fn begin_attempt(db: &Db, id: Uuid, session: &str, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(BEGIN_ATTEMPT).bind(id).bind(session).bind(now))
        .await?;
    tx.commit().await
}

/// Lets a donation through that was held, and notes how.
pub async fn pass(db: &Db, id: Uuid, passed_by: &str) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(PASS).bind(id).bind(passed_by)).await?;
    tx.commit().await
}

/// Erases the networks of donations that were started before a time.
pub(crate) async fn erase_networks(db: &Db, before: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(ERASE_NETWORKS).bind(before)).await?;
    tx.commit().await
}

/// Counts the donations whose provider has to be asked what became of them.
pub async fn count_to_check(db: &Db, provider: &str) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT_TO_CHECK).bind(provider)).await
}

/// Records that the attempt with this number created no session.
pub(crate) async fn end_attempt(db: &Db, id: Uuid, attempt: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(SET_ATTEMPT).bind(id).bind(attempt)).await?;
    tx.commit().await
}

/// Sets when the provider is asked again about a donation, or that there is nothing to ask.
pub(crate) async fn set_check(db: &Db, id: Uuid, check_at: Option<i64>, checks: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(SET_CHECK).bind(id).bind(check_at).bind(checks))
        .await?;
    tx.commit().await
}

/// Stores when the money of a settled donation is available. The provider need not be asked about it again.
pub(crate) async fn finish_check(db: &Db, id: Uuid, available_at: Option<i64>) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(FINISH_CHECK).bind(id).bind(available_at))
        .await?;
    tx.commit().await
}

/// Lists the donations that the provider has to be asked about by now, the oldest first.
pub(crate) async fn list_to_check(db: &Db, now: i64, take: i64) -> sqlx::Result<Vec<Uuid>> {
    db.fetch_scalars(query(LIST_TO_CHECK).bind(now).bind(take)).await
}

/// Finds the donation that a charge paid.
pub(crate) async fn find_by_charge(db: &Db, charge: &str) -> sqlx::Result<Option<Donation>> {
    let row: Option<DonationRow> = db.fetch_optional(query(FIND_BY_CHARGE).bind(charge)).await?;
    Ok(row.and_then(donation))
}

/// Records why the provider declined the payment.
pub async fn fail(db: &Db, id: Uuid, reason: &str, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    set_state(&mut tx, id, State::Failed, Some(reason), now).await?;
    tx.commit().await
}

/// An email about a donation, unless as many as allowed were sent to the same mailbox before.
#[derive(Debug)]
pub struct LimitedEmail {
    pub email: Email,
    pub limit: u32,
}

/// What is emailed when a donation is completed.
#[derive(Debug)]
pub struct CompletionEmails<'a> {
    pub mailer: &'a Mailer,
    /// At most so many within an hour.
    pub receipt: Option<LimitedEmail>,
    /// At most so many within a day.
    pub notice: Option<LimitedEmail>,
}

/// The statements that limit emails of one kind.
struct EmailLimit {
    count: &'static str,
    mark: &'static str,
    period: i64,
}

const RECEIPTS: EmailLimit = EmailLimit {
    count: COUNT_RECEIPTS,
    mark: MARK_RECEIPT,
    period: HOUR_MILLIS,
};
const NOTICES: EmailLimit = EmailLimit {
    count: COUNT_NOTICES,
    mark: MARK_NOTICE,
    period: 24 * HOUR_MILLIS,
};

impl EmailLimit {
    /// Marks an email about a donation as sent. Returns `false` if the mailbox got too many.
    async fn admit(&self, tx: &mut Tx, id: Uuid, mailbox: &str, limit: u32, now: i64) -> sqlx::Result<bool> {
        if let Tx::Postgres(_) = tx {
            tx.execute(query(LOCK_MAILBOX).bind(mailbox)).await?;
        }
        let count = query(self.count).bind(mailbox).bind(now - self.period);
        let sent: i64 = tx.fetch_scalar(count).await?;
        let is_admitted = sent < i64::from(limit);
        if is_admitted {
            tx.execute(query(self.mark).bind(id).bind(now)).await?;
        }
        Ok(is_admitted)
    }
}

/// Marks a donation as completed and emails its receipt and the notice of its dedication, unless it was completed before. The
/// emails are queued in the same transaction.
pub async fn complete(
    db: &Db,
    donation: &Donation,
    entry: i64,
    emails: CompletionEmails<'_>,
    now: i64,
) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    let is_completed = set_state(&mut tx, donation.id, State::Completed, None, now).await?;
    let mut prepared = Vec::new();
    if is_completed {
        tx.execute(query(SET_ENTRY).bind(donation.id).bind(entry)).await?;
        let limited = [(RECEIPTS, emails.receipt), (NOTICES, emails.notice)];
        for (limit, email) in limited {
            let Some(LimitedEmail { email, limit: most }) = email else {
                continue;
            };
            let Ok(to) = EmailAddress::parse(&email.to) else {
                continue;
            };
            if limit
                .admit(&mut tx, donation.id, &to.mailbox(), most, now)
                .await?
            {
                prepared.push(emails.mailer.prepare(&mut tx, email).await?);
            }
        }
    }
    tx.commit().await?;
    for email in prepared {
        emails.mailer.dispatch(email);
    }
    Ok(())
}

/// Removes donations that were never paid and can no longer be: those that expired and test donations after 48 hours, those
/// with a payment link after 30 days. Returns how many.
pub async fn remove_unpaid(db: &Db, now: i64) -> sqlx::Result<u64> {
    let mut removed = 0;
    loop {
        let mut tx = db.write().await?;
        let batch = tx
            .execute(
                query(REMOVE_UNPAID)
                    .bind(now - UNPAID_RETENTION_MILLIS)
                    .bind(now - LINK_RETENTION_MILLIS)
                    .bind(MAX_BATCH_SIZE),
            )
            .await?;
        tx.commit().await?;
        removed += batch;
        if batch < MAX_BATCH_SIZE as u64 {
            return Ok(removed);
        }
    }
}

/// Counts the donations with an email address that are paid but not in the ledger.
pub(crate) async fn count_pending_by_email(tx: &mut Tx, email: &EmailAddress) -> sqlx::Result<i64> {
    tx.fetch_scalar(query(COUNT_PENDING_BY_EMAIL).bind(email.normalized()))
        .await
}

/// Lists the ledger entries of the donations with an email address.
pub(crate) async fn list_entries_by_email(tx: &mut Tx, email: &EmailAddress) -> sqlx::Result<Vec<i64>> {
    tx.fetch_scalars(query(LIST_ENTRIES_BY_EMAIL).bind(email.normalized()))
        .await
}

/// Removes the donations with an email address that can no longer be paid, and erases from the others everything about the donor.
/// Of donations about which the address was told, only the address and the message to it are erased. Returns the number of donations.
pub(crate) async fn erase_donor(tx: &mut Tx, email: &EmailAddress) -> sqlx::Result<u64> {
    let email = email.normalized();
    let removed = tx.execute(query(REMOVE_UNPAID_BY_EMAIL).bind(&email)).await?;
    let erased = tx.execute(query(ERASE).bind(&email).bind(false)).await?;
    let notices = tx.execute(query(ERASE_NOTICES).bind(&email)).await?;
    Ok(removed + erased + notices)
}

/// Counts the mailboxes of donors to a fundraiser that were not thanked for a donation. With `counts_test`, test donations
/// count too.
pub(crate) async fn count_to_thank(db: &Db, id: FundraiserId, counts_test: bool) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT_TO_THANK).bind(id.0).bind(counts_test))
        .await
}

/// Finds the last entry of a donation for which nobody was thanked. `None` if there is none.
pub(crate) async fn last_to_thank(
    tx: &mut Tx,
    id: FundraiserId,
    counts_test: bool,
) -> sqlx::Result<Option<i64>> {
    tx.fetch_scalar(query(LAST_TO_THANK).bind(id.0).bind(counts_test))
        .await
}

/// Lists mailboxes of donors who were not thanked for a donation up to an entry, each with an email address.
pub(crate) async fn list_to_thank(
    tx: &mut Tx,
    id: FundraiserId,
    (entry, counts_test): (i64, bool),
    take: i64,
) -> sqlx::Result<Vec<(String, String)>> {
    let list = query(LIST_TO_THANK).bind(id.0).bind(counts_test);
    tx.fetch_all(list.bind(entry).bind(take)).await
}

/// Marks the donations of a mailbox up to an entry as thanked for.
pub(crate) async fn mark_thanked(
    tx: &mut Tx,
    id: FundraiserId,
    (mailbox, entry): (&str, i64),
    now: i64,
) -> sqlx::Result<()> {
    let mark = query(MARK_THANKED).bind(id.0).bind(mailbox).bind(entry);
    tx.execute(mark.bind(now)).await.map(|_| ())
}

/// Records what became of a donation that is in the ledger: completed, refunded or disputed.
pub(crate) async fn set_outcome(db: &Db, id: Uuid, outcome: State, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    if !set_state(&mut tx, id, outcome, None, now).await?
        && set_state(&mut tx, id, State::Completed, None, now).await?
    {
        // From refunded to disputed, or back.
        set_state(&mut tx, id, outcome, None, now).await?;
    }
    tx.commit().await
}

/// Lists the donations that were paid and are not in the ledger yet.
pub(crate) async fn list_pending(db: &Db) -> sqlx::Result<Vec<Uuid>> {
    db.fetch_scalars(query(LIST_PENDING)).await
}

/// Lists up to 100 donations that have been in a state since before a time, those that wait longest first.
pub async fn list_waiting(db: &Db, state: State, before: i64) -> sqlx::Result<Vec<Donation>> {
    let list = query(LIST_WAITING).bind(state.as_str()).bind(before);
    let rows: Vec<DonationRow> = db.fetch_all(list).await?;
    Ok(rows.into_iter().filter_map(donation).collect())
}

/// Counts the donations of a provider that were started after its last event, and of which it should have sent one by now:
/// those that were paid before `paid_before`, and those that were started before `started_before`, whose session has ended.
pub async fn count_without_event(
    db: &Db,
    provider: &str,
    last_event: i64,
    paid_before: i64,
    started_before: i64,
) -> sqlx::Result<i64> {
    let count = query(COUNT_WITHOUT_EVENT)
        .bind(provider)
        .bind(last_event)
        .bind(paid_before)
        .bind(started_before);
    db.fetch_scalar(count).await
}

/// What the partner's link passed on with a donation, and its dedication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartnerFields {
    pub partner_id: Option<String>,
    pub partner_metadata: Option<String>,
    pub designation: Option<String>,
    pub dedication: Option<Dedication>,
}

/// Lists what partners' links passed on, by sequence number.
pub(crate) async fn list_partner_fields(
    tx: &mut Tx,
    after: i64,
    last: i64,
) -> sqlx::Result<HashMap<i64, PartnerFields>> {
    type Text = Option<String>;
    type Row = (i64, Text, Text, Text, Text, Text);
    let rows: Vec<Row> = tx
        .fetch_all(query(LIST_PARTNER_FIELDS).bind(after).bind(last))
        .await?;
    let fields = |(entry, partner_id, partner_metadata, designation, kind, name): Row| {
        let fields = PartnerFields {
            partner_id,
            partner_metadata,
            designation,
            dedication: dedication(kind, name),
        };
        (entry, fields)
    };
    Ok(rows.into_iter().map(fields).collect())
}
