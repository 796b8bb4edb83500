//! The SQL of the ledger: reads its head, entries, postings and donor names, and erases names.
//!
//! `pending/store.rs` writes all of them. Queries that join donations of the checkout are in `donations/store.rs`.

use super::entry::{Balances, Entry, Hash, Head, Kind, Mode, Party, Posting, TotalsByMode};
use super::prefetch::FundraiserMode;
use super::rows::{EntryRow, HeadRow, NO_HASH, entry, head, totals};
use platform::db::{Db, Tx, query, run};
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use sqlx::QueryBuilder;
use std::cmp::Reverse;
use std::collections::HashMap;
use uuid::Uuid;

/// PostgreSQL releases the lock ten seconds after a server has died.
const LOCK_HEAD: &str = "update ledger_head set entries = entries where id = 1 \
     returning entries, hash, events, \
     (select e.recorded_at from ledger_entries e where e.sequence = ledger_head.entries), set_config('idle_in_transaction_session_timeout', '10s', true)";
const HEAD: &str = "select entries, hash, events, \
     (select e.recorded_at from ledger_entries e where e.sequence = ledger_head.entries) from ledger_head where id = 1";

macro_rules! entries {
    ($rest:literal) => {
        concat!(
            "select sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, amount, refunds, ",
            "origin, note, recorded_at, raised, supporters, hash from ledger_entries ",
            $rest
        )
    };
}

const FIND: &str = entries!("where source = $1 and external_id = $2");
const FIND_HASH: &str = "select hash from ledger_entries where sequence = $1";
const FIND_LAST: &str = "select sequence, recorded_at from ledger_entries order by sequence desc limit 1";
const FIND_RECORDED_AT: &str = "select recorded_at from ledger_entries where sequence = $1";
const FIND_FUNDRAISER: &str =
    "select fundraiser_id from ledger_entries where sequence = $1 and fundraiser_id is not null";
const LIST_AFTER: &str = entries!("where sequence > $1 order by sequence limit $2");
const LIST_LAST_OF: &str = entries!("where fundraiser_id = $1 and mode = $2 order by sequence desc limit $3");
const LIST_ABOUT: &str = entries!(
    "where sequence in (select sequence from ledger_entries where sequence = $1 or refunds = $1 \
     union select s.sequence from ledger_entries e join ledger_entries s on s.origin = e.sequence \
     where e.sequence = $1 or e.refunds = $1) order by sequence limit 200"
);
const LIST_BEFORE_FIRST: &str =
    "select sequence from ledger_entries where sequence < 1 order by sequence limit 100";
const LIST_REFUNDED: &str = "select distinct refunds from ledger_entries where refunds > $1";
const LIST_POSTINGS: &str = "select sequence, party, party_id, amount from ledger_postings \
     where sequence > $1 and sequence <= $2 order by sequence, position";
const LIST_ORIGINS: &str = entries!(
    "where sequence in (select origin from ledger_entries where sequence > $1 and sequence <= $2 and origin is not null) \
     order by sequence"
);
const LIST_ORIGIN_POSTINGS: &str = "select sequence, party, party_id, amount from ledger_postings where sequence in \
     (select origin from ledger_entries where sequence > $1 and sequence <= $2 and origin is not null) \
     order by sequence, position";
const FIND_FOLLOWER: &str = "select external_id from ledger_entries where origin = $1 and kind = $2";
const LIST_FOLLOWED_TWICE: &str = "select e.sequence from ledger_entries e where e.sequence > $1 and e.origin is not null \
     and exists (select 1 from ledger_entries o where o.origin = e.origin and o.kind = e.kind and o.sequence < e.sequence) \
     order by e.sequence limit 100";
const OWED: &str = "select cast(coalesce(-sum(p.amount), 0) as bigint) from ledger_postings p \
     join ledger_entries e on e.sequence = p.sequence where p.party = 'owed' and p.party_id = $1 and e.mode = $2";
const LIST_STRAY_POSTINGS: &str = "select distinct sequence from ledger_postings p \
     where (sequence > $1 or sequence < 1) \
     and not exists (select 1 from ledger_entries e where e.sequence = p.sequence) order by sequence limit 100";
