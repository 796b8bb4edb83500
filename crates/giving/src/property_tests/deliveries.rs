//! Property tests of deliveries: what a provider reports in any order, and more than once, leaves the same books.

use super::model::{cases, label};
use super::writer::{open_store, run};
use crate::books::balances::Balances;
use crate::books::{EntryName, FeesPaidBy, Movement, record};
use crate::check::check;
use crate::donations::{
    Dispute, NewDonation, Recipient, RecordedEntry, Refund, Reversal, donation, refund, reversal,
};
use crate::ledger::batch::Batch;
use crate::ledger::entry::{Beneficiaries, Kind, Mode};
use crate::ledger::writer::Writer;
use platform::db::{Db, StoreError};
use platform::ids::NonprofitId;
use platform::money::Cents;
use proptest::prelude::*;
use uuid::Uuid;

/// Something that a provider reports.
#[derive(Clone, Debug)]
enum Delivery {
    Donation(NewDonation),
    Refund(Refund),
    Dispute(Dispute),
    Reversal(Reversal),
    Movement(Movement),
}

/// What happens to one charge. Amounts are such that every order is possible.
#[derive(Clone, Debug)]
struct Charge {
    cents: i64,
    fee: i64,
    /// Each a refund of a fourth at most, and whether it fails.
    refunds: Vec<(i64, bool)>,
    /// A dispute of a fourth, and whether it is won.
    dispute: Option<bool>,
}

fn charge() -> impl Strategy<Value = Charge> {
    let refunds = prop::collection::vec((1..=1_000i64, any::<bool>()), 0..3);
    (4_000..100_000i64, 0..1_000i64, refunds, any::<Option<bool>>()).prop_map(
        |(cents, fee, refunds, dispute)| Charge {
            cents,
            fee,
            refunds,
            dispute,
        },
    )
}

fn nonprofit(number: usize) -> NonprofitId {
    NonprofitId(Uuid::from_u128(number as u128 + 1))
}

fn name(external_id: &str) -> EntryName {
    EntryName {
        source: label("test"),
        external_id: label(external_id),
    }
}

impl Charge {
    /// Everything that is reported about it, in the order in which it happens.
    fn deliveries(&self, number: usize) -> Vec<Delivery> {
        let charge = format!("charge {number}");
        let settlement = |external_id: &str, amount: i64, fee: i64| {
            Delivery::Movement(Movement::Settlement {
                transaction: label(&format!("txn of {external_id}")),
                settles: name(external_id),
                amount: Cents::new(amount),
                fee: Cents::new(fee),
                fees_paid_by: FeesPaidBy::Nonprofit,
            })
        };
        let reversal = |external_id: &str| {
            Delivery::Reversal(Reversal {
                source: label("test"),
                external_id: label(external_id),
            })
        };
        let nonprofit = nonprofit(number % 2);
        let mut all = vec![
            Delivery::Donation(NewDonation {
                source: label("test"),
                external_id: label(&charge),
                mode: Mode::Live,
                to: Recipient {
                    nonprofit,
                    fundraiser: None,
                    beneficiaries: Beneficiaries::single(nonprofit),
                },
                amount: Cents::new(self.cents),
                donor: label("donor"),
                name: None,
                is_public: false,
            }),
            settlement(&charge, self.cents, self.fee),
        ];
        for (index, (cents, fails)) in self.refunds.iter().enumerate() {
            let refund = format!("re {number} {index}");
            all.push(Delivery::Refund(Refund {
                source: label("test"),
                external_id: label(&charge),
                amount: Some(Cents::new(*cents)),
                refund_id: Some(label(&refund)),
            }));
            all.push(settlement(&refund, -cents, 0));
            if *fails {
                all.push(reversal(&refund));
                all.push(settlement(&format!("{refund} failed"), *cents, 0));
            }
        }
        if let Some(is_won) = self.dispute {
            let dispute = format!("dp {number}");
            all.push(Delivery::Dispute(Dispute {
                source: label("test"),
                external_id: label(&charge),
                amount: Cents::new(1_000),
                dispute_id: label(&dispute),
            }));
            all.push(settlement(&dispute, -1_000, 1_500));
            if is_won {
                all.push(reversal(&dispute));
                all.push(settlement(&format!("{dispute} won"), 1_000, -1_500));
            }
        }
        all.push(Delivery::Movement(Movement::Payout {
            transaction: label(&format!("payout {number}")),
            mode: Mode::Live,
            amount: Cents::new(self.cents / 8),
            fee: Cents::ZERO,
        }));
        all
    }
}

