//! Flags private keys that were sent in a URL, once each. The call is refused in any case.

use super::ring::KeyRing;
use super::store;
use super::text::SentKey;
use super::warnings::warn_owners;
use crate::notices::Notices;
use platform::clock::Clock;
use platform::db::Db;
use platform::mail::Mailer;
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long a caller waits for the flag to be written.
const FLAG_TIMEOUT: Duration = Duration::from_secs(2);

/// Flags exposed keys. Cheap to clone: the flag is written by a task that outlives a caller who hangs up.
#[derive(Clone, Debug)]
pub struct Exposures(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    keys: Arc<KeyRing>,
    clock: Clock,
    mailer: Mailer,
    public_url: PublicUrl,
    secret: StoreSecret,
    /// Flags are written one at a time, so that a key that is sent repeatedly costs one write.
    write_lock: Mutex<()>,
}

impl Exposures {
    pub fn new(
        db: Db,
        keys: Arc<KeyRing>,
        clock: Clock,
        mailer: Mailer,
        public_url: PublicUrl,
        secret: StoreSecret,
    ) -> Exposures {
        Exposures(Arc::new(Inner {
            db,
            keys,
            clock,
            mailer,
            public_url,
            secret,
            write_lock: Mutex::default(),
        }))
    }

    /// Flags a key, if it exists and is not flagged yet.
    pub async fn report(&self, key: SentKey<'_>) {
        match self.0.keys.find(key).await {
            Ok(Some(found)) if !found.exposed => {
                let (inner, hash) = (Arc::clone(&self.0), key.hash());
                let flagged = tokio::spawn(async move { inner.flag(hash).await });
                _ = timeout(FLAG_TIMEOUT, flagged).await;
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "could not look up a private key that was sent in a URL"),
        }
    }
}

impl Inner {
    async fn flag(&self, hash: [u8; 32]) {
        let guard = self.write_lock.lock().await;
        if self.keys.cached_private(&hash).is_some_and(|key| key.exposed) {
            return;
        }
        match store::expose(&self.db, hash, self.clock.millis()).await {
            Ok(is_new) => {
                if let Err(error) = self.keys.refresh().await {
                    tracing::error!(%error, "could not refresh the keys");
                }
                drop(guard);
                if is_new {
                    tracing::warn!("a private key was sent in a URL and is flagged as exposed");
                    let notices = Notices {
                        mailer: &self.mailer,
                        clock: &self.clock,
                        secret: &self.secret,
                        public_url: &self.public_url,
                    };
                    warn_owners(&self.db, notices).await;
                }
            }
            Err(error) => tracing::error!(%error, "could not flag an exposed private key"),
        }
    }
}
