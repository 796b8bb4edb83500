//! Rows added to the ledger and the outbox that are not written yet: one statement per table writes them all.
//!
//! Statements come in few sizes, so that they stay prepared; rows that are missing to the next size are empty and
//! are left out. SQLite takes several statements as one text, so all of them cost one way to its thread and back;
//! PostgreSQL takes them one by one.

use super::entry::{Entry, Head, Posting};
use super::rows::sized;
use platform::db::{Tx, run};
use platform::ids::FundraiserId;
use sqlx::QueryBuilder;
use std::sync::Arc;

const ENTRIES: &str = "ledger_entries (sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, \
     amount, refunds, recorded_at, raised, supporters, hash) select * from (";
const POSTINGS: &str = "ledger_postings (sequence, position, party, party_id, amount) select * from (";
const NAMES: &str = "donor_names (sequence, name, consented_at) select * from (";
const OUTBOX: &str = "outbox (sequence, kind, fundraiser_id, body, created_at) select * from (";
const ROWS_END: &str = ") rows where column1 is not null;";

/// The most rows of one statement.
const MAX_ROWS_PER_STATEMENT: usize = 256;

/// Rows that wait to be written.
#[derive(Debug, Default)]
pub struct PendingRows {
    pub entries: Vec<Arc<Entry>>,
    pub names: Vec<DonorName>,
    pub outbox: Vec<OutboxRow>,
}

/// The name of the donor of a donation, public if the donor agreed.
#[derive(Debug)]
pub struct DonorName {
    pub sequence: i64,
    pub text: String,
    pub consented_at: Option<i64>,
}

/// A row of the outbox.
#[derive(Debug)]
pub struct OutboxRow {
    pub sequence: i64,
    pub kind: &'static str,
    pub fundraiser: Option<FundraiserId>,
    pub body: String,
    pub at: i64,
}

/// Adds one statement to a text, with all rows of a table that fit.
macro_rules! insert {
    ($query:ident, $insert:ident $into:ident, $rows:expr, |$row:ident| $($value:expr,)+) => {{
        $query.push($insert).push($into);
        $query.push_values(sized($rows), |mut values, $row| {
            $(values.push_bind($value);)+
        });
        $query.push(ROWS_END);
    }};
}

/// Ends a statement: where they do not go together, it goes now.
macro_rules! end_statement {
    ($query:ident, $c:ident, $is_combined:ident) => {
        if !$is_combined {
            $query.build().execute(&mut *$c).await?;
            $query.reset();
        }
    };
}

impl PendingRows {
    /// Writes all rows, and the new head of the ledger and the outbox.
    pub async fn write(&mut self, tx: &mut Tx, head: &Head) -> sqlx::Result<()> {
        let PendingRows {
            entries,
            names,
            outbox,
        } = std::mem::take(self);
        // Every entry has an outbox row.
        if outbox.is_empty() {
            return Ok(());
        }
        let postings: Vec<(i64, i64, &Posting)> = entries.iter().flat_map(|entry| postings(entry)).collect();
        let is_combined = matches!(tx, Tx::Sqlite(_));
        // Where a row is refused the whole transaction is taken back, so SQLite need not copy pages to take back one
        // statement.
        let insert = if is_combined {
            "insert or fail into "
        } else {
            "insert into "
        };
        run!(tx, c => {
            let mut query = QueryBuilder::new("");
            for entries in entries.chunks(MAX_ROWS_PER_STATEMENT) {
                insert!(query, insert ENTRIES, entries, |entry|
                    entry.map(|entry| entry.sequence),
                    entry.map(|entry| entry.draft.kind.as_str()),
                    entry.map(|entry| entry.draft.mode.as_str()),
                    entry.map(|entry| &entry.draft.source),
                    entry.map(|entry| &entry.draft.external_id),
                    entry.map(|entry| entry.draft.nonprofit.0),
                    entry.and_then(|entry| entry.draft.fundraiser).map(|id| id.0),
                    entry.and_then(|entry| entry.draft.donor.as_ref()),
                    entry.map(|entry| entry.draft.amount.get()),
                    entry.and_then(|entry| entry.draft.refunds),
                    entry.map(|entry| entry.draft.recorded_at),
                    entry.and_then(|entry| entry.totals).map(|totals| totals.raised.get()),
                    entry.and_then(|entry| entry.totals).map(|totals| totals.supporters),
                    entry.map(|entry| entry.hash.as_slice()),
                );
                end_statement!(query, c, is_combined);
            }
            for postings in postings.chunks(MAX_ROWS_PER_STATEMENT) {
                insert!(query, insert POSTINGS, postings, |posting|
                    posting.map(|(sequence, ..)| *sequence),
                    posting.map(|(_, position, _)| *position),
                    posting.map(|(.., posting)| posting.party.kind()),
                    posting.map(|(.., posting)| posting.party.id()),
                    posting.map(|(.., posting)| posting.amount.get()),
                );
                end_statement!(query, c, is_combined);
            }
            for names in names.chunks(MAX_ROWS_PER_STATEMENT) {
                insert!(query, insert NAMES, names, |name|
                    name.map(|name| name.sequence),
                    name.map(|name| &name.text),
                    name.and_then(|name| name.consented_at),
                );
                end_statement!(query, c, is_combined);
            }
            for outbox in outbox.chunks(MAX_ROWS_PER_STATEMENT) {
                insert!(query, insert OUTBOX, outbox, |outbox|
                    outbox.map(|outbox| outbox.sequence),
                    outbox.map(|outbox| outbox.kind),
                    outbox.and_then(|outbox| outbox.fundraiser).map(|id| id.0),
                    outbox.map(|outbox| &outbox.body),
                    outbox.map(|outbox| outbox.at),
                );
                end_statement!(query, c, is_combined);
            }
            query.push("update ledger_head set entries = ").push_bind(head.entries);
            query.push(", hash = ").push_bind(head.hash.as_slice());
            query.push(", events = ").push_bind(head.events);
            query.push(" where id = 1").build().execute(c).await.map(|_| ())
        })
    }
}

fn postings(entry: &Entry) -> impl Iterator<Item = (i64, i64, &Posting)> {
    (0..)
        .zip(&entry.draft.postings)
        .map(|(position, posting)| (entry.sequence, position, posting))
}
