//! Compares donations of our own checkout, from which receipts are made, with their entries in the ledger.
//!
//! The ledger is protected by its chain of hashes and by anchors, and the table of the checkout is not. So a receipt shows
//! what the ledger says, and `causeway check` names each donation whose row says something else. Does no I/O.

use crate::checkout::State;
use crate::ledger::entry::Mode;
use platform::money::Cents;
use uuid::Uuid;

/// What a donation at the checkout and its entry in the ledger have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub amount: Cents,
    pub mode: Mode,
    pub nonprofit: Uuid,
    pub fundraiser: Option<Uuid>,
}

/// A donation at the checkout that names an entry of the ledger.
#[derive(Clone, Debug)]
pub(crate) struct StoredReceipt {
    pub id: Uuid,
    pub state: String,
    pub facts: Facts,
    pub entry: i64,
    /// `None` if the ledger has no such donation of the checkout.
    pub recorded: Option<RecordedReceipt>,
}

/// What the ledger says about a donation.
#[derive(Clone, Debug)]
pub(crate) struct RecordedReceipt {
    pub external_id: String,
    pub facts: Facts,
    /// What refunds and disputes took back, and what came back after them; `None` if there are no such entries.
    pub returned: Option<Cents>,
}

impl StoredReceipt {
    /// Returns what is wrong, as one sentence.
    pub(crate) fn find_difference(&self) -> Option<String> {
        let (id, entry) = (self.id, self.entry);
        let Some(recorded) = &self.recorded else {
            return Some(format!(
                "donation {id} names entry {entry}, which is no donation made here"
            ));
        };
        if recorded.external_id != id.to_string() {
            return Some(format!(
                "donation {id} names entry {entry}, which is that of donation {}",
                recorded.external_id
            ));
        }
        let (stored, ledger) = (self.facts, recorded.facts);
        let says = |what: &str, stored: String, ledger: String| {
            Some(format!(
                "donation {id} has the {what} {stored}, but entry {entry} has {ledger}"
            ))
        };
        if stored.amount != ledger.amount {
            return says("amount", stored.amount.to_string(), ledger.amount.to_string());
        }
        if stored.mode != ledger.mode {
            return says(
                "mode",
                stored.mode.as_str().to_owned(),
                ledger.mode.as_str().to_owned(),
            );
        }
        if stored.nonprofit != ledger.nonprofit {
            return says(
                "recipient",
                stored.nonprofit.to_string(),
                ledger.nonprofit.to_string(),
            );
        }
        if stored.fundraiser != ledger.fundraiser {
            let name = |fundraiser: Option<Uuid>| {
                fundraiser.map_or_else(|| "none".to_owned(), |fundraiser| fundraiser.to_string())
            };
            return says("fundraiser", name(stored.fundraiser), name(ledger.fundraiser));
        }
        match State::find(&self.state) {
            // Whether a part is left is read from the ledger when the donation is shown.
            Some(State::Completed) => None,
            Some(State::Refunded | State::Disputed) if recorded.returned.is_some() => None,
            Some(State::Refunded | State::Disputed) => Some(format!(
                "donation {id} is {}, but nothing of entry {entry} went back",
                self.state
            )),
            _ => Some(format!(
                "donation {id} is {}, but it is in the ledger as entry {entry}",
                self.state
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Uuid = Uuid::from_u128(7);

    fn facts() -> Facts {
        Facts {
            amount: Cents::new(3_400),
            mode: Mode::Live,
            nonprofit: Uuid::from_u128(1),
            fundraiser: None,
        }
    }

    fn stored(facts: Facts) -> StoredReceipt {
        StoredReceipt {
            id: ID,
            state: "completed".to_owned(),
            facts,
            entry: 9,
            recorded: Some(RecordedReceipt {
                external_id: ID.to_string(),
                facts: self::facts(),
                returned: None,
            }),
        }
    }

    #[test]
    fn every_fact_of_a_receipt_has_to_be_that_of_the_ledger() {
        assert_eq!(stored(facts()).find_difference(), None);
        let changed = [
            Facts {
                amount: Cents::new(103_300),
                ..facts()
            },
            Facts {
                mode: Mode::Test,
                ..facts()
            },
            Facts {
                nonprofit: Uuid::from_u128(2),
                ..facts()
            },
            Facts {
                fundraiser: Some(Uuid::from_u128(3)),
                ..facts()
            },
        ];
        for (facts, what) in changed
            .into_iter()
            .zip(["amount", "mode", "recipient", "fundraiser"])
        {
            let difference = stored(facts).find_difference().unwrap();
            assert!(difference.contains(&format!("has the {what} ")), "{difference}");
        }
        assert_eq!(
            stored(Facts {
                amount: Cents::new(103_300),
                ..facts()
            })
            .find_difference()
            .unwrap(),
            format!("donation {ID} has the amount $1,033.00, but entry 9 has $34.00")
        );
    }

    #[test]
    fn a_state_must_be_one_that_the_ledger_allows() {
        let with_state = |state: &str, returned: Option<i64>| {
            let mut stored = stored(facts());
            stored.state = state.to_owned();
            stored.recorded.as_mut().unwrap().returned = returned.map(Cents::new);
            stored.find_difference().is_some()
        };
        assert!(with_state("refunded", None) && with_state("started", None) && with_state("lost", None));
        assert!(!with_state("refunded", Some(-3_400)) && !with_state("completed", Some(-100)));
        // Until the donation is shown, its state may be the one from before a refund failed.
        assert!(!with_state("refunded", Some(0)));
    }

    #[test]
    fn an_entry_of_another_donation_is_a_difference() {
        let mut other = stored(facts());
        other.recorded.as_mut().unwrap().external_id = Uuid::from_u128(8).to_string();
        assert!(
            other
                .find_difference()
                .unwrap()
                .contains("which is that of donation")
        );
        other.recorded = None;
        assert!(
            other
                .find_difference()
                .unwrap()
                .contains("which is no donation made here")
        );
    }
}
