//! What was added to journal and outbox and is not written yet: one statement a table writes it all.
//!
//! Statements come in few sizes, so that they stay prepared; rows that are missing to the next size are empty and
//! are left out.

use super::entry::{Entry, Leg};
use crate::db::{Tx, run};
use crate::ids::FundraiserId;
use sqlx::QueryBuilder;
use std::iter::repeat;
use std::sync::Arc;

const INSERT: &str = "insert into journal (sequence, kind, source, external_id, nonprofit_id, fundraiser_id, donor, \
     amount, refunds, recorded_at, raised, supporters, hash) select * from (";
const INSERT_LEGS: &str =
    "insert into journal_legs (sequence, position, party, party_id, amount) select * from (";
const INSERT_NAMES: &str = "insert into gift_names (sequence, name, consented_at) select * from (";
const INSERT_TOLD: &str =
    "insert into outbox (sequence, kind, fundraiser_id, body, created_at) select * from (";
const OF_ROWS: &str = ") rows where column1 is not null";

/// The most rows of one statement.
const MOST_ROWS: usize = 256;

/// Rows that wait to be written.
#[derive(Debug, Default)]
pub struct Unwritten {
    pub entries: Vec<Arc<Entry>>,
    pub names: Vec<Name>,
    pub told: Vec<Told>,
}

/// The name of a donor beside a gift, public where they agreed to it.
#[derive(Debug)]
pub struct Name {
    pub sequence: i64,
    pub name: String,
    pub consented_at: Option<i64>,
}

/// A fact of the outbox.
#[derive(Debug)]
pub struct Told {
    pub sequence: i64,
    pub kind: &'static str,
    pub fundraiser: Option<FundraiserId>,
    pub body: String,
    pub at: i64,
}

impl Unwritten {
    /// Writes all, in their order.
    pub async fn write(&mut self, tx: &mut Tx) -> sqlx::Result<()> {
        let Unwritten { entries, names, told } = std::mem::take(self);
        for entries in entries.chunks(MOST_ROWS) {
            insert(tx, entries).await?;
        }
        let legs: Vec<(i64, i64, &Leg)> = entries.iter().flat_map(|entry| legs(entry)).collect();
        for legs in legs.chunks(MOST_ROWS) {
            insert_legs(tx, legs).await?;
        }
        for names in names.chunks(MOST_ROWS) {
            insert_names(tx, names).await?;
        }
        for told in told.chunks(MOST_ROWS) {
            insert_told(tx, told).await?;
        }
        Ok(())
    }
}

fn legs(entry: &Entry) -> impl Iterator<Item = (i64, i64, &Leg)> {
    (0..)
        .zip(&entry.draft.legs)
        .map(|(position, leg)| (entry.sequence, position, leg))
}

/// The rows, and empty ones up to the next size.
fn sized<T>(rows: &[T]) -> impl Iterator<Item = Option<&T>> {
    let size = rows.len().next_power_of_two();
    rows.iter().map(Some).chain(repeat(None)).take(size)
}

async fn insert(tx: &mut Tx, entries: &[Arc<Entry>]) -> sqlx::Result<()> {
    run!(tx, c => {
        let mut query = QueryBuilder::new(INSERT);
        query.push_values(sized(entries), |mut row, entry| {
            let draft = entry.map(|entry| &entry.draft);
            let totals = entry.and_then(|entry| entry.totals);
            row.push_bind(entry.map(|entry| entry.sequence))
                .push_bind(draft.map(|draft| draft.kind.as_str()))
                .push_bind(draft.map(|draft| &draft.source))
                .push_bind(draft.map(|draft| &draft.external_id))
                .push_bind(draft.map(|draft| draft.nonprofit.0))
                .push_bind(draft.and_then(|draft| draft.fundraiser).map(|id| id.0))
                .push_bind(draft.and_then(|draft| draft.donor.as_ref()))
                .push_bind(draft.map(|draft| draft.amount.0))
                .push_bind(draft.and_then(|draft| draft.refunds))
                .push_bind(draft.map(|draft| draft.recorded_at))
                .push_bind(totals.map(|totals| totals.raised.0))
                .push_bind(totals.map(|totals| totals.supporters))
                .push_bind(entry.map(|entry| entry.hash.as_slice()));
        });
        query.push(OF_ROWS).build().execute(c).await.map(|_| ())
    })
}

async fn insert_legs(tx: &mut Tx, legs: &[(i64, i64, &Leg)]) -> sqlx::Result<()> {
    run!(tx, c => {
        let mut query = QueryBuilder::new(INSERT_LEGS);
        query.push_values(sized(legs), |mut row, leg| {
            row.push_bind(leg.map(|(sequence, ..)| *sequence))
                .push_bind(leg.map(|(_, position, _)| *position))
                .push_bind(leg.map(|(.., leg)| leg.party.kind()))
                .push_bind(leg.map(|(.., leg)| leg.party.id()))
                .push_bind(leg.map(|(.., leg)| leg.amount.0));
        });
        query.push(OF_ROWS).build().execute(c).await.map(|_| ())
    })
}

async fn insert_names(tx: &mut Tx, names: &[Name]) -> sqlx::Result<()> {
    run!(tx, c => {
        let mut query = QueryBuilder::new(INSERT_NAMES);
        query.push_values(sized(names), |mut row, name| {
            row.push_bind(name.map(|name| name.sequence))
                .push_bind(name.map(|name| &name.name))
                .push_bind(name.and_then(|name| name.consented_at));
        });
        query.push(OF_ROWS).build().execute(c).await.map(|_| ())
    })
}

async fn insert_told(tx: &mut Tx, told: &[Told]) -> sqlx::Result<()> {
    run!(tx, c => {
        let mut query = QueryBuilder::new(INSERT_TOLD);
        query.push_values(sized(told), |mut row, told| {
            row.push_bind(told.map(|told| told.sequence))
                .push_bind(told.map(|told| told.kind))
                .push_bind(told.and_then(|told| told.fundraiser).map(|id| id.0))
                .push_bind(told.map(|told| &told.body))
                .push_bind(told.map(|told| told.at));
        });
        query.push(OF_ROWS).build().execute(c).await.map(|_| ())
    })
}
