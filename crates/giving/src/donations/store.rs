//! Reads recorded donations with everything that is stored about them.
//!
//! This is the one place that joins the entries of the ledger (`ledger/`), the names of donors, the donations of the
//! checkout (`checkout/`) and the titles of fundraisers (`fundraisers/`). It owns no table and writes none: each list needs
//! all of them in one query, and the owners of the tables should not know each other.

use super::comments::Comment;
use super::label::SITE;
use super::listing::{DonationFilter, OwnedDonation, ReceivedDonation, RecordedDonation, Supporter};
use super::receipts::{Facts, RecordedReceipt, StoredReceipt};
use crate::checkout::{Donation, State};
use crate::ledger::entry::{Kind, Mode};
use platform::db::{Db, Tx, from_row, query};
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::money::Cents;
use std::cmp::Reverse;
use uuid::Uuid;

/// The number of donations of an owner that are read at once.
const OWNED_BATCH_SIZE: i64 = 1_000;

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

const LIST: &str = concat!(
    donations!(""),
    filtered!("order by e.sequence desc limit $7 offset $8")
);
const COUNT: &str = concat!(
    "select count(*) from ledger_entries e where e.kind = $1 and ",
    filtered!("")
);
const FIND: &str = donations!("e.sequence = $2");
const FIND_BY_CHECKOUT: &str = donations!("(d.id = $2 or d.receipt_id = $2)");
const LIST_OWNED: &str = "select e.sequence, e.recorded_at, e.fundraiser_id, f.title, e.amount, e.mode, \
     cast(coalesce((select sum(r.amount) from ledger_entries r where r.refunds = e.sequence), 0) as bigint) as refunds, \
     case when n.removed_at is null then n.consented_at end as consented_at, n.name, d.message \
     from ledger_entries e join fundraisers f on f.id = e.fundraiser_id \
     left join donor_names n on n.sequence = e.sequence left join donations d on d.entry = e.sequence \
     where f.account_id = $1 and ($2 is null or f.id = $2) and e.kind = 'donation' and e.sequence > $3 \
     order by e.sequence limit $4";
const LIST_RECEIVED: &str = "select e.sequence, e.recorded_at, f.title, e.amount, \
     cast(coalesce((select sum(r.amount) from ledger_entries r where r.refunds = e.sequence), 0) as bigint) as refunds, \
     o.fee, o.amount as net, case when d.shares_contact then d.name end as name, \
     case when d.shares_contact then d.email end as email \
     from ledger_entries e left join fundraisers f on f.id = e.fundraiser_id \
     left join owed_entries o on o.entry = e.sequence and o.nonprofit_id = e.nonprofit_id \
     left join donations d on d.entry = e.sequence \
     where e.nonprofit_id = $1 and e.mode = $2 and e.kind = 'donation' and e.sequence < $3 \
     order by e.sequence desc limit $4";
const LIST_SUPPORTERS: &str = "select e.sequence, n.name, case when n.removed_at is null then n.consented_at end as consented_at, \
     d.message, e.amount, e.recorded_at from ledger_entries e \
     left join donor_names n on n.sequence = e.sequence left join donations d on d.entry = e.sequence \
     where e.fundraiser_id = $1 and e.mode = $2 and e.kind = 'donation' order by e.sequence desc limit $3";
const LIST_COMMENTS: &str = "select n.sequence, n.name, d.message, e.recorded_at from ledger_entries e \
     join donor_names n on n.sequence = e.sequence left join donations d on d.entry = e.sequence \
     where e.fundraiser_id = $1 and n.consented_at is not null and n.removed_at is null \
     order by e.sequence desc limit $2";

const LIST_RECEIPTS: &str = "select d.id, d.state, coalesce(d.livemode, d.provider <> 'test') as livemode, d.nonprofit_id, \
     d.fundraiser_id, d.amount, d.entry, e.external_id, e.mode, e.nonprofit_id as entry_nonprofit, \
     e.fundraiser_id as entry_fundraiser, e.amount as entry_amount, \
     (select cast(sum(r.amount) as bigint) from ledger_entries r where r.refunds = d.entry) as returned \
     from donations d left join ledger_entries e on e.sequence = d.entry and e.kind = 'donation' and e.source = $1 \
     where d.entry is not null and d.id > $2 order by d.id limit $3";
