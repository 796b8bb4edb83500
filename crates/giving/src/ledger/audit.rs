//! Audits a ledger: takes entries and reports errors, each with the sequence number of its entry.
//!
//! Does no I/O: it takes every entry in order and compares it with what follows from all entries before it.

use super::checkpoints::{Checkpoint, FundraiserSums, PriorBalances};
use super::entry::{Beneficiaries, Entry, GENESIS, Hash, Kind, Mode, Party, Totals, TotalsByMode};
use crate::books::audit::find_error;
use crate::books::balances::Balances;
use crate::donations::reversal;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::{Cents, Weights, split};
use std::collections::{HashMap, HashSet};

/// The state of an audit after the entries so far.
#[derive(Debug)]
pub(crate) struct Audit {
    sequence: i64,
    hash: Hash,
    /// All fundraisers that exist.
    known: HashSet<FundraiserId>,
    beneficiaries: HashMap<FundraiserId, Beneficiaries>,
    fundraisers: HashMap<FundraiserId, FundraiserState>,
    /// The donations that have refunds.
    refunded: HashSet<i64>,
    /// What each nonprofit still holds of these donations, by sequence number.
    held: HashMap<i64, Vec<(NonprofitId, Cents)>>,
    /// The test donations among them.
    refunded_tests: HashSet<i64>,
    /// The balances of the books.
    balances: Balances,
    errors: Vec<String>,
}

#[derive(Debug, Default)]
struct FundraiserState {
    totals: TotalsByMode,
    offline: Option<Cents>,
    donors: HashMap<(Mode, String), Cents>,
}

const MAX_ERRORS: usize = 100;

impl Audit {
    pub(crate) fn new(
        known: HashSet<FundraiserId>,
        beneficiaries: HashMap<FundraiserId, Beneficiaries>,
        refunded: HashSet<i64>,
    ) -> Audit {
        Audit {
            sequence: 0,
            hash: GENESIS,
            known,
            beneficiaries,
            fundraisers: HashMap::new(),
            refunded,
            held: HashMap::new(),
            refunded_tests: HashSet::new(),
            balances: Balances::default(),
            errors: Vec::new(),
        }
    }

    /// Continues an audit from a checkpoint, with the balances at that point of the donors and donations of later entries.
    /// `refunded` are the donations after it that have refunds.
    pub(crate) fn resume(
        known: HashSet<FundraiserId>,
        beneficiaries: HashMap<FundraiserId, Beneficiaries>,
        refunded: HashSet<i64>,
        checkpoint: &Checkpoint,
        prior: PriorBalances,
    ) -> Audit {
        let mut audit = Audit::new(known, beneficiaries, refunded);
        (audit.sequence, audit.hash) = (checkpoint.entries, checkpoint.hash);
        for sums in &checkpoint.sums {
            if !audit.known.contains(&sums.fundraiser) {
                audit.add_error(format!(
                    "fundraiser {} has entries but does not exist",
                    sums.fundraiser
                ));
            }
            let state = FundraiserState {
                totals: sums.totals,
                offline: sums.offline,
                donors: HashMap::new(),
            };
            audit.fundraisers.insert(sums.fundraiser, state);
        }
        for ((fundraiser, mode, donor), net) in prior.donors {
            let state = audit.fundraisers.entry(fundraiser).or_default();
            state.donors.insert((mode, donor), net);
        }
        audit.balances = checkpoint.balances.clone();
        audit.held = prior.held;
        audit.refunded_tests = prior.refunded_tests;
        audit
    }

    /// Returns the sums after the entries so far, from which another audit can continue. `None` if there are no entries, or
    /// if there are errors.
    pub(crate) fn checkpoint(&self) -> Option<Checkpoint> {
        if self.sequence == 0 || !self.errors.is_empty() {
            return None;
        }
        let sums = self.fundraisers.iter().map(|(id, state)| FundraiserSums {
            fundraiser: *id,
            totals: state.totals,
            offline: state.offline,
        });
        let mut sums: Vec<FundraiserSums> = sums.collect();
        sums.sort_unstable_by_key(|sums| sums.fundraiser.0);
        Some(Checkpoint {
            entries: self.sequence,
            hash: self.hash,
            sums,
            balances: self.balances.clone(),
        })
    }

