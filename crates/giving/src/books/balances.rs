//! The balances of the accounts in the books, for each mode.

use crate::ledger::entry::{Account, Entry, Mode, Party};
use platform::ids::NonprofitId;
use platform::money::{AmountOverflow, Cents};
use std::collections::BTreeMap;

/// The sum of all postings of each account in each mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balances(BTreeMap<(Mode, Account), Cents>);

impl Balances {
    /// Adds the postings of an entry. Adds nothing that belongs to donors, nonprofits and fundraisers.
    pub(crate) fn add(&mut self, entry: &Entry) -> Result<(), AmountOverflow> {
        for posting in &entry.draft.postings {
            if let Party::Account(account) = posting.party {
                self.add_amount(entry.draft.mode, account, posting.amount)?;
            }
        }
        Ok(())
    }

    /// Adds an amount to the balance of an account.
    pub(crate) fn add_amount(
        &mut self,
        mode: Mode,
        account: Account,
        amount: Cents,
    ) -> Result<(), AmountOverflow> {
        let balance = self.0.entry((mode, account)).or_default();
        *balance = balance.plus(amount)?;
        Ok(())
    }

    /// The balance of an account.
    pub fn of(&self, mode: Mode, account: Account) -> Cents {
        self.0.get(&(mode, account)).copied().unwrap_or_default()
    }

    /// What is owed to a nonprofit. Below zero if it received more than was given to it, because of a later refund.
    pub fn owed(&self, mode: Mode, nonprofit: NonprofitId) -> Cents {
        self.of(mode, Account::Owed(nonprofit)).reversed()
    }

    /// Every account that has entries, with its balance: live before test, and nonprofits last.
    pub fn iter(&self) -> impl Iterator<Item = (Mode, Account, Cents)> {
        self.0
            .iter()
            .map(|((mode, account), balance)| (*mode, *account, *balance))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