impl Delivery {
    /// Returns the entry, or `None` if it is refused for now because something before it was not reported yet.
    async fn write(&self, batch: &mut Batch, now: i64) -> sqlx::Result<Option<RecordedEntry>> {
        match self {
            Delivery::Donation(donation) => admitted(donation::write(batch, donation, now).await),
            Delivery::Refund(refund) => {
                admitted(refund::write(batch, Kind::Refund, refund, now).await.map(first))
            }
            Delivery::Dispute(dispute) => {
                let refund = Refund::from(dispute.clone());
                admitted(refund::write(batch, Kind::Dispute, &refund, now).await.map(first))
            }
            Delivery::Reversal(reversal) => admitted(reversal::write(batch, reversal, now).await.map(first)),
            Delivery::Movement(movement) => admitted(record::write(batch, movement, now).await),
        }
    }
}

fn first<A, B>((recorded, _): (A, B)) -> A {
    recorded
}

fn admitted<T, E>(written: Result<T, StoreError<E>>) -> sqlx::Result<Option<T>> {
    match written {
        Ok(written) => Ok(Some(written)),
        Err(StoreError::Refused(_)) => Ok(None),
        Err(StoreError::Store(error)) => Err(error),
    }
}

/// Delivers everything, what is refused again later, and returns the number of entries and the balances.
async fn deliver(db: &Db, writer: &Writer, mut waiting: Vec<Delivery>) -> (i64, Balances) {
    while !waiting.is_empty() {
        let before = waiting.len();
        let work = writer.run(move |batch: &mut Batch| {
            let deliveries = waiting.clone();
            Box::pin(async move {
                let mut refused = Vec::new();
                for delivery in deliveries {
                    if delivery.write(batch, 1).await?.is_none() {
                        refused.push(delivery);
                    }
                }
                Ok::<_, StoreError<crate::books::BooksError>>(refused)
            })
        });
        waiting = work.await.unwrap();
        assert!(waiting.len() < before, "nothing more can be entered: {waiting:?}");
    }
    let checked = check(db).await.unwrap();
    assert_eq!(checked.errors, Vec::<String>::new());
    (checked.entries, checked.balances)
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn any_order_and_repetition_of_deliveries_gives_the_same_books(
        charges in prop::collection::vec(charge(), 1..4),
        order in prop::collection::vec(any::<prop::sample::Index>(), 80),
        repeated in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let all: Vec<Delivery> = charges
            .iter()
            .enumerate()
            .flat_map(|(number, charge)| charge.deliveries(number))
            .collect();
        let mut shuffled = all.clone();
        shuffled.extend(repeated.iter().map(|index| all[index.index(all.len())].clone()));
        for (at, index) in order.iter().take(shuffled.len()).enumerate() {
            let other = index.index(shuffled.len());
            shuffled.swap(at, other);
        }
        run(async {
            let (_one, db, writer) = open_store().await;
            let in_order = deliver(&db, &writer, all.clone()).await;
            let (_other, db, writer) = open_store().await;
            prop_assert_eq!(deliver(&db, &writer, shuffled).await, in_order.clone());
            // Everything once more changes nothing.
            prop_assert_eq!(deliver(&db, &writer, all).await, in_order);
            Ok(())
        })?;
    }
}
