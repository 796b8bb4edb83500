//! What the Stripe simulator has, to which the ledger is compared.

use crate::simulator::StripeSimulator;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// What the simulator has.
pub struct Truth {
    /// Donations that were paid, and their amounts together.
    pub donations: i64,
    pub donated: i64,
    /// Charges for a donation that another charge has paid.
    pub seconds: i64,
    /// Charges that were refunded as a whole.
    pub refunded_whole: i64,
    /// Refunds of a part, and their amounts together.
    pub refunds: i64,
    pub refunded: i64,
    pub paid: HashSet<String>,
}

impl Truth {
    /// Reads the charges of our own account, or of a connected one.
    pub fn find(stripe: &StripeSimulator, account: Option<&str>) -> Truth {
        let number = |value: &Value| value.as_i64().expect("a number");
        let mut charges: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
        for charge in stripe.list(account, "charges") {
            if charge["status"] == "succeeded" {
                let donation = charge["metadata"]["donation"]
                    .as_str()
                    .expect("the ID of a donation");
                let amounts = (number(&charge["amount"]), number(&charge["amount_refunded"]));
                charges.entry(donation.to_owned()).or_default().push(amounts);
            }
        }
        let all = || charges.values().flatten();
        let part = |(amount, refunded): &&(i64, i64)| *refunded > 0 && refunded < amount;
        Truth {
            donations: charges.len() as i64,
            donated: charges.values().map(|charges| charges[0].0).sum(),
            seconds: charges.values().map(|charges| charges.len() as i64 - 1).sum(),
            refunded_whole: all().filter(|(amount, refunded)| amount == refunded).count() as i64,
            refunds: all().filter(part).count() as i64,
            refunded: all().filter(part).map(|(_, refunded)| refunded).sum(),
            paid: charges.into_keys().collect(),
        }
    }
}
