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
use crate::checkout::store as checkout;
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
/// How often new transactions are looked for, if the balances differ.
const MAX_REPEATS: usize = 5;
/// The object of a difference between the balances.
const BALANCE: &str = "balance";

impl Payments<'_> {
    /// Compares the transactions that were created from `since` to `until`, in seconds. Without `since`, those after the last
    /// comparison.
    pub async fn reconcile(self, since: Option<i64>, until: Option<i64>) -> Result<Reconciliation> {
        let db = self.settlement.db;
        let livemode = !self.mode.is_test();
        let now = self.settlement.clock.millis() / 1_000;
        let last = store::find_last_reconciliation(db, livemode).await?;
        let since = since.unwrap_or_else(|| last.map_or(0, |last| last.until - OVERLAP_SECONDS));
        let open = store::list_differences(db).await?;
        let open = open
            .into_iter()
            .map(|listed| (listed.difference.object, listed.difference.kind.as_str()))
            .collect();
        let mut seen = Seen::default();
        let period = (since, until);
        let mut entered = self.compare_transactions(period, &open, &mut seen).await?;
        self.refresh_disputes(since).await?;
        self.find_entries_without_transaction(since, |id| seen.contains(id))
            .await?;
        let mut balances = self.read_balances().await?;
        for _ in 0..MAX_REPEATS {
            if balances.0 == balances.1 {
                break;
            }
            // Payments go on meanwhile, and second charges are refunded.
            entered += self.compare_transactions(period, &open, &mut seen).await?;
            balances = self.read_balances().await?;
        }
        self.compare_balances(balances).await?;
        let (balance, ledger_balance) = balances;
        let differences = store::list_differences(db).await?.len() as i64;
        let result = Reconciliation {
            livemode,
            since,
            until: until.unwrap_or(now + 1),
            transactions: seen.hashes.len() as i64,
            entered,
            differences,
            balance,
            ledger_balance,
            finished_at: self.settlement.clock.millis(),
        };
        store::add_reconciliation(db, &result).await?;
        Ok(result)
    }

    /// Compares the transactions of a period that were not seen before, newest first, and returns how many it entered. Ends at
    /// a page without any.
    async fn compare_transactions(
        self,
        (since, until): (i64, Option<i64>),
        open: &HashSet<(String, &str)>,
        seen: &mut Seen,
    ) -> Result<i64> {
        let (mut entered, mut after) = (0, None);
        loop {
            let page = self
                .stripe
                .list_balance_transactions(since, until, after.as_deref())
                .await?;
            let mut has_new = false;
            for transaction in &page.data {
                if seen.add(&transaction.id) {
                    has_new = true;
                    entered += i64::from(Box::pin(self.compare(transaction, open)).await?);
                }
            }
            after = page.data.last().map(|last| last.id.clone());
            if !page.has_more || !has_new {
                return Ok(entered);
            }
        }
    }

    /// Reads the disputes again that may have changed without a transaction: inquiries, and those that were lost.
    async fn refresh_disputes(self, since: i64) -> Result<()> {
        let (db, urgency) = (self.settlement.db, Urgency::Reconciliation);
        for open in store::list_open_disputes(db).await? {
            let donation = checkout::find(db, open.donation).await?;
            let account = donation.and_then(|donation| donation.account);
            let refreshed = self.refresh_dispute(&open.id, account.as_deref(), urgency).await;
            log_unless_unreachable(refreshed, &open.id)?;
        }
        let mut after = None;
        loop {
            let page = self.stripe.list_disputes_since(since, after.as_deref()).await?;
            for dispute in &page.data {
                let refreshed = self.refresh_withdrawals(dispute.charge.id(), None, urgency).await;
                log_unless_unreachable(refreshed, &dispute.id)?;
            }
            after = page.data.last().map(|last| last.id.clone());
            if !page.has_more || after.is_none() {
                return Ok(());
            }
        }
    }

    /// Compares a transaction with its entry, and makes the entry if it is missing. Returns whether it did.
    async fn compare(self, transaction: &BalanceTransaction, open: &HashSet<(String, &str)>) -> Result<bool> {
        let db = self.settlement.db;
        let net = Cents::new(transaction.net);
        let mut cash = ledger::find_cash(db, NAME, &transaction.id).await?;
        let is_missing = cash.is_none();
        if is_missing {
            log_unless_unreachable(self.enter_missing(transaction).await, &transaction.id)?;
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
                self.enter_charge(&charge, None, urgency).await?;
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

    /// Returns the balance at Stripe, and that of the books.
    async fn read_balances(self) -> Result<(Cents, Cents)> {
        let balance = self.stripe.find_balance().await?;
        let balance = Cents::new(balance.total(super::objects::CURRENCY));
        let books = ledger::sum_cash(self.settlement.db, self.mode).await?;
        Ok((balance, books))
    }

    /// Lists the difference between both balances, if there is one.
    async fn compare_balances(self, (balance, books): (Cents, Cents)) -> Result<()> {
        let db = self.settlement.db;
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
        Ok(())
    }
}

/// The transactions that were compared: a set of hashes, so that a million take a few megabytes.
#[derive(Default)]
struct Seen {
    hasher: RandomState,
    hashes: HashSet<u64>,
}

impl Seen {
    /// Returns `false` if it was added before.
    fn add(&mut self, id: &str) -> bool {
        self.hashes.insert(self.hasher.hash_one(id))
    }

    fn contains(&self, id: &str) -> bool {
        self.hashes.contains(&self.hasher.hash_one(id))
    }
}

/// Logs what could not be entered; the comparison names it. An error that says nothing about it ends the comparison: Stripe
/// cannot be asked.
fn log_unless_unreachable(outcome: Result<()>, object: &str) -> Result<()> {
    match outcome {
        Err(error @ PaymentError::Stripe(StripeError::Unavailable(_) | StripeError::Unknown(_))) => {
            Err(error)
        }
        Err(error) => {
            tracing::warn!(%error, object, "could not be entered");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
