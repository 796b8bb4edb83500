//! A ledger in memory, to which random events happen.

use crate::books::balances::Balances;
use crate::books::{EntryName, FeesPaidBy, Movement, postings, record};
use crate::donations::{Label, NewDonation, Recipient, Refund, donation, refund, reversal};
use crate::ledger::anchors::Anchor;
use crate::ledger::anchors::comparison::Loss;
use crate::ledger::audit::Audit;
use crate::ledger::checkpoints::{Checkpoint, PriorBalances};
use crate::ledger::entry::{Beneficiaries, Draft, Entry, GENESIS, Kind, Mode, Party, Posting};
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::{Cents, Weights};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// Something that happens to one of three fundraisers.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Donation {
        mode: Mode,
        to: usize,
        donor: u8,
        cents: i64,
    },
    /// Of the donation at this index, as a share of what is left.
    Refund {
        donation: usize,
        part: f64,
    },
    Offline {
        to: usize,
        cents: i64,
    },
    /// As a refund, by the donor's bank.
    Dispute {
        donation: usize,
        part: f64,
    },
    /// Of the refund or dispute at this index, unless it was reversed before.
    Reversal {
        index: usize,
    },
    /// Of the entry at this index among those that are not settled.
    Settlement {
        index: usize,
        fee: i64,
        fees_paid_by: FeesPaidBy,
    },
    OtherSettlement {
        mode: Mode,
        cents: i64,
    },
    Payout {
        mode: Mode,
        cents: i64,
        fee: i64,
    },
    /// A share of what is owed to the nonprofit at this index.
    Disbursement {
        mode: Mode,
        nonprofit: usize,
        part: f64,
    },
    Return {
        index: usize,
    },
    Reassignment {
        mode: Mode,
        from: usize,
        to: usize,
        part: f64,
    },
}

pub(super) fn event() -> impl Strategy<Value = Event> {
    let cents = prop_oneof![1..10_000i64, 1..=Cents::MAX.get()];
    prop_oneof![
        4 => (mode(), 0..3usize, 0..4u8, cents.clone())
            .prop_map(|(mode, to, donor, cents)| Event::Donation { mode, to, donor, cents }),
        2 => (0..12usize, 0.0..=1.0f64).prop_map(|(donation, part)| Event::Refund { donation, part }),
        1 => (0..3usize, cents).prop_map(|(to, cents)| Event::Offline { to, cents }),
        1 => (0..12usize, 0.0..=1.0f64).prop_map(|(donation, part)| Event::Dispute { donation, part }),
        1 => (0..12usize).prop_map(|index| Event::Reversal { index }),
        6 => (0..12usize, prop_oneof![Just(0), 1..5_000i64], fees_paid_by())
            .prop_map(|(index, fee, fees_paid_by)| Event::Settlement { index, fee, fees_paid_by }),
        1 => (mode(), -5_000..5_000i64).prop_map(|(mode, cents)| Event::OtherSettlement { mode, cents }),
        1 => (mode(), -10_000..10_000i64, prop_oneof![Just(0), 1..100i64])
            .prop_map(|(mode, cents, fee)| Event::Payout { mode, cents, fee }),
        2 => (mode(), 0..15usize, 0.0..=1.0f64)
            .prop_map(|(mode, nonprofit, part)| Event::Disbursement { mode, nonprofit, part }),
        1 => (0..4usize).prop_map(|index| Event::Return { index }),
        1 => (mode(), 0..15usize, 0..15usize, 0.0..=1.0f64)
            .prop_map(|(mode, from, to, part)| Event::Reassignment { mode, from, to, part }),
    ]
}

fn fees_paid_by() -> impl Strategy<Value = FeesPaidBy> {
    prop_oneof![Just(FeesPaidBy::Nonprofit), Just(FeesPaidBy::Operator)]
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Live), Just(Mode::Test)]
}

/// A ledger in memory, written with the rules of the real one.
#[derive(Debug)]
pub(super) struct TestLedger {
    pub fundraisers: Vec<(FundraiserId, Beneficiaries)>,
    pub entries: Vec<Entry>,
    /// What Stripe and the bank say, computed without the ledger.
    pub reported: HashMap<Mode, Reported>,
}

