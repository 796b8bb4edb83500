//! The SQL of donations on our own pages.

use super::partner::Partner;
use super::provider::{Provider, mode_of};
use super::{Donation, State};
use platform::db::{Db, Tx, from_row, read, run};
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use std::collections::HashMap;
use uuid::Uuid;

const FIND: &str = "select id, state, provider, nonprofit_id, fundraiser_id, amount, name, is_public, email, message, designation, \
     partner_id, partner_metadata, success_url, exit_url, entry, started_at from donations where id = $1";
const INSERT: &str = "insert into donations (id, state, provider, nonprofit_id, fundraiser_id, amount, name, is_public, email, \
     message, designation, partner_id, partner_metadata, success_url, exit_url, started_at, changed_at) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16) on conflict (id) do nothing";
const PAY: &str = "update donations set state = 'pending', provider = $3, fault = null, changed_at = $2 \
     where id = $1 and state in ('started', 'failed')";
const FAIL: &str = "update donations set state = 'failed', fault = $2, changed_at = $3 \
     where id = $1 and state in ('started', 'failed')";
const COMPLETE: &str = "update donations set state = 'completed', entry = $2, changed_at = $3 \
     where id = $1 and state = 'pending'";
const REFUNDED: &str =
    "update donations set state = 'refunded', changed_at = $2 where id = $1 and state = 'completed'";
const PENDING: &str = "select id from donations where state = 'pending' order by changed_at";
const PARTNER_FIELDS: &str =
    "select entry, partner_id, partner_metadata, designation from donations where entry > $1 and entry <= $2";
const REMAINING: &str =
    "select cast(coalesce(sum(amount), 0) as bigint) from journal where sequence = $1 or refunds = $1";

struct DonationRow {
    id: Uuid,
    state: String,
    provider: String,
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
    started_at: i64,
}

from_row!(DonationRow {
    id,
    state,
    provider,
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
    started_at,
});

/// Finds a donation.
pub async fn find(db: &Db, id: Uuid) -> sqlx::Result<Option<Donation>> {
    let row: Option<DonationRow> = read!(db, c => sqlx::query_as(FIND).bind(id).fetch_optional(c).await)?;
    Ok(row.and_then(donation))
}

fn donation(row: DonationRow) -> Option<Donation> {
    Some(Donation {
        id: row.id,
        state: State::find(&row.state)?,
        mode: mode_of(&row.provider),
        nonprofit: NonprofitId(row.nonprofit_id),
        fundraiser: row.fundraiser_id.map(FundraiserId),
        amount: Cents::new(row.amount),
        name: row.name,
        is_public: row.is_public,
        email: row.email,
        message: row.message,
        designation: row.designation,
        partner: Partner {
            donation_id: row.partner_id,
            metadata: row.partner_metadata,
            success_url: row.success_url,
            exit_url: row.exit_url,
        },
        entry: row.entry,
        started_at: row.started_at,
    })
}

/// Inserts a donation, unless it exists already.
pub async fn insert(db: &Db, new: &Donation, provider: &Provider) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    run!(&mut tx, c => sqlx::query(INSERT)
        .bind(new.id)
        .bind(new.state.as_str())
        .bind(provider.name())
        .bind(new.nonprofit.0)
        .bind(new.fundraiser.map(|id| id.0))
        .bind(new.amount.get())
        .bind(&new.name)
        .bind(new.is_public)
        .bind(&new.email)
        .bind(&new.message)
        .bind(&new.designation)
        .bind(&new.partner.donation_id)
        .bind(&new.partner.metadata)
        .bind(&new.partner.success_url)
        .bind(&new.partner.exit_url)
        .bind(new.started_at)
        .execute(c)
        .await
        .map(|_| ()))?;
    tx.commit().await
}

/// Notes that the provider has the money. It may be another one than when the donation was started.
pub async fn pay(db: &Db, id: Uuid, provider: &Provider, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    let name = provider.name();
    run!(&mut tx, c => sqlx::query(PAY).bind(id).bind(now).bind(name).execute(c).await.map(|_| ()))?;
    tx.commit().await
}

/// Notes why the provider said no.
pub async fn fail(db: &Db, id: Uuid, reason: &str, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    run!(&mut tx, c => sqlx::query(FAIL).bind(id).bind(reason).bind(now).execute(c).await.map(|_| ()))?;
    tx.commit().await
}

/// Marks a donation as completed. Returns `false` if it already was.
pub async fn complete(db: &Db, id: Uuid, entry: i64, now: i64) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let updated = run!(&mut tx, c => sqlx::query(COMPLETE)
        .bind(id)
        .bind(entry)
        .bind(now)
        .execute(c)
        .await
        .map(|done| done.rows_affected()))?;
    tx.commit().await?;
    Ok(updated == 1)
}

/// Notes that all of it went back.
pub async fn mark_refunded(db: &Db, id: Uuid, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    run!(&mut tx, c => sqlx::query(REFUNDED).bind(id).bind(now).execute(c).await.map(|_| ()))?;
    tx.commit().await
}

/// Lists the donations that were paid and are not in the ledger yet.
pub async fn list_pending(db: &Db) -> sqlx::Result<Vec<Uuid>> {
    read!(db, c => sqlx::query_scalar(PENDING).fetch_all(c).await)
}

/// Returns what is left of a donation after its refunds.
pub async fn find_remaining(db: &Db, entry: i64) -> sqlx::Result<Cents> {
    read!(db, c => sqlx::query_scalar(REMAINING).bind(entry).fetch_one(c).await).map(Cents::new)
}

/// What the partner's link passed on with a donation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartnerFields {
    pub partner_id: Option<String>,
    pub partner_metadata: Option<String>,
    pub designation: Option<String>,
}

/// Lists what partners' links passed on, by sequence number.
pub async fn list_partner_fields(
    tx: &mut Tx,
    after: i64,
    last: i64,
) -> sqlx::Result<HashMap<i64, PartnerFields>> {
    type Row = (i64, Option<String>, Option<String>, Option<String>);
    let rows: Vec<Row> =
        run!(tx, c => sqlx::query_as(PARTNER_FIELDS).bind(after).bind(last).fetch_all(c).await)?;
    let fields = |(entry, partner_id, partner_metadata, designation): Row| {
        let fields = PartnerFields {
            partner_id,
            partner_metadata,
            designation,
        };
        (entry, fields)
    };
    Ok(rows.into_iter().map(fields).collect())
}
