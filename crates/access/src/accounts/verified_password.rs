//! That somebody knows a password, and which. What is done on the strength of it is done only while that is still the
//! password: one that was changed in the moment between proves nothing any more.

use super::Account;
use super::hashing::PasswordHasher;
use platform::ids::AccountId;
use secrecy::SecretString;

/// Who knows the password of an account, or has just set it.
#[derive(Clone, Debug)]
pub struct VerifiedPassword {
    pub account: AccountId,
    /// The password as it is stored.
    pub stored: SecretString,
}

impl VerifiedPassword {
    /// Of a password that was set a moment ago.
    pub fn new(account: AccountId, stored: impl Into<SecretString>) -> VerifiedPassword {
        VerifiedPassword {
            account,
            stored: stored.into(),
        }
    }

    /// Compares a password with that of an account. Without an account, or one without a password, it takes as long.
    pub async fn verify(
        hashing: &PasswordHasher,
        account: Option<&Account>,
        password: &str,
    ) -> Option<VerifiedPassword> {
        let stored = account.and_then(|account| account.password.clone());
        let is_right = hashing.verify(stored.clone(), password).await;
        let proof = VerifiedPassword::new(account?.id, stored?);
        is_right.then_some(proof)
    }
}
