//! Which entries of a nonprofit are due.
//!
//! A charge is due when its donation is old enough and its money is available. What else belongs to a donation, such as a
//! refund, follows its charge: it waits with it, and it is due at once if the charge was paid before. If less than nothing is
//! left of a donation, that is taken into account at once. So what waits is never below zero, and never more is due than is owed.

use crate::ledger::entry::Kind;
use platform::money::{AmountOverflow, Cents};
use std::collections::BTreeMap;

/// What an entry of the books owes to a nonprofit, while no line pays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwedEntry {
    pub entry: i64,
    /// The kind of the settled entry, or a reassignment.
    pub kind: Kind,
    pub amount: Cents,
    pub fee: Cents,
    /// The donation that it is about, or the entry itself.
    pub root: i64,
    /// When the donation was paid.
    pub given_at: i64,
    /// When its money is available.
    pub available_at: Option<i64>,
}

/// When a donation is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct DueRule {
    pub now: i64,
    /// Donations are due that were made before then.
    pub given_before: i64,
}

/// What can be paid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub included: Vec<i64>,
    pub amount: Cents,
    /// What is owed, but not due yet.
    pub waiting: Cents,
}

impl DueRule {
    fn is_due(&self, charge: &OwedEntry) -> bool {
        charge.given_at < self.given_before && charge.available_at.is_none_or(|at| at <= self.now)
    }
}

/// Decides which of the entries of a nonprofit are due.
pub(super) fn plan(entries: &[OwedEntry], rule: &DueRule) -> Result<Plan, AmountOverflow> {
    let mut donations: BTreeMap<i64, (bool, Cents)> = BTreeMap::new();
    for entry in entries {
        let (is_due, amount) = donations.entry(entry.root).or_insert((true, Cents::ZERO));
        *amount = amount.plus(entry.amount)?;
        if entry.kind == Kind::Donation {
            *is_due = rule.is_due(entry);
        }
    }
    let mut plan = Plan::default();
    for entry in entries {
        let (is_due, amount) = donations[&entry.root];
        if is_due || amount < Cents::ZERO {
            plan.included.push(entry.entry);
            plan.amount = plan.amount.plus(entry.amount)?;
        } else {
            plan.waiting = plan.waiting.plus(entry.amount)?;
        }
    }
    Ok(plan)
}

/// Returns when the oldest donation was made of which something has yet to be paid, if refunds and the like take back from the
/// oldest ones first.
pub(super) fn oldest_unpaid(entries: &[OwedEntry]) -> Option<i64> {
    let taken = entries.iter().filter(|entry| entry.amount < Cents::ZERO);
    let mut taken = taken.fold(0_i64, |sum, entry| sum.saturating_sub(entry.amount.get()));
    let mut given: Vec<&OwedEntry> = entries
        .iter()
        .filter(|entry| entry.amount > Cents::ZERO)
        .collect();
    given.sort_by_key(|entry| (entry.given_at, entry.entry));
    given.into_iter().find_map(|entry| {
        taken -= entry.amount.get();
        (taken < 0).then_some(entry.given_at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULE: DueRule = DueRule {
        now: 100,
        given_before: 50,
    };

    fn entry(entry: i64, root: i64, kind: Kind, amount: i64, given_at: i64) -> OwedEntry {
        OwedEntry {
            entry,
            kind,
            amount: Cents::new(amount),
            fee: Cents::ZERO,
            root,
            given_at,
            available_at: None,
        }
    }

    #[test]
    fn a_refund_waits_with_its_charge_and_counts_at_once_after_it() {
        let charge = entry(2, 1, Kind::Donation, 1_000, 60);
        let refund = entry(4, 1, Kind::Refund, -400, 60);
        let old = entry(6, 5, Kind::Donation, 2_000, 10);
        let young = plan(&[charge, refund, old], &RULE).unwrap();
        assert_eq!(
            (young.included, young.amount, young.waiting),
            (vec![6], Cents::new(2_000), Cents::new(600))
        );
        let paid_before = plan(&[refund, old], &RULE).unwrap();
        assert_eq!(paid_before.amount, Cents::new(1_600));
    }

    #[test]
    fn money_that_is_not_available_waits() {
        let mut charge = entry(2, 1, Kind::Donation, 1_000, 10);
        charge.available_at = Some(101);
        assert_eq!(plan(&[charge], &RULE).unwrap().waiting, Cents::new(1_000));
        charge.available_at = Some(100);
        assert_eq!(plan(&[charge], &RULE).unwrap().amount, Cents::new(1_000));
    }

    #[test]
    fn refunds_take_back_from_the_oldest_donation_first() {
        let entries = [
            entry(2, 1, Kind::Donation, 1_000, 10),
            entry(4, 3, Kind::Donation, 1_000, 20),
            entry(6, 3, Kind::Refund, -1_000, 20),
        ];
        assert_eq!(oldest_unpaid(&entries), Some(20));
        assert_eq!(oldest_unpaid(&entries[..2]), Some(10));
        assert_eq!(oldest_unpaid(&entries[2..]), None);
    }

    fn any_entry() -> impl Strategy<Value = OwedEntry> {
        let kind = prop_oneof![
            3 => Just(Kind::Donation),
            2 => Just(Kind::Refund),
            1 => Just(Kind::Dispute),
            1 => Just(Kind::DisputeWon),
            1 => Just(Kind::Reassignment),
        ];
        (
            kind,
            1..6_i64,
            1..500_i64,
            0..100_i64,
            proptest::option::of(50..150_i64),
        )
            .prop_map(|(kind, root, amount, given_at, available_at)| {
                let sign = if matches!(kind, Kind::Refund | Kind::Dispute) {
                    -1
                } else {
                    1
                };
                OwedEntry {
                    available_at,
                    ..entry(0, root, kind, sign * amount, given_at)
                }
            })
    }

    proptest! {
        /// Nothing is lost or counted twice, and never more is due than is owed.
        #[test]
        fn what_is_due_and_what_waits_is_what_is_owed(mut entries in prop::collection::vec(any_entry(), 0..12)) {
            for (number, entry) in (1..).zip(&mut entries) {
                entry.entry = number;
            }
            let planned = plan(&entries, &RULE).unwrap();
            let owed: i64 = entries.iter().map(|entry| entry.amount.get()).sum();
            prop_assert_eq!(planned.amount.get() + planned.waiting.get(), owed);
            prop_assert!(planned.waiting >= Cents::ZERO);
            let mut included = planned.included.clone();
            included.dedup();
            prop_assert_eq!(included.len(), planned.included.len());
        }
    }
}