const LIST_SHARES: &str = "select party_id, amount from ledger_postings \
     where sequence = $1 and party = 'nonprofit' order by position";
const LIST_HELD: &str = "select cast(p.position as bigint), p.party_id, cast(sum(p.amount) as bigint) \
     from ledger_entries e join ledger_postings p on p.sequence = e.sequence \
     where (e.sequence = $1 or e.refunds = $1) and p.party = 'nonprofit' \
     group by p.position, p.party_id order by p.position";
const TOTALS: &str = "select mode, raised, supporters from ledger_entries where sequence in ( \
     (select max(sequence) from ledger_entries where fundraiser_id = $1 and mode = 'live'), \
     (select max(sequence) from ledger_entries where fundraiser_id = $1 and mode = 'test'))";
const BALANCES: &str = "select \
     (select raised from ledger_entries where fundraiser_id = $1 and mode = $2 order by sequence desc limit 1), \
     (select supporters from ledger_entries where fundraiser_id = $1 and mode = $2 order by sequence desc limit 1), \
     (select cast(sum(amount) as bigint) from ledger_entries where fundraiser_id = $1 and mode = $2 and donor = $3)";
const REMAINING: &str = "select cast(coalesce(sum(amount), 0) as bigint), \
     cast(coalesce(-sum(case when kind in ('dispute', 'dispute_won') then amount else 0 end), 0) as bigint) \
     from ledger_entries where sequence = $1 or refunds = $1";
const FIND_CASH: &str = "select cast(coalesce(sum(p.amount), 0) as bigint) from ledger_entries e \
     left join ledger_postings p on p.sequence = e.sequence and p.party = 'cash' \
     where e.source = $1 and e.external_id = $2 group by e.sequence";
const SUM_CASH: &str = "select cast(coalesce(sum(p.amount), 0) as bigint) from ledger_postings p \
     join ledger_entries e on e.sequence = p.sequence where p.party = 'cash' and e.mode = $1";
const SUM_ACCOUNTS: &str = "select p.party, cast(sum(p.amount) as bigint) from ledger_postings p \
     join ledger_entries e on e.sequence = p.sequence \
     where p.sequence > $1 and p.party in ('cash', 'fees', 'bank', 'operator', 'owed') and e.mode = $2 group by p.party";
const LIST_NAMES_FROM: &str = "select sequence, external_id, amount from ledger_entries \
     where source = $1 and mode = $2 and sequence > $3 and recorded_at >= $4 order by sequence limit $5";
const SUM_OF: &str = "select count(*), cast(coalesce(sum(amount), 0) as bigint) from ledger_entries \
     where fundraiser_id = $1 and mode = $2 and kind <> 'offline'";
const SUM_SINCE: &str = "select mode, count(*), cast(sum(amount) as bigint) from ledger_entries \
     where sequence >= $1 and recorded_at >= $2 and kind = $3 group by mode";
const LIST_NAMES: &str =
    "select sequence, name, consented_at from donor_names where sequence > $1 and sequence <= $2";
const LIST_NAMES_OF: &str = "select sequence, name, consented_at from donor_names \
     where sequence in (select sequence from ledger_entries where donor = $1) order by sequence";
const REMOVE_NAMES_OF: &str =
    "delete from donor_names where sequence in (select sequence from ledger_entries where donor = $1)";
const REMOVE_NAMES: &str = "delete from donor_names where sequence in (";
const HIDE_NAME: &str = "update donor_names set removed_at = $2 \
     where sequence = $1 and consented_at is not null and removed_at is null";

/// A row of `ledger_postings`: `sequence`, `party`, `party_id` and `amount`.
type PostingRow = (i64, String, String, i64);

/// The number of names that one statement removes.
const MAX_NAMES_PER_STATEMENT: usize = 1_000;