/// What others say about the money of one mode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reported {
    /// The balance at Stripe.
    pub stripe: i64,
    /// All fees that Stripe took.
    pub fees: i64,
    /// The fees that nonprofits paid.
    pub fees_of_nonprofits: i64,
    /// What donors paid, less what they got back.
    pub gross: i64,
    /// What the bank received from Stripe, less payments to nonprofits.
    pub bank: i64,
    /// Payments to nonprofits that did not come back.
    pub disbursed: i64,
}

impl TestLedger {
    fn new(weights: &[Vec<f64>]) -> TestLedger {
        let mut number = 0;
        let mut next = || {
            number += 1;
            Uuid::from_u128(number)
        };
        let fundraisers = weights.iter().map(|weights| {
            let beneficiaries = Beneficiaries {
                nonprofits: weights.iter().map(|_| NonprofitId(next())).collect(),
                weights: Weights::relative(weights).unwrap(),
            };
            (FundraiserId(next()), beneficiaries)
        });
        TestLedger {
            fundraisers: fundraisers.collect(),
            entries: Vec::new(),
            reported: HashMap::new(),
        }
    }

    pub(super) fn apply(&mut self, event: &Event) {
        let number = self.entries.len() as i64;
        match event {
            Event::Donation {
                mode,
                to,
                donor,
                cents,
            } => {
                let (id, beneficiaries) = self.fundraisers[*to].clone();
                let donation = NewDonation {
                    source: label("test"),
                    external_id: label(&format!("donation {number}")),
                    mode: *mode,
                    to: Recipient {
                        nonprofit: beneficiaries.nonprofits[0],
                        fundraiser: Some(id),
                        beneficiaries,
                    },
                    amount: Cents::new(*cents),
                    donor: label(&format!("donor {donor}")),
                    name: None,
                    is_public: false,
                };
                self.append(donation::draft(&donation, number));
            }
            Event::Refund { donation, part } => self.withdraw(Kind::Refund, *donation, *part),
            Event::Dispute { donation, part } => self.withdraw(Kind::Dispute, *donation, *part),
            Event::Reversal { index } => self.reverse(*index),
            Event::Settlement {
                index,
                fee,
                fees_paid_by,
            } => self.settle(*index, *fee, *fees_paid_by),
            Event::OtherSettlement { mode, cents } => {
                self.reported.entry(*mode).or_default().stripe += cents;
                self.enter(
                    &Movement::OtherSettlement {
                        transaction: self.id("transaction"),
                        mode: *mode,
                        net: Cents::new(*cents),
                    },
                    None,
                );
            }
            Event::Payout { mode, cents, fee } => {
                let reported = self.reported.entry(*mode).or_default();
                reported.stripe -= cents + fee;
                reported.fees += fee;
                reported.bank += cents;
                self.enter(
                    &Movement::Payout {
                        transaction: self.id("transaction"),
                        mode: *mode,
                        amount: Cents::new(*cents),
                        fee: Cents::new(*fee),
                    },
                    None,
                );
            }
            Event::Disbursement {
                mode,
                nonprofit,
                part,
            } => self.disburse(*mode, *nonprofit, *part),
            Event::Return { index } => self.give_back(*index),
            Event::Reassignment { mode, from, to, part } => self.reassign(*mode, (*from, *to), *part),
            Event::Offline { to, cents } => {
                let id = self.fundraisers[*to].0;
                self.append(Draft {
                    kind: Kind::Offline,
                    mode: Mode::Live,
                    source: "offline".to_owned(),
                    external_id: number.to_string(),
                    nonprofit: Some(self.fundraisers[*to].1.nonprofits[0]),
                    fundraiser: Some(id),
                    donor: None,
                    amount: Cents::new(*cents),
                    refunds: None,
                    origin: None,
                    note: None,
                    postings: vec![
                        Posting {
                            party: Party::Offline(id),
                            amount: Cents::new(-cents),
                        },
                        Posting {
                            party: Party::Fundraiser(id),
                            amount: Cents::new(*cents),
                        },
                    ],
                    recorded_at: number,
                });
            }
        }
    }

