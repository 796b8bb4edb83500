//! The SQL of fundraisers, the nonprofits they support and their history.
//!
//! `raised_live` and `raised_test` are what a fundraiser has raised by its last ledger entry. A trigger of the ledger writes
//! them, so that an index has the fundraisers in the order of the amount.

use super::cover::{CoverVisibility, Focus};
use super::{Fundraiser, FundraiserName, beneficiaries};
use crate::ledger::entry::{Beneficiaries, Mode};
use platform::db::{Db, Query, Tx, from_row, query};
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::money::Cents;
use platform::text::escape_like;
use uuid::Uuid;

macro_rules! fundraisers {
    ($rest:literal) => {
        concat!(
            "select id, nonprofit_id, slug, account_id, title, description, cover, cover_focus, starts_at, ends_at, ",
            "goal, offline, created_at, closed_at, hidden_at, hidden_reason, in_review_since, version from fundraisers ",
            $rest
        )
    };
}

const FIND: &str = fundraisers!("where id = $1");
const FIND_BY_SLUG: &str = fundraisers!("where nonprofit_id = $1 and slug = $2");
const OF_ACCOUNT: &str =
    fundraisers!("where account_id = $1 order by created_at desc, id desc limit $2 offset $3");
const TO_APPROVE: &str = "select f.slug, f.title, f.cover, f.cover_focus, f.id, f.nonprofit_id from fundraisers f \
     where f.in_review_since is not null and f.hidden_at is null and f.nonprofit_id = $1 \
     order by f.in_review_since, f.id limit $2";
const OF_NONPROFIT: &str = "select f.slug, f.title, f.cover, f.cover_focus, f.id, f.nonprofit_id from fundraisers f \
     where f.closed_at is null and f.hidden_at is null and f.in_review_since is null \
     and f.id in (select fundraiser_id from fundraiser_nonprofits where nonprofit_id = $1) \
     order by f.created_at desc, f.id desc limit $2";
macro_rules! news {
    ($rest:literal) => {
        concat!(
            "select f.id, f.nonprofit_id, f.slug, f.title, f.description, f.created_at, coalesce((select max(h.changed_at) ",
            "from fundraiser_history h where h.fundraiser_id = f.id), f.created_at) as changed_at from fundraisers f ",
            "where f.closed_at is null and f.hidden_at is null and f.in_review_since is null ",
            $rest
        )
    };
}

/// The published fundraisers that accept donations now, and the others, each in the order of an index.
macro_rules! active {
    ($order:literal) => {
        concat!(
            "select nonprofit_id, id from fundraisers where closed_at is null and hidden_at is null ",
            "and in_review_since is null and (starts_at is null or starts_at <= $1) ",
            "and (ends_at is null or ends_at >= $1) order by ",
            $order,
            "created_at desc, id desc limit $2 offset $3"
        )
    };
}
macro_rules! inactive {
    ($order:literal) => {
        concat!(
            "select nonprofit_id, id from fundraisers where closed_at is null and hidden_at is null ",
            "and in_review_since is null and (starts_at > $1 or ends_at < $1) order by ",
            $order,
            "created_at desc, id desc limit $2 offset $3"
        )
    };
}
const ACTIVE_RECENT: &str = active!("");
const INACTIVE_RECENT: &str = inactive!("");
const ACTIVE_RAISED_LIVE: &str = active!("raised_live - coalesce(offline, 0) desc, ");
const INACTIVE_RAISED_LIVE: &str = inactive!("raised_live - coalesce(offline, 0) desc, ");
const ACTIVE_RAISED_ALL: &str = active!("raised_live + raised_test - coalesce(offline, 0) desc, ");
const INACTIVE_RAISED_ALL: &str = inactive!("raised_live + raised_test - coalesce(offline, 0) desc, ");
const COUNT_PUBLIC: &str = "select count(*) from (select 1 from fundraisers where closed_at is null \
     and hidden_at is null and in_review_since is null limit $1) counted";
