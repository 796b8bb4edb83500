//! Hashes passwords with Argon2 on blocking threads, a few at a time, because each hash takes 19 MiB and tens of
//! milliseconds.

use super::password::{NewPassword, is_impossible};
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use metrics::Counter;
use secrecy::{ExposeSecret, SecretString};
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use tokio::sync::Semaphore;

const LANES: u32 = 1;

/// How much memory and time a new hash takes. A stored hash names its own cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashCost {
    memory_kib: u32,
    passes: u32,
}

impl HashCost {
    /// The cost of every server, as OWASP recommends it.
    pub const RECOMMENDED: HashCost = HashCost {
        memory_kib: 19 * 1024,
        passes: 2,
    };
    /// The lowest possible cost, for tests that sign in but do not test the hash.
    pub const LOWEST: HashCost = HashCost {
        memory_kib: Params::MIN_M_COST,
        passes: 1,
    };
}

/// Hashes and verifies passwords. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PasswordHasher {
    cost: HashCost,
    permits: Arc<Semaphore>,
    /// The hash to compare with if there is no account, so that a sign-in takes the same time with and without one.
    dummy_hash: Arc<OnceLock<String>>,
    /// Counts the hashes, one for each password that is set or verified.
    hashes: Counter,
}

impl PasswordHasher {
    pub fn new(cost: HashCost, hashes: Counter) -> PasswordHasher {
        let permits = available_parallelism().map_or(2, |cores| cores.get().clamp(1, 4));
        PasswordHasher {
            cost,
            permits: Arc::new(Semaphore::new(permits)),
            dummy_hash: Arc::default(),
            hashes,
        }
    }

    /// Computes the dummy hash in the background, so that the first sign-in without an account takes no longer.
    pub fn warm_up(&self) {
        let hasher = self.clone();
        tokio::task::spawn_blocking(move || _ = hasher.dummy_hash());
    }

    fn dummy_hash(&self) -> &str {
        self.dummy_hash
            .get_or_init(|| hash(self.cost, b"not the password of any account"))
    }

    /// Hashes a password for storage.
    pub async fn hash(&self, password: NewPassword) -> String {
        let hasher = self.clone();
        self.run(move || {
            hasher.hashes.increment(1);
            hash(hasher.cost, password.expose().as_bytes())
        })
        .await
    }

    /// Returns whether the password matches the stored hash. It takes the same time if there is no stored hash.
    pub async fn verify(&self, stored: Option<SecretString>, password: &str) -> bool {
        let password = SecretString::from(if is_impossible(password) { "" } else { password });
        let hasher = self.clone();
        self.run(move || {
            let hash = match &stored {
                Some(stored) => stored.expose_secret(),
                None => hasher.dummy_hash(),
            };
            let Ok(hash) = PasswordHash::new(hash) else {
                return false;
            };
            hasher.hashes.increment(1);
            let is_match = argon2(hasher.cost)
                .verify_password(password.expose_secret().as_bytes(), &hash)
                .is_ok();
            is_match && stored.is_some()
        })
        .await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let work = move || {
            let result = work();
            drop(permit);
            result
        };
        tokio::task::spawn_blocking(work)
            .await
            .expect("hashing does not panic")
    }
}

fn argon2(cost: HashCost) -> Argon2<'static> {
    let params = Params::new(cost.memory_kib, cost.passes, LANES, None).expect("the parameters are valid");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

fn hash(cost: HashCost, password: &[u8]) -> String {
    argon2(cost)
        .hash_password(password)
        .expect("a password can be hashed")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_of_an_account_is_accepted() {
        let hasher = PasswordHasher::new(HashCost::RECOMMENDED, Counter::noop());
        let password = NewPassword::parse("river stone lantern", "ada").unwrap();
        let stored = hasher.hash(password.clone()).await;
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert_ne!(hasher.hash(password).await, stored);
        let stored = Some(SecretString::from(stored));
        assert!(hasher.verify(stored.clone(), "river stone lantern").await);
        for wrong in ["river stone lanterN", "", &"x".repeat(10_000)] {
            assert!(!hasher.verify(stored.clone(), wrong).await);
        }
        assert!(!hasher.verify(None, "not the password of any account").await);
    }
}
