//! The list of recorded donations that operators see.

use crate::ledger::entry::{Kind, Mode};
use platform::db::{Db, from_row, read};
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use uuid::Uuid;

macro_rules! donations {
    ($rest:literal) => {
        concat!(
            "select e.sequence, e.mode, e.recorded_at, e.amount, e.nonprofit_id, e.fundraiser_id, e.source, e.external_id, ",
            "e.donor, n.name, n.consented_at, d.id as checkout_id, d.email, d.message, d.designation, ",
            "d.partner_id, cast(coalesce((select sum(r.amount) from ledger_entries r where r.refunds = e.sequence), 0) ",
            "as bigint) as refunds from ledger_entries e left join donor_names n on n.sequence = e.sequence ",
            "left join donations d on d.entry = e.sequence where e.kind = $1 and ",
            $rest
        )
    };
}

macro_rules! filtered {
    ($rest:literal) => {
        concat!(
            "($2 is null or e.nonprofit_id = $2) and ($3 is null or e.fundraiser_id = $3) ",
            "and ($4 is null or e.source = $4) and ($5 is null or e.recorded_at >= $5) ",
            "and ($6 is null or e.recorded_at < $6) ",
            $rest
        )
    };
}

const FIND: &str = donations!("e.sequence = $2");
const FIND_BY_CHECKOUT: &str = donations!("(d.id = $2 or d.receipt_id = $2)");

/// Which donations are listed. An empty filter lists all.
#[derive(Clone, Debug, Default)]
pub struct DonationFilter {
    pub nonprofit: Option<NonprofitId>,
    pub fundraiser: Option<FundraiserId>,
    pub source: Option<String>,
    /// Recorded at this time or later.
    pub from: Option<i64>,
    /// Recorded before this time.
    pub until: Option<i64>,
}

/// A donation in the ledger, with what is stored next to it.
#[derive(Clone, Debug)]
pub struct RecordedDonation {
    pub sequence: i64,
    pub mode: Mode,
    pub recorded_at: i64,
    pub amount: Cents,
    /// How much of it was refunded.
    pub refunded: Cents,
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    pub source: String,
    pub external_id: String,
    pub donor: Option<String>,
    pub name: Option<String>,
    pub is_public: bool,
    /// Its ID at our own checkout.
    pub checkout_id: Option<Uuid>,
    pub email: Option<String>,
    pub message: Option<String>,
    pub designation: Option<String>,
    pub partner_id: Option<String>,
}

struct DonationRow {
    sequence: i64,
    mode: String,
    recorded_at: i64,
    amount: i64,
    refunds: i64,
    nonprofit_id: Uuid,
    fundraiser_id: Option<Uuid>,
    source: String,
    external_id: String,
    donor: Option<String>,
    name: Option<String>,
    consented_at: Option<i64>,
    checkout_id: Option<Uuid>,
    email: Option<String>,
    message: Option<String>,
    designation: Option<String>,
    partner_id: Option<String>,
}

from_row!(DonationRow {
    sequence,
    mode,
    recorded_at,
    amount,
    refunds,
    nonprofit_id,
    fundraiser_id,
    source,
    external_id,
    donor,
    name,
    consented_at,
    checkout_id,
    email,
    message,
    designation,
    partner_id,
});

impl From<DonationRow> for RecordedDonation {
    fn from(row: DonationRow) -> RecordedDonation {
        RecordedDonation {
            sequence: row.sequence,
            mode: Mode::find(&row.mode).unwrap_or_default(),
            recorded_at: row.recorded_at,
            amount: Cents::new(row.amount),
            refunded: Cents::new(-row.refunds),
            nonprofit: NonprofitId(row.nonprofit_id),
            fundraiser: row.fundraiser_id.map(FundraiserId),
            source: row.source,
            external_id: row.external_id,
            donor: row.donor,
            name: row.name,
            is_public: row.consented_at.is_some(),
            checkout_id: row.checkout_id,
            email: row.email,
            message: row.message,
            designation: row.designation,
            partner_id: row.partner_id,
        }
    }
}

impl RecordedDonation {
    pub fn state(&self) -> &'static str {
        if self.refunded == Cents::ZERO {
            "completed"
        } else if self.refunded == self.amount {
            "refunded"
        } else {
            "partly refunded"
        }
    }
}

/// Lists donations, newest first.
pub async fn list(
    db: &Db,
    filter: &DonationFilter,
    take: i64,
    skip: i64,
) -> sqlx::Result<Vec<RecordedDonation>> {
    let query = concat!(
        donations!(""),
        filtered!("order by e.sequence desc limit $7 offset $8")
    );
    let rows: Vec<DonationRow> = read!(db, c => sqlx::query_as(query)
        .bind(Kind::Donation.as_str())
        .bind(filter.nonprofit.map(|id| id.0))
        .bind(filter.fundraiser.map(|id| id.0))
        .bind(&filter.source)
        .bind(filter.from)
        .bind(filter.until)
        .bind(take)
        .bind(skip)
        .fetch_all(c)
        .await)?;
    Ok(rows.into_iter().map(RecordedDonation::from).collect())
}

/// Counts donations.
pub async fn count(db: &Db, filter: &DonationFilter) -> sqlx::Result<i64> {
    let query = concat!(
        "select count(*) from ledger_entries e where e.kind = $1 and ",
        filtered!("")
    );
    read!(db, c => sqlx::query_scalar(query)
        .bind(Kind::Donation.as_str())
        .bind(filter.nonprofit.map(|id| id.0))
        .bind(filter.fundraiser.map(|id| id.0))
        .bind(&filter.source)
        .bind(filter.from)
        .bind(filter.until)
        .fetch_one(c)
        .await)
}

/// Finds a donation by its sequence number in the ledger.
pub async fn find(db: &Db, sequence: i64) -> sqlx::Result<Option<RecordedDonation>> {
    let row: Option<DonationRow> = read!(db, c => sqlx::query_as(FIND)
        .bind(Kind::Donation.as_str())
        .bind(sequence)
        .fetch_optional(c)
        .await)?;
    Ok(row.map(RecordedDonation::from))
}

/// Finds a donation by its ID at our own checkout, or by the ID of its receipt.
pub async fn find_by_checkout(db: &Db, id: Uuid) -> sqlx::Result<Option<RecordedDonation>> {
    let row: Option<DonationRow> = read!(db, c => sqlx::query_as(FIND_BY_CHECKOUT)
        .bind(Kind::Donation.as_str())
        .bind(id)
        .fetch_optional(c)
        .await)?;
    Ok(row.map(RecordedDonation::from))
}