/// Locks the head of the ledger until the transaction ends, so that only one server writes at a time.
pub(crate) async fn lock_head(tx: &mut Tx) -> sqlx::Result<Head> {
    let lock = match tx {
        // A transaction that writes holds the whole file.
        Tx::Sqlite(_) => HEAD,
        Tx::Postgres(_) => LOCK_HEAD,
    };
    let row: HeadRow = tx.fetch_one(query(lock)).await?;
    Ok(head(row))
}

/// Reads the head of the ledger without a lock.
pub async fn find_head(tx: &mut Tx) -> sqlx::Result<Head> {
    let row: HeadRow = tx.fetch_one(query(HEAD)).await?;
    Ok(head(row))
}

/// Finds an entry by its source and external ID, without its postings.
pub async fn find(tx: &mut Tx, source: &str, external_id: &str) -> sqlx::Result<Option<Entry>> {
    let row: Option<EntryRow> = tx
        .fetch_optional(query(FIND).bind(source).bind(external_id))
        .await?;
    Ok(row.map(|row| entry(row, Vec::new())))
}

/// Finds the hash of an entry. A hash of the wrong length is [`NO_HASH`].
pub(crate) async fn find_hash(tx: &mut Tx, sequence: i64) -> sqlx::Result<Option<Hash>> {
    let hash: Option<Vec<u8>> = tx.fetch_optional_scalar(query(FIND_HASH).bind(sequence)).await?;
    Ok(hash.map(|hash| hash.try_into().unwrap_or(NO_HASH)))
}

/// Lists the next entries after a sequence number, with their postings.
pub(crate) async fn list_after(tx: &mut Tx, sequence: i64, limit: i64) -> sqlx::Result<Vec<Entry>> {
    let rows: Vec<EntryRow> = tx.fetch_all(query(LIST_AFTER).bind(sequence).bind(limit)).await?;
    let Some(last) = rows.last().map(|row| row.sequence) else {
        return Ok(Vec::new());
    };
    let postings: Vec<PostingRow> = tx
        .fetch_all(query(LIST_POSTINGS).bind(sequence).bind(last))
        .await?;
    Ok(with_postings(rows, postings))
}

/// Lists the entries that those after `after` up to `last` follow from, with their postings.
pub(crate) async fn list_origins(tx: &mut Tx, after: i64, last: i64) -> sqlx::Result<Vec<Entry>> {
    let rows: Vec<EntryRow> = tx.fetch_all(query(LIST_ORIGINS).bind(after).bind(last)).await?;
    let postings: Vec<PostingRow> = tx
        .fetch_all(query(LIST_ORIGIN_POSTINGS).bind(after).bind(last))
        .await?;
    Ok(with_postings(rows, postings))
}

/// Lists the postings of one entry.
pub(crate) async fn list_postings_of(tx: &mut Tx, sequence: i64) -> sqlx::Result<Vec<Posting>> {
    let rows: Vec<PostingRow> = tx
        .fetch_all(query(LIST_POSTINGS).bind(sequence - 1).bind(sequence))
        .await?;
    Ok(rows.into_iter().filter_map(posting).collect())
}

/// Finds the external ID of the entry of a kind that follows from an entry.
pub(crate) async fn find_follower(tx: &mut Tx, origin: i64, kind: Kind) -> sqlx::Result<Option<String>> {
    tx.fetch_optional_scalar(query(FIND_FOLLOWER).bind(origin).bind(kind.as_str()))
        .await
}

/// Lists up to 100 entries after `after` that follow from an entry which an earlier one of the same kind follows from.
pub(crate) async fn list_followed_twice(tx: &mut Tx, after: i64) -> sqlx::Result<Vec<i64>> {
    tx.fetch_scalars(query(LIST_FOLLOWED_TWICE).bind(after)).await
}

/// Returns what is owed to a nonprofit.
pub(crate) async fn find_owed(tx: &mut Tx, mode: Mode, nonprofit: NonprofitId) -> sqlx::Result<Cents> {
    let owed = query(OWED).bind(nonprofit.to_string()).bind(mode.as_str());
    tx.fetch_scalar(owed).await.map(Cents::new)
}

