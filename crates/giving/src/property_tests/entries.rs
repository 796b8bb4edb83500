//! Property tests of the ledger with random histories: the amount raised is the sum of the entries, of the postings and of
//! the export, and every change to an entry is found.

use crate::donations::{Label, NewDonation, Recipient, Refund, donation, refund};
use crate::export::line;
use crate::ledger::anchors::Anchor;
use crate::ledger::anchors::comparison::Loss;
use crate::ledger::audit::Audit;
use crate::ledger::checkpoints::{Checkpoint, PriorBalances};
use crate::ledger::entry::{
    Beneficiaries, Draft, Entry, GENESIS, Kind, Mode, Party, Posting, Totals, TotalsByMode,
};
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::{Cents, Weights};
use proptest::prelude::*;
use std::collections::HashSet;
use uuid::Uuid;

/// Something that happens to one of three fundraisers.
#[derive(Clone, Debug)]
enum Event {
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
}

fn event() -> impl Strategy<Value = Event> {
    let cents = prop_oneof![1..10_000i64, 1..=Cents::MAX.get()];
    prop_oneof![
        4 => (mode(), 0..3usize, 0..4u8, cents.clone())
            .prop_map(|(mode, to, donor, cents)| Event::Donation { mode, to, donor, cents }),
        2 => (0..12usize, 0.0..=1.0f64).prop_map(|(donation, part)| Event::Refund { donation, part }),
        1 => (0..3usize, cents).prop_map(|(to, cents)| Event::Offline { to, cents }),
    ]
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Live), Just(Mode::Test)]
}

/// A ledger in memory, written with the rules of the real one.
#[derive(Debug)]
struct TestLedger {
    fundraisers: Vec<(FundraiserId, Beneficiaries)>,
    entries: Vec<Entry>,
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
        }
    }

    fn apply(&mut self, event: &Event) {
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
            Event::Refund { donation, part } => {
                let donations = self
                    .entries
                    .iter()
                    .filter(|entry| entry.draft.kind == Kind::Donation);
                let Some(donation) = donations.cycle().nth(*donation).cloned() else {
                    return;
                };
                let held = self.held(&donation);
                let left = Cents::sum(held.iter().map(|(_, cents)| *cents)).unwrap();
                let amount = Cents::new((left.get() as f64 * part) as i64);
                let back = Refund {
                    source: label("test"),
                    external_id: label(&donation.draft.external_id),
                    amount: Cents::positive(amount.get()),
                    refund_id: Some(label(&format!("refund {number}"))),
                };
                match refund::draft(Kind::Refund, &back, &donation, &held, number) {
                    Ok(draft) => self.append(draft),
                    Err(_) => assert_eq!(left, Cents::ZERO),
                }
            }
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

    /// What each nonprofit still holds of a donation.
    fn held(&self, donation: &Entry) -> Vec<(Party, Cents)> {
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

    fn append(&mut self, draft: Draft) {
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
        let totals = before.after(draft.amount, net).unwrap();
        let hash = self.entries.last().map_or(GENESIS, |entry| entry.hash);
        let sequence = self.entries.len() as i64 + 1;
        self.entries
            .push(Entry::new(sequence, &hash, draft, Some(totals)));
    }

    fn audit(&self) -> Audit {
        let beneficiaries = self.fundraisers.iter().cloned().collect();
        let refunded: HashSet<i64> = self
            .entries
            .iter()
            .filter_map(|entry| entry.draft.refunds)
            .collect();
        let known = self.fundraisers.iter().map(|(id, _)| *id).collect();
        let mut audit = Audit::new(known, beneficiaries, refunded);
        self.entries.iter().for_each(|entry| audit.add(entry, None));
        audit
    }

    /// The same ledger, cut after this many entries.
    fn cut(&self, entries: usize) -> TestLedger {
        TestLedger {
            fundraisers: self.fundraisers.clone(),
            entries: self.entries[..entries].to_vec(),
        }
    }

    /// Audits only the entries after a checkpoint, as `causeway check` does. What it reads from entries before is read from
    /// `self` too.
    fn audit_after(&self, checkpoint: &Checkpoint) -> Audit {
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
            audit.add(entry, None);
        }
        audit
    }

    /// The anchor that was written after this many entries.
    fn anchor(&self, entries: usize) -> Anchor {
        Anchor {
            store: Uuid::nil(),
            entries: entries as i64,
            hash: self.entries[entries - 1].hash,
            at: entries as i64,
        }
    }

    /// Compares anchors with this ledger.
    fn loss(&self, anchors: &[Anchor]) -> Option<Loss> {
        let hash = |anchor: &Anchor| {
            self.entries
                .get(anchor.entries as usize - 1)
                .map(|entry| entry.hash)
        };
        let compared = anchors.iter().map(|anchor| (anchor.clone(), hash(anchor)));
        Loss::find(compared.collect(), self.entries.len() as i64, None)
    }
}

