//! What a transaction knows of the journal: what it asked, and what its own entries made of it.
//!
//! An entry changes what is known before it is written. What is not known here was touched by no entry of this
//! transaction, so the store answers it rightly, whether they are written or not.

use super::entry::{Entry, Head, Standing, Totals};
use super::prefetch::{Asks, Fact, Question};
use super::{rows, store};
use platform::db::Tx;
use platform::ids::FundraiserId;
use platform::money::Cents;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct Known {
    /// Facts that the store does not have.
    new: HashSet<Fact>,
    own: HashMap<Fact, Arc<Entry>>,
    totals: HashMap<FundraiserId, Totals>,
    nets: HashMap<(FundraiserId, String), Cents>,
}

impl Known {
    /// Asks for all at once, and where the journal ends.
    pub async fn ask<'a>(
        tx: &mut Tx,
        all: impl Iterator<Item = &'a Asks> + Clone,
    ) -> sqlx::Result<(Head, Known)> {
        let question = Question::of(all);
        let answer = question.ask(tx).await?;
        let mut known = Known::default();
        for (fact, number) in question.facts.iter().zip(answer.facts) {
            if number.is_none() {
                known.new.insert((*fact).clone());
            }
        }
        for (id, row) in question.fundraisers.iter().zip(answer.fundraisers) {
            known.totals.insert(*id, rows::totals(row));
        }
        for ((id, donor), net) in question.donors.iter().zip(answer.donors) {
            let net = Cents::new(net.unwrap_or_default());
            known.nets.insert((*id, (*donor).to_owned()), net);
        }
        Ok((answer.head, known))
    }

    /// The entry of a fact, without its legs where the store had it.
    pub async fn find(&self, tx: &mut Tx, fact: &Fact) -> sqlx::Result<Option<Arc<Entry>>> {
        if let Some(own) = self.own.get(fact) {
            return Ok(Some(Arc::clone(own)));
        }
        match self.new.contains(fact) {
            true => Ok(None),
            false => Ok(store::find(tx, &fact.0, &fact.1).await?.map(Arc::new)),
        }
    }

    pub async fn standing(
        &mut self,
        tx: &mut Tx,
        id: FundraiserId,
        donor: Option<String>,
    ) -> sqlx::Result<Standing> {
        let net = donor.clone().map(|donor| self.nets.get(&(id, donor)).copied());
        if let (Some(totals), None | Some(Some(_))) = (self.totals.get(&id), net) {
            return Ok((*totals, net.flatten()));
        }
        let found = store::find_standing(tx, id, donor.as_deref()).await?;
        Ok(self.keep(id, donor, found))
    }

    /// Keeps what the store says, unless it is known better.
    fn keep(&mut self, id: FundraiserId, donor: Option<String>, (totals, net): Standing) -> Standing {
        let totals = *self.totals.entry(id).or_insert(totals);
        let net = donor
            .zip(net)
            .map(|(donor, net)| *self.nets.entry((id, donor)).or_insert(net));
        (totals, net)
    }

    /// Takes in an entry, whose standing was asked for.
    pub fn add(&mut self, entry: &Arc<Entry>) {
        let draft = &entry.draft;
        let fact = (draft.source.clone(), draft.external_id.clone());
        self.own.insert(fact, Arc::clone(entry));
        let Some((id, totals)) = draft.fundraiser.zip(entry.totals) else {
            return;
        };
        self.totals.insert(id, totals);
        if let Some(donor) = draft.donor.clone() {
            // `Totals::after` has checked this sum.
            let entry = self.nets.entry((id, donor));
            entry.and_modify(|net| *net = net.plus(draft.amount).unwrap_or(*net));
        }
    }
}