const COUNT_ACTIVE: &str = "select count(*) from (select 1 from fundraisers where closed_at is null \
     and hidden_at is null and in_review_since is null and (starts_at is null or starts_at <= $1) \
     and (ends_at is null or ends_at >= $1) limit $2) counted";

const NEWEST: &str = news!("order by f.created_at desc, f.id desc limit $1");
const NEWEST_OF: &str = news!(
    "and f.id in (select fundraiser_id from fundraiser_nonprofits where nonprofit_id = $1) \
     order by f.created_at desc, f.id desc limit $2"
);
const PAGE_IN_REVIEW: &str =
    fundraisers!("where in_review_since is not null order by in_review_since, id limit $1 offset $2");
const PAGE_HIDDEN: &str =
    fundraisers!("where hidden_at is not null order by hidden_at desc, id desc limit $1 offset $2");
const PAGE_ALL: &str = fundraisers!("order by created_at desc, id desc limit $1 offset $2");
const PAGE_LARGE_OFFLINE: &str = fundraisers!(
    "where offline >= $3 and hidden_at is null order by offline desc, id desc limit $1 offset $2"
);
const COUNT_LARGE_OFFLINE: &str =
    "select count(*) from fundraisers where offline >= $1 and hidden_at is null";
const COUNT_IN_REVIEW: &str = "select count(*) from fundraisers where in_review_since is not null";
const COUNT_HIDDEN: &str = "select count(*) from fundraisers where hidden_at is not null";
const COUNT_ALL: &str = "select count(*) from fundraisers";
const OPEN_OF_ACCOUNT: &str =
    "select id from fundraisers where account_id = $1 and closed_at is null order by id";
const APPROVED_OF_ACCOUNT: &str = "select count(*) from fundraisers \
     where account_id = $1 and hidden_at is null and in_review_since is null";
const PAIRS: &str = "select fundraiser_id, nonprofit_id from fundraiser_nonprofits";
const NONPROFITS_OF: &str = "select nonprofit_id from fundraiser_nonprofits where fundraiser_id = $1";
const COUNT_OF_ACCOUNT: &str = "select count(*) from fundraisers where account_id = $1";
const SUPPORTED: &str =
    "select nonprofit_id, weight from fundraiser_nonprofits where fundraiser_id = $1 order by position";
const ALL_SUPPORTED: &str =
    "select fundraiser_id, nonprofit_id, weight from fundraiser_nonprofits order by fundraiser_id, position";
const ALL_OFFLINE: &str = "select id, offline from fundraisers";
const HAS_SLUGS: &str = "select exists (select 1 from fundraisers where nonprofit_id = $1 and slug = $2), \
     exists (select 1 from fundraisers where nonprofit_id = $1 and slug = $3)";
const INSERT: &str = "insert into fundraisers (id, nonprofit_id, slug, account_id, title, description, cover, starts_at, \
     ends_at, goal, offline, created_at, closed_at, version, in_review_since, cover_focus) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
/// PostgreSQL only: a transaction of SQLite that writes holds the whole file.
const LOCK: &str = "select version from fundraisers where id = $1 for update";
const INSERT_SUPPORTED: &str = "insert into fundraiser_nonprofits (fundraiser_id, position, nonprofit_id, weight) values ($1, $2, $3, $4)";
const UPDATE: &str = "update fundraisers set title = $2, description = $3, cover = $4, starts_at = $5, ends_at = $6, \
     goal = $7, offline = $8, closed_at = $9, version = $10, hidden_at = $11, hidden_reason = $12, in_review_since = $13, cover_focus = $14 \
     where id = $1";
const INSERT_CHANGE: &str = "insert into fundraiser_history (fundraiser_id, version, account_id, change, changed_at) \
     values ($1, $2, $3, $4, $5)";
const OF_COVER: &str = "select distinct account_id, hidden_at is null and in_review_since is null \
     from fundraisers where cover = $1";
const COVERS: &str = "select distinct account_id, cover from fundraisers where cover is not null";
const COVERS_BY_FUNDRAISER: &str = "select id, cover from fundraisers where cover is not null order by id";
/// Titles have no index, so only the newest fundraisers are searched. IDs are in the order of creation.
const FIND_BY_TITLE: &str = "select id, title from (select id, title from fundraisers order by id desc limit 20000) newest \
     where lower(title) like $1 escape '\\' limit $2";