/// Changes one entry in one of nine ways.
fn damage(entry: &mut Entry, what: u8) {
    let draft = &mut entry.draft;
    match what {
        0 => draft.amount = Cents::new(draft.amount.get() + 1),
        1 => draft.donor = Some("somebody else".to_owned()),
        2 => draft.recorded_at += 1,
        3 => draft.external_id.push('x'),
        4 => draft.postings[0].amount = Cents::new(draft.postings[0].amount.get() - 1),
        5 => _ = draft.postings.pop(),
        6 => {
            entry.totals = entry.totals.map(|totals| Totals {
                supporters: totals.supporters + 1,
                ..totals
            });
        }
        7 => draft.mode = flipped(draft.mode),
        _ => entry.hash[7] ^= 1,
    }
}

fn flipped(mode: Mode) -> Mode {
    match mode {
        Mode::Live => Mode::Test,
        Mode::Test => Mode::Live,
    }
}

fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

fn ledgers() -> impl Strategy<Value = TestLedger> {
    let weights = proptest::collection::vec(proptest::collection::vec(0.01..100.0f64, 1..=5), 3);
    (weights, proptest::collection::vec(event(), 1..16)).prop_map(|(weights, events)| {
        let mut ledger = TestLedger::new(&weights);
        for event in &events {
            ledger.apply(event);
        }
        ledger
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 20_000, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn raised_is_the_sum_of_the_ledger_and_of_the_export(ledger in ledgers()) {
        let audit = ledger.audit();
        let lines: Vec<_> = ledger.entries.iter().map(|entry| line(entry, None)).collect();
        for (id, _) in &ledger.fundraisers {
            let mut by_mode = TotalsByMode::default();
            for mode in [Mode::Live, Mode::Test] {
                let own = || ledger.entries.iter()
                    .filter(|entry| entry.draft.fundraiser == Some(*id) && entry.draft.mode == mode);
                let sum = own().map(|entry| entry.draft.amount.get()).sum::<i64>();
                let received = own().flat_map(|entry| &entry.draft.postings)
                    .filter(|posting| matches!(posting.party, Party::Nonprofit(_) | Party::Fundraiser(_)));
                let received = received.map(|posting| posting.amount.get()).sum::<i64>();
                let exported = lines.iter()
                    .filter(|line| line["fundraiserId"] == id.to_string() && line["mode"] == mode.as_str());
                let exported = exported.map(|line| line["amount"].as_i64().unwrap()).sum::<i64>();
                let shown = own().next_back().map_or(Totals::default(), |entry| entry.totals.unwrap());
                prop_assert_eq!((sum, received, exported), (shown.raised.get(), shown.raised.get(), shown.raised.get()));
                prop_assert!(shown.raised >= Cents::ZERO && shown.supporters >= 0);
                *by_mode.of_mode_mut(mode) = shown;
            }
            prop_assert_eq!(audit.totals(*id), by_mode);
            prop_assert_eq!(by_mode.counted(false), by_mode.live);
            let all = ledger.entries.iter().filter(|entry| entry.draft.fundraiser == Some(*id));
            let all = all.map(|entry| entry.draft.amount.get()).sum::<i64>();
            prop_assert_eq!(by_mode.counted(true).raised.get(), all);
            prop_assert_eq!(by_mode.counted(true).supporters, by_mode.live.supporters + by_mode.test.supporters);
        }
        prop_assert_eq!(audit.into_errors(), Vec::<String>::new());
    }

    #[test]
    fn a_change_to_any_entry_is_found_and_named(ledger in ledgers(), index in any::<prop::sample::Index>(), what in 0..9u8) {
        if ledger.entries.is_empty() {
            return Ok(());
        }
        let mut ledger = ledger;
        let index = index.index(ledger.entries.len());
        let entry = &mut ledger.entries[index];
        damage(entry, what);
        let number = entry.sequence;
        let errors = ledger.audit().into_errors();
        prop_assert!(errors.iter().any(|error| error.starts_with(&format!("entry {number} "))), "{errors:?}");
    }

    /// Somebody who can write to the database can compute all hashes again, but the modes no longer fit together.
    #[test]
    fn a_refund_or_an_offline_amount_in_the_wrong_mode_is_found_with_valid_hashes(
        ledger in ledgers(), index in any::<prop::sample::Index>(),
    ) {
        let mut ledger = ledger;
        let depends = |entry: &&mut Entry| entry.draft.kind != Kind::Donation;
        let count = ledger.entries.iter_mut().filter(depends).count();
        prop_assume!(count > 0);
        let entry = ledger.entries.iter_mut().filter(depends).nth(index.index(count)).unwrap();
        entry.draft.mode = flipped(entry.draft.mode);
        let number = entry.sequence;
        let mut hash = GENESIS;
        for entry in &mut ledger.entries {
            entry.hash = entry.hash_after(&hash);
            hash = entry.hash;
        }
        let errors = ledger.audit().into_errors();
        let expected = |error: &String| error.starts_with(&format!("entry {number} ")) && error.contains("must be a");
        prop_assert!(errors.iter().any(expected), "{errors:?}");
    }

    #[test]
    fn a_missing_entry_is_found_and_named(ledger in ledgers(), index in any::<prop::sample::Index>()) {
        if ledger.entries.len() < 2 {
            return Ok(());
        }
        let mut ledger = ledger;
        let index = index.index(ledger.entries.len() - 1);
        ledger.entries.remove(index);
        let errors = ledger.audit().into_errors();
        let named = format!("entry {} is missing", index + 1);
        prop_assert!(errors.iter().any(|error| error.starts_with(&named)), "{errors:?}");
    }

    #[test]
    fn an_audit_that_continues_from_a_checkpoint_comes_to_the_same_verdict(
        ledger in ledgers(), split in any::<prop::sample::Index>(), index in any::<prop::sample::Index>(), what in 0..9u8,
    ) {
        prop_assume!(ledger.entries.len() >= 2);
        let mut ledger = ledger;
        let split = 1 + split.index(ledger.entries.len() - 1);
        let checkpoint = ledger.cut(split).audit().checkpoint().unwrap();
        let resumed = ledger.audit_after(&checkpoint);
        prop_assert_eq!(resumed.checkpoint(), ledger.audit().checkpoint());
        prop_assert_eq!(resumed.into_errors(), Vec::<String>::new());
        // Damage anywhere is found by a whole audit, and damage after the checkpoint by both in the same way.
        let index = index.index(ledger.entries.len());
        damage(&mut ledger.entries[index], what);
        let errors = ledger.audit().into_errors();
        prop_assert!(!errors.is_empty());
        if index >= split {
            prop_assert_eq!(ledger.audit_after(&checkpoint).into_errors(), errors);
        }
    }

    /// A ledger that is cut, and one that went on differently after that, are valid in themselves.
    #[test]
    fn a_ledger_that_is_cut_is_found_by_its_anchors(
        ledger in ledgers(), cut in any::<prop::sample::Index>(), anchors in proptest::collection::vec(any::<prop::sample::Index>(), 1..5),
        further in proptest::collection::vec(event(), 0..8),
    ) {
        prop_assume!(!ledger.entries.is_empty());
        let anchors: Vec<Anchor> = anchors.iter().map(|index| ledger.anchor(1 + index.index(ledger.entries.len()))).collect();
        prop_assert_eq!(ledger.loss(&anchors), None);
        let cut = cut.index(ledger.entries.len());
        let mut shorter = ledger.cut(cut);
        let last = anchors.iter().map(|anchor| anchor.entries).max().unwrap();
        let loss = shorter.loss(&anchors);
        prop_assert_eq!(loss.as_ref().map(Loss::range), (last > cut as i64).then_some((cut as i64 + 1, last)));
        prop_assert_eq!(loss.map(|loss| loss.count()), (last > cut as i64).then_some(last - cut as i64));
        for event in &further {
            shorter.apply(event);
        }
        prop_assert!(shorter.audit().into_errors().is_empty());
        let is_replaced = shorter.entries.get(cut).is_none_or(|entry| *entry != ledger.entries[cut]);
        if is_replaced {
            prop_assert_eq!(shorter.loss(&anchors).is_some(), last > cut as i64);
        }
    }
}
