//! The SQL of the ledger.

use super::entry::{Balances, Entry, Hash, Head, Mode, Party, Posting, TotalsByMode};
use super::prefetch::FundraiserMode;
use super::rows::{EntryRow, HeadRow, NO_HASH, entry, head, totals};
use platform::db::{Db, Tx, from_row, read, run};
use platform::ids::FundraiserId;
use platform::money::Cents;
use std::cmp::Reverse;
use std::collections::HashMap;

/// A server that dies releases the row after ten seconds.
const LOCK_HEAD: &str = "update ledger_head set entries = entries where id = 1 \
     returning entries, hash, events, set_config('idle_in_transaction_session_timeout', '10s', true)";
const BEFORE_FIRST: &str =
    "select sequence from ledger_entries where sequence < 1 order by sequence limit 100";
const STRAY_POSTINGS: &str = "select distinct sequence from ledger_postings p where (sequence > $1 or sequence < 1) \
     and not exists (select 1 from ledger_entries e where e.sequence = p.sequence) order by sequence limit 100";
const HEAD: &str = "select entries, hash, events from ledger_head where id = 1";

macro_rules! entries {
    ($rest:literal) => {
        concat!(
            "select sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, amount, refunds, ",
            "recorded_at, raised, supporters, hash from ledger_entries ",
            $rest
        )
    };
}

const FIND: &str = entries!("where source = $1 and external_id = $2");
const FIND_HASH: &str = "select hash from ledger_entries where sequence = $1";
const AFTER: &str = entries!("where sequence > $1 order by sequence limit $2");
const POSTINGS_BETWEEN: &str = "select sequence, party, party_id, amount from ledger_postings \
     where sequence > $1 and sequence <= $2 order by sequence, position";
const REFUNDED: &str = "select distinct refunds from ledger_entries where refunds > $1";
const TOTALS: &str = "select mode, raised, supporters from ledger_entries where sequence in ( \
     (select max(sequence) from ledger_entries where fundraiser_id = $1 and mode = 'live'), \
     (select max(sequence) from ledger_entries where fundraiser_id = $1 and mode = 'test'))";
const BALANCES: &str = "select \
     (select raised from ledger_entries where fundraiser_id = $1 and mode = $2 order by sequence desc limit 1), \
     (select supporters from ledger_entries where fundraiser_id = $1 and mode = $2 order by sequence desc limit 1), \
     (select cast(sum(amount) as bigint) from ledger_entries where fundraiser_id = $1 and mode = $2 and donor = $3)";
const HELD: &str = "select cast(p.position as bigint), p.party_id, cast(sum(p.amount) as bigint) from ledger_entries e \
     join ledger_postings p on p.sequence = e.sequence where (e.sequence = $1 or e.refunds = $1) and p.party = 'nonprofit' \
     group by p.position, p.party_id order by p.position";
const NAMES_BETWEEN: &str =
    "select sequence, name, consented_at from donor_names where sequence > $1 and sequence <= $2";
const NAMES_OF: &str = "select sequence, name, consented_at from donor_names \
     where sequence in (select sequence from ledger_entries where donor = $1) order by sequence";
const REMOVE_NAMES_OF: &str =
    "delete from donor_names where sequence in (select sequence from ledger_entries where donor = $1)";

const SUPPORTERS: &str = "select e.sequence, n.name, case when n.removed_at is null then n.consented_at end as consented_at, \
     d.message, e.amount, e.recorded_at from ledger_entries e \
     left join donor_names n on n.sequence = e.sequence left join donations d on d.entry = e.sequence \
     where e.fundraiser_id = $1 and e.mode = $2 and e.kind = 'donation' order by e.sequence desc limit $3";

const SUM: &str = "select count(*), cast(coalesce(sum(amount), 0) as bigint) from ledger_entries \
     where fundraiser_id = $1 and mode = $2";
const ENTRIES_OF: &str = entries!("where fundraiser_id = $1 and mode = $2 order by sequence desc limit $3");

