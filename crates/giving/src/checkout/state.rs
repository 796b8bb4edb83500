//! The states of a donation at the checkout, and which of them can follow which.
//!
//! A donation moves only along [`State::can_become`], so once it is paid it never looks unpaid again, whatever arrives late
//! or twice.

/// The state of a donation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The form was sent; nothing is paid.
    Started,
    /// The donor is done, but the bank has not confirmed the payment.
    Processing,
    /// Paid, but not in the ledger yet.
    Pending,
    /// In the ledger.
    Completed,
    /// The provider declined; the donor can try again.
    Failed,
    /// The provider says that it was not paid and no longer can be.
    Expired,
    /// All of it went back to the donor.
    Refunded,
    /// All of it went back, and the donor's bank withdrew at least a part.
    Disputed,
}

impl State {
    pub(crate) const ALL: [State; 8] = [
        State::Started,
        State::Processing,
        State::Pending,
        State::Completed,
        State::Failed,
        State::Expired,
        State::Refunded,
        State::Disputed,
    ];

    /// The name that is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Started => "started",
            State::Processing => "processing",
            State::Pending => "pending",
            State::Completed => "completed",
            State::Failed => "failed",
            State::Expired => "expired",
            State::Refunded => "refunded",
            State::Disputed => "disputed",
        }
    }

    /// Returns the state with this name.
    pub fn find(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Returns whether a donation in this state can move to another.
    pub(crate) const fn can_become(self, next: State) -> bool {
        use State::{Completed, Disputed, Expired, Failed, Pending, Processing, Refunded, Started};
        match self {
            Started | Failed => matches!(next, Processing | Pending | Failed | Expired),
            Processing => matches!(next, Pending | Failed),
            // A refund can fail, and a dispute can be won.
            Pending | Refunded | Disputed => matches!(next, Completed),
            Completed => matches!(next, Refunded | Disputed),
            // Nothing should be paid after that, but money that was charged is never without a donation.
            Expired => matches!(next, Pending),
        }
    }

    /// Returns whether the donor can pay now.
    pub const fn is_open(self) -> bool {
        matches!(self, State::Started | State::Failed)
    }

    /// Returns whether the donor has paid, even if the money went back since.
    pub const fn is_paid(self) -> bool {
        matches!(
            self,
            State::Pending | State::Completed | State::Refunded | State::Disputed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_state_is_found_by_its_name_and_can_be_reached() {
        let mut reached = vec![State::Started];
        for _ in State::ALL {
            for next in State::ALL {
                if reached.iter().any(|state| state.can_become(next)) && !reached.contains(&next) {
                    reached.push(next);
                }
            }
        }
        for state in State::ALL {
            assert_eq!(State::find(state.as_str()), Some(state));
            assert!(reached.contains(&state), "{state:?}");
        }
        assert_eq!(State::find("lost"), None);
    }

    fn state() -> impl Strategy<Value = State> {
        (0..State::ALL.len()).prop_map(|index| State::ALL[index])
    }

    proptest! {
        /// Whatever is reported, in any order: a donation that is paid stays paid, and one that has expired can only be paid.
        #[test]
        fn a_paid_donation_never_looks_unpaid_again(reported in prop::collection::vec(state(), 0..40)) {
            let mut state = State::Started;
            for next in reported {
                let before = state;
                if state.can_become(next) {
                    state = next;
                }
                prop_assert!(!before.is_paid() || state.is_paid());
                prop_assert!(before != State::Expired || matches!(state, State::Expired | State::Pending));
                // Only a confirmed payment is entered in the ledger.
                prop_assert!(state != State::Completed || before.is_paid());
                prop_assert!(!(state.is_open() && state.is_paid()));
            }
        }
    }
}
