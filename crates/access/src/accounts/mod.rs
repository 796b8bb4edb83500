//! Accounts, which own keys and fundraisers, and how their owners authenticate.

pub mod attempt_limiter;
pub mod attempts;
pub mod changes;
pub mod hashing;
pub mod links;
pub mod operators;
pub mod password;
pub mod public_profile;
pub mod standing;
pub mod store;
pub mod suspension;
pub mod token;
pub mod two_factor;
pub mod verified_password;

use hashing::HashCost;
use platform::ids::AccountId;
use secrecy::SecretString;
use serde::Deserialize;
use thiserror::Error;

/// The prefix of the usernames of deleted accounts. No other username starts with it.
const DELETED_PREFIX: &str = "deleted-";

/// A username that is safe in URLs: 2 to 40 lowercase letters, digits, `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Username(String);

/// The error of an invalid username.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "use 2 to 40 lowercase letters, digits, - and _, starting with a letter, but not with {DELETED_PREFIX}"
)]
pub struct InvalidUsername;

impl Username {
    /// Parses a username and converts it to lowercase.
    pub fn parse(text: &str) -> Result<Username, InvalidUsername> {
        let text = text.trim().to_ascii_lowercase();
        let is_valid = (2..=40).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && !text.starts_with(DELETED_PREFIX)
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte));
        if is_valid {
            Ok(Username(text))
        } else {
            Err(InvalidUsername)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An account.
#[derive(Clone, Debug)]
pub struct Account {
    pub id: AccountId,
    pub username: String,
    pub email: Option<String>,
    pub operator: bool,
    pub created_at: i64,
    /// The Argon2 hash. An account without one cannot sign in until its owner sets a password by email.
    pub password: Option<SecretString>,
    pub confirmed_at: Option<i64>,
    /// When an operator suspended it, and why.
    pub suspended_at: Option<i64>,
    pub suspend_reason: Option<String>,
}

impl Account {
    /// Returns whether the account was created within the last minute.
    pub fn is_new(&self, now: i64) -> bool {
        now - self.created_at < 60_000
    }
}

/// Who may create an account, and how its password is hashed.
#[derive(Clone, Debug)]
pub struct AccountSettings {
    pub sign_up: SignUp,
    /// If this is not empty, sign-up requires an email address of one of these domains, which has to be confirmed.
    pub mail_domains: Vec<String>,
    /// Not a setting of operators: only tests have another cost than the recommended one.
    pub hash_cost: HashCost,
}

/// Whether anyone may sign up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignUp {
    Open,
    Closed,
}

impl AccountSettings {
    /// Returns whether someone with this email address may sign up.
    pub fn admits(&self, email: &str) -> bool {
        let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain);
        self.mail_domains.is_empty()
            || self
                .mail_domains
                .iter()
                .any(|allowed| allowed.eq_ignore_ascii_case(domain))
    }

    /// Returns whether an account works only after its email address is confirmed.
    pub fn requires_confirmation(&self) -> bool {
        !self.mail_domains.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_username_is_safe_in_urls() {
        assert_eq!(Username::parse(" Demo_1 ").unwrap().as_str(), "demo_1");
        for bad in [
            "",
            "a",
            "1st",
            "a b",
            "é-name",
            "<b>",
            "Deleted-1",
            &"x".repeat(41),
        ] {
            assert_eq!(Username::parse(bad), Err(InvalidUsername), "{bad}");
        }
    }

    #[test]
    fn only_addresses_of_the_mail_domains_are_admitted() {
        let settings = AccountSettings {
            sign_up: SignUp::Open,
            mail_domains: vec!["example.org".to_owned()],
            hash_cost: HashCost::LOWEST,
        };
        assert!(settings.admits("ada@Example.ORG"));
        for bad in [
            "ada@example.com",
            "ada@x.example.org",
            "ada@example.org@evil.net",
            "ada",
        ] {
            assert!(!settings.admits(bad), "{bad}");
        }
    }
}