/// A donation that is pending is about to get its entry.
const LIST_WITHOUT_RECEIPT: &str = "select e.sequence, e.external_id from ledger_entries e \
     where e.kind = 'donation' and e.source = $1 \
     and not exists (select 1 from donations d where d.entry = e.sequence) order by e.sequence limit 200";
const FIND_STATE: &str = "select state from donations where id = $1";
const FIND_FACTS: &str = "select sequence, mode, nonprofit_id, fundraiser_id, amount from ledger_entries \
     where source = $1 and external_id = $2 and kind = 'donation'";

/// Sequence number, mode, nonprofit, fundraiser and amount of a donation in the ledger.
type FactsRow = (i64, String, Option<Uuid>, Option<Uuid>, i64);

struct ReceiptRow {
    id: Uuid,
    state: String,
    livemode: bool,
    nonprofit_id: Uuid,
    fundraiser_id: Option<Uuid>,
    amount: i64,
    entry: i64,
    external_id: Option<String>,
    mode: Option<String>,
    entry_nonprofit: Option<Uuid>,
    entry_fundraiser: Option<Uuid>,
    entry_amount: Option<i64>,
    returned: Option<i64>,
}

from_row!(ReceiptRow {
    id,
    state,
    livemode,
    nonprofit_id,
    fundraiser_id,
    amount,
    entry,
    external_id,
    mode,
    entry_nonprofit,
    entry_fundraiser,
    entry_amount,
    returned,
});

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

/// Lists donations, newest first.
pub async fn list(
    db: &Db,
    filter: &DonationFilter,
    take: i64,
    skip: i64,
) -> sqlx::Result<Vec<RecordedDonation>> {
    let rows: Vec<DonationRow> = db
        .fetch_all(
            query(LIST)
                .bind(Kind::Donation.as_str())
                .bind(filter.nonprofit.map(|id| id.0))
                .bind(filter.fundraiser.map(|id| id.0))
                .bind(&filter.source)
                .bind(filter.from)
                .bind(filter.until)
                .bind(take)
                .bind(skip),
        )
        .await?;
    Ok(rows.into_iter().map(RecordedDonation::from).collect())
}

/// Counts donations.
pub async fn count(db: &Db, filter: &DonationFilter) -> sqlx::Result<i64> {
    db.fetch_scalar(
        query(COUNT)
            .bind(Kind::Donation.as_str())
            .bind(filter.nonprofit.map(|id| id.0))
            .bind(filter.fundraiser.map(|id| id.0))
            .bind(&filter.source)
            .bind(filter.from)
            .bind(filter.until),
    )
    .await
}

/// Finds a donation by its sequence number in the ledger.
pub async fn find(db: &Db, sequence: i64) -> sqlx::Result<Option<RecordedDonation>> {
    let row: Option<DonationRow> = db
        .fetch_optional(query(FIND).bind(Kind::Donation.as_str()).bind(sequence))
        .await?;
    Ok(row.map(RecordedDonation::from))
}

/// Finds a donation by its ID at our own checkout, or by the ID of its receipt.
pub async fn find_by_checkout(db: &Db, id: Uuid) -> sqlx::Result<Option<RecordedDonation>> {
    let row: Option<DonationRow> = db
        .fetch_optional(query(FIND_BY_CHECKOUT).bind(Kind::Donation.as_str()).bind(id))
        .await?;
    Ok(row.map(RecordedDonation::from))
}

struct OwnedRow {
    sequence: i64,
    recorded_at: i64,
    fundraiser_id: Uuid,
    title: String,
    amount: i64,
    mode: String,
    refunds: i64,
    consented_at: Option<i64>,
    name: Option<String>,
    message: Option<String>,
}

