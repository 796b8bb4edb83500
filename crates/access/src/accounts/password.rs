//! The password policy: long enough, not common, and not the username.

use secrecy::{ExposeSecret, SecretString};
use std::collections::HashSet;
use std::sync::LazyLock;
use thiserror::Error;

const MIN_CHARS: usize = 10;
/// The limit keeps the cost of hashing low.
const MAX_BYTES: usize = 1024;

/// The most common passwords, in lowercase.
static COMMON: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../../../../data/common-passwords.txt")
        .lines()
        .collect()
});

/// A password that satisfies the policy.
#[derive(Clone, Debug)]
pub struct NewPassword(SecretString);

/// The reason the policy rejects a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WeakPassword {
    #[error("use at least {MIN_CHARS} characters, such as a few words in a row")]
    Short,
    #[error("use at most {MAX_BYTES} bytes")]
    Long,
    #[error("choose a password that is harder to guess, such as a few words that only you would think of")]
    Common,
    #[error("do not use your username as the password")]
    Username,
}

impl NewPassword {
    /// Checks a password against the policy.
    pub fn parse(text: &str, username: &str) -> Result<NewPassword, WeakPassword> {
        if text.len() > MAX_BYTES {
            return Err(WeakPassword::Long);
        }
        if text.chars().count() < MIN_CHARS {
            return Err(WeakPassword::Short);
        }
        let folded = text.trim().to_lowercase();
        let stem = folded.trim_end_matches(|last: char| last.is_ascii_digit() || last.is_ascii_punctuation());
        if !username.is_empty() && (folded == username || stem == username) {
            return Err(WeakPassword::Username);
        }
        let mut letters: Vec<char> = folded.chars().collect();
        letters.sort_unstable();
        letters.dedup();
        if letters.len() < 4 || COMMON.contains(&*folded) || COMMON.contains(stem) || is_run(&folded) {
            return Err(WeakPassword::Common);
        }
        Ok(NewPassword(SecretString::from(text)))
    }

    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// Returns whether the text is a run of consecutive characters, such as `1234567890` or `abcdefghij`.
fn is_run(text: &str) -> bool {
    let codes: Vec<u32> = text.chars().map(u32::from).collect();
    let steps = codes.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 1);
    steps.count() + 2 >= codes.len()
}

/// Returns whether the text cannot be the password of any account, so that it need not be hashed.
pub(crate) fn is_impossible(text: &str) -> bool {
    text.is_empty() || text.len() > MAX_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_passwords_are_rejected() {
        for (text, reason) in [
            ("short", WeakPassword::Short),
            ("ääääääää1", WeakPassword::Short),
            ("password1234", WeakPassword::Common),
            ("Correcthorsebatterystaple", WeakPassword::Common),
            ("1234567890", WeakPassword::Common),
            ("aaaaaaaaaaaa", WeakPassword::Common),
            ("abcdefghijkl", WeakPassword::Common),
            ("ada-lovelace", WeakPassword::Username),
            ("Ada-Lovelace1815!", WeakPassword::Username),
        ] {
            assert_eq!(
                NewPassword::parse(text, "ada-lovelace").unwrap_err(),
                reason,
                "{text}"
            );
        }
        let long = "x7 ".repeat(1400);
        assert_eq!(NewPassword::parse(&long, "ada").unwrap_err(), WeakPassword::Long);
        for good in ["river stone lantern", "пароль для сада", "🦊🌲🪨🌊🐟🪵🌧🪶🐚🌙"]
        {
            assert_eq!(NewPassword::parse(good, "ada").unwrap().expose(), good);
        }
    }

    #[test]
    fn debug_output_does_not_reveal_a_password() {
        let password = NewPassword::parse("river stone lantern", "ada").unwrap();
        assert!(!format!("{password:?}").contains("river"));
    }
}