/// Combines rows of entries with the rows of their postings, both in order.
fn with_postings(rows: Vec<EntryRow>, postings: Vec<PostingRow>) -> Vec<Entry> {
    let mut postings = postings.into_iter().peekable();
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        let mut own = Vec::new();
        let mut is_damaged = false;
        while let Some(found) = postings.next_if(|posting| posting.0 <= row.sequence) {
            let posting = posting(found);
            is_damaged |= posting.is_none();
            own.extend(posting);
        }
        let mut entry = entry(row, own);
        if is_damaged {
            entry.hash = NO_HASH;
        }
        entries.push(entry);
    }
    entries
}

/// Converts a row. `None` if its party is unknown.
fn posting((_, party, id, amount): PostingRow) -> Option<Posting> {
    Some(Posting {
        party: Party::find(&party, &id)?,
        amount: Cents::new(amount),
    })
}

/// Lists up to 100 entries numbered below 1.
pub(crate) async fn list_before_first(tx: &mut Tx) -> sqlx::Result<Vec<i64>> {
    tx.fetch_scalars(query(LIST_BEFORE_FIRST)).await
}

/// Lists up to 100 sequence numbers after `after`, or below 1, of postings without an entry.
pub(crate) async fn list_stray_postings(tx: &mut Tx, after: i64) -> sqlx::Result<Vec<i64>> {
    tx.fetch_scalars(query(LIST_STRAY_POSTINGS).bind(after)).await
}

/// Lists the donations after `after` that have refunds.
pub(crate) async fn list_refunded(tx: &mut Tx, after: i64) -> sqlx::Result<Vec<i64>> {
    tx.fetch_scalars(query(LIST_REFUNDED).bind(after)).await
}

/// Finds the totals of a fundraiser in each mode: one row per mode, found by an index.
pub async fn find_totals(db: &Db, id: FundraiserId) -> sqlx::Result<TotalsByMode> {
    type Row = (String, Option<i64>, Option<i64>);
    let rows: Vec<Row> = db.fetch_all(query(TOTALS).bind(id.0)).await?;
    let mut found = TotalsByMode::default();
    for (mode, raised, supporters) in rows {
        if let Some(mode) = Mode::find(&mode) {
            *found.of_mode_mut(mode) = totals(raised.zip(supporters));
        }
    }
    Ok(found)
}

/// Finds the totals of a fundraiser in one mode, and what a donor gave to it in that mode, net of refunds.
pub(crate) async fn find_balances(
    tx: &mut Tx,
    (id, mode): FundraiserMode,
    donor: Option<&str>,
) -> sqlx::Result<Balances> {
    let (raised, supporters, net): (Option<i64>, Option<i64>, Option<i64>) = tx
        .fetch_one(query(BALANCES).bind(id.0).bind(mode.as_str()).bind(donor))
        .await?;
    let net = donor.map(|_| Cents::new(net.unwrap_or_default()));
    Ok((totals(raised.zip(supporters)), net))
}

/// Lists what each nonprofit still holds of a donation, in the order of its postings.
pub(crate) async fn list_held(tx: &mut Tx, donation: i64) -> sqlx::Result<Vec<(Party, Cents)>> {
    let rows: Vec<(i64, String, i64)> = tx.fetch_all(query(LIST_HELD).bind(donation)).await?;
    let held = rows.into_iter().filter_map(|(_, id, amount)| {
        let party = Party::find("nonprofit", &id)?;
        Some((party, Cents::new(amount)))
    });
    Ok(held.collect())
}

/// Lists the names of donors of the entries after `after` up to `last`, and whether they are public.
pub(crate) async fn list_names(
    tx: &mut Tx,
    after: i64,
    last: i64,
) -> sqlx::Result<HashMap<i64, (String, bool)>> {
    let rows: Vec<(i64, String, Option<i64>)> =
        tx.fetch_all(query(LIST_NAMES).bind(after).bind(last)).await?;
    let name = |(sequence, name, consented_at): (i64, String, Option<i64>)| {
        (sequence, (name, consented_at.is_some()))
    };
    Ok(rows.into_iter().map(name).collect())
}

