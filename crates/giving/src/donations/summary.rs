//! How much was donated since a time, without reading the whole ledger.

use crate::ledger::entry::{Kind, Mode};
use crate::ledger::store;
use platform::db::{Db, Tx};
use platform::money::Cents;

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
    let entries = store::find_head(&mut tx).await?.entries;
    let first = find_first(&mut tx, entries, since).await?;
    let mut sums = DonationSums::default();
    for (mode, count, amount) in store::sum_since(&mut tx, Kind::Donation, first, since).await? {
        let sum = DonationSum { count, amount };
        match mode {
            Mode::Live => sums.live = sum,
            Mode::Test => sums.test = sum,
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
        let recorded_at = store::find_recorded_at_in(tx, middle).await?;
        // A damaged ledger can have gaps. Look for the first entry before them.
        if recorded_at.is_none_or(|at| at >= since) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}
