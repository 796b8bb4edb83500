//! Monthly gifts: donations that are given again every month, until the donor cancels them or they cannot be charged.
//!
//! A gift has the ID of the donation that started it, which also has the donor's name and email address. Its provider decides
//! what it is: each report of the provider is a [`Status`], and what changed since the report before ([`facts`]) is told to the
//! donor and to the outbox in the transaction that stores it. So a report that is repeated, late or lost tells nothing twice.
//!
//! - [`store`]: the rows. `reports` takes reports, and [`seen`] writes them.
//! - [`token`]: the links with which donors manage a gift.
//! - [`manage`]: what donors do with a gift.
//! - `emails`: what donors are told.
//! - [`dates`]: months, and when a gift is charged.
//! - `renewals`: the donations after the first.
//! - `notices`: emails that time causes.
//! - `test_gifts`: gifts in test mode, which are charged by our own clock. Those by Stripe are in `payments::subscriptions`.

pub mod dates;
mod emails;
mod facts;
pub mod manage;
mod notices;
mod renewals;
mod reports;
pub(crate) mod seen;
pub mod store;
mod test_gifts;
pub mod token;

use crate::ledger::entry::Mode;
use platform::ids::{FundraiserId, NonprofitId};
use platform::money::Cents;
use uuid::Uuid;

/// The state of a monthly gift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Active,
    /// The last payment failed.
    PastDue,
    Paused,
    Canceled,
}

impl State {
    pub const ALL: [State; 4] = [State::Active, State::PastDue, State::Paused, State::Canceled];

    /// The name that is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Active => "active",
            State::PastDue => "past_due",
            State::Paused => "paused",
            State::Canceled => "canceled",
        }
    }

    /// Returns the state with this name.
    pub fn find(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// What put a gift in its state, if it was not a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The provider gave up collecting it.
    Payment,
    /// Its nonprofit, or one of them, can no longer receive donations.
    Recipient,
}

impl Cause {
    /// The name that is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::Payment => "payment",
            Cause::Recipient => "recipient",
        }
    }

    pub(crate) fn find(name: &str) -> Option<Cause> {
        [Cause::Payment, Cause::Recipient]
            .into_iter()
            .find(|cause| cause.as_str() == name)
    }
}

/// A gift that is charged every month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthlyGift {
    /// The ID of the donation that started it.
    pub id: Uuid,
    pub provider: String,
    pub mode: Mode,
    pub nonprofit: NonprofitId,
    pub fundraiser: Option<FundraiserId>,
    /// The nonprofit's own account at Stripe, if that is charged.
    pub account: Option<String>,
    pub started_at: i64,
    pub status: Status,
    /// The newest invoice of Stripe that was looked at.
    pub last_invoice: Option<String>,
}

/// A gift as its provider reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub state: State,
    pub cause: Option<Cause>,
    /// What is charged each month.
    pub amount: Cents,
    /// The part of it that covers the fee.
    pub covered: Cents,
    /// Stripe's ID of the subscription.
    pub subscription: Option<String>,
    pub customer: Option<String>,
    /// When the next period starts, which is charged unless the gift is paused.
    pub next_at: Option<i64>,
    /// When a pause ends by itself.
    pub resumes_at: Option<i64>,
    pub canceled_at: Option<i64>,
    pub failure: Option<Failure>,
    /// When the card can no longer be charged.
    pub card_expires_at: Option<i64>,
}

/// A payment that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Stripe's ID of the invoice that could not be collected.
    pub invoice: String,
    /// How often that was tried.
    pub attempts: i64,
    pub reason: String,
    /// When it is tried again.
    pub next_attempt_at: Option<i64>,
}

impl Status {
    /// Returns whether the provider has given up collecting it.
    pub(crate) fn is_given_up(&self) -> bool {
        self.cause == Some(Cause::Payment)
    }

    /// Returns when the donor is charged next.
    pub fn next_charge_at(&self) -> Option<i64> {
        match self.state {
            State::Active => self.next_at,
            State::PastDue => self.failure.as_ref()?.next_attempt_at.or(self.next_at),
            State::Paused => Some(dates::first_from(self.next_at?, self.resumes_at?)),
            State::Canceled => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_causes_are_found_by_their_names() {
        for state in State::ALL {
            assert_eq!(State::find(state.as_str()), Some(state));
        }
        for cause in [Cause::Payment, Cause::Recipient] {
            assert_eq!(Cause::find(cause.as_str()), Some(cause));
        }
        assert_eq!((State::find("lost"), Cause::find("lost")), (None, None));
    }
}
