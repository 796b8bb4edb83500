//! A transaction of the writer: what its work has read and added so far.

use super::entry::{Draft, Entry, Head, Kind, Mode, Party, Posting};
use super::pending::{self, DonorName, OutboxRow, PendingRows};
use super::state::LedgerState;
use super::store;
use access::accounts::standing::Standing;
use access::accounts::store::find_standing_in;
use platform::db::{StoreError, Tx};
use platform::ids::{AccountId, FundraiserId, NonprofitId};
use platform::money::{AmountOverflow, Cents};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// A transaction in progress, and where the ledger and the outbox end within it.
#[derive(Debug)]
pub struct Batch {
    /// For tables other than those of the ledger and the outbox, whose rows may still be pending.
    pub tx: Tx,
    pub head: Head,
    pub state: LedgerState,
    pub pending: PendingRows,
    /// The standing of each account that was read.
    standings: HashMap<AccountId, Standing>,
}

impl Batch {
    pub fn new(tx: Tx, head: Head, state: LedgerState) -> Batch {
        Batch {
            tx,
            head,
            state,
            pending: PendingRows::default(),
            standings: HashMap::new(),
        }
    }

    /// Finds the standing of an account, with one query for all work of the batch.
    pub(crate) async fn find_standing(&mut self, account: AccountId) -> sqlx::Result<Standing> {
        if let Some(standing) = self.standings.get(&account) {
            return Ok(*standing);
        }
        let standing = find_standing_in(&mut self.tx, account).await?;
        self.standings.insert(account, standing);
        Ok(standing)
    }

    /// Forgets the standing of an account, which has changed.
    pub(crate) fn forget_standing(&mut self, account: AccountId) {
        self.standings.remove(&account);
    }

    /// Finds an entry. One that was stored before this batch comes without its postings.
    pub async fn find(&mut self, source: &str, external_id: &str) -> sqlx::Result<Option<Arc<Entry>>> {
        let key = (source.to_owned(), external_id.to_owned());
        self.state.find(&mut self.tx, &key).await
    }

    /// Lists what each nonprofit still holds of a donation, in the order of its postings.
    pub(crate) async fn find_held(&mut self, donation: i64) -> sqlx::Result<Vec<(Party, Cents)>> {
        self.flush().await?;
        store::list_held(&mut self.tx, donation).await
    }

    /// Lists the postings of an entry that [`find`](Batch::find) returned.
    pub(crate) async fn find_postings(&mut self, entry: &Entry) -> sqlx::Result<Vec<Posting>> {
        if entry.draft.postings.is_empty() {
            store::list_postings_of(&mut self.tx, entry.sequence).await
        } else {
            Ok(entry.draft.postings.clone())
        }
    }

    /// Finds the external ID of the entry of a kind that follows from an entry.
    pub(crate) async fn find_follower(&mut self, origin: i64, kind: Kind) -> sqlx::Result<Option<String>> {
        self.flush().await?;
        store::find_follower(&mut self.tx, origin, kind).await
    }

    /// Returns what is owed to a nonprofit.
    pub(crate) async fn find_owed(&mut self, mode: Mode, nonprofit: NonprofitId) -> sqlx::Result<Cents> {
        self.flush().await?;
        store::find_owed(&mut self.tx, mode, nonprofit).await
    }

    /// Writes the pending rows.
    pub async fn flush(&mut self) -> sqlx::Result<()> {
        pending::store::write(&mut self.pending, &mut self.tx, &self.head).await
    }

    /// Appends an entry to the ledger and a row to the outbox. Adds nothing if it fails.
    ///
    /// Times never go back in the ledger: if the clock was set back, an entry has the time of the one before it.
    pub async fn append(&mut self, mut draft: Draft) -> Result<Arc<Entry>, StoreError<AmountOverflow>> {
        let totals = match draft.fundraiser {
            None => None,
            Some(id) => {
                let donor = draft.donor.clone();
                let balances = self.state.balances(&mut self.tx, (id, draft.mode), donor);
                let (before, net) = balances.await?;
                let totals = before.after(draft.amount, net);
                Some(totals.map_err(StoreError::Refused)?)
            }
        };
        draft.recorded_at = draft.recorded_at.max(self.head.last_at);
        self.head.last_at = draft.recorded_at;
        let entry = Entry::new(self.head.entries + 1, &self.head.hash, draft, totals);
        let entry = Arc::new(entry);
        (self.head.entries, self.head.hash) = (entry.sequence, entry.hash);
        self.state.add(&entry);
        self.pending.entries.push(Arc::clone(&entry));
        let draft = &entry.draft;
        let body = json!({
            "entry": entry.sequence,
            "mode": draft.mode.as_str(),
            "nonprofitId": draft.nonprofit.map(|id| id.0),
            "fundraiserId": draft.fundraiser.map(|id| id.0),
            "amount": draft.amount.get(),
            "raised": totals.map(|totals| totals.raised.get()),
            "supporters": totals.map(|totals| totals.supporters),
        });
        self.add_outbox_row(draft.kind.as_str(), draft.fundraiser, &body, draft.recorded_at);
        Ok(entry)
    }

    /// Adds the name of the donor of a donation, public if the donor consented.
    pub(crate) fn add_donor_name(&mut self, sequence: i64, name: &str, consented_at: Option<i64>) {
        self.pending.names.push(DonorName {
            sequence,
            name: name.to_owned(),
            consented_at,
        });
    }

    /// Adds a row to the outbox.
    pub(crate) fn add_outbox_row(
        &mut self,
        kind: &'static str,
        fundraiser: Option<FundraiserId>,
        body: &Value,
        now: i64,
    ) {
        self.head.events += 1;
        self.pending.outbox.push(OutboxRow {
            sequence: self.head.events,
            kind,
            fundraiser,
            body: body.to_string(),
            created_at: now,
        });
    }
}
