//! The first query of a transaction: reads the head of the ledger and everything that its work is going to read.
//!
//! The result is one row, because every row that SQLite returns wakes a task.

use super::{FundraiserMode, PrefetchQuery, PrefetchResult};
use crate::ledger::rows::{self, padded};
use platform::db::{Tx, run};
use sqlx::{QueryBuilder, Row};
use uuid::Uuid;

const HEAD: &str = "select entries, hash, events, \
     (select e.recorded_at from ledger_entries e where e.sequence = ledger_head.entries)";
const OF_HEAD: &str = " from ledger_head where id = 1";
const SEQUENCE: &str = ", (select sequence from ledger_entries where source = ";
const RAISED: &str = ", (select raised from ledger_entries where fundraiser_id = ";
const SUPPORTERS: &str = ", (select supporters from ledger_entries where fundraiser_id = ";
const OF_MODE: &str = " and mode = ";
const LAST: &str = " order by sequence desc limit 1)";
const NET: &str = ", (select cast(sum(amount) as bigint) from ledger_entries where fundraiser_id = ";

/// Runs the query.
pub(crate) async fn find(tx: &mut Tx, prefetch: &PrefetchQuery<'_>) -> sqlx::Result<PrefetchResult> {
    let (head, numbers) = run!(tx, c => {
        let mut query = QueryBuilder::new(HEAD);
        for key in padded(&prefetch.keys) {
            query.push(SEQUENCE).push_bind(key.map(|key| &key.0));
            query.push(" and external_id = ").push_bind(key.map(|key| &key.1)).push(")");
        }
        for fundraiser in padded(&prefetch.fundraisers) {
            let (id, mode) = bind_values(fundraiser);
            for total in [RAISED, SUPPORTERS] {
                query.push(total).push_bind(id).push(OF_MODE).push_bind(mode).push(LAST);
            }
        }
        for donor in padded(&prefetch.donors) {
            let (id, mode) = bind_values(donor.map(|(fundraiser, _)| fundraiser));
            query.push(NET).push_bind(id).push(OF_MODE).push_bind(mode);
            query.push(" and donor = ").push_bind(donor.map(|(_, donor)| *donor)).push(")");
        }
        let row = query.push(OF_HEAD).build().fetch_one(c).await?;
        let head = rows::head((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?));
        let numbers: sqlx::Result<Vec<Option<i64>>> = (4..row.len()).map(|at| row.try_get(at)).collect();
        Ok((head, numbers?))
    })?;
    let (keys, rest) = numbers.split_at(padded(&prefetch.keys).count());
    let (fundraisers, donors) = rest.split_at(2 * padded(&prefetch.fundraisers).count());
    let pairs = fundraisers.chunks_exact(2).map(|pair| pair[0].zip(pair[1]));
    Ok(PrefetchResult {
        head,
        keys: keys.to_vec(),
        fundraisers: pairs.collect(),
        donors: donors.to_vec(),
    })
}

/// The ID and the mode of a fundraiser. Both are null for padding.
fn bind_values(fundraiser: Option<&FundraiserMode>) -> (Option<Uuid>, Option<&'static str>) {
    (
        fundraiser.map(|(id, _)| id.0),
        fundraiser.map(|(_, mode)| mode.as_str()),
    )
}
