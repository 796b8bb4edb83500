//! What work is going to read from the ledger, so that the first query of a transaction reads it for all work at once.

pub(crate) mod store;

use super::entry::{Head, Mode};
use platform::ids::FundraiserId;
use std::collections::HashSet;

/// The source and the external ID of an entry, which are unique together.
pub(crate) type EntryKey = (String, String);

/// A fundraiser in one mode, which has its own totals.
pub(crate) type FundraiserMode = (FundraiserId, Mode);

/// What one piece of work is going to read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefetch {
    pub key: Option<EntryKey>,
    pub fundraiser: Option<FundraiserId>,
    /// The mode of the entry that is going to be added.
    pub mode: Mode,
    pub donor: Option<String>,
}

impl Prefetch {
    /// Prefetches the live totals of a fundraiser.
    pub(crate) fn of_fundraiser(id: FundraiserId) -> Prefetch {
        Prefetch {
            fundraiser: Some(id),
            ..Prefetch::default()
        }
    }
}

/// What all work of a transaction is going to read.
#[derive(Debug)]
pub(crate) struct PrefetchQuery<'a> {
    pub keys: Vec<&'a EntryKey>,
    pub fundraisers: Vec<FundraiserMode>,
    pub donors: Vec<(FundraiserMode, &'a str)>,
}

/// The results of a [`PrefetchQuery`], in the same order.
#[derive(Debug)]
pub(crate) struct PrefetchResult {
    pub head: Head,
    /// The sequence numbers of existing entries.
    pub keys: Vec<Option<i64>>,
    /// The amount raised and the number of supporters.
    pub fundraisers: Vec<Option<(i64, i64)>>,
    /// What each donor gave, net of refunds.
    pub donors: Vec<Option<i64>>,
}

impl<'a> PrefetchQuery<'a> {
    pub(crate) fn new(all: impl Iterator<Item = &'a Prefetch> + Clone) -> PrefetchQuery<'a> {
        let fundraiser = |prefetch: &Prefetch| prefetch.fundraiser.map(|id| (id, prefetch.mode));
        let fundraisers: HashSet<FundraiserMode> = all.clone().filter_map(fundraiser).collect();
        let donor = |prefetch: &'a Prefetch| fundraiser(prefetch).zip(prefetch.donor.as_deref());
        PrefetchQuery {
            keys: all.clone().filter_map(|prefetch| prefetch.key.as_ref()).collect(),
            fundraisers: fundraisers.into_iter().collect(),
            donors: all.filter_map(donor).collect(),
        }
    }
}
