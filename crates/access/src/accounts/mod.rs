//! Accounts: who owns keys, and how they prove it.

pub mod attempts;
pub mod hashing;
pub mod links;
pub mod operators;
pub mod password;
pub mod store;
pub mod token;
pub mod verified_password;

use platform::ids::AccountId;
use secrecy::SecretString;
use serde::Deserialize;
use thiserror::Error;

/// How the names of deleted accounts begin, and no other.
const NOBODY: &str = "deleted-";

/// A name that can stand in an address: small letters, digits, `-` and `_`, 2 to 40 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Username(String);

/// Why a text is no username.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a username has 2 to 40 characters, small letters, digits, - and _, and begins with a letter, but not with {NOBODY}"
)]
pub struct InvalidUsername;

impl Username {
    /// Reads a username; large letters become small.
    pub fn parse(text: &str) -> Result<Username, InvalidUsername> {
        let text = text.trim().to_ascii_lowercase();
        let is_valid = (2..=40).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && !text.starts_with(NOBODY)
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte));
        match is_valid {
            true => Ok(Username(text)),
            false => Err(InvalidUsername),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An account as the parts that ask about it know it.
#[derive(Clone, Debug)]
pub struct Account {
    pub id: AccountId,
    pub username: String,
    pub email: Option<String>,
    pub operator: bool,
    pub created_at: i64,
    /// The Argon2 hash; an account without one cannot sign in until it is set by a mail.
    pub password: Option<SecretString>,
    pub confirmed_at: Option<i64>,
}

impl Account {
    /// Was it made within the last minute?
    pub fn is_new(&self, now: i64) -> bool {
        now - self.created_at < 60_000
    }
}

/// Who may make an account.
#[derive(Clone, Debug)]
pub struct AccountSettings {
    pub sign_up: SignUp,
    /// Where it is not empty, an e-mail address of one of these domains is asked for and has to be confirmed.
    pub mail_domains: Vec<String>,
}

/// Is sign-up open to all who find the page?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignUp {
    Open,
    Closed,
}

impl AccountSettings {
    /// May somebody with this address sign up?
    pub fn admits(&self, email: &str) -> bool {
        let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain);
        self.mail_domains.is_empty()
            || self
                .mail_domains
                .iter()
                .any(|known| known.eq_ignore_ascii_case(domain))
    }

    /// Does an account wait until its owner has shown to read mail at the address?
    pub fn requires_confirmation(&self) -> bool {
        !self.mail_domains.is_empty()
    }
}

/// Is this an address that mail can be sent to, as far as its form tells?
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_clean =
        |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control());
    text.len() <= 254
        && is_clean(local)
        && is_clean(domain)
        && !domain.contains('@')
        && !domain.starts_with('.')
        && text.parse::<lettre::Address>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_username_can_stand_in_an_address() {
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
    fn an_email_address_has_an_at_sign_between_two_parts() {
        assert!(is_email("ada@example.org"));
        for bad in [
            "ada",
            "@example.org",
            "ada@",
            "a da@example.org",
            "ada@example.org\n",
            "ada@exa<b>mple.org",
        ] {
            assert!(!is_email(bad), "{bad:?}");
        }
    }

    #[test]
    fn mail_domains_admit_their_own_alone() {
        let settings = AccountSettings {
            sign_up: SignUp::Open,
            mail_domains: vec!["example.org".to_owned()],
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
