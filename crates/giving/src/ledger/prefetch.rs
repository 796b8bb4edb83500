//! The first query of a transaction: reads the head of the ledger and everything that its work announced it reads.
//!
//! The result is one row, since every row that SQLite returns wakes a task.

use super::entry::{Head, Mode};
use super::rows::{self, sized};
use platform::db::{Tx, run};
use platform::ids::FundraiserId;
use sqlx::{QueryBuilder, Row};
use std::collections::HashSet;
use uuid::Uuid;

const HEAD: &str = "select entries, hash, events";
const OF_HEAD: &str = " from ledger_head where id = 1";
const SEQUENCE: &str = ", (select sequence from ledger_entries where source = ";
const RAISED: &str = ", (select raised from ledger_entries where fundraiser_id = ";
const SUPPORTERS: &str = ", (select supporters from ledger_entries where fundraiser_id = ";
const OF_MODE: &str = " and mode = ";
const LAST: &str = " order by sequence desc limit 1)";
const NET: &str = ", (select cast(sum(amount) as bigint) from ledger_entries where fundraiser_id = ";

/// The source and the external id of a fact.
pub type EntryKey = (String, String);

/// A fundraiser in one mode, which has totals of its own.
pub type FundraiserMode = (FundraiserId, Mode);

/// What work is going to read from the ledger, so that one query can read it for all work in a transaction.
#[derive(Clone, Debug, Default)]
pub struct Prefetch {
    pub key: Option<EntryKey>,
    pub fundraiser: Option<FundraiserId>,
    /// The mode of the entry that is going to be added.
    pub mode: Mode,
    pub donor: Option<String>,
}

impl Prefetch {
    /// The live totals of a fundraiser.
    pub fn of_fundraiser(id: FundraiserId) -> Prefetch {
        Prefetch {
            fundraiser: Some(id),
            ..Prefetch::default()
        }
    }
}

/// A query for all prefetches of a transaction.
#[derive(Debug)]
pub struct PrefetchQuery<'a> {
    pub keys: Vec<&'a EntryKey>,
    pub fundraisers: Vec<FundraiserMode>,
    pub donors: Vec<(FundraiserMode, &'a str)>,
}

/// An answer for each, in the order asked.
#[derive(Debug)]
pub struct PrefetchResult {
    pub head: Head,
    /// The numbers of known facts.
    pub keys: Vec<Option<i64>>,
    /// What was raised, and how many gave.
    pub fundraisers: Vec<Option<(i64, i64)>>,
    pub donors: Vec<Option<i64>>,
}

impl<'a> PrefetchQuery<'a> {
    pub fn new(all: impl Iterator<Item = &'a Prefetch> + Clone) -> PrefetchQuery<'a> {
        let fundraiser = |prefetch: &Prefetch| prefetch.fundraiser.map(|id| (id, prefetch.mode));
        let fundraisers: HashSet<FundraiserMode> = all.clone().filter_map(fundraiser).collect();
        let donor = |prefetch: &'a Prefetch| fundraiser(prefetch).zip(prefetch.donor.as_deref());
        PrefetchQuery {
            keys: all.clone().filter_map(|prefetch| prefetch.key.as_ref()).collect(),
            fundraisers: fundraisers.into_iter().collect(),
            donors: all.filter_map(donor).collect(),
        }
    }

    pub async fn run(&self, tx: &mut Tx) -> sqlx::Result<PrefetchResult> {
        let (head, numbers) = run!(tx, c => {
            let mut query = QueryBuilder::new(HEAD);
            for key in sized(&self.keys) {
                query.push(SEQUENCE).push_bind(key.map(|key| &key.0));
                query.push(" and external_id = ").push_bind(key.map(|key| &key.1)).push(")");
            }
            for fundraiser in sized(&self.fundraisers) {
                let (id, mode) = bound(fundraiser);
                for total in [RAISED, SUPPORTERS] {
                    query.push(total).push_bind(id).push(OF_MODE).push_bind(mode).push(LAST);
                }
            }
            for donor in sized(&self.donors) {
                let (id, mode) = bound(donor.map(|(fundraiser, _)| fundraiser));
                query.push(NET).push_bind(id).push(OF_MODE).push_bind(mode);
                query.push(" and donor = ").push_bind(donor.map(|(_, donor)| *donor)).push(")");
            }
            let row = query.push(OF_HEAD).build().fetch_one(c).await?;
            let head = rows::head((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
            let numbers: sqlx::Result<Vec<Option<i64>>> = (3..row.len()).map(|at| row.try_get(at)).collect();
            Ok((head, numbers?))
        })?;
        let (keys, rest) = numbers.split_at(sized(&self.keys).count());
        let (fundraisers, donors) = rest.split_at(2 * sized(&self.fundraisers).count());
        let pairs = fundraisers.chunks_exact(2).map(|pair| pair[0].zip(pair[1]));
        Ok(PrefetchResult {
            head,
            keys: keys.to_vec(),
            fundraisers: pairs.collect(),
            donors: donors.to_vec(),
        })
    }
}

/// The ID and the mode as they are bound, empty for a row that only pads the statement.
fn bound(fundraiser: Option<&FundraiserMode>) -> (Option<Uuid>, Option<&'static str>) {
    (
        fundraiser.map(|(id, _)| id.0),
        fundraiser.map(|(_, mode)| mode.as_str()),
    )
}