/// Locks the head of the ledger until the transaction ends, so that only one server writes at a time.
pub async fn lock_head(tx: &mut Tx) -> sqlx::Result<Head> {
    let lock = match tx {
        // A transaction that writes holds the whole file.
        Tx::Sqlite(_) => HEAD,
        Tx::Postgres(_) => LOCK_HEAD,
    };
    let row: HeadRow = run!(tx, c => sqlx::query_as(lock).fetch_one(c).await)?;
    Ok(head(row))
}

/// Reads the head of the ledger without a lock.
pub async fn find_head(tx: &mut Tx) -> sqlx::Result<Head> {
    let row: HeadRow = run!(tx, c => sqlx::query_as(HEAD).fetch_one(c).await)?;
    Ok(head(row))
}

/// The entry of a fact, without its postings.
pub async fn find(tx: &mut Tx, source: &str, external_id: &str) -> sqlx::Result<Option<Entry>> {
    let row: Option<EntryRow> =
        run!(tx, c => sqlx::query_as(FIND).bind(source).bind(external_id).fetch_optional(c).await)?;
    Ok(row.map(|row| entry(row, Vec::new())))
}

/// The hash of the entry with a number.
pub async fn find_hash(tx: &mut Tx, sequence: i64) -> sqlx::Result<Option<Hash>> {
    let hash: Option<Vec<u8>> =
        run!(tx, c => sqlx::query_scalar(FIND_HASH).bind(sequence).fetch_optional(c).await)?;
    Ok(hash.map(|hash| hash.try_into().unwrap_or(NO_HASH)))
}