    /// Adds the next entry, with the one that it follows from.
    pub(crate) fn add(&mut self, entry: &Entry, origin: Option<&Entry>) {
        let expected = self.sequence + 1;
        if entry.sequence != expected {
            self.add_error(format!(
                "entry {expected} is missing: {} follows {}",
                entry.sequence, self.sequence
            ));
        }
        let hash = entry.hash_after(&self.hash);
        if hash != entry.hash && entry.sequence == expected {
            self.add_entry_error(
                entry,
                "does not match its hash: it or the entry before it was changed",
            );
        }
        // Continue from the stored hash, so that one damaged entry is one error.
        (self.sequence, self.hash) = (entry.sequence, entry.hash);
        let sum = Cents::sum(entry.draft.postings.iter().map(|posting| posting.amount));
        if sum != Ok(Cents::ZERO) {
            self.add_entry_error(entry, "does not balance: its postings do not add up to zero");
        }
        if entry.draft.kind.is_money() {
            self.check_books(entry, origin);
        } else {
            self.check_shares(entry, origin);
            self.check_mode(entry);
            self.update_held(entry);
        }
        self.add_totals(entry);
    }

    /// Compares an entry of the books with the entry that it follows from.
    fn check_books(&mut self, entry: &Entry, origin: Option<&Entry>) {
        if self.balances.add(entry).is_err() {
            self.add_entry_error(entry, "makes a balance too large");
        }
        if let Some(error) = find_error(entry, origin, &self.balances) {
            self.add_entry_error(entry, error);
        }
    }

    /// Compares who receives an entry with what its fundraiser specifies.
    fn check_shares(&mut self, entry: &Entry, origin: Option<&Entry>) {
        match (entry.draft.fundraiser, self.expected_postings(entry, origin)) {
            (Some(id), _) if !self.known.contains(&id) => {
                self.add_entry_error(
                    entry,
                    &format!("belongs to fundraiser {id}, which does not exist"),
                );
            }
            (_, Some(expected)) if expected == received(entry) => {}
            _ => self.add_entry_error(entry, "is not split as its fundraiser specifies"),
        }
    }

    /// A refund has the mode of its donation, and amounts raised offline are live.
    fn check_mode(&mut self, entry: &Entry) {
        let expected = match (entry.draft.kind, entry.draft.refunds) {
            (Kind::Donation, _) => entry.draft.mode,
            (_, Some(donation)) if self.refunded_tests.contains(&donation) => Mode::Test,
            _ => Mode::Live,
        };
        if entry.draft.mode != expected {
            self.add_entry_error(
                entry,
                &format!(
                    "is a {} entry but must be a {} entry",
                    entry.draft.mode.as_str(),
                    expected.as_str()
                ),
            );
        }
    }

    /// Skips the next entry, which cannot be read.
    pub(crate) fn skip(&mut self) {
        self.sequence += 1;
        self.add_error(format!("entry {} cannot be read", self.sequence));
    }

    /// Computes the recipients and amounts of an entry from the entries before it.
    fn expected_postings(&self, entry: &Entry, origin: Option<&Entry>) -> Option<Vec<(Party, Cents)>> {
        let draft = &entry.draft;
        match draft.kind {
            Kind::Offline => Some(vec![(Party::Fundraiser(draft.fundraiser?), draft.amount)]),
            Kind::Donation => {
                let single = Beneficiaries::single(draft.nonprofit?);
                let shared = match draft.fundraiser {
                    Some(id) => self.beneficiaries.get(&id)?,
                    None => &single,
                };
                Some(shared.shares(draft.amount))
            }
            Kind::Refund | Kind::Dispute => {
                let held = self.held.get(&draft.refunds?)?;
                let balances: Vec<Cents> = held.iter().map(|(_, cents)| *cents).collect();
                let back = split(draft.amount.reversed(), &Weights::of_balances(&balances)?);
                let shares = held.iter().zip(back);
                Some(
                    shares
                        .map(|((id, _), back)| (Party::Nonprofit(*id), back.reversed()))
                        .collect(),
                )
            }
            Kind::RefundFailed | Kind::DisputeWon => {
                let reversed = origin.filter(|origin| origin.draft.refunds == draft.refunds)?;
                let (kind, external_id) = reversal::entry_name(reversed)?;
                let is_reversal = (kind, &external_id) == (draft.kind, &draft.external_id);
                let amounts = received(reversed).into_iter();
                is_reversal.then(|| amounts.map(|(party, cents)| (party, cents.reversed())).collect())
            }
            Kind::Settlement
            | Kind::Payout
            | Kind::Disbursement
            | Kind::DisbursementReturned
            | Kind::Reassignment => None,
        }
    }