/// The columns of a fundraiser as [`fundraisers!`] selects them.
struct FundraiserRow {
    id: Uuid,
    nonprofit_id: Uuid,
    slug: String,
    account_id: Uuid,
    title: String,
    description: Option<String>,
    cover: Option<String>,
    cover_focus: Option<String>,
    starts_at: Option<i64>,
    ends_at: Option<i64>,
    goal: Option<i64>,
    offline: Option<i64>,
    created_at: i64,
    closed_at: Option<i64>,
    hidden_at: Option<i64>,
    hidden_reason: Option<String>,
    in_review_since: Option<i64>,
    version: i64,
}

from_row!(FundraiserRow {
    id,
    nonprofit_id,
    slug,
    account_id,
    title,
    description,
    cover,
    cover_focus,
    starts_at,
    ends_at,
    goal,
    offline,
    created_at,
    closed_at,
    hidden_at,
    hidden_reason,
    in_review_since,
    version,
});

fn fundraiser(row: FundraiserRow, supported: Vec<(Uuid, f64)>) -> Fundraiser {
    Fundraiser {
        id: FundraiserId(row.id),
        nonprofit: NonprofitId(row.nonprofit_id),
        slug: row.slug,
        account: AccountId(row.account_id),
        title: row.title,
        description: row.description,
        cover: row.cover,
        focus: focus(row.cover_focus.as_deref()),
        starts_at: row.starts_at,
        ends_at: row.ends_at,
        goal: row.goal.map(Cents::new),
        offline: row.offline.map(Cents::new),
        created_at: row.created_at,
        closed_at: row.closed_at,
        hidden_at: row.hidden_at,
        hidden_reason: row.hidden_reason,
        in_review_since: row.in_review_since,
        version: row.version,
        supported: supported
            .into_iter()
            .map(|(id, weight)| (NonprofitId(id), weight))
            .collect(),
    }
}

fn focus(stored: Option<&str>) -> Focus {
    stored.and_then(Focus::parse).unwrap_or_default()
}

/// Finds a fundraiser by its ID.
pub async fn find(db: &Db, id: FundraiserId) -> sqlx::Result<Option<Fundraiser>> {
    let row: Option<FundraiserRow> = db.fetch_optional(query(FIND).bind(id.0)).await?;
    with_supported(db, row).await
}

/// Finds a fundraiser of a nonprofit. Fundraisers of other nonprofits are not found.
pub async fn find_of(
    db: &Db,
    nonprofit: NonprofitId,
    name: &FundraiserName,
) -> sqlx::Result<Option<Fundraiser>> {
    match name {
        FundraiserName::Id(id) => {
            let found = find(db, *id).await?;
            Ok(found.filter(|found| found.nonprofit == nonprofit))
        }
        FundraiserName::Slug(slug) => {
            let row: Option<FundraiserRow> = db
                .fetch_optional(query(FIND_BY_SLUG).bind(nonprofit.0).bind(slug))
                .await?;
            with_supported(db, row).await
        }
    }
}

/// Completes a row with the nonprofits that the fundraiser supports.
async fn with_supported(db: &Db, row: Option<FundraiserRow>) -> sqlx::Result<Option<Fundraiser>> {
    let Some(row) = row else { return Ok(None) };
    let supported = db.fetch_all(query(SUPPORTED).bind(row.id)).await?;
    Ok(Some(fundraiser(row, supported)))
}

/// Does the same as [`find`] within a transaction.
pub(super) async fn find_in(tx: &mut Tx, id: FundraiserId) -> sqlx::Result<Option<Fundraiser>> {
    let row: Option<FundraiserRow> = tx.fetch_optional(query(FIND).bind(id.0)).await?;
    let Some(row) = row else { return Ok(None) };
    let supported = tx.fetch_all(query(SUPPORTED).bind(row.id)).await?;
    Ok(Some(fundraiser(row, supported)))
}

