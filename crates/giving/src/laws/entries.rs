//! The laws of the journal, on made-up histories: raised is the sum of the entries, of the legs and of the export, and
//! no change to an entry stays hidden.

use crate::donations::{Gift, Label, Recipient, Refund, donation, refund};
use crate::export::line;
use crate::ledger::audit::Audit;
use crate::ledger::entry::{Beneficiaries, Draft, Entry, GENESIS, Kind, Leg, Party, Totals};
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::{Cents, Weights};
use proptest::prelude::*;
use std::collections::HashSet;
use uuid::Uuid;

/// Something that happens to one of three fundraisers.
#[derive(Clone, Debug)]
enum Event {
    Gift {
        to: usize,
        donor: u8,
        cents: i64,
    },
    /// Of the gift at this place, as a share of what is left.
    Refund {
        gift: usize,
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
        4 => (0..3usize, 0..4u8, cents.clone()).prop_map(|(to, donor, cents)| Event::Gift { to, donor, cents }),
        2 => (0..12usize, 0.0..=1.0f64).prop_map(|(gift, part)| Event::Refund { gift, part }),
        1 => (0..3usize, cents).prop_map(|(to, cents)| Event::Offline { to, cents }),
    ]
}

/// A journal in memory, written with the rules of the real one.
#[derive(Debug)]
struct Book {
    fundraisers: Vec<(FundraiserId, Beneficiaries)>,
    entries: Vec<Entry>,
}

impl Book {
    fn new(weights: &[Vec<f64>]) -> Book {
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
        Book {
            fundraisers: fundraisers.collect(),
            entries: Vec::new(),
        }
    }

    fn play(&mut self, event: &Event) {
        let number = self.entries.len() as i64;
        match event {
            Event::Gift { to, donor, cents } => {
                let (id, beneficiaries) = self.fundraisers[*to].clone();
                let gift = Gift {
                    source: label("test"),
                    external_id: label(&format!("gift {number}")),
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
                self.append(donation::draft(&gift, number));
            }
            Event::Refund { gift, part } => {
                let gifts = self.entries.iter().filter(|entry| entry.draft.kind == Kind::Gift);
                let Some(gift) = gifts.cycle().nth(*gift).cloned() else {
                    return;
                };
                let held = self.held(&gift);
                let left = Cents::sum(held.iter().map(|(_, cents)| *cents)).unwrap();
                let amount = Cents::new((left.get() as f64 * part) as i64);
                let back = Refund {
                    source: label("test"),
                    external_id: label(&gift.draft.external_id),
                    amount: Cents::positive(amount.get()),
                    refund_id: Some(label(&format!("refund {number}"))),
                };
                match refund::draft(&back, &gift, &held, number) {
                    Ok(draft) => self.append(draft),
                    Err(_) => assert_eq!(left, Cents::ZERO),
                }
            }
            Event::Offline { to, cents } => {
                let id = self.fundraisers[*to].0;
                self.append(Draft {
                    kind: Kind::Offline,
                    source: "offline".to_owned(),
                    external_id: number.to_string(),
                    nonprofit: self.fundraisers[*to].1.nonprofits[0],
                    fundraiser: Some(id),
                    donor: None,
                    amount: Cents::new(*cents),
                    refunds: None,
                    legs: vec![
                        Leg {
                            party: Party::Offline(id),
                            amount: Cents::new(-cents),
                        },
                        Leg {
                            party: Party::Fundraiser(id),
                            amount: Cents::new(*cents),
                        },
                    ],
                    recorded_at: number,
                });
            }
        }
    }

    /// What each nonprofit still holds of a gift.
    fn held(&self, gift: &Entry) -> Vec<(Party, Cents)> {
        let about =
            |entry: &&Entry| entry.sequence == gift.sequence || entry.draft.refunds == Some(gift.sequence);
        let mut held: Vec<(Party, Cents)> = Vec::new();
        for entry in self.entries.iter().filter(about) {
            for (place, leg) in entry.draft.legs[1..].iter().enumerate() {
                match held.get_mut(place) {
                    Some((_, cents)) => *cents = cents.plus(leg.amount).unwrap(),
                    None => held.push((leg.party.clone(), leg.amount)),
                }
            }
        }
        held
    }

    fn append(&mut self, draft: Draft) {
        let of_same = |entry: &&Entry| entry.draft.fundraiser == draft.fundraiser;
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
            .push(Entry::chained(sequence, &hash, draft, Some(totals)));
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
        self.entries.iter().for_each(|entry| audit.add(entry));
        audit
    }
}

fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

fn books() -> impl Strategy<Value = Book> {
    let weights = proptest::collection::vec(proptest::collection::vec(0.01..100.0f64, 1..=5), 3);
    (weights, proptest::collection::vec(event(), 1..16)).prop_map(|(weights, events)| {
        let mut book = Book::new(&weights);
        for event in &events {
            book.play(event);
        }
        book
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 20_000, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn raised_is_the_sum_of_the_journal_and_of_the_export(book in books()) {
        let audit = book.audit();
        for (id, _) in &book.fundraisers {
            let own = || book.entries.iter().filter(|entry| entry.draft.fundraiser == Some(*id));
            let sum = own().map(|entry| entry.draft.amount.get()).sum::<i64>();
            let received = own().flat_map(|entry| &entry.draft.legs)
                .filter(|leg| matches!(leg.party, Party::Nonprofit(_) | Party::Fundraiser(_)));
            let received = received.map(|leg| leg.amount.get()).sum::<i64>();
            let exported = own().map(|entry| line(entry, None)["amount"].as_i64().unwrap()).sum::<i64>();
            let shown = own().next_back().map_or(Totals::default(), |entry| entry.totals.unwrap());
            prop_assert_eq!((sum, received, exported), (shown.raised.get(), shown.raised.get(), shown.raised.get()));
            prop_assert!(shown.raised >= Cents::ZERO && shown.supporters >= 0);
            prop_assert_eq!(audit.totals(*id), shown);
        }
        prop_assert_eq!(audit.faults(), Vec::<String>::new());
    }

    #[test]
    fn a_change_to_any_entry_is_found_and_named(book in books(), place in any::<prop::sample::Index>(), what in 0..8u8) {
        if book.entries.is_empty() {
            return Ok(());
        }
        let mut book = book;
        let place = place.index(book.entries.len());
        let entry = &mut book.entries[place];
        let draft = &mut entry.draft;
        match what {
            0 => draft.amount = Cents::new(draft.amount.get() + 1),
            1 => draft.donor = Some("somebody else".to_owned()),
            2 => draft.recorded_at += 1,
            3 => draft.external_id.push('x'),
            4 => draft.legs[0].amount = Cents::new(draft.legs[0].amount.get() - 1),
            5 => _ = draft.legs.pop(),
            6 => entry.totals = entry.totals.map(|totals| Totals { supporters: totals.supporters + 1, ..totals }),
            _ => entry.hash[7] ^= 1,
        }
        let number = entry.sequence;
        let faults = book.audit().faults();
        prop_assert!(faults.iter().any(|fault| fault.starts_with(&format!("entry {number} "))), "{faults:?}");
    }

    #[test]
    fn a_missing_entry_is_found_and_named(book in books(), place in any::<prop::sample::Index>()) {
        if book.entries.len() < 2 {
            return Ok(());
        }
        let mut book = book;
        let place = place.index(book.entries.len() - 1);
        book.entries.remove(place);
        let faults = book.audit().faults();
        let named = format!("entry {} is missing", place + 1);
        prop_assert!(faults.iter().any(|fault| fault.starts_with(&named)), "{faults:?}");
    }
}