    /// Refunds or disputes a share of what is left of a donation.
    fn withdraw(&mut self, kind: Kind, donation: usize, part: f64) {
        let donations = self
            .entries
            .iter()
            .filter(|entry| entry.draft.kind == Kind::Donation);
        let Some(donation) = donations.cycle().nth(donation).cloned() else {
            return;
        };
        let held = self.held(&donation);
        let left = Cents::sum(held.iter().map(|(_, cents)| *cents)).unwrap();
        let amount = Cents::new((left.get() as f64 * part) as i64);
        let back = Refund {
            source: label("test"),
            external_id: label(&donation.draft.external_id),
            amount: Cents::positive(amount.get()),
            refund_id: Some(self.id("refund")),
        };
        match refund::draft(kind, &back, &donation, &held, self.entries.len() as i64) {
            Ok(draft) => self.append(draft),
            Err(_) => assert_eq!(left, Cents::ZERO),
        }
    }

    fn reverse(&mut self, index: usize) {
        let reversible: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|entry| {
                reversal::entry_name(entry).is_some_and(|(kind, _)| !self.has_follower(entry, kind))
            })
            .collect();
        let Some(reversed) = reversible.iter().cycle().nth(index) else {
            return;
        };
        let (kind, id) = reversal::entry_name(reversed).unwrap();
        let now = self.entries.len() as i64;
        let draft = reversal::draft(reversed, kind, id, &reversed.draft.postings, now);
        self.append(draft);
    }

    fn settle(&mut self, index: usize, fee: i64, fees_paid_by: FeesPaidBy) {
        let unsettled: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|entry| {
                postings::is_settled(entry.draft.kind) && !self.has_follower(entry, Kind::Settlement)
            })
            .collect();
        let Some(settled) = unsettled.iter().cycle().nth(index).copied().cloned() else {
            return;
        };
        // Stripe returns the fee of a dispute that is won, and takes none for a refund.
        let fee = match settled.draft.kind {
            Kind::Donation | Kind::Dispute => fee,
            Kind::DisputeWon => -fee,
            _ => 0,
        };
        let (mode, amount) = (settled.draft.mode, settled.draft.amount);
        let reported = self.reported.entry(mode).or_default();
        reported.stripe += amount.get() - fee;
        reported.fees += fee;
        reported.gross += amount.get();
        if settled.draft.kind == Kind::Donation && fees_paid_by == FeesPaidBy::Nonprofit {
            reported.fees_of_nonprofits += fee;
        }
        let movement = Movement::Settlement {
            transaction: self.id("transaction"),
            settles: EntryName {
                source: label(&settled.draft.source),
                external_id: label(&settled.draft.external_id),
            },
            amount,
            fee: Cents::new(fee),
            fees_paid_by,
        };
        self.enter(&movement, Some(&settled));
    }

    fn disburse(&mut self, mode: Mode, nonprofit: usize, part: f64) {
        let nonprofit = self.nonprofit(nonprofit);
        let Some(amount) = self.part_of_owed(mode, nonprofit, part) else {
            return;
        };
        let reported = self.reported.entry(mode).or_default();
        reported.bank -= amount.get();
        reported.disbursed += amount.get();
        let movement = Movement::Disbursement {
            id: self.id("payment"),
            mode,
            nonprofit,
            amount,
        };
        self.enter(&movement, None);
    }

    fn give_back(&mut self, index: usize) {
        let paid: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|entry| {
                entry.draft.kind == Kind::Disbursement
                    && !self.has_follower(entry, Kind::DisbursementReturned)
            })
            .collect();
        let Some(paid) = paid.iter().cycle().nth(index).copied().cloned() else {
            return;
        };
        let reported = self.reported.entry(paid.draft.mode).or_default();
        reported.bank -= paid.draft.amount.get();
        reported.disbursed += paid.draft.amount.get();
        let id = label(&paid.draft.external_id);
        self.enter(&Movement::DisbursementReturned { id }, Some(&paid));
    }

    fn reassign(&mut self, mode: Mode, (from, to): (usize, usize), part: f64) {
        let (from, to) = (self.nonprofit(from), self.nonprofit(to));
        let Some(amount) = self.part_of_owed(mode, from, part).filter(|_| from != to) else {
            return;
        };
        let movement = Movement::Reassignment {
            id: self.id("reassignment"),
            mode,
            from,
            to,
            amount,
            reason: label("It no longer exists"),
        };
        self.enter(&movement, None);
    }

    fn enter(&mut self, movement: &Movement, origin: Option<&Entry>) {
        let draft = record::draft(movement, origin, None, self.entries.len() as i64);
        self.append(draft.unwrap());
    }

    fn id(&self, what: &str) -> Label {
        label(&format!("{what} {}", self.entries.len()))
    }

    /// One of the nonprofits that fundraisers support.
    fn nonprofit(&self, index: usize) -> NonprofitId {
        let all = self
            .fundraisers
            .iter()
            .flat_map(|(_, beneficiaries)| &beneficiaries.nonprofits);
        *all.cycle().nth(index).unwrap()
    }

    fn part_of_owed(&self, mode: Mode, nonprofit: NonprofitId, part: f64) -> Option<Cents> {
        let owed = self.balances().owed(mode, nonprofit).get();
        Cents::positive((owed as f64 * part) as i64)
    }

    fn has_follower(&self, entry: &Entry, kind: Kind) -> bool {
        self.entries
            .iter()
            .any(|other| other.draft.kind == kind && other.draft.origin == Some(entry.sequence))
    }

    pub(super) fn balances(&self) -> Balances {
        let mut balances = Balances::default();
        for entry in &self.entries {
            balances.add(entry).unwrap();
        }
        balances
    }

    /// The entry that another follows from.
    fn origin(&self, entry: &Entry) -> Option<&Entry> {
        let index = usize::try_from(entry.draft.origin?).ok()?;
        self.entries.get(index - 1)
    }

    /// What each nonprofit still holds of a donation.
    pub(super) fn held(&self, donation: &Entry) -> Vec<(Party, Cents)> {
        let about = |entry: &&Entry| {
            entry.sequence == donation.sequence || entry.draft.refunds == Some(donation.sequence)
        };
        let mut held: Vec<(Party, Cents)> = Vec::new();
        for entry in self.entries.iter().filter(about) {
            for (index, posting) in entry.draft.postings[1..].iter().enumerate() {
                match held.get_mut(index) {
                    Some((_, cents)) => *cents = cents.plus(posting.amount).unwrap(),
                    None => held.push((posting.party.clone(), posting.amount)),
                }
            }
        }
        held
    }

    pub(super) fn append(&mut self, draft: Draft) {
        let of_same =
            |entry: &&Entry| entry.draft.fundraiser == draft.fundraiser && entry.draft.mode == draft.mode;
        let before = self.entries.iter().rev().find(of_same);
        let before = before.and_then(|entry| entry.totals).unwrap_or_default();
        let net = draft.donor.as_ref().map(|donor| {
            let of_donor = self
                .entries
                .iter()
                .filter(of_same)
                .filter(|entry| entry.draft.donor.as_ref() == Some(donor));
            Cents::sum(of_donor.map(|entry| entry.draft.amount)).unwrap()
        });
        let totals = draft.fundraiser.map(|_| before.after(draft.amount, net).unwrap());
        let hash = self.entries.last().map_or(GENESIS, |entry| entry.hash);
        let sequence = self.entries.len() as i64 + 1;
        self.entries.push(Entry::new(sequence, &hash, draft, totals));
    }

    pub(super) fn audit(&self) -> Audit {
        let beneficiaries = self.fundraisers.iter().cloned().collect();
        let refunded: HashSet<i64> = self
            .entries
            .iter()
            .filter_map(|entry| entry.draft.refunds)
            .collect();
        let known = self.fundraisers.iter().map(|(id, _)| *id).collect();
        let mut audit = Audit::new(known, beneficiaries, refunded);
        self.entries
            .iter()
            .for_each(|entry| audit.add(entry, self.origin(entry)));
        audit
    }

    /// The same ledger, cut after this many entries.
    pub(super) fn cut(&self, entries: usize) -> TestLedger {
        TestLedger {
            fundraisers: self.fundraisers.clone(),
            entries: self.entries[..entries].to_vec(),
            reported: HashMap::new(),
        }
    }

    /// Audits only the entries after a checkpoint, as `causeway check` does. What it reads from entries before is read from
    /// `self` too.
    pub(super) fn audit_after(&self, checkpoint: &Checkpoint) -> Audit {
        let split = checkpoint.entries as usize;
        let (before, after) = self.entries.split_at(split);
        let mut prior = PriorBalances::default();
        for entry in before {
            let draft = &entry.draft;
            if let (Some(fundraiser), Some(donor)) = (draft.fundraiser, &draft.donor) {
                let net = prior
                    .donors
                    .entry((fundraiser, draft.mode, donor.clone()))
                    .or_default();
                *net = net.plus(draft.amount).unwrap();
            }
        }
        let refunded: HashSet<i64> = after.iter().filter_map(|entry| entry.draft.refunds).collect();
        let donations = before.iter().filter(|entry| refunded.contains(&entry.sequence));
        for donation in donations {
            let held = self
                .cut(split)
                .held(donation)
                .into_iter()
                .filter_map(|(party, cents)| match party {
                    Party::Nonprofit(id) => Some((id, cents)),
                    _ => None,
                });
            prior.held.insert(donation.sequence, held.collect());
            if donation.draft.mode == Mode::Test {
                prior.refunded_tests.insert(donation.sequence);
            }
        }
        let refunded = refunded
            .into_iter()
            .filter(|sequence| *sequence > checkpoint.entries);
        let known = self.fundraisers.iter().map(|(id, _)| *id).collect();
        let beneficiaries = self.fundraisers.iter().cloned().collect();
        let mut audit = Audit::resume(known, beneficiaries, refunded.collect(), checkpoint, prior);
        for entry in after {
            audit.add(entry, self.origin(entry));
        }
        audit
    }

    /// The anchor that was written after this many entries.
    pub(super) fn anchor(&self, entries: usize) -> Anchor {
        Anchor {
            store: Uuid::nil(),
            entries: entries as i64,
            hash: self.entries[entries - 1].hash,
            at: entries as i64,
            signature: None,
        }
    }

    /// Compares anchors with this ledger.
    pub(super) fn loss(&self, anchors: &[Anchor]) -> Option<Loss> {
        let hash = |anchor: &Anchor| {
            self.entries
                .get(anchor.entries as usize - 1)
                .map(|entry| entry.hash)
        };
        let compared = anchors.iter().map(|anchor| (anchor.clone(), hash(anchor)));
        Loss::find(compared.collect(), self.entries.len() as i64, None)
    }
}

pub(super) fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

pub(super) fn ledgers() -> impl Strategy<Value = TestLedger> {
    let weights = proptest::collection::vec(proptest::collection::vec(0.01..100.0f64, 1..=5), 3);
    (weights, proptest::collection::vec(event(), 1..16)).prop_map(|(weights, events)| {
        let mut ledger = TestLedger::new(&weights);
        for event in &events {
            ledger.apply(event);
        }
        ledger
    })
}

/// The number of cases of a property test: `CAUSEWAY_TEST_CASES`, or `default` if it is not set.
#[expect(
    clippy::disallowed_methods,
    reason = "it is a setting of the tests, not of Causeway"
)]
pub(super) fn cases(default: u32) -> ProptestConfig {
    let set = std::env::var("CAUSEWAY_TEST_CASES").ok();
    let cases = set.and_then(|cases| cases.parse().ok()).unwrap_or(default);
    ProptestConfig {
        max_global_rejects: cases.saturating_mul(10),
        ..ProptestConfig::with_cases(cases)
    }
}