/// Lists one page of the fundraisers of an account, newest first, and counts all of them.
pub async fn list_of_account(
    db: &Db,
    account: AccountId,
    skip: i64,
    take: i64,
) -> sqlx::Result<(Vec<Fundraiser>, u64)> {
    let count: i64 = db.fetch_scalar(query(COUNT_OF_ACCOUNT).bind(account.0)).await?;
    let rows: Vec<FundraiserRow> = db
        .fetch_all(query(OF_ACCOUNT).bind(account.0).bind(take).bind(skip))
        .await?;
    let mut list = Vec::with_capacity(rows.len());
    for row in rows {
        list.extend(with_supported(db, Some(row)).await?);
    }
    Ok((list, count as u64))
}

/// The fundraisers that an operator can list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Those in review, oldest first.
    InReview,
    /// Those whose owners report at least this amount as raised elsewhere, the largest first.
    LargeOffline(Cents),
    Hidden,
    All,
}

impl Listing {
    /// Adds the amount to a query, if it has one.
    fn bind(self, query: Query<'_>) -> Query<'_> {
        match self {
            Listing::LargeOffline(amount) => query.bind(amount.get()),
            Listing::InReview | Listing::Hidden | Listing::All => query,
        }
    }
}

/// Lists fundraisers of all accounts.
pub async fn list_page(db: &Db, listing: Listing, take: i64, skip: i64) -> sqlx::Result<Vec<Fundraiser>> {
    let sql = match listing {
        Listing::InReview => PAGE_IN_REVIEW,
        Listing::LargeOffline(_) => PAGE_LARGE_OFFLINE,
        Listing::Hidden => PAGE_HIDDEN,
        Listing::All => PAGE_ALL,
    };
    let rows: Vec<FundraiserRow> = db
        .fetch_all(listing.bind(query(sql).bind(take).bind(skip)))
        .await?;
    let mut list = Vec::with_capacity(rows.len());
    for row in rows {
        list.extend(with_supported(db, Some(row)).await?);
    }
    Ok(list)
}

/// Counts the fundraisers of all accounts.
pub async fn count(db: &Db, listing: Listing) -> sqlx::Result<i64> {
    let sql = match listing {
        Listing::InReview => COUNT_IN_REVIEW,
        Listing::LargeOffline(_) => COUNT_LARGE_OFFLINE,
        Listing::Hidden => COUNT_HIDDEN,
        Listing::All => COUNT_ALL,
    };
    db.fetch_scalar(listing.bind(query(sql))).await
}

/// The order of a list. Active fundraisers always come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    #[default]
    Recent,
    Raised,
}

/// A fundraiser in a list, and the nonprofit that its URL names.
pub type Listed = (NonprofitId, FundraiserId);

/// Lists one page of the published fundraisers. Those that accept donations come first. Amounts that an organizer reports
/// do not count for the order.
pub async fn list_public(
    db: &Db,
    order: Order,
    modes: &[Mode],
    now: i64,
    (take, skip): (i64, i64),
) -> sqlx::Result<Vec<Listed>> {
    let (active, inactive) = match order {
        Order::Recent => (ACTIVE_RECENT, INACTIVE_RECENT),
        Order::Raised if modes.contains(&Mode::Test) => (ACTIVE_RAISED_ALL, INACTIVE_RAISED_ALL),
        Order::Raised => (ACTIVE_RAISED_LIVE, INACTIVE_RAISED_LIVE),
    };
    let mut list = list_part(db, active, now, (take, skip)).await?;
    let missing = take - list.len() as i64;
    if missing > 0 {
        let active_count: i64 = db.fetch_scalar(query(COUNT_ACTIVE).bind(now).bind(skip)).await?;
        list.extend(list_part(db, inactive, now, (missing, skip - active_count)).await?);
    }
    Ok(list)
}

