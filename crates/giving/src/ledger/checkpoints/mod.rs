//! Checkpoints: up to where the ledger was verified, so that the next check can continue from there.
//!
//! A checkpoint holds the running sums of every fundraiser. What individual donors gave, and what is left of a refunded
//! donation, is read from the ledger itself, because there can be millions of both. An HMAC with the secret of the store
//! covers the checkpoint, so someone who changes the database without the secret cannot forge one.

pub mod store;

use super::entry::{Hash, Mode, Totals, TotalsByMode};
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use platform::secret::StoreSecret;
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
        serde_json::to_string(&sums).expect("numbers and IDs are valid JSON")
    }

    fn sums_from_json(json: &str) -> Option<Vec<FundraiserSums>> {
        let totals = |(raised, supporters): (i64, i64)| Totals {
            raised: Cents::new(raised),
            supporters,
        };
        let sums: Vec<SumsJson> = serde_json::from_str(json).ok()?;
        let sums = sums.into_iter().map(|(id, live, test, offline)| FundraiserSums {
            fundraiser: FundraiserId(id),
            totals: TotalsByMode {
                live: totals(live),
                test: totals(test),
            },
            offline: offline.map(Cents::new),
        });
        Some(sums.collect())
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
        let checkpoint = Checkpoint {
            entries: 3,
            hash: [7; 32],
            sums: vec![sums(1, None), sums(2, Some(-5))],
        };
        let json = checkpoint.sums_to_json();
        assert_eq!(Checkpoint::sums_from_json(&json), Some(checkpoint.sums));
        assert_eq!(Checkpoint::sums_from_json("[1]"), None);
    }
}