/// Lists the names stored with the donations of a donor: sequence number, name, and whether it is public.
pub(crate) async fn list_names_of(tx: &mut Tx, donor: &str) -> sqlx::Result<Vec<(i64, String, bool)>> {
    let rows: Vec<(i64, String, Option<i64>)> = tx.fetch_all(query(LIST_NAMES_OF).bind(donor)).await?;
    let name =
        |(sequence, name, consented_at): (i64, String, Option<i64>)| (sequence, name, consented_at.is_some());
    Ok(rows.into_iter().map(name).collect())
}

/// Removes the names stored with the donations of a donor. Returns how many.
pub(crate) async fn remove_names_of(tx: &mut Tx, donor: &str) -> sqlx::Result<u64> {
    tx.execute(query(REMOVE_NAMES_OF).bind(donor)).await
}

/// Counts the donations and refunds of a fundraiser in any of the modes, and adds up their amounts.
pub async fn sum_donations(db: &Db, id: FundraiserId, modes: &[Mode]) -> sqlx::Result<(i64, Cents)> {
    let (mut count, mut sum) = (0, 0);
    for mode in modes {
        let row: (i64, i64) = db.fetch_one(query(SUM_OF).bind(id.0).bind(mode.as_str())).await?;
        count += row.0;
        sum += row.1;
    }
    Ok((count, Cents::new(sum)))
}

/// Lists the last entries of a fundraiser in any of the modes, newest first, without their postings.
pub async fn list_entries_of(
    db: &Db,
    id: FundraiserId,
    modes: &[Mode],
    take: usize,
) -> sqlx::Result<Vec<Entry>> {
    let mut found = Vec::new();
    for mode in modes {
        let rows: Vec<EntryRow> = db
            .fetch_all(
                query(LIST_LAST_OF)
                    .bind(id.0)
                    .bind(mode.as_str())
                    .bind(take as i64),
            )
            .await?;
        found.extend(rows.into_iter().map(|row| entry(row, Vec::new())));
    }
    found.sort_unstable_by_key(|entry: &Entry| Reverse(entry.sequence));
    found.truncate(take);
    Ok(found)
}

/// Lists the entries about a donation, oldest first, without their postings: itself, its refunds and disputes, and what
/// settled each of them.
pub async fn list_about(db: &Db, donation: i64) -> sqlx::Result<Vec<Entry>> {
    let rows: Vec<EntryRow> = db.fetch_all(query(LIST_ABOUT).bind(donation)).await?;
    Ok(rows.into_iter().map(|row| entry(row, Vec::new())).collect())
}

/// Adds up the postings of the books in a mode, after a sequence number, for each kind of account.
pub(crate) async fn sum_accounts(db: &Db, mode: Mode, after: i64) -> sqlx::Result<Vec<(String, Cents)>> {
    let sum = query(SUM_ACCOUNTS).bind(after).bind(mode.as_str());
    let rows: Vec<(String, i64)> = db.fetch_all(sum).await?;
    Ok(rows
        .into_iter()
        .map(|(party, sum)| (party, Cents::new(sum)))
        .collect())
}

/// Finds the sequence number of the last entry, and when it was recorded.
pub async fn find_last(db: &Db) -> sqlx::Result<Option<(i64, i64)>> {
    db.fetch_optional(query(FIND_LAST)).await
}

/// Finds when an entry was recorded.
pub async fn find_recorded_at(db: &Db, sequence: i64) -> sqlx::Result<Option<i64>> {
    db.fetch_optional_scalar(query(FIND_RECORDED_AT).bind(sequence))
        .await
}

/// Does the same within a transaction.
pub(crate) async fn find_recorded_at_in(tx: &mut Tx, sequence: i64) -> sqlx::Result<Option<i64>> {
    tx.fetch_optional_scalar(query(FIND_RECORDED_AT).bind(sequence))
        .await
}

/// Finds the fundraiser of an entry.
pub async fn find_fundraiser(db: &Db, sequence: i64) -> sqlx::Result<Option<FundraiserId>> {
    let id: Option<Uuid> = db
        .fetch_optional_scalar(query(FIND_FUNDRAISER).bind(sequence))
        .await?;
    Ok(id.map(FundraiserId))
}