/// Lists one page of the published fundraisers that accept donations, or of the others.
async fn list_part(
    db: &Db,
    sql: &'static str,
    now: i64,
    (take, skip): (i64, i64),
) -> sqlx::Result<Vec<Listed>> {
    let rows: Vec<(Uuid, Uuid)> = db.fetch_all(query(sql).bind(now).bind(take).bind(skip)).await?;
    let ids = rows.into_iter();
    Ok(ids
        .map(|(nonprofit, id)| (NonprofitId(nonprofit), FundraiserId(id)))
        .collect())
}

/// Counts the fundraisers that are published, up to a number.
pub async fn count_public(db: &Db, max: u64) -> sqlx::Result<u64> {
    let count: i64 = db.fetch_scalar(query(COUNT_PUBLIC).bind(max as i64)).await?;
    Ok(count as u64)
}

/// Lists the fundraisers of an account that are not closed.
pub(super) async fn list_open_of_account(tx: &mut Tx, account: AccountId) -> sqlx::Result<Vec<FundraiserId>> {
    let ids: Vec<Uuid> = tx.fetch_scalars(query(OPEN_OF_ACCOUNT).bind(account.0)).await?;
    Ok(ids.into_iter().map(FundraiserId).collect())
}

/// Returns whether an account has a fundraiser that is neither hidden nor in review.
pub(super) async fn has_approved(tx: &mut Tx, account: AccountId) -> sqlx::Result<bool> {
    let count: i64 = tx
        .fetch_scalar(query(APPROVED_OF_ACCOUNT).bind(account.0))
        .await?;
    Ok(count > 0)
}

/// Lists the nonprofits that each fundraiser supports.
pub(crate) async fn list_supported(tx: &mut Tx) -> sqlx::Result<Vec<(FundraiserId, Beneficiaries)>> {
    let rows: Vec<(Uuid, Uuid, f64)> = tx.fetch_all(query(ALL_SUPPORTED)).await?;
    let of_one = |rows: &[(Uuid, Uuid, f64)]| {
        let supported: Vec<_> = rows
            .iter()
            .map(|(_, id, weight)| (NonprofitId(*id), *weight))
            .collect();
        (FundraiserId(rows[0].0), beneficiaries(&supported))
    };
    Ok(rows.chunk_by(|one, next| one.0 == next.0).map(of_one).collect())
}

/// Lists the amount that each fundraiser raised offline, as its owner reported it.
pub(crate) async fn list_offline(tx: &mut Tx) -> sqlx::Result<Vec<(FundraiserId, Option<Cents>)>> {
    let rows: Vec<(Uuid, Option<i64>)> = tx.fetch_all(query(ALL_OFFLINE)).await?;
    Ok(rows
        .into_iter()
        .map(|(id, offline)| (FundraiserId(id), offline.map(Cents::new)))
        .collect())
}

/// Returns, for each of two slugs, whether a fundraiser of the nonprofit has it.
pub(super) async fn has_slugs(
    tx: &mut Tx,
    nonprofit: NonprofitId,
    [first, second]: [&str; 2],
) -> sqlx::Result<[bool; 2]> {
    let (has_first, has_second): (bool, bool) = tx
        .fetch_one(query(HAS_SLUGS).bind(nonprofit.0).bind(first).bind(second))
        .await?;
    Ok([has_first, has_second])
}

/// Locks a fundraiser until the transaction ends.
pub(crate) async fn lock(tx: &mut Tx, id: FundraiserId) -> sqlx::Result<()> {
    if let Tx::Postgres(_) = tx {
        tx.execute(query(LOCK).bind(id.0)).await?;
    }
    Ok(())
}

/// Inserts a fundraiser.
pub(super) async fn insert(tx: &mut Tx, new: &Fundraiser) -> sqlx::Result<()> {
    tx.execute(
        query(INSERT)
            .bind(new.id.0)
            .bind(new.nonprofit.0)
            .bind(&new.slug)
            .bind(new.account.0)
            .bind(&new.title)
            .bind(&new.description)
            .bind(&new.cover)
            .bind(new.starts_at)
            .bind(new.ends_at)
            .bind(new.goal.map(Cents::get))
            .bind(new.offline.map(Cents::get))
            .bind(new.created_at)
            .bind(new.closed_at)
            .bind(new.version)
            .bind(new.in_review_since)
            .bind(new.focus.to_stored()),
    )
    .await?;
    for (position, (id, weight)) in new.supported.iter().enumerate() {
        tx.execute(
            query(INSERT_SUPPORTED)
                .bind(new.id.0)
                .bind(position as i64)
                .bind(id.0)
                .bind(*weight),
        )
        .await?;
    }
    Ok(())
}

