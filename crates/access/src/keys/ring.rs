//! All keys in memory: a request is judged without a question to the store.

use super::{Key, Kind, SentKey, store};
use arc_swap::ArcSwap;
use platform::db::{Db, Topic};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long the store may take to name what changed: at the first look these are all keys.
const SILENCE: Duration = Duration::from_secs(20);

/// How long a request waits for the store to say whether a key is new.
const PATIENCE: Duration = Duration::from_secs(5);

/// The keys of a running server, kept fresh by [`KeyRing::refresh`].
#[derive(Debug)]
pub struct KeyRing {
    db: Db,
    keys: ArcSwap<Keys>,
    /// How many looks at the store have begun.
    begun: AtomicU64,
    /// The last look that came to its end.
    refreshing: Mutex<u64>,
}

#[derive(Clone, Debug, Default)]
struct Keys {
    revision: i64,
    public: HashMap<Box<str>, Arc<Key>>,
    private: HashMap<[u8; 32], Arc<Key>>,
}

impl KeyRing {
    pub fn new(db: Db) -> KeyRing {
        KeyRing {
            db,
            keys: ArcSwap::default(),
            begun: AtomicU64::new(0),
            refreshing: Mutex::new(0),
        }
    }

    /// Takes in what changed since the last look. Those who come while one is under way share the next.
    pub async fn refresh(&self) -> sqlx::Result<()> {
        let before = self.begun.load(Ordering::SeqCst);
        let mut ended = self.refreshing.lock().await;
        if *ended > before {
            return Ok(());
        }
        let look = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        self.look().await?;
        *ended = look;
        Ok(())
    }

    async fn look(&self) -> sqlx::Result<()> {
        let known = self.keys.load_full();
        if self.db.revision(Topic::Keys).await? == known.revision {
            return Ok(());
        }
        // A connection that fell silent must not keep all others from looking.
        let asked = timeout(SILENCE, store::list_changed(&self.db, known.revision));
        let (revision, changed) = asked.await.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        let mut keys = Keys {
            revision,
            ..Keys::clone(&known)
        };
        for (key, text, hash) in changed {
            let key = Arc::new(key);
            match (key.kind, text) {
                (Kind::Public, Some(text)) => _ = keys.public.insert(text.into(), key),
                _ => _ = hash.try_into().map(|hash| keys.private.insert(hash, key)),
            }
        }
        self.keys.store(Arc::new(keys));
        Ok(())
    }

    /// Finds a key. One that this server has not seen yet may have been made a moment ago, so the store is asked
    /// whether anything changed; its checksum has been judged before, so nonsense does not come this far.
    pub async fn find(&self, text: SentKey<'_>) -> sqlx::Result<Option<Arc<Key>>> {
        if let Some(key) = self.known(text) {
            return Ok(Some(key));
        }
        // Those who look already may have to wait for the same silent store.
        let asked = timeout(PATIENCE, self.refresh());
        asked.await.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        Ok(self.known(text))
    }

    /// Finds a key among those that this server has seen.
    pub fn known(&self, text: SentKey<'_>) -> Option<Arc<Key>> {
        let keys = self.keys.load();
        match text.kind() {
            Kind::Public => keys.public.get(text.expose()).cloned(),
            Kind::Private => keys.private.get(&text.hash()).cloned(),
        }
    }

    /// Finds a private key by its hash among those that this server has seen.
    pub fn cached_private(&self, hash: &[u8; 32]) -> Option<Arc<Key>> {
        self.keys.load().private.get(hash).cloned()
    }
}
