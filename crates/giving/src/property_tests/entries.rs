//! Property tests of the ledger with random histories: the amount raised is the sum of the entries, of the postings and of
//! the export, the books balance, and every change to an entry is found.

use super::model::{cases, event, ledgers};
use crate::export::line;
use crate::ledger::anchors::Anchor;
use crate::ledger::anchors::comparison::Loss;
use crate::ledger::entry::{Account, Entry, GENESIS, Kind, Mode, Party, Totals, TotalsByMode};
use platform::money::Cents;
use proptest::prelude::*;

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
            let totals = entry.totals.unwrap_or_default();
            entry.totals = Some(Totals {
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

proptest! {
    #![proptest_config(cases(2_000))]

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
    fn an_entry_in_another_mode_than_its_donation_is_found_with_valid_hashes(
        ledger in ledgers(), index in any::<prop::sample::Index>(),
    ) {
        let mut ledger = ledger;
        let depends = |entry: &&mut Entry| {
            let draft = &entry.draft;
            draft.kind == Kind::Offline || draft.refunds.is_some() || draft.origin.is_some()
        };
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
        let expected = |error: &String| error.starts_with(&format!("entry {number} ")) && (error.contains("must be a") || error.contains("another mode"));
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

    #[test]
    fn the_books_balance_and_agree_with_stripe_and_the_bank(ledger in ledgers()) {
        let audit = ledger.audit();
        let balances = ledger.balances();
        prop_assert_eq!(audit.balances(), &balances);
        for mode in [Mode::Live, Mode::Test] {
            let reported = ledger.reported.get(&mode).copied().unwrap_or_default();
            let own = || balances.iter().filter(|(of, ..)| *of == mode);
            prop_assert_eq!(own().map(|(.., balance)| balance.get()).sum::<i64>(), 0);
            prop_assert_eq!(balances.of(mode, Account::Cash).get(), reported.stripe);
            prop_assert_eq!(balances.of(mode, Account::Fees).get(), reported.fees);
            prop_assert_eq!(balances.of(mode, Account::Bank).get(), reported.bank);
            let owed = own().filter(|(_, account, _)| matches!(account, Account::Owed(_)));
            let owed = owed.map(|(.., balance)| -balance.get()).sum::<i64>();
            prop_assert_eq!(owed, reported.gross - reported.fees_of_nonprofits - reported.disbursed);
        }
        prop_assert_eq!(audit.into_errors(), Vec::<String>::new());
    }

    /// Of a donation that is settled, with everything that happened to it, the nonprofits are owed what they hold.
    #[test]
    fn what_is_owed_mirrors_what_each_nonprofit_holds(ledger in ledgers()) {
        let postings = |entry: &Entry| entry.draft.postings.clone();
        for entry in ledger.entries.iter().filter(|entry| entry.draft.kind == Kind::Settlement) {
            let Some(origin) = entry.draft.origin else { continue };
            let settled = &ledger.entries[origin as usize - 1];
            let shares: Vec<_> = postings(settled).into_iter().filter_map(|posting| match posting.party {
                Party::Nonprofit(id) => Some((Account::Owed(id), -posting.amount.get())),
                _ => None,
            }).collect();
            let owed: Vec<_> = postings(entry).into_iter().filter_map(|posting| match posting.party {
                Party::Account(account @ Account::Owed(_)) => Some((account, posting.amount.get())),
                _ => None,
            }).take(shares.len()).collect();
            prop_assert_eq!(owed, shares);
        }
    }
}
