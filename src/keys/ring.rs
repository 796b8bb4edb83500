//! All keys in memory: a request is judged without a question to the store.

use super::{Key, Kind, SentKey, store};
use crate::db::{Db, Topic};
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The keys of a running server, kept fresh by [`KeyRing::refresh`].
#[derive(Debug)]
pub struct KeyRing {
    db: Db,
    keys: ArcSwap<Keys>,
    refreshing: Mutex<()>,
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
            refreshing: Mutex::new(()),
        }
    }

    /// Takes in what changed since the last look.
    pub async fn refresh(&self) -> sqlx::Result<()> {
        if self.db.revision(Topic::Keys).await? == self.keys.load().revision {
            return Ok(());
        }
        let _one_at_a_time = self.refreshing.lock().await;
        let known = self.keys.load_full();
        let (revision, changed) = store::list_changed(&self.db, known.revision).await?;
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
        self.refresh().await?;
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
}
