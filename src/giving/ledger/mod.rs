//! The donation journal: append-only, double entry, numbered without gaps, each entry chained to the one before.
//!
//! Totals of a fundraiser stand in its last entry, so reading them takes one row, and every entry proves them.

pub mod audit;
pub mod entry;
#[cfg(test)]
mod grouped;
pub mod outbox;
pub mod pending;
pub mod prefetch;
pub mod state;
pub mod store;
pub mod writer;

use crate::giving::ledger::pending::Name;
use crate::platform::money::{Cents, TooMuch};
use entry::{Draft, Entry, Party};
use serde_json::json;
use std::sync::Arc;
use writer::Batch;

impl Batch {
    /// The entry of a fact; one of the store comes without its legs.
    pub async fn find(&mut self, source: &str, external_id: &str) -> sqlx::Result<Option<Arc<Entry>>> {
        let fact = (source.to_owned(), external_id.to_owned());
        self.known.find(&mut self.tx, &fact).await
    }

    /// What each nonprofit still holds of a gift, in the order of its legs.
    pub async fn held(&mut self, gift: i64) -> sqlx::Result<Vec<(Party, Cents)>> {
        self.unwritten.write(&mut self.tx, &self.head).await?;
        store::list_held(&mut self.tx, gift).await
    }

    /// Adds an entry at the end of the journal, and the fact to the outbox. Refuses before it adds.
    pub async fn append(&mut self, draft: Draft) -> sqlx::Result<Result<Arc<Entry>, TooMuch>> {
        let totals = match draft.fundraiser {
            None => None,
            Some(id) => {
                let standing = self.known.standing(&mut self.tx, id, draft.donor.clone());
                let (before, net) = standing.await?;
                match before.after(draft.amount, net) {
                    Ok(totals) => Some(totals),
                    Err(refused) => return Ok(Err(refused)),
                }
            }
        };
        let entry = Entry::chained(self.head.entries + 1, &self.head.hash, draft, totals);
        let entry = Arc::new(entry);
        (self.head.entries, self.head.hash) = (entry.sequence, entry.hash);
        self.known.add(&entry);
        self.unwritten.entries.push(Arc::clone(&entry));
        let draft = &entry.draft;
        let body = json!({
            "entry": entry.sequence,
            "nonprofitId": draft.nonprofit.0,
            "fundraiserId": draft.fundraiser.map(|id| id.0),
            "amount": draft.amount.0,
            "raised": totals.map(|totals| totals.raised.0),
            "supporters": totals.map(|totals| totals.supporters),
        });
        self.tell(draft.kind.as_str(), draft.fundraiser, &body, draft.recorded_at);
        Ok(Ok(entry))
    }

    /// Keeps the name of a donor beside a gift, public where they agreed to it.
    pub fn keep_name(&mut self, sequence: i64, name: &str, consented_at: Option<i64>) {
        self.unwritten.names.push(Name {
            sequence,
            text: name.to_owned(),
            consented_at,
        });
    }
}
