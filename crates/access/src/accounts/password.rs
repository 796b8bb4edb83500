//! What may be a password: long enough, not one that everybody tries first, and not the username.

use secrecy::{ExposeSecret, SecretString};
use std::collections::HashSet;
use std::sync::LazyLock;
use thiserror::Error;

const SHORTEST: usize = 10;
/// Bytes. A longer text is no password, and hashing it costs.
const LONGEST: usize = 1024;

/// Passwords that are tried first, folded to small letters.
static COMMON: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../../../../data/common-passwords.txt")
        .lines()
        .collect()
});

/// A password that may be set.
#[derive(Clone, Debug)]
pub struct NewPassword(SecretString);

/// Why a text may not be a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WeakPassword {
    #[error("use at least {SHORTEST} characters; a few words in a row are good")]
    Short,
    #[error("use at most {LONGEST} bytes, which is some {LONGEST} letters")]
    Long,
    #[error("this is one of the passwords that are tried first; use a few words that belong to you")]
    Common,
    #[error("do not use your username as the password")]
    Username,
}

impl NewPassword {
    /// Judges a password that somebody chose.
    pub fn parse(text: &str, username: &str) -> Result<NewPassword, WeakPassword> {
        if text.len() > LONGEST {
            return Err(WeakPassword::Long);
        }
        if text.chars().count() < SHORTEST {
            return Err(WeakPassword::Short);
        }
        let folded = text.trim().to_lowercase();
        let bare = folded.trim_end_matches(|last: char| last.is_ascii_digit() || last.is_ascii_punctuation());
        if !username.is_empty() && (folded == username || bare == username) {
            return Err(WeakPassword::Username);
        }
        let mut letters: Vec<char> = folded.chars().collect();
        letters.sort_unstable();
        letters.dedup();
        if letters.len() < 4 || COMMON.contains(&*folded) || COMMON.contains(bare) || is_run(&folded) {
            return Err(WeakPassword::Common);
        }
        Ok(NewPassword(SecretString::from(text)))
    }

    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// Letters or digits in their order, as in `1234567890` or `abcdefghij`.
fn is_run(text: &str) -> bool {
    let codes: Vec<u32> = text.chars().map(u32::from).collect();
    let steps = codes.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 1);
    steps.count() + 2 >= codes.len()
}

/// A text that cannot be a password of anybody, told without hashing it.
pub fn is_impossible(text: &str) -> bool {
    text.is_empty() || text.len() > LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_and_its_own() {
        for (text, why) in [
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
                why,
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
    fn a_password_does_not_show_itself() {
        let password = NewPassword::parse("river stone lantern", "ada").unwrap();
        assert!(!format!("{password:?}").contains("river"));
    }
}
