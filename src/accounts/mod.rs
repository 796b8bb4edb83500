//! Accounts: who owns keys.

pub mod operators;
pub mod store;

use thiserror::Error;

/// A name that can stand in an address: small letters, digits, `-` and `_`, 2 to 40 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Username(String);

/// Why a text is no username.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a username has 2 to 40 characters, small letters, digits, - and _, and begins with a letter")]
pub struct InvalidUsername;

impl Username {
    /// Reads a username; large letters become small.
    pub fn parse(text: &str) -> Result<Username, InvalidUsername> {
        let text = text.trim().to_ascii_lowercase();
        let is_valid = (2..=40).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_lowercase())
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_username_can_stand_in_an_address() {
        assert_eq!(Username::parse(" Demo_1 ").unwrap().as_str(), "demo_1");
        for bad in ["", "a", "1st", "a b", "é-name", "<b>", &"x".repeat(41)] {
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
        ] {
            assert!(!is_email(bad), "{bad:?}");
        }
    }
}
