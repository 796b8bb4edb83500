//! What changed between two reports about a gift.

use super::{Failure, State, Status};
use platform::money::Cents;

/// Something that became true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    Started,
    AmountChanged {
        before: Cents,
    },
    Paused,
    Resumed,
    PaymentFailed(Failure),
    /// A payment succeeded after others had failed.
    Recovered,
    /// The provider stopped collecting it.
    GivenUp,
    Canceled,
}

impl Fact {
    /// Returns the kind of its row in the outbox, if it has one of its own.
    pub(super) const fn kind(&self) -> Option<&'static str> {
        match self {
            Fact::Started => Some("monthly_gift_started"),
            Fact::AmountChanged { .. } | Fact::Paused | Fact::Resumed | Fact::Recovered => {
                Some("monthly_gift_changed")
            }
            Fact::PaymentFailed(_) => Some("monthly_gift_payment_failed"),
            Fact::Canceled => Some("monthly_gift_canceled"),
            // The payment that failed, the pause or the end of the gift says so.
            Fact::GivenUp => None,
        }
    }

    /// Returns the field that changed, if it is about one.
    pub(super) const fn changed(&self) -> Option<&'static str> {
        match self {
            Fact::AmountChanged { .. } => Some("amount"),
            Fact::Paused | Fact::Resumed | Fact::Recovered => Some("status"),
            Fact::Started | Fact::PaymentFailed(_) | Fact::GivenUp | Fact::Canceled => None,
        }
    }
}

/// Returns what changed from the report before to this one. `before` is `None` if this is the first.
pub(super) fn between(before: Option<&Status>, after: &Status) -> Vec<Fact> {
    let mut facts = Vec::new();
    let started;
    let before = if let Some(before) = before {
        before
    } else {
        facts.push(Fact::Started);
        started = Status {
            state: State::Active,
            cause: None,
            failure: None,
            ..after.clone()
        };
        &started
    };
    if before.amount != after.amount {
        facts.push(Fact::AmountChanged {
            before: before.amount,
        });
    }
    if let Some(failure) = after.failure.as_ref().filter(|failure| is_new(before, failure)) {
        facts.push(Fact::PaymentFailed(failure.clone()));
    }
    if after.is_given_up() && !before.is_given_up() {
        facts.push(Fact::GivenUp);
    }
    match (before.state, after.state) {
        (before, after) if before == after => {}
        (_, State::Canceled) => facts.push(Fact::Canceled),
        (_, State::Paused) => facts.push(Fact::Paused),
        (State::Paused, _) => facts.push(Fact::Resumed),
        (_, State::Active) => facts.push(Fact::Recovered),
        (_, State::PastDue) => {}
    }
    facts
}

fn is_new(before: &Status, failure: &Failure) -> bool {
    before
        .failure
        .as_ref()
        .is_none_or(|known| known.invoice != failure.invoice || known.attempts < failure.attempts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monthly::Cause;
    use proptest::prelude::*;

    fn status() -> impl Strategy<Value = Status> {
        let state = (0..State::ALL.len()).prop_map(|index| State::ALL[index]);
        let cause = prop_oneof![
            Just(None),
            Just(Some(Cause::Payment)),
            Just(Some(Cause::Recipient))
        ];
        let failure = prop::option::of((0..2, 1..4_i64));
        (state, cause, 1..3_i64, failure).prop_map(|(state, cause, dollars, failure)| Status {
            state,
            cause,
            amount: Cents::new(dollars * 100),
            covered: Cents::ZERO,
            subscription: None,
            customer: None,
            next_at: None,
            resumes_at: None,
            canceled_at: None,
            failure: failure.map(|(invoice, attempts)| Failure {
                invoice: format!("in_{invoice}"),
                attempts,
                reason: String::new(),
                next_attempt_at: None,
            }),
            card_expires_at: None,
        })
    }

    proptest! {
        /// A report that is repeated tells nothing, and a gift starts once.
        #[test]
        fn a_repeated_report_tells_nothing_twice(reports in prop::collection::vec(status(), 1..10)) {
            let mut before: Option<&Status> = None;
            for report in &reports {
                let facts = between(before, report);
                prop_assert_eq!(facts.contains(&Fact::Started), before.is_none());
                let was_canceled = before.is_some_and(|before| before.state == State::Canceled);
                prop_assert_eq!(facts.contains(&Fact::Canceled), report.state == State::Canceled && !was_canceled);
                prop_assert_eq!(between(Some(report), report), vec![]);
                before = Some(report);
            }
        }
    }
}
