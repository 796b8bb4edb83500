//! How much was donated since a time, without reading the whole ledger.

use crate::ledger::entry::{Kind, Mode};
use platform::db::{Db, Tx, run};
use platform::money::Cents;

const ENTRIES: &str = "select entries from ledger_head";
const RECORDED_AT: &str = "select recorded_at from ledger_entries where sequence = $1";
const SUM: &str = "select mode, kind, count(*), cast(sum(amount) as bigint) from ledger_entries \
     where sequence >= $1 and recorded_at >= $2 group by mode, kind";

/// The donations of one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DonationSum {
    pub count: i64,
    pub amount: Cents,
}

/// The donations since a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DonationSums {
    pub live: DonationSum,
    pub test: DonationSum,
}

/// Sums the donations that were recorded at `since` or later; refunds do not count.
///
/// The ledger has no index of times. Its entries are in the order in which they were recorded, so the first one is found
/// by bisection, with about thirty lookups in a ledger of a billion.
pub async fn sum_since(db: &Db, since: i64) -> sqlx::Result<DonationSums> {
    let mut tx = db.view().await?;
    let entries: i64 = run!(&mut tx, c => sqlx::query_scalar(ENTRIES).fetch_one(c).await)?;
    let first = find_first(&mut tx, entries, since).await?;
    let rows: Vec<(String, String, i64, i64)> =
        run!(&mut tx, c => sqlx::query_as(SUM).bind(first).bind(since).fetch_all(c).await)?;
    let mut sums = DonationSums::default();
    for (mode, kind, count, amount) in rows {
        if Kind::find(&kind) != Some(Kind::Donation) {
            continue;
        }
        let sum = DonationSum {
            count,
            amount: Cents::new(amount),
        };
        match Mode::find(&mode) {
            Some(Mode::Live) => sums.live = sum,
            Some(Mode::Test) => sums.test = sum,
            None => {}
        }
    }
    Ok(sums)
}

/// Finds the first of `entries` entries that was recorded at `since` or later. Returns one more than their number if there
/// is none.
async fn find_first(tx: &mut Tx, entries: i64, since: i64) -> sqlx::Result<i64> {
    let (mut low, mut high) = (1, entries + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let at: Option<i64> =
            run!(&mut *tx, c => sqlx::query_scalar(RECORDED_AT).bind(middle).fetch_optional(c).await)?;
        // A damaged ledger can have gaps; what is after one may be older.
        if at.is_none_or(|at| at >= since) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}
