//! That somebody knows a password, and which. What is done on the strength of it is done only while that is still the
//! password: one that was changed in the moment between proves nothing any more.

use super::Account;
use super::hashing::Hashing;
use platform::ids::AccountId;
use secrecy::SecretString;

/// Who knows the password of an account, or has just set it.
#[derive(Clone, Debug)]
pub struct Proof {
    pub account: AccountId,
    /// The password as it is stored.
    pub stored: SecretString,
}

impl Proof {
    /// Of a password that was set a moment ago.
    pub fn of_new(account: AccountId, stored: impl Into<SecretString>) -> Proof {
        Proof {
            account,
            stored: stored.into(),
        }
    }

    /// Compares a password with that of an account. Without an account, or one without a password, it takes as long.
    pub async fn find(hashing: &Hashing, account: Option<&Account>, password: &str) -> Option<Proof> {
        let stored = account.and_then(|account| account.password.clone());
        let is_right = hashing.verify(stored.clone(), password).await;
        let proof = Proof::of_new(account?.id, stored?);
        is_right.then_some(proof)
    }
}
