//! Evidence that a caller knows the password of an account.
//!
//! It records which password was verified. An action that relies on it checks, in its own transaction, that this is
//! still the password, so a password that changed in between is worthless.

use super::Account;
use super::hashing::PasswordHasher;
use platform::ids::AccountId;
use secrecy::SecretString;

/// The password of an account, after the caller has entered or set it.
#[derive(Clone, Debug)]
pub struct VerifiedPassword {
    pub account: AccountId,
    /// The hash of the password.
    pub stored: SecretString,
    /// Whether the caller has also proven the second factor, if the account has one.
    pub has_second_factor: bool,
}

impl VerifiedPassword {
    /// Creates one from the hash of a password that was just set.
    pub fn new(account: AccountId, stored: impl Into<SecretString>) -> VerifiedPassword {
        VerifiedPassword {
            account,
            stored: stored.into(),
            has_second_factor: false,
        }
    }

    /// Adds that the caller has proven the second factor: with a code, or by being signed in already.
    #[must_use]
    pub fn with_second_factor(self) -> VerifiedPassword {
        VerifiedPassword {
            has_second_factor: true,
            ..self
        }
    }

    /// Compares a password with that of an account. It takes the same time if there is no account or no password.
    pub async fn verify(
        hasher: &PasswordHasher,
        account: Option<&Account>,
        password: &str,
    ) -> Option<VerifiedPassword> {
        let stored = account.and_then(|account| account.password.clone());
        let is_match = hasher.verify(stored.clone(), password).await;
        let verified = VerifiedPassword::new(account?.id, stored?);
        is_match.then_some(verified)
    }
}
