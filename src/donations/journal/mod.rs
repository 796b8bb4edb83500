//! The donation journal: append-only, double entry, numbered without gaps, each entry chained to the one before.
//!
//! Totals of a fundraiser stand in its last entry, so reading them takes one row, and every entry proves them.

pub mod audit;
pub mod entry;
pub mod outbox;
pub mod proof;
pub mod store;
pub mod writer;

use crate::money::TooMuch;
use entry::{Draft, Entry};
use serde_json::json;
use writer::Batch;

impl Batch {
    /// Writes an entry at the end of the journal, and the fact into the outbox. Refuses before it writes.
    pub async fn append(&mut self, draft: Draft) -> sqlx::Result<Result<Entry, TooMuch>> {
        let totals = match draft.fundraiser {
            None => None,
            Some(id) => {
                let (before, net) = store::find_standing(&mut self.tx, id, draft.donor.as_deref()).await?;
                match before.after(draft.amount, net) {
                    Ok(totals) => Some(totals),
                    Err(refused) => return Ok(Err(refused)),
                }
            }
        };
        let entry = Entry::chained(self.head.entries + 1, &self.head.hash, draft, totals);
        store::insert(&mut self.tx, &entry).await?;
        (self.head.entries, self.head.hash) = (entry.sequence, entry.hash);
        let draft = &entry.draft;
        let body = json!({
            "entry": entry.sequence,
            "nonprofitId": draft.nonprofit.0,
            "fundraiserId": draft.fundraiser.map(|id| id.0),
            "amount": draft.amount.0,
            "raised": totals.map(|totals| totals.raised.0),
            "supporters": totals.map(|totals| totals.supporters),
        });
        self.tell(draft.kind.as_str(), draft.fundraiser, &body, draft.recorded_at)
            .await?;
        Ok(Ok(entry))
    }
}