from_row!(OwnedRow {
    sequence,
    recorded_at,
    fundraiser_id,
    title,
    amount,
    mode,
    refunds,
    consented_at,
    name,
    message,
});

struct ReceivedRow {
    sequence: i64,
    recorded_at: i64,
    title: Option<String>,
    amount: i64,
    refunds: i64,
    fee: Option<i64>,
    net: Option<i64>,
    name: Option<String>,
    email: Option<String>,
}

from_row!(ReceivedRow {
    sequence,
    recorded_at,
    title,
    amount,
    refunds,
    fee,
    net,
    name,
    email,
});

/// Lists the donations to a nonprofit before an entry of the ledger, newest first.
pub async fn list_received(
    db: &Db,
    nonprofit: NonprofitId,
    mode: Mode,
    before: i64,
    take: i64,
) -> sqlx::Result<Vec<ReceivedDonation>> {
    let rows: Vec<ReceivedRow> = db
        .fetch_all(
            query(LIST_RECEIVED)
                .bind(nonprofit.0)
                .bind(mode.as_str())
                .bind(before)
                .bind(take),
        )
        .await?;
    let donation = |row: ReceivedRow| ReceivedDonation {
        sequence: row.sequence,
        recorded_at: row.recorded_at,
        title: row.title,
        amount: Cents::new(row.amount),
        refunded: Cents::new(-row.refunds),
        fee_and_net: row
            .fee
            .zip(row.net)
            .map(|(fee, net)| (Cents::new(fee), Cents::new(net))),
        name: row.name,
        email: row.email,
    };
    Ok(rows.into_iter().map(donation).collect())
}

/// Lists the next donations to the fundraisers of an account, or to one of them, after an entry of the ledger.
pub async fn list_owned_after(
    db: &Db,
    account: AccountId,
    fundraiser: Option<FundraiserId>,
    after: i64,
) -> sqlx::Result<Vec<OwnedDonation>> {
    let rows: Vec<OwnedRow> = db
        .fetch_all(
            query(LIST_OWNED)
                .bind(account.0)
                .bind(fundraiser.map(|id| id.0))
                .bind(after)
                .bind(OWNED_BATCH_SIZE),
        )
        .await?;
    let donation = |row: OwnedRow| OwnedDonation {
        sequence: row.sequence,
        recorded_at: row.recorded_at,
        fundraiser: FundraiserId(row.fundraiser_id),
        title: row.title,
        amount: Cents::new(row.amount),
        refunded: Cents::new(-row.refunds),
        name: row.consented_at.and(row.name),
        message: row.consented_at.and(row.message),
        mode: Mode::find(&row.mode).unwrap_or_default(),
    };
    Ok(rows.into_iter().map(donation).collect())
}

struct SupporterRow {
    sequence: i64,
    name: Option<String>,
    consented_at: Option<i64>,
    message: Option<String>,
    amount: i64,
    recorded_at: i64,
}

from_row!(SupporterRow {
    sequence,
    name,
    consented_at,
    message,
    amount,
    recorded_at
});

/// Lists the last donations to a fundraiser in any of the modes, newest first.
pub async fn list_supporters(
    db: &Db,
    id: FundraiserId,
    modes: &[Mode],
    take: usize,
) -> sqlx::Result<Vec<Supporter>> {
    let mut found = Vec::new();
    // One query for each mode, so that an index finds the newest without sorting.
    for mode in modes {
        let rows: Vec<SupporterRow> = db
            .fetch_all(
                query(LIST_SUPPORTERS)
                    .bind(id.0)
                    .bind(mode.as_str())
                    .bind(take as i64),
            )
            .await?;
        found.extend(rows.into_iter().map(|row| (row, *mode)));
    }
    found.sort_unstable_by_key(|(row, _)| Reverse(row.sequence));
    found.truncate(take);
    let supporter = |(row, mode): (SupporterRow, Mode)| Supporter {
        name: row.consented_at.and(row.name),
        message: row.consented_at.and(row.message),
        amount: Cents::new(row.amount),
        mode,
        at: row.recorded_at,
    };
    Ok(found.into_iter().map(supporter).collect())
}

