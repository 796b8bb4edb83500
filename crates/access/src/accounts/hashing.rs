//! Hashes passwords with Argon2 on blocking threads, a few at a time, because each hash takes 19 MiB and tens of
//! milliseconds.

use super::password::{NewPassword, is_impossible};
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use metrics::Counter;
use secrecy::{ExposeSecret, SecretString};
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;
use tokio::sync::Semaphore;

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// The hash to compare with if there is no account, so that a sign-in takes the same time with and without one.
static DUMMY_HASH: LazyLock<String> = LazyLock::new(|| hash(b"not the password of any account"));

/// Hashes and verifies passwords. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PasswordHasher {
    permits: Arc<Semaphore>,
    /// Counts the hashes, one for each password that is set or verified.
    hashes: Counter,
}

impl PasswordHasher {
    pub fn new(hashes: Counter) -> PasswordHasher {
        let permits = available_parallelism().map_or(2, |cores| cores.get().clamp(1, 4));
        PasswordHasher {
            permits: Arc::new(Semaphore::new(permits)),
            hashes,
        }
    }

    /// Computes `DUMMY_HASH` in the background, so that the first sign-in without an account takes no longer.
    pub fn warm_up(&self) {
        tokio::task::spawn_blocking(|| _ = LazyLock::force(&DUMMY_HASH));
    }

    /// Hashes a password for storage.
    pub async fn hash(&self, password: NewPassword) -> String {
        let hashes = self.hashes.clone();
        self.run(move || {
            hashes.increment(1);
            hash(password.expose().as_bytes())
        })
        .await
    }

    /// Returns whether the password matches the stored hash. It takes the same time if there is no stored hash.
    pub async fn verify(&self, stored: Option<SecretString>, password: &str) -> bool {
        let password = SecretString::from(if is_impossible(password) { "" } else { password });
        let hashes = self.hashes.clone();
        self.run(move || {
            let hash = stored
                .as_ref()
                .map_or(DUMMY_HASH.as_str(), ExposeSecret::expose_secret);
            let Ok(hash) = PasswordHash::new(hash) else {
                return false;
            };
            hashes.increment(1);
            let is_match = argon2()
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

fn argon2() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).expect("the parameters are valid");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

fn hash(password: &[u8]) -> String {
    argon2()
        .hash_password(password)
        .expect("a password can be hashed")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_of_an_account_is_accepted() {
        let hasher = PasswordHasher::new(Counter::noop());
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