/// Updates a fundraiser and adds the change to its history. `by` is `None` for a change from the command line.
pub(super) async fn update(
    tx: &mut Tx,
    changed: &Fundraiser,
    by: Option<AccountId>,
    change: &str,
    now: i64,
) -> sqlx::Result<()> {
    tx.execute(
        query(UPDATE)
            .bind(changed.id.0)
            .bind(&changed.title)
            .bind(&changed.description)
            .bind(&changed.cover)
            .bind(changed.starts_at)
            .bind(changed.ends_at)
            .bind(changed.goal.map(Cents::get))
            .bind(changed.offline.map(Cents::get))
            .bind(changed.closed_at)
            .bind(changed.version)
            .bind(changed.hidden_at)
            .bind(&changed.hidden_reason)
            .bind(changed.in_review_since)
            .bind(changed.focus.to_stored()),
    )
    .await?;
    tx.execute(
        query(INSERT_CHANGE)
            .bind(changed.id.0)
            .bind(changed.version)
            .bind(by.map(|account| account.0))
            .bind(change)
            .bind(now),
    )
    .await
    .map(|_| ())
}

/// Finds out who can see a hosted picture.
pub(super) async fn find_cover_visibility(db: &Db, hosted_id: &str) -> sqlx::Result<CoverVisibility> {
    let rows: Vec<(Uuid, bool)> = db.fetch_all(query(OF_COVER).bind(hosted_id)).await?;
    let fundraisers: Vec<_> = rows
        .into_iter()
        .map(|(owner, is_public)| (AccountId(owner), is_public))
        .collect();
    Ok(CoverVisibility::of(&fundraisers))
}

/// Lists the covers of all fundraisers, including hidden and closed ones, with the accounts of their owners.
pub async fn list_covers(db: &Db) -> sqlx::Result<Vec<(AccountId, String)>> {
    let rows: Vec<(Uuid, String)> = db.fetch_all(query(COVERS)).await?;
    Ok(rows
        .into_iter()
        .map(|(account, cover)| (AccountId(account), cover))
        .collect())
}

/// Lists the fundraisers that have a cover, with the ID of the cover.
pub(crate) async fn list_covers_by_fundraiser(db: &Db) -> sqlx::Result<Vec<(FundraiserId, String)>> {
    let rows: Vec<(Uuid, String)> = db.fetch_all(query(COVERS_BY_FUNDRAISER)).await?;
    Ok(with_fundraiser_ids(rows))
}

/// Finds the newest fundraisers whose titles contain a text.
pub async fn find_by_title(db: &Db, text: &str, take: i64) -> sqlx::Result<Vec<(FundraiserId, String)>> {
    let pattern = format!("%{}%", escape_like(&text.to_lowercase()));
    let rows: Vec<(Uuid, String)> = db
        .fetch_all(query(FIND_BY_TITLE).bind(&pattern).bind(take))
        .await?;
    Ok(with_fundraiser_ids(rows))
}

fn with_fundraiser_ids<T>(rows: Vec<(Uuid, T)>) -> Vec<(FundraiserId, T)> {
    rows.into_iter()
        .map(|(id, value)| (FundraiserId(id), value))
        .collect()
}

/// A fundraiser in a short list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FundraiserSummary {
    pub id: FundraiserId,
    pub nonprofit: NonprofitId,
    pub slug: String,
    pub title: String,
    pub cover: Option<String>,
    pub focus: Focus,
}

struct SummaryRow {
    slug: String,
    title: String,
    cover: Option<String>,
    cover_focus: Option<String>,
    id: Uuid,
    nonprofit_id: Uuid,
}

