//! Bank accounts in the United States. Nothing prints a number of an account: people see its last four digits.

use std::fmt;

/// The shortest and the longest number of an account. An ACH file has room for 17 digits.
const ACCOUNT_DIGITS: std::ops::RangeInclusive<usize> = 4..=17;

/// A routing number: nine digits, the last of which checks the others.
#[derive(Clone, PartialEq, Eq)]
pub struct RoutingNumber(String);

/// The kind of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountKind {
    Checking,
    Savings,
}

/// An account at a bank.
#[derive(Clone, PartialEq, Eq)]
pub struct BankAccount {
    pub routing: RoutingNumber,
    pub kind: AccountKind,
    number: String,
}

impl RoutingNumber {
    /// Parses nine digits. The error says what is wrong, without the number.
    pub fn parse(text: &str) -> Result<RoutingNumber, &'static str> {
        let digits: Vec<u32> = text.chars().filter_map(|sign| sign.to_digit(10)).collect();
        if text.len() != 9 || digits.len() != 9 {
            return Err("the routing number needs nine digits; copy it from a check or a letter of the bank");
        }
        let first = digits[0] * 10 + digits[1];
        let is_assigned = matches!(first, 1..=12 | 21..=32 | 61..=72 | 80);
        let sum: u32 = digits
            .iter()
            .zip([3, 7, 1].iter().cycle())
            .map(|(digit, weight)| digit * weight)
            .sum();
        if !is_assigned || !sum.is_multiple_of(10) {
            return Err(
                "the routing number has a wrong check digit; compare it with a check or a letter of the bank",
            );
        }
        Ok(RoutingNumber(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AccountKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            AccountKind::Checking => "checking",
            AccountKind::Savings => "savings",
        }
    }

    /// Returns the kind with this name.
    pub fn find(name: &str) -> Option<AccountKind> {
        [AccountKind::Checking, AccountKind::Savings]
            .into_iter()
            .find(|kind| kind.as_str().eq_ignore_ascii_case(name))
    }
}

impl BankAccount {
    /// Parses the number of an account: 4 to 17 digits, in which spaces and hyphens are ignored. The error says what is wrong, without
    /// the number.
    pub fn new(routing: RoutingNumber, kind: AccountKind, number: &str) -> Result<BankAccount, &'static str> {
        let number: String = number.chars().filter(|sign| !matches!(sign, ' ' | '-')).collect();
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(
                "the account number may only have digits; copy it from a check or a letter of the bank",
            );
        }
        if !ACCOUNT_DIGITS.contains(&number.len()) {
            return Err(
                "the account number needs 4 to 17 digits; copy it from a check or a letter of the bank",
            );
        }
        Ok(BankAccount {
            routing,
            kind,
            number,
        })
    }

    /// The number of the account, for the file of the bank.
    pub(super) fn number(&self) -> &str {
        &self.number
    }

    /// The last four digits, which people may see.
    pub fn last_four(&self) -> &str {
        &self.number[self.number.len() - 4..]
    }

    /// The text to encrypt.
    pub(super) fn to_text(&self) -> String {
        format!("{} {} {}", self.routing.0, self.kind.as_str(), self.number)
    }

    /// Parses the decrypted text.
    pub(super) fn from_text(text: &str) -> Option<BankAccount> {
        let mut parts = text.split(' ');
        let (routing, kind, number) = (parts.next()?, parts.next()?, parts.next()?);
        BankAccount::new(
            RoutingNumber::parse(routing).ok()?,
            AccountKind::find(kind)?,
            number,
        )
        .ok()
    }
}

impl fmt::Debug for RoutingNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoutingNumber")
    }
}

impl fmt::Debug for BankAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BankAccount(…{})", self.last_four())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_routing_number_has_a_check_digit() {
        for valid in ["021000021", "011401533", "091000019", "322271627"] {
            assert!(RoutingNumber::parse(valid).is_ok(), "{valid}");
        }
        for invalid in [
            "021000022",
            "02100002",
            "0210000210",
            "02100002a",
            "000000000",
            "999999992",
            "",
        ] {
            assert!(RoutingNumber::parse(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn an_account_number_has_digits_only_and_is_never_printed() {
        let account = |number| {
            BankAccount::new(
                RoutingNumber::parse("021000021").unwrap(),
                AccountKind::Checking,
                number,
            )
        };
        for invalid in ["12a45", "123", "123456789012345678", "１２３４５", ""] {
            let error = account(invalid).unwrap_err();
            assert!(invalid.is_empty() || !error.contains(invalid), "{error}");
        }
        let valid = account("0012-3456 789").unwrap();
        assert_eq!(format!("{valid:?}"), "BankAccount(…6789)");
        assert_eq!(BankAccount::from_text(&valid.to_text()), Some(valid));
    }

    proptest! {
        /// A single wrong digit, and two neighbors that were swapped, are noticed.
        #[test]
        fn a_wrong_digit_is_noticed(place in 0..9_usize, digit in 0..10_u8) {
            let valid = "091000019".as_bytes().to_vec();
            let mut wrong = valid.clone();
            wrong[place] = b'0' + digit;
            let parsed = RoutingNumber::parse(str::from_utf8(&wrong).unwrap());
            prop_assert_eq!(parsed.is_ok(), wrong == valid);
        }
    }
}
