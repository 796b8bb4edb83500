//! Checkpoints: up to where the ledger was verified, so that the next check can continue from there.
//!
//! A checkpoint holds the running sums of every fundraiser and the balances of the books. What individual donors gave, and what is left of a refunded
//! donation, is read from the ledger itself, because there can be millions of both. An HMAC with the secret of the store
//! covers the checkpoint, so someone who changes the database without the secret cannot forge one.

pub mod store;

use super::entry::{Hash, Mode, Party, Totals, TotalsByMode};
use crate::books::balances::Balances;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use platform::secret::StoreSecret;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// Up to where the ledger was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The sequence number of the last verified entry.
    pub entries: i64,
    /// Its hash.
    pub hash: Hash,
    /// The sums of all fundraisers that have entries.
    pub sums: Vec<FundraiserSums>,
    /// The balances of the books.
    pub balances: Balances,
}

/// The sums of a fundraiser at a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FundraiserSums {
    pub fundraiser: FundraiserId,
    pub totals: TotalsByMode,
    /// The amount raised offline.
    pub offline: Option<Cents>,
}

/// The balances at a checkpoint that the entries after it change.
#[derive(Clone, Debug, Default)]
pub(crate) struct PriorBalances {
    /// What each donor gave to a fundraiser in a mode, net of refunds.
    pub donors: HashMap<(FundraiserId, Mode, String), Cents>,
    /// What each nonprofit still held of a donation, by sequence number.
    pub held: HashMap<i64, Vec<(NonprofitId, Cents)>>,
    /// The test donations among them.
    pub refunded_tests: HashSet<i64>,
}

/// The fundraiser, the totals of live and of test entries (raised, supporters), and the amount raised offline.
type SumsJson = (Uuid, (i64, i64), (i64, i64), Option<i64>);
/// The mode, the kind and the ID of a party, and its balance.
type BalanceJson = (String, String, String, i64);

/// The sums as they are stored. Without books they have the form that earlier versions know.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum StoredSums {
    Fundraisers(Vec<SumsJson>),
    WithBooks {
        fundraisers: Vec<SumsJson>,
        balances: Vec<BalanceJson>,
    },
}

impl Checkpoint {
    fn sums_to_json(&self) -> String {
        let pair = |totals: Totals| (totals.raised.get(), totals.supporters);
        let sums: Vec<SumsJson> = self
            .sums
            .iter()
            .map(|sums| {
                let TotalsByMode { live, test } = sums.totals;
                let offline = sums.offline.map(Cents::get);
                (sums.fundraiser.0, pair(live), pair(test), offline)
            })
            .collect();
        let balances = self.balances.iter().map(|(mode, account, balance)| {
            let party = Party::Account(account);
            let mode = mode.as_str().to_owned();
            (mode, party.kind().to_owned(), party.id(), balance.get())
        });
        let stored = if self.balances.is_empty() {
            StoredSums::Fundraisers(sums)
        } else {
            StoredSums::WithBooks {
                fundraisers: sums,
                balances: balances.collect(),
            }
        };
        serde_json::to_string(&stored).expect("numbers and IDs are valid JSON")
    }

    fn sums_from_json(json: &str) -> Option<(Vec<FundraiserSums>, Balances)> {
        let totals = |(raised, supporters): (i64, i64)| Totals {
            raised: Cents::new(raised),
            supporters,
        };
        let (sums, stored) = match serde_json::from_str(json).ok()? {
            StoredSums::Fundraisers(sums) => (sums, Vec::new()),
            StoredSums::WithBooks {
                fundraisers,
                balances,
            } => (fundraisers, balances),
        };
        let mut balances = Balances::default();
        for (mode, kind, id, balance) in stored {
            let Party::Account(account) = Party::find(&kind, &id)? else {
                return None;
            };
            let added = balances.add_amount(Mode::find(&mode)?, account, Cents::new(balance));
            added.ok()?;
        }
        let sums = sums.into_iter().map(|(id, live, test, offline)| FundraiserSums {
            fundraiser: FundraiserId(id),
            totals: TotalsByMode {
                live: totals(live),
                test: totals(test),
            },
            offline: offline.map(Cents::new),
        });
        Some((sums.collect(), balances))
    }
}

/// The HMAC of a checkpoint.
fn mac(secret: &StoreSecret, entries: i64, hash: &[u8], sums: &str, checked_at: i64) -> [u8; 32] {
    let numbers = [entries.to_be_bytes(), checked_at.to_be_bytes()].concat();
    let message = [&numbers, hash, sums.as_bytes()].concat();
    secret.authenticate("ledger checkpoint", &message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::entry::Account;

    #[test]
    fn sums_are_read_back() {
        let sums = |number: u128, offline: Option<i64>| FundraiserSums {
            fundraiser: FundraiserId(Uuid::from_u128(number)),
            totals: TotalsByMode {
                live: Totals {
                    raised: Cents::new(1_250),
                    supporters: 2,
                },
                test: Totals::default(),
            },
            offline: offline.map(Cents::new),
        };
        let mut checkpoint = Checkpoint {
            entries: 3,
            hash: [7; 32],
            sums: vec![sums(1, None), sums(2, Some(-5))],
            balances: Balances::default(),
        };
        let read = |checkpoint: &Checkpoint| Checkpoint::sums_from_json(&checkpoint.sums_to_json());
        assert!(
            checkpoint.sums_to_json().starts_with('['),
            "as earlier versions know it"
        );
        assert_eq!(
            read(&checkpoint),
            Some((checkpoint.sums.clone(), Balances::default()))
        );
        let nonprofit = Account::Owed(NonprofitId(Uuid::from_u128(3)));
        for (account, cents) in [(Account::Cash, 970), (Account::Bank, 0), (nonprofit, -970)] {
            let added = checkpoint
                .balances
                .add_amount(Mode::Test, account, Cents::new(cents));
            added.unwrap();
        }
        assert_eq!(
            read(&checkpoint),
            Some((checkpoint.sums.clone(), checkpoint.balances.clone()))
        );
        assert_eq!(Checkpoint::sums_from_json("[1]"), None);
    }
}
