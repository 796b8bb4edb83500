//! The state of the ledger within a transaction: what was prefetched, updated by the entries added since.
//!
//! Entries update this state before they are written. What is missing here was not changed by any entry of this
//! transaction, so the store has the right value even while entries are pending.

use super::entry::{Balances, Entry, Head, Totals};
use super::prefetch::{self, EntryKey, FundraiserMode, Prefetch, PrefetchQuery};
use super::{rows, store};
use platform::db::Tx;
use platform::money::Cents;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct LedgerState {
    /// Entries that are not in the store.
    absent: HashSet<EntryKey>,
    added: HashMap<EntryKey, Arc<Entry>>,
    totals: HashMap<FundraiserMode, Totals>,
    /// What each donor gave to a fundraiser, net of refunds.
    nets: HashMap<(FundraiserMode, String), Cents>,
}

impl LedgerState {
    /// Reads the head of the ledger and everything to prefetch in one query.
    pub(crate) async fn prefetch<'a>(
        tx: &mut Tx,
        all: impl Iterator<Item = &'a Prefetch> + Clone,
    ) -> sqlx::Result<(Head, LedgerState)> {
        let query = PrefetchQuery::new(all);
        let found = prefetch::store::find(tx, &query).await?;
        let mut state = LedgerState::default();
        for (key, sequence) in query.keys.iter().zip(found.keys) {
            if sequence.is_none() {
                state.absent.insert((*key).clone());
            }
        }
        for (fundraiser, row) in query.fundraisers.iter().zip(found.fundraisers) {
            state.totals.insert(*fundraiser, rows::totals(row));
        }
        for ((fundraiser, donor), net) in query.donors.iter().zip(found.donors) {
            let net = Cents::new(net.unwrap_or_default());
            state.nets.insert((*fundraiser, (*donor).to_owned()), net);
        }
        Ok((found.head, state))
    }

    /// Finds an entry. One that was stored before this transaction comes without its postings.
    pub async fn find(&self, tx: &mut Tx, key: &EntryKey) -> sqlx::Result<Option<Arc<Entry>>> {
        if let Some(added) = self.added.get(key) {
            return Ok(Some(Arc::clone(added)));
        }
        if self.absent.contains(key) {
            Ok(None)
        } else {
            Ok(store::find(tx, &key.0, &key.1).await?.map(Arc::new))
        }
    }

    /// Returns the totals of a fundraiser and what a donor gave to it.
    pub(crate) async fn balances(
        &mut self,
        tx: &mut Tx,
        fundraiser: FundraiserMode,
        donor: Option<String>,
    ) -> sqlx::Result<Balances> {
        let net = donor
            .clone()
            .map(|donor| self.nets.get(&(fundraiser, donor)).copied());
        if let (Some(totals), None | Some(Some(_))) = (self.totals.get(&fundraiser), net) {
            return Ok((*totals, net.flatten()));
        }
        let found = store::find_balances(tx, fundraiser, donor.as_deref()).await?;
        Ok(self.insert_if_absent(fundraiser, donor, found))
    }

    /// Remembers balances of the store, unless entries of this transaction have changed them.
    fn insert_if_absent(
        &mut self,
        fundraiser: FundraiserMode,
        donor: Option<String>,
        (totals, net): Balances,
    ) -> Balances {
        let totals = *self.totals.entry(fundraiser).or_insert(totals);
        let net = donor
            .zip(net)
            .map(|(donor, net)| *self.nets.entry((fundraiser, donor)).or_insert(net));
        (totals, net)
    }

    /// Updates the state by a new entry.
    pub fn add(&mut self, entry: &Arc<Entry>) {
        let draft = &entry.draft;
        let key = (draft.source.clone(), draft.external_id.clone());
        self.added.insert(key, Arc::clone(entry));
        let Some((id, totals)) = draft.fundraiser.zip(entry.totals) else {
            return;
        };
        let fundraiser = (id, draft.mode);
        self.totals.insert(fundraiser, totals);
        if let Some(donor) = draft.donor.clone() {
            // `Totals::after` has checked this sum.
            let entry = self.nets.entry((fundraiser, donor));
            entry.and_modify(|net| *net = net.plus(draft.amount).unwrap_or(*net));
        }
    }
}