/// The next entries after a number, with their postings.
pub async fn list_after(tx: &mut Tx, sequence: i64, limit: i64) -> sqlx::Result<Vec<Entry>> {
    let rows: Vec<EntryRow> =
        run!(&mut *tx, c => sqlx::query_as(AFTER).bind(sequence).bind(limit).fetch_all(c).await)?;
    let Some(last) = rows.last().map(|row| row.sequence) else {
        return Ok(Vec::new());
    };
    let postings: Vec<(i64, String, String, i64)> =
        run!(tx, c => sqlx::query_as(POSTINGS_BETWEEN).bind(sequence).bind(last).fetch_all(c).await)?;
    let mut postings = postings.into_iter().peekable();
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        let mut own = Vec::new();
        let mut is_damaged = false;
        while let Some((_, party, id, amount)) = postings.next_if(|posting| posting.0 <= row.sequence) {
            let party = Party::find(&party, &id);
            is_damaged |= party.is_none();
            own.extend(party.map(|party| Posting {
                party,
                amount: Cents::new(amount),
            }));
        }
        let mut entry = entry(row, own);
        if is_damaged {
            entry.hash = NO_HASH;
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// Entries with numbers that none has, a hundred at the most.
pub async fn list_before_first(tx: &mut Tx) -> sqlx::Result<Vec<i64>> {
    run!(tx, c => sqlx::query_scalar(BEFORE_FIRST).fetch_all(c).await)
}

/// The numbers after `after` of postings whose entry is not there, a hundred at the most.
pub async fn list_stray_postings(tx: &mut Tx, after: i64) -> sqlx::Result<Vec<i64>> {
    run!(tx, c => sqlx::query_scalar(STRAY_POSTINGS).bind(after).fetch_all(c).await)
}

/// Lists the donations after `after` that have refunds.
pub async fn list_refunded(tx: &mut Tx, after: i64) -> sqlx::Result<Vec<i64>> {
    run!(tx, c => sqlx::query_scalar(REFUNDED).bind(after).fetch_all(c).await)
}

/// The totals of a fundraiser in each mode: one row per mode, found by an index.
pub async fn find_totals(db: &Db, id: FundraiserId) -> sqlx::Result<TotalsByMode> {
    type Row = (String, Option<i64>, Option<i64>);
    let rows: Vec<Row> = read!(db, c => sqlx::query_as(TOTALS).bind(id.0).fetch_all(c).await)?;
    let mut found = TotalsByMode::default();
    for (mode, raised, supporters) in rows {
        if let Some(mode) = Mode::find(&mode) {
            *found.of_mode_mut(mode) = totals(raised.zip(supporters));
        }
    }
    Ok(found)
}

/// The totals of a fundraiser in one mode, and what a donor gave to it in that mode, less refunds.
pub async fn find_balances(
    tx: &mut Tx,
    (id, mode): FundraiserMode,
    donor: Option<&str>,
) -> sqlx::Result<Balances> {
    let (raised, supporters, net): (Option<i64>, Option<i64>, Option<i64>) = run!(tx, c => sqlx::query_as(BALANCES)
        .bind(id.0)
        .bind(mode.as_str())
        .bind(donor)
        .fetch_one(c)
        .await)?;
    let net = donor.map(|_| Cents::new(net.unwrap_or_default()));
    Ok((totals(raised.zip(supporters)), net))
}

/// Lists what each nonprofit still holds of a donation, in the order of its postings.
pub async fn list_held(tx: &mut Tx, donation: i64) -> sqlx::Result<Vec<(Party, Cents)>> {
    let rows: Vec<(i64, String, i64)> =
        run!(tx, c => sqlx::query_as(HELD).bind(donation).fetch_all(c).await)?;
    let held = rows.into_iter().filter_map(|(_, id, amount)| {
        let party = Party::find("nonprofit", &id)?;
        Some((party, Cents::new(amount)))
    });
    Ok(held.collect())
}

/// The names stored next to some donations, and whether they may be shown.
pub async fn list_names(tx: &mut Tx, after: i64, last: i64) -> sqlx::Result<HashMap<i64, (String, bool)>> {
    let rows: Vec<(i64, String, Option<i64>)> =
        run!(tx, c => sqlx::query_as(NAMES_BETWEEN).bind(after).bind(last).fetch_all(c).await)?;
    let named = |(sequence, name, consented_at): (i64, String, Option<i64>)| {
        (sequence, (name, consented_at.is_some()))
    };
    Ok(rows.into_iter().map(named).collect())
}

/// Lists the names stored with the donations of a donor: sequence number, name, and whether it may be shown.
pub async fn list_names_of(tx: &mut Tx, donor: &str) -> sqlx::Result<Vec<(i64, String, bool)>> {
    let rows: Vec<(i64, String, Option<i64>)> =
        run!(tx, c => sqlx::query_as(NAMES_OF).bind(donor).fetch_all(c).await)?;
    let named =
        |(sequence, name, consented_at): (i64, String, Option<i64>)| (sequence, name, consented_at.is_some());
    Ok(rows.into_iter().map(named).collect())
}

/// Removes the names stored with the donations of a donor. Returns how many.
pub async fn remove_names_of(tx: &mut Tx, donor: &str) -> sqlx::Result<u64> {
    run!(tx, c => sqlx::query(REMOVE_NAMES_OF).bind(donor).execute(c).await.map(|done| done.rows_affected()))
}

/// Counts the entries of a fundraiser in any of the modes, and adds up their amounts.
pub async fn sum_entries(db: &Db, id: FundraiserId, modes: &[Mode]) -> sqlx::Result<(i64, Cents)> {
    let (mut count, mut sum) = (0, 0);
    for mode in modes {
        let row: (i64, i64) =
            read!(db, c => sqlx::query_as(SUM).bind(id.0).bind(mode.as_str()).fetch_one(c).await)?;
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
        let rows: Vec<EntryRow> = read!(db, c => sqlx::query_as(ENTRIES_OF)
            .bind(id.0)
            .bind(mode.as_str())
            .bind(take as i64)
            .fetch_all(c)
            .await)?;
        found.extend(rows.into_iter().map(|row| entry(row, Vec::new())));
    }
    found.sort_unstable_by_key(|entry: &Entry| Reverse(entry.sequence));
    found.truncate(take);
    Ok(found)
}

/// A donor of a fundraiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supporter {
    /// Only where they agreed that it is shown.
    pub name: Option<String>,
    /// The same holds for what they wrote.
    pub message: Option<String>,
    pub amount: Cents,
    pub mode: Mode,
    pub at: i64,
}

impl Supporter {
    pub fn is_test(&self) -> bool {
        self.mode == Mode::Test
    }
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
        let rows: Vec<SupporterRow> = read!(db, c => sqlx::query_as(SUPPORTERS)
            .bind(id.0)
            .bind(mode.as_str())
            .bind(take as i64)
            .fetch_all(c)
            .await)?;
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
