//! Reconciliation: compares every balance transaction of Stripe with the books, and then the balance.
//!
//! Transactions are read page by page. What Stripe did and the ledger lacks is entered, if it can be tied to a donation or is
//! a payout or a fee of Stripe. Everything else is listed as a difference.

use super::Payments;
use super::differences::{Difference, DifferenceKind};
use super::error::{PaymentError, Result};
use super::listing::CORRECTED;
use super::objects::label;
use super::store::{self, Reconciliation};
use crate::books::Movement;
use crate::ledger::store as ledger;
use crate::providers::stripe::NAME;
use crate::providers::stripe::client::StripeError;
use crate::providers::stripe::objects::{BalanceTransaction, Reference};
use crate::providers::stripe::pacing::Urgency;
use platform::money::Cents;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// Entries that are compared at once.
const PAGE: i64 = 1_000;
/// How far a comparison reaches back before the end of the one before, in seconds: transactions can appear late.
const OVERLAP_SECONDS: i64 = 3 * 86_400;
/// The object of a difference between the balances.
const BALANCE: &str = "balance";

impl Payments<'_> {
    /// Compares the transactions that were created from `since` to `until`, in seconds. Without `since`, those after the last
    /// comparison.
    pub async fn reconcile(self, since: Option<i64>, until: Option<i64>) -> Result<Reconciliation> {
        let db = self.settlement.db;
        let livemode = !self.mode.is_test();
        let now = self.settlement.clock.millis() / 1_000;
        let until = until.unwrap_or(now + 1);
        let last = store::find_last_reconciliation(db, livemode).await?;
        let since = since.unwrap_or_else(|| last.map_or(0, |last| last.until - OVERLAP_SECONDS));
        let open = store::list_differences(db).await?;
        let open: HashSet<(String, &str)> = open
            .into_iter()
            .map(|listed| (listed.difference.object, listed.difference.kind.as_str()))
            .collect();
        let hasher = RandomState::new();
        // A set of hashes, so that a million transactions take a few megabytes.
        let mut seen: HashSet<u64> = HashSet::new();
        let (mut transactions, mut entered, mut after) = (0, 0, None);
        loop {
            let page = self
                .stripe
                .list_balance_transactions(since, until, after.as_deref())
                .await?;
            for transaction in &page.data {
                seen.insert(hasher.hash_one(&transaction.id));
                transactions += 1;
                entered += i64::from(Box::pin(self.compare(transaction, &open)).await?);
            }
            after = page.data.last().map(|last| last.id.clone());
            if !page.has_more || after.is_none() {
                break;
            }
        }
        self.find_entries_without_transaction(since, |id| seen.contains(&hasher.hash_one(id)))
            .await?;
        let (balance, ledger_balance) = self.compare_balances().await?;
        let differences = store::list_differences(db).await?.len() as i64;
        let result = Reconciliation {
            livemode,
            since,
            until,
            transactions,
            entered,
            differences,
            balance,
            ledger_balance,
            finished_at: self.settlement.clock.millis(),
        };
        store::add_reconciliation(db, &result).await?;
        Ok(result)
    }

    /// Compares a transaction with its entry, and makes the entry if it is missing. Returns whether it did.
    async fn compare(self, transaction: &BalanceTransaction, open: &HashSet<(String, &str)>) -> Result<bool> {
        let db = self.settlement.db;
        let net = Cents::new(transaction.net);
        let mut cash = ledger::find_cash(db, NAME, &transaction.id).await?;
        let is_missing = cash.is_none();
        if is_missing {
            match self.enter_missing(transaction).await {
                Ok(()) => {}
                // Stripe cannot be asked, or the store is away: that is not a difference.
                Err(error @ PaymentError::Stripe(StripeError::Unavailable(_) | StripeError::Unknown(_))) => {
                    return Err(error);
                }
                Err(error) => tracing::warn!(%error, transaction = transaction.id, "could not be entered"),
            }
            cash = ledger::find_cash(db, NAME, &transaction.id).await?;
        }
        let source = transaction.source.as_deref().unwrap_or("nothing");
        let kind = match cash {
            None => Some(DifferenceKind::Unknown),
            Some(cash) if cash != net => Some(DifferenceKind::Entry),
            Some(_) => None,
        };
        let difference = |kind| Difference {
            kind,
            object: transaction.id.clone(),
            livemode: !self.mode.is_test(),
            donation: None,
            amount: net,
            detail: match cash {
                None => format!(
                    "{} of {source}, which the ledger does not know",
                    transaction.reporting_category
                ),
                Some(cash) => format!("the books have {cash} for {source}"),
            },
        };
        for possible in [
            DifferenceKind::Unknown,
            DifferenceKind::Entry,
            DifferenceKind::NoTransaction,
        ] {
            if kind == Some(possible) {
                self.add_difference(&difference(possible)).await?;
            } else if open.contains(&(transaction.id.clone(), possible.as_str())) {
                store::remove_difference(db, &transaction.id, possible).await?;
            }
        }
        Ok(is_missing && cash.is_some())
    }

    /// Makes the entry of a transaction, if it can be tied to a donation, a payout or a fee of Stripe.
    async fn enter_missing(self, transaction: &BalanceTransaction) -> Result<()> {
        let urgency = Urgency::Reconciliation;
        let source = transaction.source.as_deref().unwrap_or_default();
        let net = Cents::new(transaction.net);
        match transaction.reporting_category.as_str() {
            "charge" => {
                let charge = self.stripe.find_charge(source, None, urgency).await?;
                self.apply_charge(&charge, None, urgency).await?;
                self.enter_second(source, transaction).await
            }
            "refund" | "refund_failure" => {
                self.refresh_refund(source, None, urgency).await?;
                let refund = self.stripe.find_refund(source, None, urgency).await?;
                let charge = refund.charge.as_ref().map(Reference::id).unwrap_or_default();
                self.enter_second(charge, transaction).await
            }
            "dispute" | "dispute_reversal" => self.refresh_dispute(source, None, urgency).await,
            "payout" | "payout_reversal" => {
                let movement = Movement::Payout {
                    transaction: label(&transaction.id),
                    mode: self.mode,
                    amount: Cents::new(-transaction.amount),
                    fee: Cents::new(transaction.fee),
                };
                self.settlement.recorder.enter(movement).await?;
                Ok(())
            }
            "fee" | "network_cost" => self.enter_other(&transaction.id, net).await,
            _ => Ok(()),
        }
    }

    /// Enters a transaction of a second charge, or of its refund, as the operator's own.
    async fn enter_second(self, charge: &str, transaction: &BalanceTransaction) -> Result<()> {
        let db = self.settlement.db;
        if store::is_listed(db, charge, DifferenceKind::SecondCharge).await? {
            self.enter_other(&transaction.id, Cents::new(transaction.net))
                .await?;
        }
        Ok(())
    }

    /// Lists the entries whose transaction Stripe does not know.
    async fn find_entries_without_transaction(
        self,
        since: i64,
        is_seen: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let db = self.settlement.db;
        let mut after = 0;
        loop {
            let since = since.saturating_mul(1_000);
            let page = ledger::list_names_from(db, (NAME, self.mode), after, since, PAGE).await?;
            let Some(&(last, ..)) = page.last() else {
                return Ok(());
            };
            after = last;
            for (_, id, _) in page {
                if is_seen(&id) || id.ends_with(CORRECTED) {
                    continue;
                }
                match self.stripe.find_balance_transaction(&id).await {
                    // It is of another period.
                    Ok(_) => {}
                    Err(error) if error.is_not_found() => {
                        let cash = ledger::find_cash(db, NAME, &id).await?.unwrap_or_default();
                        self.add_difference(&Difference {
                            kind: DifferenceKind::NoTransaction,
                            object: id,
                            livemode: !self.mode.is_test(),
                            donation: None,
                            amount: cash,
                            detail: "the books have an entry for a transaction that Stripe does not have"
                                .to_owned(),
                        })
                        .await?;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    /// Compares the balance at Stripe with that of the books. Returns both.
    async fn compare_balances(self) -> Result<(Cents, Cents)> {
        let db = self.settlement.db;
        let balance = self.stripe.find_balance().await?;
        let balance = Cents::new(balance.total(super::objects::CURRENCY));
        let books = ledger::sum_cash(db, self.mode).await?;
        // The amount may have changed since it was listed.
        store::remove_difference(db, BALANCE, DifferenceKind::Balance).await?;
        if balance != books {
            self.add_difference(&Difference {
                kind: DifferenceKind::Balance,
                object: BALANCE.to_owned(),
                livemode: !self.mode.is_test(),
                donation: None,
                amount: balance.plus(books.reversed()).unwrap_or_default(),
                detail: format!("Stripe has {balance}, the books have {books}"),
            })
            .await?;
        }
        Ok((balance, books))
    }
}