/// What is left of a donation after its refunds and disputes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remaining {
    pub amount: Cents,
    /// What the donor's bank withdrew and did not return.
    pub disputed: Cents,
}

/// Returns what an entry added to the balance at Stripe, if there is such an entry.
pub(crate) async fn find_cash(db: &Db, source: &str, external_id: &str) -> sqlx::Result<Option<Cents>> {
    let find = query(FIND_CASH).bind(source).bind(external_id);
    let cash: Option<i64> = db.fetch_optional_scalar(find).await?;
    Ok(cash.map(Cents::new))
}

/// Returns the balance at Stripe, as the books have it.
pub(crate) async fn sum_cash(db: &Db, mode: Mode) -> sqlx::Result<Cents> {
    let cash: i64 = db.fetch_scalar(query(SUM_CASH).bind(mode.as_str())).await?;
    Ok(Cents::new(cash))
}

/// Lists the next entries of a source that were recorded since a time: their sequence numbers, external IDs and amounts.
pub(crate) async fn list_names_from(
    db: &Db,
    (source, mode): (&str, Mode),
    after: i64,
    since: i64,
    take: i64,
) -> sqlx::Result<Vec<(i64, String, i64)>> {
    let list = query(LIST_NAMES_FROM)
        .bind(source)
        .bind(mode.as_str())
        .bind(after)
        .bind(since)
        .bind(take);
    db.fetch_all(list).await
}

/// Returns what is left of a donation after its refunds and disputes.
pub(crate) async fn find_remaining(db: &Db, donation: i64) -> sqlx::Result<Remaining> {
    let (amount, disputed): (i64, i64) = db.fetch_one(query(REMAINING).bind(donation)).await?;
    Ok(Remaining {
        amount: Cents::new(amount),
        disputed: Cents::new(disputed),
    })
}

/// Lists what each nonprofit receives by an entry.
pub(crate) async fn list_shares(db: &Db, sequence: i64) -> sqlx::Result<Vec<(NonprofitId, Cents)>> {
    let rows: Vec<(String, i64)> = db.fetch_all(query(LIST_SHARES).bind(sequence)).await?;
    let share = |(id, amount): (String, i64)| {
        let id = Uuid::try_parse(&id).ok()?;
        Some((NonprofitId(id), Cents::new(amount)))
    };
    Ok(rows.into_iter().filter_map(share).collect())
}

/// Counts the entries of a kind from `first` on that were recorded at `since` or later, and adds up their amounts, for
/// each mode.
pub async fn sum_since(
    tx: &mut Tx,
    kind: Kind,
    first: i64,
    since: i64,
) -> sqlx::Result<Vec<(Mode, i64, Cents)>> {
    let rows: Vec<(String, i64, i64)> = tx
        .fetch_all(query(SUM_SINCE).bind(first).bind(since).bind(kind.as_str()))
        .await?;
    let sum =
        |(mode, count, amount): (String, i64, i64)| Some((Mode::find(&mode)?, count, Cents::new(amount)));
    Ok(rows.into_iter().filter_map(sum).collect())
}

/// Removes the names stored with entries. Returns how many.
pub(crate) async fn remove_names(tx: &mut Tx, entries: &[i64]) -> sqlx::Result<u64> {
    let mut removed = 0;
    for entries in entries.chunks(MAX_NAMES_PER_STATEMENT) {
        removed += run!(&mut *tx, c => {
            let mut query = QueryBuilder::new(REMOVE_NAMES);
            let mut list = query.separated(", ");
            for entry in entries {
                list.push_bind(*entry);
            }
            list.push_unseparated(")");
            query.build().execute(c).await.map(|done| done.rows_affected())
        })?;
    }
    Ok(removed)
}

/// Hides the public name stored with an entry, and the message with it, from public pages. Returns `false` if there is none.
pub(crate) async fn hide_name(tx: &mut Tx, sequence: i64, now: i64) -> sqlx::Result<bool> {
    let hidden = tx.execute(query(HIDE_NAME).bind(sequence).bind(now)).await?;
    Ok(hidden > 0)
}
