//! The test cards and test bank accounts of Stripe, and what happens when they pay.

use crate::error::ApiError;
use std::sync::LazyLock;

/// What happens when a payment method pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behavior {
    Succeed,
    /// The bank refuses every payment.
    Decline(Decline),
    /// The card can be saved, but the bank refuses its payments.
    DeclineLater,
    /// The bank asks the cardholder to authenticate (3D Secure).
    Authenticate,
    /// The cardholder disputes the payment.
    Dispute,
    /// The bank asks about the payment before a dispute.
    Inquire,
    RefundFails,
    RefundIsPending,
    /// The money is available at once.
    AvailableNow,
    /// A bank debit that fails with this code.
    DebitFails(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decline {
    code: &'static str,
    reason: Option<&'static str>,
    message: &'static str,
}

impl Decline {
    const fn new(code: &'static str, reason: Option<&'static str>, message: &'static str) -> Decline {
        Decline {
            code,
            reason,
            message,
        }
    }

    pub(crate) fn error(self) -> ApiError {
        ApiError::card(self.code, self.reason, self.message)
    }
}

const GENERIC_DECLINE: Decline = Decline::new(
    "card_declined",
    Some("generic_decline"),
    "Your card was declined.",
);

/// A test card.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestCard {
    pub(crate) number: &'static str,
    /// What follows `pm_card_` and `tok_`.
    names: &'static [&'static str],
    pub(crate) brand: &'static str,
    pub(crate) behavior: Behavior,
}

impl TestCard {
    const fn new(
        number: &'static str,
        names: &'static [&'static str],
        brand: &'static str,
        behavior: Behavior,
    ) -> TestCard {
        TestCard {
            number,
            names,
            brand,
            behavior,
        }
    }

    pub(crate) fn last4(&self) -> &'static str {
        &self.number[self.number.len() - 4..]
    }
}

#[rustfmt::skip]
const CARDS: &[TestCard] = &[
    TestCard::new("4242424242424242", &["visa", "us"], "visa", Behavior::Succeed),
    TestCard::new("5555555555554444", &["mastercard"], "mastercard", Behavior::Succeed),
    TestCard::new("378282246310005", &["amex"], "amex", Behavior::Succeed),
    TestCard::new("4000056655665556", &["visa_debit"], "visa", Behavior::Succeed),
    TestCard::new("4000000000000077", &["bypassPending"], "visa", Behavior::AvailableNow),
    TestCard::new("4000000000000002", &["chargeDeclined", "visa_chargeDeclined"], "visa", Behavior::Decline(GENERIC_DECLINE)),
    TestCard::new("4000000000009995", &["chargeDeclinedInsufficientFunds", "visa_chargeDeclinedInsufficientFunds"], "visa",
        Behavior::Decline(Decline::new("card_declined", Some("insufficient_funds"), "Your card has insufficient funds."))),
    TestCard::new("4000000000009987", &["chargeDeclinedLostCard", "visa_chargeDeclinedLostCard"], "visa",
        Behavior::Decline(Decline::new("card_declined", Some("lost_card"), "Your card was declined."))),
    TestCard::new("4000000000009979", &["chargeDeclinedStolenCard", "visa_chargeDeclinedStolenCard"], "visa",
        Behavior::Decline(Decline::new("card_declined", Some("stolen_card"), "Your card was declined."))),
    TestCard::new("4100000000000019", &["radarBlock"], "visa",
        Behavior::Decline(Decline::new("card_declined", Some("fraudulent"), "Your card was declined."))),
    TestCard::new("4000000000000069", &["chargeDeclinedExpiredCard"], "visa",
        Behavior::Decline(Decline::new("expired_card", None, "Your card has expired."))),
    TestCard::new("4000000000000127", &["chargeDeclinedIncorrectCvc"], "visa",
        Behavior::Decline(Decline::new("incorrect_cvc", None, "Your card's security code is incorrect."))),
    TestCard::new("4000000000000119", &["chargeDeclinedProcessingError"], "visa",
        Behavior::Decline(Decline::new("processing_error", None, "An error occurred while processing your card. Try again in a little bit."))),
    TestCard::new("4000000000000341", &["chargeCustomerFail"], "visa", Behavior::DeclineLater),
    TestCard::new("4000002500003155", &["authenticationRequiredOnSetup"], "visa", Behavior::Authenticate),
    TestCard::new("4000002760003184", &["authenticationRequired"], "visa", Behavior::Authenticate),
    TestCard::new("4000000000003220", &["threeDSecure2Required", "threeDSecureRequired"], "visa", Behavior::Authenticate),
    TestCard::new("4000000000000259", &["createDispute"], "visa", Behavior::Dispute),
    TestCard::new("4000000000002685", &["createDisputeProductNotReceived"], "visa", Behavior::Dispute),
    TestCard::new("4000000000001976", &["createDisputeInquiry"], "visa", Behavior::Inquire),
    TestCard::new("4000000000005126", &["refundFail"], "visa", Behavior::RefundFails),
    TestCard::new("4000000000007726", &["pendingRefund"], "visa", Behavior::RefundIsPending),
];

/// Cards that are all declined, for tests of card testing: `4100000010` and a number from 0000 to 0099 and `19`.
static STOLEN: LazyLock<Vec<TestCard>> = LazyLock::new(|| {
    let numbers = (0..100).map(|number| &*format!("4100000010{number:04}19").leak());
    numbers
        .map(|number| TestCard::new(number, &[], "visa", Behavior::Decline(GENERIC_DECLINE)))
        .collect()
});

/// Finds a test card by its number.
pub(crate) fn by_number(number: &str) -> Option<&'static TestCard> {
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let mut cards = CARDS.iter().chain(STOLEN.iter());
    cards.find(|card| card.number == digits)
}

/// Finds a test card by a payment method or token, such as `pm_card_visa` or `tok_visa`.
pub(crate) fn by_name(name: &str) -> Option<&'static TestCard> {
    let name = name
        .strip_prefix("pm_card_")
        .or_else(|| name.strip_prefix("tok_"))?;
    CARDS.iter().find(|card| card.names.contains(&name))
}

/// Returns what happens when a test bank account pays.
pub(crate) fn bank_account(number: &str) -> Behavior {
    match number {
        "000111111116" => Behavior::DebitFails("no_account"),
        "000111111113" => Behavior::DebitFails("account_closed"),
        "000222222227" => Behavior::DebitFails("insufficient_funds"),
        "000333333335" => Behavior::DebitFails("debit_not_authorized"),
        _ => Behavior::Succeed,
    }
}

/// Returns the error of a card whose payments are refused.
pub(crate) fn generic_decline() -> ApiError {
    GENERIC_DECLINE.error()
}

/// Returns the error of a card that needs its owner, who is not there.
pub(crate) fn authentication_required() -> ApiError {
    let message = "Your card was declined. This transaction requires authentication.";
    ApiError::card(
        "authentication_required",
        Some("authentication_required"),
        message,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_found_by_number_and_by_name() {
        assert_eq!(
            by_number("4242 4242 4242 4242").unwrap().behavior,
            Behavior::Succeed
        );
        assert_eq!(
            by_name("pm_card_createDisputeInquiry").unwrap().behavior,
            Behavior::Inquire
        );
        assert_eq!(by_name("tok_visa").unwrap().last4(), "4242");
        assert!(by_name("visa").is_none());
        assert!(by_number("").is_none());
    }
}
