//! Card testing: somebody tries out stolen cards with small donations.
//!
//! Every declined payment is counted by card, by the network that started the donation, and by nonprofit. Above a cap, further
//! donations are held: the payment page opens once the donor's browser has done some work ([`proof`]) or the donor has opened
//! a link in an email. Below it, nobody is asked. A payment page on which too many cards were tried is closed.
//!
//! The counts are in the store, so all servers know them. Networks are kept as HMACs, and for a week.

pub mod proof;
pub mod store;

use crate::checkout::screening::Screening;
use crate::checkout::{Donation, store as checkout};
use platform::clock::Clock;
use platform::db::Db;
use platform::ids::NonprofitId;
use platform::secret::StoreSecret;
use std::fmt::Display;
use store::{Counts, Decline};

/// The time over which declined payments are counted.
const PERIOD_MILLIS: i64 = 60 * 60 * 1_000;
/// How long declined payments, and the networks of donations, are kept.
const RETENTION_MILLIS: i64 = 7 * 24 * PERIOD_MILLIS;
/// Payment pages that one network may leave unpaid.
const MAX_UNPAID_OF_NETWORK: i64 = 10;
/// Payment pages of one nonprofit that may be unpaid, as long as they are not twice as many as the paid ones.
const MAX_UNPAID_OF_NONPROFIT: i64 = 50;
/// The work of a network that goes on grows with its declined payments, up to 32 times.
const MAX_MORE_BITS: u32 = 5;

/// How many payments may be declined within an hour before donors are asked for a proof of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardSettings {
    pub per_card: u32,
    pub per_address: u32,
    pub per_nonprofit: u32,
    pub in_all: u32,
    /// The work: one hash in 2 to the power of this number is a proof.
    pub proof_bits: u32,
}

impl GuardSettings {
    /// Returns the work to ask for, or `None` if nothing is suspicious.
    fn bits(self, counts: &Counts) -> Option<i64> {
        let is_suspicious = counts.of_network >= i64::from(self.per_address)
            || counts.of_cards >= i64::from(self.per_card)
            || counts.of_nonprofit >= i64::from(self.per_nonprofit)
            || counts.in_all >= i64::from(self.in_all)
            || counts.unpaid_of_network >= MAX_UNPAID_OF_NETWORK
            || (counts.unpaid_of_nonprofit >= MAX_UNPAID_OF_NONPROFIT
                && counts.unpaid_of_nonprofit > 2 * counts.paid_of_nonprofit);
        let times = counts.of_network / i64::from(self.per_address.max(1));
        let more = (u64::try_from(times).unwrap_or(0) + 1).ilog2().min(MAX_MORE_BITS);
        is_suspicious.then(|| i64::from(self.proof_bits + more))
    }
}

/// Counts declined payments, and decides who is asked.
#[derive(Clone, Copy, Debug)]
pub struct Guard<'a> {
    pub db: &'a Db,
    pub clock: &'a Clock,
    pub secret: &'a StoreSecret,
    pub settings: GuardSettings,
}

impl Guard<'_> {
    /// Decides what is asked of a donor who starts a donation.
    pub async fn screen(self, network: impl Display, nonprofit: NonprofitId) -> sqlx::Result<Screening> {
        let network = self.secret.sign("network", network.to_string().as_bytes());
        let since = self.clock.millis() - PERIOD_MILLIS;
        let counts = store::count(self.db, &network, nonprofit, since).await?;
        Ok(Screening {
            network: Some(network),
            proof_bits: self.settings.bits(&counts),
            passed_by: None,
        })
    }

    /// Counts a declined payment of a donation, once. Returns whether its payment page should be closed.
    pub(crate) async fn count_decline(
        self,
        donation: &Donation,
        charge: &str,
        card: Option<&str>,
        declined_at: i64,
    ) -> sqlx::Result<bool> {
        let decline = Decline {
            charge,
            donation: donation.id,
            nonprofit: donation.nonprofit,
            network: donation.screening.network.as_deref(),
            card,
            declined_at,
        };
        store::add(self.db, &decline).await?;
        let since = self.clock.millis() - PERIOD_MILLIS;
        let (of_donation, of_network, of_card) = store::count_like(self.db, &decline, since).await?;
        let caps = self.settings;
        Ok(of_donation.max(of_network) >= i64::from(caps.per_address) || of_card >= i64::from(caps.per_card))
    }

    /// Removes old declined payments, and the networks of old donations.
    pub async fn clean_up(self) -> sqlx::Result<()> {
        let before = self.clock.millis() - RETENTION_MILLIS;
        store::remove_before(self.db, before).await?;
        checkout::erase_networks(self.db, before).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CAPS: GuardSettings = GuardSettings {
        per_card: 3,
        per_address: 5,
        per_nonprofit: 20,
        in_all: 60,
        proof_bits: 18,
    };

    proptest! {
        #[test]
        fn below_all_caps_nobody_is_asked(
            of_network in 0_i64..5, of_cards in 0_i64..3, of_nonprofit in 0_i64..20, in_all in 0_i64..60, unpaid in 0_i64..10
        ) {
            let counts = Counts { of_network, of_cards, of_nonprofit, in_all, unpaid_of_network: unpaid, ..Counts::default() };
            prop_assert_eq!(CAPS.bits(&counts), None);
        }
    }

    #[test]
    fn each_cap_alone_asks_for_work_and_more_of_those_who_go_on() {
        let none = Counts::default();
        for counts in [
            Counts {
                of_network: 5,
                ..none
            },
            Counts { of_cards: 3, ..none },
            Counts {
                of_nonprofit: 20,
                ..none
            },
            Counts { in_all: 60, ..none },
            Counts {
                unpaid_of_network: 10,
                ..none
            },
            Counts {
                unpaid_of_nonprofit: 50,
                paid_of_nonprofit: 24,
                ..none
            },
        ] {
            assert!(CAPS.bits(&counts).is_some(), "{counts:?}");
        }
        // Many people give at once, and some of them do not finish.
        let giving_day = Counts {
            unpaid_of_nonprofit: 500,
            paid_of_nonprofit: 260,
            ..none
        };
        assert_eq!(CAPS.bits(&giving_day), None);
        let bits = |of_network| {
            CAPS.bits(&Counts {
                of_network,
                in_all: 60,
                ..none
            })
            .unwrap()
        };
        assert_eq!([0, 5, 15, 1_000_000].map(bits), [18, 19, 20, 23]);
    }
}