from_row!(Comment {
    sequence,
    name,
    message,
    recorded_at,
});

/// Lists the comments on a fundraiser, newest first.
pub async fn list_comments(db: &Db, id: FundraiserId, take: i64) -> sqlx::Result<Vec<Comment>> {
    db.fetch_all(query(LIST_COMMENTS).bind(id.0).bind(take)).await
}

impl From<ReceiptRow> for StoredReceipt {
    fn from(row: ReceiptRow) -> StoredReceipt {
        let ledger = row
            .external_id
            .zip(row.mode)
            .zip(row.entry_nonprofit.zip(row.entry_amount));
        let recorded = ledger.map(|((external_id, mode), (nonprofit, amount))| RecordedReceipt {
            external_id,
            facts: Facts {
                amount: Cents::new(amount),
                mode: Mode::find(&mode).unwrap_or_default(),
                nonprofit,
                fundraiser: row.entry_fundraiser,
            },
            returned: row.returned.map(Cents::new),
        });
        StoredReceipt {
            id: row.id,
            state: row.state,
            facts: Facts {
                amount: Cents::new(row.amount),
                mode: if row.livemode { Mode::Live } else { Mode::Test },
                nonprofit: row.nonprofit_id,
                fundraiser: row.fundraiser_id,
            },
            entry: row.entry,
            recorded,
        }
    }
}

/// Lists up to `take` donations of the checkout that name an entry of the ledger, by their ID after `after`.
pub(crate) async fn list_receipts(tx: &mut Tx, after: Uuid, take: i64) -> sqlx::Result<Vec<StoredReceipt>> {
    let rows: Vec<ReceiptRow> = tx
        .fetch_all(query(LIST_RECEIPTS).bind(SITE).bind(after).bind(take))
        .await?;
    Ok(rows.into_iter().map(StoredReceipt::from).collect())
}

/// Lists entries of donations made here that no donation of the checkout names: sequence number and ID of the donation.
/// Leaves out those that are about to be named.
pub(crate) async fn list_without_receipt(tx: &mut Tx) -> sqlx::Result<Vec<(i64, String)>> {
    let rows: Vec<(i64, String)> = tx.fetch_all(query(LIST_WITHOUT_RECEIPT).bind(SITE)).await?;
    let mut lost = Vec::new();
    for (sequence, external_id) in rows {
        let state: Option<String> = match Uuid::try_parse(&external_id) {
            Ok(id) => tx.fetch_optional_scalar(query(FIND_STATE).bind(id)).await?,
            Err(_) => None,
        };
        if state.as_deref().and_then(State::find) != Some(State::Pending) {
            lost.push((sequence, external_id));
        }
    }
    Ok(lost)
}

/// Returns a donation of the checkout with what the ledger says about it, if it is in the ledger. Logs an error if its row
/// says something else.
pub async fn as_recorded(db: &Db, donation: Donation) -> sqlx::Result<Donation> {
    if donation.entry.is_none() {
        return Ok(donation);
    }
    let facts = query(FIND_FACTS).bind(SITE).bind(donation.id.to_string());
    let row: Option<FactsRow> = db.fetch_optional(facts).await?;
    let recorded = row.and_then(|(sequence, mode, nonprofit, fundraiser, amount)| {
        Some(Donation {
            entry: Some(sequence),
            mode: Mode::find(&mode)?,
            nonprofit: NonprofitId(nonprofit?),
            fundraiser: fundraiser.map(FundraiserId),
            amount: Cents::new(amount),
            ..donation.clone()
        })
    });
    let recorded = recorded.unwrap_or_else(|| Donation {
        entry: None,
        ..donation.clone()
    });
    if recorded != donation {
        tracing::error!(
            donation = %donation.id,
            "a donation differs from its entry in the ledger, which is shown; run causeway check"
        );
    }
    Ok(recorded)
}
