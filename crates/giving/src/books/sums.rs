//! The balances of the books in one mode, with what is owed to all nonprofits together.

use crate::ledger::checkpoints::store as checkpoints;
use crate::ledger::entry::{Account, Mode};
use crate::ledger::store as ledger;
use platform::db::Db;
use platform::money::Cents;
use platform::secret::StoreSecret;

/// The sums of the accounts in one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountSums {
    /// The balance at Stripe.
    pub cash: Cents,
    /// What Stripe kept as fees.
    pub fees: Cents,
    /// The operator's bank account.
    pub bank: Cents,
    pub operator: Cents,
    /// What is owed to all nonprofits. Below zero if they received more than was given to them.
    pub owed: Cents,
}

impl AccountSums {
    /// Adds up the books. Starts from the last checkpoint, so that only the entries after it are read.
    pub async fn find(db: &Db, secret: &StoreSecret, mode: Mode) -> sqlx::Result<AccountSums> {
        let mut sums = AccountSums::default();
        let mut after = 0;
        if let Some(checkpoint) = checkpoints::find(db, secret).await? {
            after = checkpoint.entries;
            let own = checkpoint.balances.iter().filter(|(of, ..)| *of == mode);
            for (_, account, balance) in own {
                match account {
                    Account::Cash => sums.add("cash", balance),
                    Account::Fees => sums.add("fees", balance),
                    Account::Bank => sums.add("bank", balance),
                    Account::Operator => sums.add("operator", balance),
                    Account::Owed(_) => sums.add("owed", balance),
                }
            }
        }
        for (party, sum) in ledger::sum_accounts(db, mode, after).await? {
            sums.add(&party, sum);
        }
        sums.owed = sums.owed.reversed();
        Ok(sums)
    }

    /// Adds to the sum of a kind of account. The ledger checks every amount for overflow before it enters it.
    fn add(&mut self, party: &str, amount: Cents) {
        let sum = match party {
            "cash" => &mut self.cash,
            "fees" => &mut self.fees,
            "bank" => &mut self.bank,
            "operator" => &mut self.operator,
            "owed" => &mut self.owed,
            _ => return,
        };
        *sum = Cents::new(sum.get().saturating_add(amount.get()));
    }
}
