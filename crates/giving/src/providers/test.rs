//! Test payments: donors try out the checkout with test cards, and no money is charged.

/// The name that is stored with donations.
pub(crate) const NAME: &str = "test";

/// The result of charging a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardResult {
    Paid,
    Declined,
    InsufficientFunds,
    /// The provider cannot be reached. Nothing was charged.
    Unavailable,
    InvalidNumber,
}

/// Returns the result of charging a test card: one number succeeds, and each of the others fails in its own way.
pub fn charge(number: &str) -> CardResult {
    let digits: String = number
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '-')
        .collect();
    match digits.as_str() {
        "4242424242424242" => CardResult::Paid,
        "4000000000000002" => CardResult::Declined,
        "4000000000009995" => CardResult::InsufficientFunds,
        "4000000000000119" => CardResult::Unavailable,
        _ => CardResult::InvalidNumber,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_test_card_succeeds_and_each_other_one_fails_differently() {
        assert_eq!(charge(" 4242 4242 4242-4242 "), CardResult::Paid);
        assert_eq!(charge("4000 0000 0000 0002"), CardResult::Declined);
        assert_eq!(charge("4000000000009995"), CardResult::InsufficientFunds);
        assert_eq!(charge("4000000000000119"), CardResult::Unavailable);
        for nonsense in ["", "4242", "5555555555554444", "x"] {
            assert_eq!(charge(nonsense), CardResult::InvalidNumber);
        }
    }
}
