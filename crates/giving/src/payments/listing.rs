//! Lists differences for the operator, and takes the operator's explanations.

use super::Payments;
use super::differences::{Difference, DifferenceKind};
use super::error::{PaymentError, Result};
use super::objects::label;
use super::store;
use crate::books::{BooksError, Movement};
use crate::ledger::store as ledger;
use crate::providers::stripe::NAME;

/// The end of the external ID of an entry that corrects another one. No transaction of Stripe has such an ID.
pub(crate) const CORRECTED: &str = " corrected";

impl Payments<'_> {
    /// Lists a difference, once.
    pub(crate) async fn add_difference(self, difference: &Difference) -> Result<()> {
        let now = self.settlement.clock.millis();
        if store::add_difference(self.settlement.db, difference, now).await? {
            let Difference {
                kind, object, detail, ..
            } = difference;
            tracing::error!(
                kind = kind.as_str(),
                object,
                detail,
                "a payment differs from the ledger"
            );
        }
        Ok(())
    }

    /// Notes an operator's explanation of the differences about an object, and makes the books agree with Stripe: a transaction
    /// that belongs to nothing else is entered as the operator's own, and so is what an entry is wrong by. Returns `false` if there is no such difference.
    pub async fn explain(self, object: &str, note: &str) -> Result<bool> {
        let db = self.settlement.db;
        for listed in store::find_differences(db, object).await? {
            let Difference { kind, amount, .. } = listed.difference;
            let cash = ledger::find_cash(db, NAME, object).await?.unwrap_or_default();
            let correction = format!("{object}{CORRECTED}");
            match kind {
                DifferenceKind::Unknown => self.enter_other(object, amount).await?,
                DifferenceKind::Entry => {
                    let missing = amount.plus(cash.reversed()).map_err(BooksError::from)?;
                    self.enter_other(&correction, missing).await?;
                }
                DifferenceKind::NoTransaction => self.enter_other(&correction, cash.reversed()).await?,
                DifferenceKind::Balance => return Err(PaymentError::BalanceHasReasons),
                DifferenceKind::NoDonation | DifferenceKind::Amount | DifferenceKind::SecondCharge => {}
            }
        }
        let now = self.settlement.clock.millis();
        Ok(store::explain(db, object, note, now).await? > 0)
    }

    /// Enters a balance transaction that belongs to no donation.
    pub(crate) async fn enter_other(self, transaction: &str, net: platform::money::Cents) -> Result<()> {
        let movement = Movement::OtherSettlement {
            transaction: label(transaction),
            mode: self.mode,
            net,
        };
        self.settlement.recorder.enter(movement).await?;
        Ok(())
    }
}
