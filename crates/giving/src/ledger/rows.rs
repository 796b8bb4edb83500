//! Converts rows of the ledger's tables to entries, and pads the rows of a statement.

use super::entry::{Draft, Entry, Hash, Head, Kind, Mode, Posting, Totals};
use platform::db::from_row;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use std::iter::repeat;
use uuid::Uuid;

/// The hash of an entry that cannot be read. No entry hashes to it, so an audit finds the damage.
pub(crate) const NO_HASH: Hash = [0xff; 32];

/// A row of `ledger_head`: `entries`, `hash` and `events`, and when the last entry was recorded.
pub(crate) type HeadRow = (i64, Vec<u8>, i64, Option<i64>);

/// A row of `ledger_entries`.
#[derive(Debug)]
pub(crate) struct EntryRow {
    pub sequence: i64,
    kind: String,
    mode: String,
    source: String,
    external_id: String,
    nonprofit_id: Option<Uuid>,
    fundraiser_id: Option<Uuid>,
    donor: Option<String>,
    amount: i64,
    refunds: Option<i64>,
    origin: Option<i64>,
    note: Option<String>,
    recorded_at: i64,
    raised: Option<i64>,
    supporters: Option<i64>,
    hash: Vec<u8>,
}

from_row!(EntryRow {
    sequence,
    kind,
    mode,
    source,
    external_id,
    nonprofit_id,
    fundraiser_id,
    donor,
    amount,
    refunds,
    origin,
    note,
    recorded_at,
    raised,
    supporters,
    hash,
});

/// Converts the row of the head.
pub(crate) fn head((entries, bytes, events, last_at): HeadRow) -> Head {
    Head {
        entries,
        hash: hash(&bytes),
        events,
        last_at: last_at.unwrap_or_default(),
    }
}

/// Builds an entry from its row and its postings.
pub(crate) fn entry(row: EntryRow, postings: Vec<Posting>) -> Entry {
    let known = Kind::find(&row.kind).zip(Mode::find(&row.mode));
    // An entry with an unknown kind or mode is never counted as real money.
    let (kind, mode) = known.unwrap_or((Kind::Donation, Mode::Test));
    Entry {
        sequence: row.sequence,
        draft: Draft {
            kind,
            mode,
            source: row.source,
            external_id: row.external_id,
            nonprofit: row.nonprofit_id.map(NonprofitId),
            fundraiser: row.fundraiser_id.map(FundraiserId),
            donor: row.donor,
            amount: Cents::new(row.amount),
            refunds: row.refunds,
            origin: row.origin,
            note: row.note,
            postings,
            recorded_at: row.recorded_at,
        },
        totals: row.raised.zip(row.supporters).map(|pair| totals(Some(pair))),
        hash: known.map_or(NO_HASH, |_| hash(&row.hash)),
    }
}

/// The totals in the last entry of a fundraiser in one mode: `raised` and `supporters`. Zero if it has no entry yet.
pub(crate) fn totals(row: Option<(i64, i64)>) -> Totals {
    row.map(|(raised, supporters)| Totals {
        raised: Cents::new(raised),
        supporters,
    })
    .unwrap_or_default()
}

fn hash(bytes: &[u8]) -> Hash {
    bytes.try_into().unwrap_or(NO_HASH)
}

/// Pads rows with `None` to the next power of two, so that statements come in few sizes and stay prepared.
pub(crate) fn padded<T>(rows: &[T]) -> impl Iterator<Item = Option<&T>> {
    let size = rows.len().next_power_of_two();
    rows.iter().map(Some).chain(repeat(None)).take(size)
}
