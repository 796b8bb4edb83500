//! Argon2 off the threads that answer, a few at a time: each hash takes 19 MiB and tens of milliseconds.

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

/// What is compared with when there is nothing to compare with, so that both take the same time.
static NOBODY: LazyLock<String> = LazyLock::new(|| hash_now(b"a password that nobody has"));

/// Hashes and compares passwords.
#[derive(Clone, Debug)]
pub struct PasswordHasher {
    places: Arc<Semaphore>,
    /// Counts the hashes, one for each password that is stored or compared.
    hashes: Counter,
}

impl PasswordHasher {
    pub fn new(hashes: Counter) -> PasswordHasher {
        let places = available_parallelism().map_or(2, |cores| cores.get().clamp(1, 4));
        PasswordHasher {
            places: Arc::new(Semaphore::new(places)),
            hashes,
        }
    }

    /// Makes what is compared with when there is no account, so that the first such comparison takes no longer.
    pub fn warm_up(&self) {
        tokio::task::spawn_blocking(|| _ = LazyLock::force(&NOBODY));
    }

    /// The text that is stored of a password.
    pub async fn hash(&self, password: NewPassword) -> String {
        let hashes = self.hashes.clone();
        self.run(move || {
            hashes.increment(1);
            hash_now(password.expose().as_bytes())
        })
        .await
    }

    /// Is this the password of the account? Without an account, or one without a password, it takes as long.
    pub async fn verify(&self, stored: Option<SecretString>, password: &str) -> bool {
        let password = SecretString::from(if is_impossible(password) { "" } else { password });
        let hashes = self.hashes.clone();
        self.run(move || {
            let hash = stored
                .as_ref()
                .map_or(NOBODY.as_str(), ExposeSecret::expose_secret);
            let Ok(hash) = PasswordHash::new(hash) else {
                return false;
            };
            hashes.increment(1);
            let is_right = argon2()
                .verify_password(password.expose_secret().as_bytes(), &hash)
                .is_ok();
            is_right && stored.is_some()
        })
        .await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let work = move || {
            let done = work();
            drop(place);
            done
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

fn hash_now(password: &[u8]) -> String {
    argon2()
        .hash_password(password)
        .expect("a password can be hashed")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_told_from_another_and_from_nothing() {
        let hashing = PasswordHasher::new(Counter::noop());
        let password = NewPassword::parse("river stone lantern", "ada").unwrap();
        let stored = hashing.hash(password.clone()).await;
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert_ne!(hashing.hash(password).await, stored);
        let stored = Some(SecretString::from(stored));
        assert!(hashing.verify(stored.clone(), "river stone lantern").await);
        for wrong in ["river stone lanterN", "", &"x".repeat(10_000)] {
            assert!(!hashing.verify(stored.clone(), wrong).await);
        }
        assert!(!hashing.verify(None, "a password that nobody has").await);
    }
}
