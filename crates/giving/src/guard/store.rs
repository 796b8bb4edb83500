//! The SQL of declined payments.

use platform::db::{Db, Tx, from_row, query};
use platform::email_address::EmailAddress;
use platform::ids::NonprofitId;
use uuid::Uuid;

const ADD: &str = "insert into declines (charge, donation_id, nonprofit_id, network, card, declined_at) \
     values ($1, $2, $3, $4, $5, $6) on conflict (charge) do nothing";
const COUNT: &str = "select \
     (select count(*) from declines where network = $1 and declined_at > $3) as of_network, \
     (select count(*) from declines where declined_at > $3 and card in \
         (select own.card from declines own where own.network = $1 and own.declined_at > $3)) as of_cards, \
     (select count(*) from declines where nonprofit_id = $2 and declined_at > $3) as of_nonprofit, \
     (select count(*) from declines where declined_at > $3) as in_all, \
     (select count(*) from donations where network = $1 and started_at > $3 \
         and state in ('started', 'failed', 'expired') and session is not null) as unpaid_of_network, \
     (select count(*) from donations where nonprofit_id = $2 and network is not null and started_at > $3 \
         and state in ('started', 'failed', 'expired') and session is not null) as unpaid_of_nonprofit, \
     (select count(*) from donations where nonprofit_id = $2 and network is not null and started_at > $3 \
         and state not in ('started', 'failed', 'expired')) as paid_of_nonprofit";
const COUNT_LIKE: &str = "select \
     (select count(*) from declines where nonprofit_id = $1 and donation_id = $2 and declined_at > $5), \
     (select count(*) from declines where network = $3 and declined_at > $5), \
     (select count(*) from declines where card = $4 and declined_at > $5)";
const LIST_OF: &str = "select charge, declined_at from declines where donation_id in \
     (select id from donations where lower(email) = $1) order by declined_at, charge";
const REMOVE_OF: &str =
    "delete from declines where donation_id in (select id from donations where lower(email) = $1)";
const REMOVE_BEFORE: &str = "delete from declines where declined_at < $1";
const SUM: &str = "select \
     (select count(*) from declines where declined_at > $1) as declined, \
     (select count(distinct card) from declines where declined_at > $1) as cards, \
     (select count(distinct network) from declines where declined_at > $1) as networks, \
     (select count(*) from donations where proof_bits is not null and started_at > $1) as asked, \
     (select count(*) from donations where proof_bits is not null and started_at > $1 and passed_by = 'proof') as by_proof, \
     (select count(*) from donations where proof_bits is not null and started_at > $1 and passed_by = 'email') as by_email, \
     (select count(*) from donations where proof_bits is not null and started_at > $1 and passed_by is not null \
         and state in ('failed', 'expired')) as passed_unpaid";
const LIST_NONPROFITS: &str = "select nonprofit_id, count(*) as declined from declines where declined_at > $1 \
     group by nonprofit_id order by declined desc, nonprofit_id limit 20";

/// A declined payment.
pub(crate) struct Decline<'a> {
    pub charge: &'a str,
    pub donation: Uuid,
    pub nonprofit: NonprofitId,
    pub network: Option<&'a str>,
    /// The fingerprint of the card.
    pub card: Option<&'a str>,
    pub declined_at: i64,
}

/// What happened lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub of_network: i64,
    /// Declined payments, of any network, with the cards that this network has tried.
    pub of_cards: i64,
    pub of_nonprofit: i64,
    pub in_all: i64,
    pub unpaid_of_network: i64,
    pub unpaid_of_nonprofit: i64,
    pub paid_of_nonprofit: i64,
}

from_row!(Counts {
    of_network,
    of_cards,
    of_nonprofit,
    in_all,
    unpaid_of_network,
    unpaid_of_nonprofit,
    paid_of_nonprofit,
});

/// What was declined, and who was asked, since a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuardSums {
    pub declined: i64,
    pub cards: i64,
    pub networks: i64,
    /// Donations that were held.
    pub asked: i64,
    /// Held donations that were let through.
    pub by_proof: i64,
    pub by_email: i64,
    /// Of those, the ones that were declined or given up afterwards.
    pub passed_unpaid: i64,
}

from_row!(GuardSums {
    declined,
    cards,
    networks,
    asked,
    by_proof,
    by_email,
    passed_unpaid,
});

/// Adds a declined payment, unless it is known.
pub(crate) async fn add(db: &Db, decline: &Decline<'_>) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(
        query(ADD)
            .bind(decline.charge)
            .bind(decline.donation)
            .bind(decline.nonprofit.0)
            .bind(decline.network)
            .bind(decline.card)
            .bind(decline.declined_at),
    )
    .await?;
    tx.commit().await
}

/// Counts what happened since a time.
pub(crate) async fn count(
    db: &Db,
    network: &str,
    nonprofit: NonprofitId,
    since: i64,
) -> sqlx::Result<Counts> {
    let count = query(COUNT).bind(network).bind(nonprofit.0).bind(since);
    db.fetch_one(count).await
}

/// Counts the declined payments since a time of the same donation, of the same network, and of the same card.
pub(crate) async fn count_like(db: &Db, like: &Decline<'_>, since: i64) -> sqlx::Result<(i64, i64, i64)> {
    let count = query(COUNT_LIKE)
        .bind(like.nonprofit.0)
        .bind(like.donation)
        .bind(like.network)
        .bind(like.card)
        .bind(since);
    db.fetch_one(count).await
}

/// Lists the declined payments of a donor: the provider's ID of the charge, and the time.
pub(crate) async fn list_of(db: &Db, email: &EmailAddress) -> sqlx::Result<Vec<(String, i64)>> {
    db.fetch_all(query(LIST_OF).bind(email.normalized())).await
}

/// Removes the declined payments of a donor.
pub(crate) async fn remove_of(tx: &mut Tx, email: &EmailAddress) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_OF).bind(email.normalized())).await?;
    Ok(())
}

/// Removes the payments that were declined before a time.
pub(crate) async fn remove_before(db: &Db, before: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(REMOVE_BEFORE).bind(before)).await?;
    tx.commit().await
}

/// Sums up what happened since a time.
pub async fn sum(db: &Db, since: i64) -> sqlx::Result<GuardSums> {
    db.fetch_one(query(SUM).bind(since)).await
}

/// Lists the nonprofits with the most declined payments since a time.
pub async fn list_nonprofits(db: &Db, since: i64) -> sqlx::Result<Vec<(NonprofitId, i64)>> {
    let rows: Vec<(Uuid, i64)> = db.fetch_all(query(LIST_NONPROFITS).bind(since)).await?;
    let row = |(id, declined)| (NonprofitId(id), declined);
    Ok(rows.into_iter().map(row).collect())
}
