//! The SQL that appends to the ledger: inserts the pending rows of a batch, with one statement per table.
//!
//! Statements come in few sizes, so that they stay prepared: rows are padded with nulls to the next power of two, and the
//! padding is not inserted. SQLite executes all statements as one text, with one round trip to its thread; PostgreSQL
//! executes them one by one.

use super::PendingRows;
use crate::ledger::entry::{Entry, Head, Posting};
use crate::ledger::rows::padded;
use platform::db::{Tx, run};
use sqlx::QueryBuilder;

const ENTRIES: &str = "ledger_entries (sequence, kind, mode, source, external_id, nonprofit_id, fundraiser_id, donor, \
     amount, refunds, origin, note, recorded_at, raised, supporters, hash) select * from (";
const POSTINGS: &str = "ledger_postings (sequence, position, party, party_id, amount) select * from (";
const NAMES: &str = "donor_names (sequence, name, consented_at) select * from (";
const OUTBOX: &str = "outbox (sequence, kind, fundraiser_id, body, created_at) select * from (";
const ROWS_END: &str = ") rows where column1 is not null;";

const MAX_ROWS_PER_STATEMENT: usize = 256;

/// Adds a statement that inserts rows into a table.
macro_rules! insert {
    ($query:ident, $insert:ident $into:ident, $rows:expr, |$row:ident| $($value:expr,)+) => {{
        $query.push($insert).push($into);
        $query.push_values(padded($rows), |mut values, $row| {
            $(values.push_bind($value);)+
        });
        $query.push(ROWS_END);
    }};
}

/// Ends a statement. Executes it now unless statements are combined.
macro_rules! end_statement {
    ($query:ident, $c:ident, $is_combined:ident) => {
        if !$is_combined {
            $query.build().execute(&mut *$c).await?;
            $query.reset();
        }
    };
}

/// Writes and removes all pending rows, and updates the head of the ledger and the outbox.
pub(crate) async fn write(pending: &mut PendingRows, tx: &mut Tx, head: &Head) -> sqlx::Result<()> {
    let PendingRows {
        entries,
        names,
        outbox,
    } = std::mem::take(pending);
    // Every entry has an outbox row.
    if outbox.is_empty() {
        return Ok(());
    }
    let postings: Vec<(i64, i64, &Posting)> = entries.iter().flat_map(|entry| postings(entry)).collect();
    let is_combined = matches!(tx, Tx::Sqlite(_));
    // If a row is refused, the whole transaction is rolled back, so SQLite need not be able to undo a single statement.
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
                entry.and_then(|entry| entry.draft.nonprofit).map(|id| id.0),
                entry.and_then(|entry| entry.draft.fundraiser).map(|id| id.0),
                entry.and_then(|entry| entry.draft.donor.as_ref()),
                entry.map(|entry| entry.draft.amount.get()),
                entry.and_then(|entry| entry.draft.refunds),
                entry.and_then(|entry| entry.draft.origin),
                entry.and_then(|entry| entry.draft.note.as_ref()),
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
            insert!(query, insert NAMES, names, |donor|
                donor.map(|donor| donor.sequence),
                donor.map(|donor| &donor.name),
                donor.and_then(|donor| donor.consented_at),
            );
            end_statement!(query, c, is_combined);
        }
        for outbox in outbox.chunks(MAX_ROWS_PER_STATEMENT) {
            insert!(query, insert OUTBOX, outbox, |row|
                row.map(|row| row.sequence),
                row.map(|row| row.kind),
                row.and_then(|row| row.fundraiser).map(|id| id.0),
                row.map(|row| &row.body),
                row.map(|row| row.created_at),
            );
            end_statement!(query, c, is_combined);
        }
        query.push("update ledger_head set entries = ").push_bind(head.entries);
        query.push(", hash = ").push_bind(head.hash.as_slice());
        query.push(", events = ").push_bind(head.events);
        query.push(" where id = 1").build().execute(c).await.map(|_| ())
    })
}

/// The postings of an entry, with its sequence number and their positions.
fn postings(entry: &Entry) -> impl Iterator<Item = (i64, i64, &Posting)> {
    (0..)
        .zip(&entry.draft.postings)
        .map(|(position, posting)| (entry.sequence, position, posting))
}
