//! Caches all keys in memory, so that a request needs no database query.

use super::{Key, Kind, SentKey, store};
use arc_swap::ArcSwap;
use platform::db::{Db, Revision, Topic};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long the database may take to list the changed keys. The first refresh lists all keys.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(20);

/// All keys, as of the last [`KeyRing::refresh`].
#[derive(Debug)]
pub struct KeyRing {
    db: Db,
    keys: ArcSwap<Keys>,
    /// The number of refreshes that have started.
    started: AtomicU64,
    /// The number of the last refresh that has finished. Held during a refresh.
    finished: Mutex<u64>,
}

/// All keys at a revision of the store.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    pub(super) revision: Revision,
    /// Whether the keys were read from a file because the store was unavailable. The next refresh replaces them all.
    pub(super) is_saved: bool,
    pub(super) public: HashMap<Box<str>, Arc<Key>>,
    pub(super) private: HashMap<[u8; 32], Arc<Key>>,
}

impl KeyRing {
    pub fn new(db: Db) -> KeyRing {
        KeyRing::with_keys(db, Keys::default())
    }

    /// Creates the cache with keys that were saved earlier.
    pub fn with_keys(db: Db, keys: Keys) -> KeyRing {
        KeyRing {
            db,
            keys: ArcSwap::from_pointee(keys),
            started: AtomicU64::new(0),
            finished: Mutex::new(0),
        }
    }

    /// Loads the keys that have changed. Callers that arrive during a refresh share the next one.
    pub async fn refresh(&self) -> sqlx::Result<()> {
        let before = self.started.load(Ordering::SeqCst);
        let mut finished = self.finished.lock().await;
        if *finished > before {
            return Ok(());
        }
        let number = self.started.fetch_add(1, Ordering::SeqCst) + 1;
        self.load_changes().await?;
        *finished = number;
        Ok(())
    }

    async fn load_changes(&self) -> sqlx::Result<()> {
        let mut current = self.keys.load_full();
        let revision = self.db.current_revision(Topic::Keys).await?;
        if current.is_saved {
            // The store may have another history by now, so nothing is known about these keys.
            current = Arc::default();
        } else if revision == current.revision {
            return Ok(());
        }
        // Without a timeout, a dead connection would block every later refresh.
        let query = timeout(REFRESH_TIMEOUT, store::list_changed(&self.db, current.revision));
        let listed = query.await.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        let mut keys = if listed.is_complete {
            Keys::default()
        } else {
            Keys::clone(&current)
        };
        keys.revision = listed.revision;
        for (key, text, hash) in listed.keys {
            let key = Arc::new(key);
            match (key.kind, text) {
                (Kind::Public, Some(text)) => _ = keys.public.insert(text.into(), key),
                _ => _ = hash.try_into().map(|hash| keys.private.insert(hash, key)),
            }
        }
        self.keys.store(Arc::new(keys));
        Ok(())
    }

    /// Finds a key.
    ///
    /// A key that is not cached may have been created a moment ago, so it causes a refresh. Random text does not, because
    /// it has no valid checksum. A key that another service issued has none either, and is known after the next refresh.
    pub async fn find(&self, text: SentKey<'_>) -> sqlx::Result<Option<Arc<Key>>> {
        if let Some(key) = self.cached(text) {
            return Ok(Some(key));
        }
        if !text.has_checksum() {
            return Ok(None);
        }
        // A refresh in progress may be waiting for a dead connection.
        let refresh = timeout(self.db.response_timeout(), self.refresh());
        refresh.await.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        Ok(self.cached(text))
    }

    /// Finds a key in the cache.
    pub fn cached(&self, text: SentKey<'_>) -> Option<Arc<Key>> {
        let keys = self.keys.load();
        match text.kind() {
            Kind::Public => keys.public.get(text.expose()).cloned(),
            Kind::Private => keys.private.get(&text.hash()).cloned(),
        }
    }

    /// Returns the revision of the cached keys.
    pub fn revision(&self) -> Revision {
        self.keys.load().revision
    }

    /// Returns the cached keys.
    pub(super) fn keys(&self) -> Arc<Keys> {
        self.keys.load_full()
    }

    /// Finds a private key in the cache by its hash.
    pub(crate) fn cached_private(&self, hash: &[u8; 32]) -> Option<Arc<Key>> {
        self.keys.load().private.get(hash).cloned()
    }
}