    fn update_held(&mut self, entry: &Entry) {
        let shares = entry
            .draft
            .postings
            .iter()
            .filter_map(|posting| match posting.party {
                Party::Nonprofit(id) => Some((id, posting.amount)),
                _ => None,
            });
        match (entry.draft.kind, entry.draft.refunds) {
            (Kind::Donation, _) if !self.refunded.contains(&entry.sequence) => {}
            (Kind::Donation, _) => {
                self.held.insert(entry.sequence, shares.collect());
                if entry.draft.mode == Mode::Test {
                    self.refunded_tests.insert(entry.sequence);
                }
            }
            (Kind::Refund | Kind::Dispute | Kind::RefundFailed | Kind::DisputeWon, Some(donation)) => {
                let held = self.held.entry(donation).or_default();
                for ((_, cents), (_, back)) in held.iter_mut().zip(shares) {
                    *cents = cents.plus(back).unwrap_or_default();
                }
                if held.iter().any(|(_, cents)| *cents < Cents::ZERO) {
                    self.add_entry_error(entry, "refunds more than was donated");
                }
            }
            _ => {}
        }
    }

    fn add_totals(&mut self, entry: &Entry) {
        let Some(id) = entry.draft.fundraiser else {
            if entry.totals.is_some() {
                self.add_entry_error(entry, "has totals without a fundraiser");
            }
            return;
        };
        let (state, mode) = (self.fundraisers.entry(id).or_default(), entry.draft.mode);
        let net = entry
            .draft
            .donor
            .as_ref()
            .map(|donor| state.donors.entry((mode, donor.clone())).or_default());
        let before = net.as_ref().map(|net| **net);
        let totals: &mut Totals = state.totals.of_mode_mut(mode);
        let after = totals.after(entry.draft.amount, before);
        if let (Some(net), Some(before)) = (net, before) {
            *net = before.plus(entry.draft.amount).unwrap_or(before);
        }
        if entry.draft.kind == Kind::Offline {
            let offline = state.offline.unwrap_or_default();
            state.offline = offline.plus(entry.draft.amount).ok();
        }
        // Continue from the stored totals, so that one wrong total is one error.
        *totals = entry.totals.unwrap_or_default();
        if after.ok() != entry.totals {
            self.add_entry_error(
                entry,
                "has a running total that is not the sum of the entries before it",
            );
        }
    }

    /// The totals of a fundraiser in each mode, computed from its entries.
    pub(crate) fn totals(&self, id: FundraiserId) -> TotalsByMode {
        self.fundraisers
            .get(&id)
            .map(|state| state.totals)
            .unwrap_or_default()
    }

    /// The amount raised offline for a fundraiser, computed from its entries.
    pub(crate) fn offline(&self, id: FundraiserId) -> Option<Cents> {
        self.fundraisers.get(&id).and_then(|state| state.offline)
    }

    /// The balances of the books, computed from all entries.
    pub(crate) fn balances(&self) -> &Balances {
        &self.balances
    }

    /// The number of entries, and the last hash.
    pub(crate) fn head(&self) -> (i64, Hash) {
        (self.sequence, self.hash)
    }

    fn add_entry_error(&mut self, entry: &Entry, problem: &str) {
        self.add_error(format!(
            "entry {} ({} {} of {}) {problem}",
            entry.sequence,
            entry.draft.kind.as_str(),
            entry.draft.external_id,
            entry.draft.source
        ));
    }

    /// Adds an error, up to `MAX_ERRORS`.
    pub(crate) fn add_error(&mut self, error: String) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }

    /// The errors, one sentence each.
    pub(crate) fn into_errors(self) -> Vec<String> {
        self.errors
    }
}

/// The postings that receive money: all except those of donors and of offline amounts.
fn received(entry: &Entry) -> Vec<(Party, Cents)> {
    let postings = entry.draft.postings.iter();
    postings
        .filter(|posting| !matches!(posting.party, Party::Donor(_) | Party::Offline(_)))
        .map(|posting| (posting.party.clone(), posting.amount))
        .collect()
}