from_row!(SummaryRow {
    slug,
    title,
    cover,
    cover_focus,
    id,
    nonprofit_id
});

/// Lists the newest published fundraisers that support a nonprofit.
pub async fn list_of_nonprofit(db: &Db, id: NonprofitId, take: i64) -> sqlx::Result<Vec<FundraiserSummary>> {
    list_summaries(db, OF_NONPROFIT, id, take).await
}

/// Lists the fundraisers in review that support a nonprofit alone, oldest first.
pub async fn list_to_approve(db: &Db, id: NonprofitId, take: i64) -> sqlx::Result<Vec<FundraiserSummary>> {
    list_summaries(db, TO_APPROVE, id, take).await
}

async fn list_summaries(
    db: &Db,
    sql: &'static str,
    id: NonprofitId,
    take: i64,
) -> sqlx::Result<Vec<FundraiserSummary>> {
    let rows: Vec<SummaryRow> = db.fetch_all(query(sql).bind(id.0).bind(take)).await?;
    let listed = |row: SummaryRow| FundraiserSummary {
        id: FundraiserId(row.id),
        nonprofit: NonprofitId(row.nonprofit_id),
        slug: row.slug,
        title: row.title,
        cover: row.cover,
        focus: focus(row.cover_focus.as_deref()),
    };
    Ok(rows.into_iter().map(listed).collect())
}

/// Lists every fundraiser with each nonprofit that it supports.
pub(super) async fn list_pairs(db: &Db) -> sqlx::Result<Vec<(FundraiserId, NonprofitId)>> {
    let pairs: Vec<(Uuid, Uuid)> = db.fetch_all(query(PAIRS)).await?;
    Ok(pairs
        .into_iter()
        .map(|(fundraiser, nonprofit)| (FundraiserId(fundraiser), NonprofitId(nonprofit)))
        .collect())
}

/// Lists a fundraiser with each nonprofit that it supports.
pub(super) async fn list_pairs_of(
    db: &Db,
    id: FundraiserId,
) -> sqlx::Result<Vec<(FundraiserId, NonprofitId)>> {
    let nonprofits: Vec<Uuid> = db.fetch_scalars(query(NONPROFITS_OF).bind(id.0)).await?;
    let pairs = nonprofits
        .into_iter()
        .map(|nonprofit| (id, NonprofitId(nonprofit)));
    Ok(pairs.collect())
}

/// A fundraiser in a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedItem {
    pub id: FundraiserId,
    pub nonprofit: NonprofitId,
    pub slug: String,
    pub title: String,
    pub description: Option<String>,
    pub created_at: i64,
    pub changed_at: i64,
}

struct FeedItemRow {
    id: Uuid,
    nonprofit_id: Uuid,
    slug: String,
    title: String,
    description: Option<String>,
    created_at: i64,
    changed_at: i64,
}

from_row!(FeedItemRow {
    id,
    nonprofit_id,
    slug,
    title,
    description,
    created_at,
    changed_at,
});

impl From<FeedItemRow> for FeedItem {
    fn from(row: FeedItemRow) -> FeedItem {
        FeedItem {
            id: FundraiserId(row.id),
            nonprofit: NonprofitId(row.nonprofit_id),
            slug: row.slug,
            title: row.title,
            description: row.description,
            created_at: row.created_at,
            changed_at: row.changed_at,
        }
    }
}

/// Lists the newest published fundraisers.
pub async fn list_newest(db: &Db, take: i64) -> sqlx::Result<Vec<FeedItem>> {
    let rows: Vec<FeedItemRow> = db.fetch_all(query(NEWEST).bind(take)).await?;
    Ok(rows.into_iter().map(FeedItem::from).collect())
}

/// Lists the newest published fundraisers that support a nonprofit, with all that a feed shows.
pub async fn list_newest_of(db: &Db, id: NonprofitId, take: i64) -> sqlx::Result<Vec<FeedItem>> {
    let rows: Vec<FeedItemRow> = db.fetch_all(query(NEWEST_OF).bind(id.0).bind(take)).await?;
    Ok(rows.into_iter().map(FeedItem::from).collect())
}
